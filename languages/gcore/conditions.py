"""WHERE as alternatives: each a list of tests that must all hold.

A query is a union of rules, so a condition becomes one rule for each of its alternatives
(disjunctive normal form). A test is an equality of vertices or a pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from languages.errors import QueryError
from languages.gcore import faults
from languages.gcore.faults import LATER, Fault
from languages.gcore.syntax import (
    And,
    Call,
    Comparison,
    Condition,
    Exists,
    Literal,
    Name,
    Not,
    Or,
    Pattern,
    Property,
    Value,
    VertexComparison,
)
from languages.regular_query import Location

MOST_ALTERNATIVES = 64
"""The most rules that one statement becomes."""
AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})


@dataclass(frozen=True, slots=True)
class Alternative:
    """Pairs of vertices that are equal, and patterns that are there."""

    equal: tuple[tuple[Name, Name], ...] = ()
    patterns: tuple[Pattern, ...] = ()

    def __add__(self, other: Alternative) -> Alternative:
        return Alternative(self.equal + other.equal, self.patterns + other.patterns)


def alternatives(
    condition: Condition | None, paths: frozenset[str] = frozenset()
) -> list[Alternative]:
    """The alternatives of a condition; one without tests if there is none.

    ``paths`` are the variables that paths are bound to.

    Raises:
        QueryError: for a test that cannot be said, or too many alternatives.
    """
    if condition is None:
        return [Alternative()]
    match condition:
        case Pattern():
            return [Alternative(patterns=(condition,))]
        case VertexComparison():
            return [Alternative(equal=(_equality(condition),))]
        case Not(part):
            return _refused(part, condition.at, paths)
        case Comparison():
            raise _comparison_fault(condition, paths)
        case Exists():
            raise faults.EXISTS.error(condition.at, "EXISTS")
        case Or(parts):
            found = [tests for part in parts for tests in alternatives(part, paths)]
            return _limited(found)
        case And(parts):
            found = [Alternative()]
            for part in parts:
                several = alternatives(part, paths)
                found = _limited([one + other for one, other in product(found, several)])
            return found


def _refused(part: Condition, at: Location, paths: frozenset[str]) -> list[Alternative]:
    """NOT: two of them cancel; of what is left, the first test says why it cannot be."""
    match part:
        case Not(inner):
            return alternatives(inner, paths)
        case And(parts) | Or(parts):
            return _refused(parts[0], at, paths)
        case Pattern() | Exists():
            raise faults.NEGATION.error(at, "NOT")
        case VertexComparison():
            _equality(part)
            raise LATER["vertex inequality"].error(at, "NOT")
        case Comparison():
            raise _comparison_fault(part, paths)


def _equality(test: VertexComparison) -> tuple[Name, Name]:
    if test.sign.text not in {"=", "=="}:
        raise LATER["vertex inequality"].error(test.sign.at, test.sign.text)
    ends: list[Name] = []
    for node in (test.left, test.right):
        if node.variable is None or node.labels or node.properties:
            raise Fault("E-SYNTAX", "only bound vertices are compared", "write (x) = (y)").error(
                node.at, "("
            )
        ends.append(node.variable)
    return ends[0], ends[1]


def _comparison_fault(test: Comparison, paths: frozenset[str]) -> QueryError:
    for value in (test.left, test.right):
        if isinstance(value, Call):
            return call_fault(value, paths, faults.AGGREGATE_INSIDE)
        fault = path_fault(value, paths)
        if fault is not None:
            return fault
    at, text = place_of(test.left)
    return LATER["comparison"].error(at, text)


def call_fault(call: Call, paths: frozenset[str], aggregate: Fault) -> QueryError:
    """Why a function cannot be called; ``aggregate`` is what is wrong with an aggregate."""
    name = call.function.text.lower()
    for argument in call.arguments:
        fault = path_fault(argument, paths)
        if fault is not None:
            return fault
    if name == "collect":
        fault_of_name = faults.COLLECTED
    else:
        fault_of_name = aggregate if name in AGGREGATES else faults.NO_FUNCTION
    return fault_of_name.error(call.function.at, call.function.text)


def path_fault(value: Name | Value, paths: frozenset[str]) -> QueryError | None:
    """What is wrong with a value that asks something of a path."""
    name = value.variable if isinstance(value, Property) else value
    if isinstance(name, Name) and name.text in paths:
        return faults.PATH_AS_VALUE.error(name.at, name.text)
    return None


def place_of(value: Value) -> tuple[Location, str]:
    """Where a value stands, and its text."""
    match value:
        case Property(variable, key):
            return variable.at, f"{variable.text}.{key.text}"
        case Call(function, _):
            return function.at, function.text
        case Literal(literal, at):
            return at, str(literal)


def _limited(found: list[Alternative]) -> list[Alternative]:
    if len(found) > MOST_ALTERNATIVES:
        raise too_many()
    return found


def too_many() -> QueryError:
    """A statement that would become too many rules."""
    return QueryError(
        "E-SIZE",
        f"OR and OPTIONAL make more than {MOST_ALTERNATIVES} combinations",
        hint="say less in one query",
    )
