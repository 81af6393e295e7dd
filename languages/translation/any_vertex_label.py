"""Rows of vertices of any label, in rules for each label of the catalog.

In: rules, of which some have an atom of :data:`~headrace.languages.query.atoms.ANY_VERTEX_LABEL`.
Out: in place of such a rule, one for each label of vertices that has the properties that the rule
reads of the vertex. A rule that reads no properties has none in a catalog without vertices, if its
head has other rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...catalog.model import Catalog
from ..query.atoms import ANY_VERTEX_LABEL, Variable, VertexAtom
from ..query.conditions import properties_of_vertices
from ..query.errors import QueryError
from ..query.regular_query import Property, RegularQuery, Rule
from .label_streams import labels_of_rows


def with_labels_of_vertices(query: RegularQuery, catalog: Catalog) -> RegularQuery:
    """The query with the labels of the catalog in place of any label of vertices.

    Raises:
        QueryError: E-UNKNOWN for a property that no vertices have.
    """
    has_vertices = any(stream.vertices for stream in catalog.streams.values())
    rules = query.rules if has_vertices else _without_vertices(query.rules)
    return replace(query, rules=tuple(one for rule in rules for one in _of_labels(rule, catalog)))


def _without_vertices(rules: Sequence[Rule]) -> Sequence[Rule]:
    """The rules but for those of a vertex of any label, whose head has other rules."""

    def is_empty(rule: Rule) -> bool:
        atoms = [atom for atom in rule.body if isinstance(atom, VertexAtom)]
        return any(one.predicate == ANY_VERTEX_LABEL and not _read(rule, one) for one in atoms)

    others = {rule.head for rule in rules if not is_empty(rule)}
    return [rule for rule in rules if rule.head not in others or not is_empty(rule)]


def _of_labels(rule: Rule, catalog: Catalog) -> Iterator[Rule]:
    """The rule for each label of the first atom of any label, and so on; itself without one."""
    places = [
        place
        for place, atom in enumerate(rule.body)
        if isinstance(atom, VertexAtom) and atom.predicate == ANY_VERTEX_LABEL
    ]
    if not places:
        yield rule
        return
    atom = rule.body[places[0]]
    assert isinstance(atom, VertexAtom)
    for label in _having(catalog, _read(rule, atom)):
        body = list(rule.body)
        body[places[0]] = replace(atom, predicate=label)
        yield from _of_labels(replace(rule, body=tuple(body)), catalog)


def _read(rule: Rule, atom: VertexAtom) -> dict[str, Property]:
    """The properties that a rule reads of the vertex of an atom, by their names."""
    read = [of for of in properties_of_vertices(rule) if Variable(of.edge) == atom.vertex]
    return {of.name: of for of in read}


def _having(catalog: Catalog, read: dict[str, Property]) -> list[str]:
    """The labels, each with its stream, of vertices with these properties."""
    labels = [
        f"{name}.{label}"
        for name, stream in sorted(catalog.streams.items())
        if stream.vertices and read.keys() <= stream.properties.keys()
        for label in labels_of_rows(stream)
    ]
    if labels:
        return labels
    of = next(iter(read.values()), None)
    raise QueryError(
        "E-UNKNOWN",
        "no vertices have this property" if of else "no stream has vertices",
        at=of.location if of else None,
        text=of.name if of else "_",
        hint="vertices get properties from a stream with vertices: true in the catalog",
    )
