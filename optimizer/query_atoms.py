"""The atoms of a query, and the query's names of their variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..algebra.logical import (
    Aggregate,
    AntiJoin,
    BoundPath,
    Compute,
    EventReport,
    Filter,
    LeftJoin,
    LogicalExpression,
    LogicalOperator,
    LogicalQuery,
    PartialAggregate,
    Path,
    Pattern,
    Project,
    Shortest,
    Trail,
    Witness,
    WScan,
)
from ..algebra.notation import origin
from ..algebra.scalar import Column
from .atoms import Atom, Atoms, Kind, Label, Scope, Variables, numbered

MOST_VISITS = 1_000
"""The most operators of an unfolded query that are read; names of columns below are not known."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryAtoms:
    """The atoms of a query, with names.

    Attributes:
        atoms: the atoms and conditions.
        answer: the variables of the answer's columns.
        names: the names of each variable with the rule that says them, those from above first.
    """

    atoms: Atoms
    answer: Variables
    names: Mapping[int, Sequence[tuple[Scope, str]]]
    _of_scopes: dict[Scope, Mapping[int, str]] = field(default_factory=dict)

    def name(self, variable: int, scope: Scope) -> str:
        """The name of a variable for operators that compute a part of a rule.

        The rules above the rule come first, unless they have the name for another variable. The
        name is empty if the query has none.
        """
        if scope not in self._of_scopes:
            self._of_scopes[scope] = self._names_in(scope)
        name = self._of_scopes[scope].get(variable, "")
        return name or next((name for _, name in self.names.get(variable, ())), "")

    def _names_in(self, scope: Scope) -> Mapping[int, str]:
        """The names of the variables that atoms of a rule have, different ones if possible."""
        depth = len(scope)
        within = {
            variable
            for atom in self.atoms.found
            if atom.scope[:depth] == scope
            for variable in atom.columns.values()
        }
        choices = {
            variable: list(dict.fromkeys([name for at, name in names if at == scope[: len(at)]]))
            for variable, names in self.names.items()
            if variable in within or not scope
        }
        chosen: dict[int, str] = {}
        for variable in sorted(choices, key=lambda v: len(choices[v])):
            names = choices[variable]
            free = [name for name in names if name not in chosen.values()]
            chosen[variable] = (*free, *names, "")[0]
        return chosen


def query_atoms(query: LogicalQuery) -> QueryAtoms:
    """The atoms of a query."""
    atoms = Atoms()
    answer = atoms.fresh(query.expression.width)
    reader = _Reader(atoms)
    reader.call(answer, query.columns, ())
    reader.read(query.expression, answer)
    for names in reader.names.values():
        names.sort(key=lambda of: origin(of[1]) is not None)  # a place without a variable is last
    return QueryAtoms(atoms, answer, reader.names)


@dataclass(slots=True)
class _Reader:
    """Reads an expression from its root down."""

    atoms: Atoms
    names: dict[int, list[tuple[Scope, str]]] = field(default_factory=dict)

    def call(self, variables: Iterable[int], names: Sequence[str], scope: Scope) -> None:
        """Adds names of variables; ``names`` may be missing."""
        for variable, name in zip(variables, names, strict=False):
            self.names.setdefault(variable, []).append((scope, name))

    def read(self, root: LogicalExpression, answer: Variables) -> None:
        """Adds the atoms below ``root``, the columns of which have the variables ``answer``."""
        pending: list[tuple[LogicalExpression, Variables, Scope, bool]] = [
            (root, answer, (), False)
        ]
        visits = 0
        while pending and visits < MOST_VISITS:
            expression, own, scope, below_path = pending.pop()
            visits += 1
            operator = expression.operator
            if expression.name is not None:
                scope = (*scope, visits)
            self.call(own, expression.columns, scope)
            kind, columns = self._columns(operator, own)
            if kind is not None:
                atom = Atom(kind, _labels(expression), columns, below_path, scope)
                self.atoms.found.append(atom)
                below_path = below_path or kind is Kind.PATHS
            if isinstance(operator, WScan | Filter) and operator.predicate is not None:
                self.atoms.satisfy(operator.predicate.sql, numbered(own))
            inputs = self._of_inputs(expression, own, scope)
            for k in reversed(range(len(inputs))):
                pending.append((expression.inputs[k], inputs[k], scope, below_path))

    @staticmethod
    def _columns(
        operator: LogicalOperator, own: Variables
    ) -> tuple[Kind | None, Mapping[str, int]]:
        """The kind and columns of the atom of an operator; None if the operator is not an atom."""
        match operator:
            case WScan():
                return Kind.EDGES, dict(zip(("src", "trg", *operator.properties), own, strict=True))
            case BoundPath() | Path() | Shortest() | Trail():
                return Kind.PATHS, dict(zip(("src", "trg"), own, strict=False))
            case Compute() | Aggregate() | PartialAggregate():
                return Kind.COMPUTED, {str(k): variable for k, variable in enumerate(own)}
            case _:
                return None, {}

    def _of_inputs(
        self, expression: LogicalExpression, own: Variables, scope: Scope
    ) -> list[Variables]:
        """The variables of the columns of each input."""
        widths = [below.width for below in expression.inputs]
        atoms = self.atoms
        match expression.operator:
            case (
                Pattern(bindings, _, names) | AntiJoin(bindings, names) | LeftJoin(bindings, names)
            ):
                of = atoms.joined(bindings, _output(expression.operator), own)
                for number in sorted(of) if names else ():
                    self.call([of[number]], [names[number]], scope)
                return [tuple([of[number] for number in binding]) for binding in bindings]
            case Project(columns):
                return [atoms.copies(columns, own, widths[0])]
            case Compute(values):
                columns = tuple([v.position if isinstance(v, Column) else -1 for v in values])
                return [atoms.copies(columns, own, widths[0])]
            case Aggregate(keys, _, output):
                columns = tuple([keys[i] if i < len(keys) else -1 for i in output])
                return [atoms.copies(columns, own, widths[0])]
            case PartialAggregate(keys, calls):
                return [atoms.copies((*keys, *(-1 for _ in calls), -1), own, widths[0])]
            case Witness():
                rows = atoms.copies(expression.operator.output, own, widths[0])
                return [rows, *map(atoms.fresh, widths[1:])]
            case EventReport():
                return [own, *map(atoms.fresh, widths[1:])]
            case BoundPath() | Path() | Shortest() | Trail():
                return [*map(atoms.fresh, widths)]
            case _:
                # Operators that rules alone make may have other columns than their inputs.
                return [own if width == len(own) else atoms.fresh(width) for width in widths]


def _output(operator: Pattern | AntiJoin | LeftJoin) -> tuple[int, ...]:
    """The variables of the output columns."""
    return operator.bindings[0] if isinstance(operator, AntiJoin) else operator.output


def _labels(expression: LogicalExpression) -> frozenset[Label]:
    """The labels of all scans of an expression."""
    labels: set[Label] = set()
    pending, seen = [expression], {id(expression)}
    while pending:
        current = pending.pop()
        if isinstance(current.operator, WScan):
            labels.add((current.operator.stream, current.operator.label))
        below = [one for one in current.inputs if id(one) not in seen]
        seen.update(map(id, below))
        pending.extend(below)
    return frozenset(labels)
