"""Paths in the answer: columns that hold a path, not a vertex.

A path column has the name of a path atom in the body of the answer rule. The rule without its path
columns gives the rows; with each row one path is returned that makes the atom true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...algebra.combinations import Feature
from ...algebra.logical.roots import AGGREGATES, REPORTS
from .answers import Column, is_aggregate
from .atoms import Atom, Location, PathAtom, Variable, variables_of
from .errors import QueryError
from .regular_query import Emit, Rule, Witnessed

_LATER = (
    "answer with the vertices that the path joins, or write a query of one answer rule without "
    "aggregates and EMIT"
)


def with_path_columns(
    columns: Iterable[str | Column], atoms: Sequence[Atom], at: Location
) -> list[str | Column]:
    """The columns of a head, with the names of paths as path columns.

    Raises:
        QueryError: E-PATHVAR for a name that two path atoms share.
    """
    vertices = set(variables_of(atoms))
    named = [atom.path or atom.alias for atom in atoms if isinstance(atom, PathAtom)]
    paths = [name for name in named if name is not None and name not in vertices]
    with_paths: list[str | Column] = []
    for column in columns:
        name: str | None
        called: str | None
        if isinstance(column, str):
            name, called, place = column, column, at
        else:
            name = column.value.name if isinstance(column.value, Variable) else None
            called, place = column.name or name, column.at
        if name is None or name not in paths:
            with_paths.append(column)
            continue
        check_one(paths.count(name), name, place)
        with_paths.append(Column(Witnessed(name, place), called, place, name))
    return with_paths


def check_one(atoms: int, name: str, at: Location) -> None:
    """Refuses a path name that several atoms share.

    Raises:
        QueryError: E-PATHVAR.
    """
    if atoms > 1:
        raise QueryError(
            "E-PATHVAR",
            "several paths of the rule have this name",
            at=at,
            text=name,
            hint="give the one that is returned a name of its own",
        )


def path_columns(rule: Rule) -> dict[str, Witnessed]:
    """The columns of a head that hold paths, by their names."""
    return {name: of for name, of in rule.properties if isinstance(of, Witnessed)}


def check_paths(rules: Sequence[Rule], emit: Emit | None) -> None:
    """Checks that the rules of an answer may return paths.

    Raises:
        QueryError: E-LATER for paths with several rules, aggregates or reports.
    """
    for rule in rules:
        for name, of in path_columns(rule).items():
            several = len(rules) > 1
            forms = [AGGREGATES] * is_aggregate(rule) + [REPORTS] * (emit is not None)
            refused = [form for form in forms if form.refused([Feature.PATHS])]
            if several or refused:
                problem = "a path in an answer of several rules is not supported yet"
                raise QueryError(
                    "E-LATER",
                    problem if several else refused[0].refusal(Feature.PATHS),
                    at=of.location or rule.location,
                    text=name,
                    hint=_LATER + ("; alternatives may be one path, as a|b" if several else ""),
                )
