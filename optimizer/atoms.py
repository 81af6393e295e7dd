"""The atoms of a query or of a plan: its scans, paths and computed rows, with a variable for each
column.

Columns of one variable are equal: one is a copy of the other, or a join compares them. A scan that
several operators read is an atom for each of them. The rows that a union reads have the variables
of its own columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from ..algebra.notation import renamed
from ..algebra.predicate import Predicate

Label = tuple[str, str]
"""A stream, and a label of the stream."""
Scope = tuple[int, ...]
"""The rule in which an atom stands: a number for each rule around it, from the answer's rule on."""
Variables = tuple[int, ...]


class Kind(Enum):
    """What makes the rows of an atom."""

    EDGES = "edges"
    PATHS = "paths"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A scan, a path, or rows with computed columns.

    Attributes:
        kind: what makes the rows.
        labels: the labels of the edges that the rows are made from.
        columns: the variable of each column: ``src``, ``trg`` and the properties of an edge, the
            numbers of computed columns.
        below_path: whether a path reads the rows.
        scope: the rule in which the atom stands.
    """

    kind: Kind
    labels: frozenset[Label]
    columns: Mapping[str, int]
    below_path: bool = False
    scope: Scope = ()


@dataclass(slots=True)
class Atoms:
    """The atoms found so far, and the conditions that variables satisfy.

    Attributes:
        found: the atoms.
        conditions: the conditions on each variable, as text that does not name the variable.
        variables: the number of variables.
    """

    found: list[Atom] = field(default_factory=list)
    conditions: dict[int, frozenset[str]] = field(default_factory=dict)
    variables: int = 0

    def fresh(self, count: int) -> Variables:
        """New variables."""
        self.variables += count
        return tuple(range(self.variables - count, self.variables))

    def copies(self, columns: Sequence[int], own: Variables, width: int) -> Variables:
        """The variables of an input of ``width`` columns, of which output columns are copies.

        ``columns`` has the input column of each output column, or -1.
        """
        of = dict(zip(reversed(columns), reversed(own), strict=True))
        return tuple([of[k] if k in of else self.fresh(1)[0] for k in range(width)])

    def joined(
        self, bindings: Iterable[Sequence[int]], output: Sequence[int], own: Variables
    ) -> dict[int, int]:
        """The variable for each number that a join binds, given those of its output columns."""
        of = dict(zip(reversed(output), reversed(own), strict=True))
        for binding in bindings:
            for number in binding:
                if number not in of:
                    (of[number],) = self.fresh(1)
        return of

    def satisfy(self, sql: str | None, variables: Mapping[int, int]) -> None:
        """Adds the conditions of a predicate over columns with these variables."""
        for column, text in _conditions(sql) if sql else ():
            variable = variables[column]
            self.conditions[variable] = self.conditions_on(variable) | {text}

    def conditions_on(self, variable: int) -> frozenset[str]:
        """The conditions on a variable."""
        return self.conditions.get(variable, frozenset())


def numbered(variables: Sequence[int]) -> dict[int, int]:
    """The variable of each column."""
    return dict(enumerate(variables))


@lru_cache(maxsize=4096)
def _conditions(sql: str) -> tuple[tuple[int, str], ...]:
    """The columns of each part of a conjunction, with the part as text for that column."""
    return tuple(_by_column(Predicate(sql).conjuncts))


def _by_column(parts: Iterable[Predicate]) -> Iterator[tuple[int, str]]:
    """The text of a condition on several columns does not depend on their order."""
    for part in parts:
        several = len(part.columns)
        for column in part.columns:
            yield (
                column,
                renamed(part.sql, lambda _: "own") if several == 1 else f"{several} columns",
            )
