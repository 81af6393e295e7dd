"""Returned paths: the rule without path columns, and the columns of each path's ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...algebra.combinations import Feature
from ...algebra.logical import Trail
from ...algebra.logical.roots import RETURNED_PATHS
from ..query.atoms import PathAtom, Variable
from ..query.conditions import key_of_end
from ..query.errors import QueryError
from ..query.regular_query import Rule
from ..query.returned_paths import path_columns


def check_any_path(trail: Trail | None, atom: PathAtom) -> None:
    """Checks that any shortest path of an expression is a trail.

    Raises:
        QueryError: E-LATER.
    """
    if trail is not None and not trail.is_any_path:
        raise QueryError(
            "E-LATER",
            RETURNED_PATHS.refusal(Feature.TRAILS),
            at=atom.location,
            text=atom.alias or "",
            hint=RETURNED_PATHS.hint,
        )


@dataclass(frozen=True, slots=True)
class Ends:
    """A returned path: its atom, and the columns of its ends."""

    name: str
    atom: PathAtom
    source: int
    target: int


def without_paths(rule: Rule) -> tuple[Rule, tuple[Ends, ...]]:
    """The rule with the ends of its paths in place of path columns, and the ends."""
    paths = path_columns(rule)
    own = tuple((name, of) for name, of in rule.properties if name not in paths)
    taken = {name for name, _ in own}
    columns = [name for name in rule.variables if name not in paths]
    ends: list[Ends] = []
    for name, of in paths.items():
        number, atom = next(
            (number, atom)
            for number, atom in enumerate(rule.body)
            if isinstance(atom, PathAtom) and atom.alias == of.path
        )
        places: list[int] = []
        for column, term in enumerate((atom.source, atom.target)):
            # The column of a constant has no name in the text.
            end = term.name if isinstance(term, Variable) else key_of_end(number, column)
            if end not in columns or end in taken:
                columns.append(end)
            places.append(columns.index(end))
        ends.append(Ends(name, atom, *places))
    return replace(rule, variables=tuple(columns), properties=own), tuple(ends)
