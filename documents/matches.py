"""What a result of a query looks like as a graph."""

from __future__ import annotations

from typing import Any

from ..languages.query.regular_query import (
    Atom,
    Constant,
    EdgeAtom,
    PathAtom,
    RegularQuery,
    Term,
    VertexAtom,
)
from ..languages.rq import printer


def match_document(query: RegularQuery) -> dict[str, Any]:
    """The edges between the variables of the answer, and which columns of it are vertices.

    An edge has ``source``, ``target`` (``{"variable"}`` or ``{"constant"}``), ``text``, its label
    or path, and ``path``: the name that the query gives a path, or null. ``edges`` is empty where
    the answer has several rules: no one of them is true of every result.
    """
    rules = [rule for rule in query.rules if rule.head == query.answer]
    rule = rules[0]
    given = {name for name, _ in rule.properties}
    edges = [
        {
            "source": _end(atom.source),
            "target": _end(atom.target),
            "text": _text(atom),
            "path": atom.alias if isinstance(atom, PathAtom) else None,
        }
        for atom in rule.body
        if atom.source is not atom.target
    ]
    return {
        "edges": edges if len(rules) == 1 else [],
        "vertices": [name for name in rule.variables if name not in given],
    }


def _text(atom: Atom) -> str:
    match atom:
        case VertexAtom():
            return atom.predicate
        case EdgeAtom():
            return "|".join(f"{'^' * label.inverse}{label.ref}" for label in atom.labels)
        case PathAtom():
            return printer.path_text(atom.regex)


def _end(term: Term) -> dict[str, str]:
    if isinstance(term, Constant):
        return {"constant": str(term.value)}
    return {"variable": term.name}
