"""Translates WHERE to alternatives, each a conjunction of tests.

A query is a union of rules, so each alternative of a condition (in disjunctive normal form) becomes
a rule. A test is an equality of vertices, a pattern, or a comparison. Alternatives of comparisons
only are combined into one condition, and need no rules of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from ..parsing.tokens import SIGNS
from ..query import regular_query as rq
from ..query.atoms import Location, Variable
from ..query.errors import QueryError
from ..query.regular_query import Sign
from . import errors
from .scope import Scope
from .syntax import (
    And,
    Comparison,
    Condition,
    EdgeComparison,
    Exists,
    Name,
    Not,
    Or,
    Pattern,
    VertexComparison,
)
from .values import place_of, referenced, value_of, vertex_of

MOST_ALTERNATIVES = 64
"""The largest number of rules of one statement."""
_OPPOSITE: Final[Mapping[Sign, Sign]] = {
    "=": "<>",
    "<>": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
"""The negation of each sign of a comparison."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Pairs of equal vertices, patterns that must match, and conditions.

    ``compared`` are the variables in the conditions, with their places.
    """

    equal: tuple[tuple[Name, Name], ...] = ()
    patterns: tuple[Pattern, ...] = ()
    conditions: tuple[rq.Condition, ...] = ()
    compared: tuple[Name, ...] = ()

    def __add__(self, other: Alternative) -> Alternative:
        return Alternative(
            self.equal + other.equal,
            self.patterns + other.patterns,
            self.conditions + other.conditions,
            self.compared + other.compared,
        )


def alternatives(condition: Condition | None, scope: Scope) -> list[Alternative]:
    """The alternatives of a condition; without a condition, one alternative without tests.

    Raises:
        QueryError: for a test that is not supported, or too many alternatives.
    """
    return [Alternative()] if condition is None else _read(condition, scope, None)


def _read(condition: Condition, scope: Scope, negated: Location | None) -> list[Alternative]:
    """The alternatives of a condition, or of its negation by the NOT at ``negated``."""
    match condition:
        case Pattern() | Exists() if negated is not None:
            raise errors.NEGATION.error(negated, "NOT")
        case Exists():
            raise errors.EXISTS.error(condition.at, "EXISTS")
        case Pattern():
            return [Alternative(patterns=(condition,))]
        case VertexComparison(left, sign, right):
            if _sign(sign, negated) == "=":
                return [Alternative(equal=((vertex_of(left), vertex_of(right)),))]
            return [_compared(condition, scope, negated)]
        case Comparison():
            return [_compared(condition, scope, negated)]
        case EdgeComparison(one, sign, other):
            for name in (one, other):
                scope.check_edge(name)
            edges = (Variable(one.text), Variable(other.text))
            test = rq.Comparison(edges[0], _sign(sign, negated), edges[1], one.at)
            return [Alternative(conditions=(test,), compared=(one, other))]
        case Not(part):
            return _read(part, scope, condition.at if negated is None else None)
        case Or(parts) | And(parts):
            several = (_read(part, scope, negated) for part in parts)
            if isinstance(condition, Or) == (negated is None):
                return _limited(_one_of([tests for tests_of in several for tests in tests_of]))
            combined = [Alternative()]
            for tests_of in several:
                combined = _limited([one + other for one, other in product(combined, tests_of)])
            return combined


def _sign(sign: Name, negated: Location | None) -> Sign:
    written = SIGNS[sign.text]
    return written if negated is None else _OPPOSITE[written]


def _compared(
    test: Comparison | VertexComparison, scope: Scope, negated: Location | None
) -> Alternative:
    left, right = value_of(test.left, scope), value_of(test.right, scope)
    sign = _sign(test.sign, negated)
    return Alternative(
        conditions=(rq.Comparison(left, sign, right, place_of(test.left)),),
        compared=(*referenced(test.left), *referenced(test.right)),
    )


def _one_of(tests: Sequence[Alternative]) -> list[Alternative]:
    """The alternatives, with those of comparisons only combined at the position of the first."""
    plain = [one for one in tests if not (one.equal or one.patterns)]
    if len(plain) < 2:
        return list(tests)
    parts = tuple(
        one.conditions[0] if len(one.conditions) == 1 else rq.Both(one.conditions) for one in plain
    )
    names = tuple(name for one in plain for name in one.compared)
    either = Alternative(conditions=(rq.Either(parts),), compared=names)
    first = tests.index(plain[0])
    return [*tests[:first], either, *(one for one in tests[first:] if one.equal or one.patterns)]


def _limited(tests: list[Alternative]) -> list[Alternative]:
    if len(tests) > MOST_ALTERNATIVES:
        raise too_many()
    return tests


def too_many() -> QueryError:
    """The error of a statement with too many rules."""
    return QueryError(
        "E-SIZE",
        f"OR and OPTIONAL make more than {MOST_ALTERNATIVES} combinations",
        hint="split the query",
    )
