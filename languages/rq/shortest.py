"""Shortest paths in bodies of RQ: ``shortest x knows+ y as p over n``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..parsing.tokens import location_of
from ..query.atoms import PathAtom, ShortestPaths, Term
from ..query.errors import QueryError
from .bodies import Body


@dataclass(frozen=True, slots=True)
class Over:
    """The members of a path that an atom binds in turn: a vertex, or the ends of a step."""

    terms: tuple[Term, ...]


def of_shortest(parts: list[Any]) -> Body:
    """The body of a path of which the shortest ones count; its name is of its own rule.

    ``parts`` are the words before the path, the body of the path, and perhaps its name and its
    members.

    Raises:
        QueryError: E-SYNTAX before an atom other than a path.
    """
    sign, *rest = parts[:1] + parts[2:]
    body: Body = parts[1]
    (atom,) = body.atoms
    if not isinstance(atom, PathAtom):
        raise QueryError(
            "E-SYNTAX",
            "`shortest` stands before a path or a closure",
            at=location_of(sign),
            text=str(sign),
            hint="write shortest x knows y, or shortest knows+(x, y)",
        )
    which: ShortestPaths = "all shortest" if sign.lower().startswith("all") else "shortest"
    name = next((part for part in rest if isinstance(part, str)), None)
    over = next((part.terms for part in rest if isinstance(part, Over)), ())
    named = replace(atom, shortest=which, path=name, over=over)
    return replace(body, atoms=(named,))
