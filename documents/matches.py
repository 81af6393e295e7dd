"""The results of a query as graphs."""

from __future__ import annotations

from ..languages.query.atoms import (
    Atom,
    Constant,
    DerivedAtom,
    EdgeAtom,
    PathAtom,
    Term,
    VertexAtom,
)
from ..languages.query.checks import evaluation_order
from ..languages.query.regular_query import RegularQuery
from ..languages.query.value_columns import kinds_of, value_columns, values_in
from ..languages.rq import printer
from .model import Document, Optional


class MatchEnd(Document):
    """An end of an edge of a result: a variable, or a constant vertex."""

    variable: Optional[str] = None
    constant: Optional[str] = None


class MatchEdge(Document):
    """An edge of a result; ``path`` is the name of the path that the edge stands for, or null."""

    source: MatchEnd
    target: MatchEnd
    text: str
    path: str | None


class Match(Document):
    """A result as a graph; ``vertices`` are the columns that are vertices."""

    edges: tuple[MatchEdge, ...]
    vertices: tuple[str, ...]


def match_document(query: RegularQuery) -> Match:
    """Builds the graph of a result: the edges between variables, and the vertex columns.

    An answer of several rules has no edges: each result may satisfy another rule. An atom with
    values, or of a predicate of another number of columns than two, is no edge.
    """
    rules = [rule for rule in query.rules if rule.head == query.answer]
    rule = rules[0]
    columns = value_columns(query.rules, evaluation_order(query.rules))
    values = {name for name, _ in rule.properties} | values_in(rule.body, columns)
    edges = tuple(
        MatchEdge(
            source=_end(atom.source),
            target=_end(atom.target),
            text=_text(atom),
            path=atom.alias if isinstance(atom, PathAtom) else None,
        )
        for atom in rule.body
        if not isinstance(atom, DerivedAtom)
        if atom.source is not atom.target and not any(kinds_of(atom, columns))
    )
    return Match(
        edges=edges if len(rules) == 1 else (),
        vertices=tuple(name for name in rule.variables if name not in values),
    )


def _text(atom: Atom) -> str:
    match atom:
        case VertexAtom():
            return atom.predicate
        case EdgeAtom():
            return "|".join(f"{'^' * label.inverse}{label.ref}" for label in atom.labels)
        case DerivedAtom():
            return atom.predicate
        case PathAtom():
            return printer.path_text(atom.regex)


def _end(term: Term) -> MatchEnd:
    if isinstance(term, Constant):
        return MatchEnd(constant=str(term.value))
    return MatchEnd(variable=term.name)
