"""The labels and streams that a query reads."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from ...catalog.model import Catalog
from ..query.atoms import ANY_VERTEX_LABEL, Variable, VertexAtom
from ..query.checks import evaluation_order
from ..query.conditions import comparisons, named_edges, properties_of_vertices
from ..query.predicates import derived_by, predicates
from ..query.regular_query import Aggregated, RegularQuery
from ..query.value_columns import value_columns, values_in
from .views import queries_of_views

_ORDERED = ("min", "max", "latest")


@dataclass(frozen=True, slots=True)
class Reads:
    """The labels, streams and properties that a query and its views may read.

    Attributes:
        labels: the labels of edges as written, with or without a stream.
        vertices: the labels of vertices as written, with or without a stream.
        any_label: the streams of which any label is read; None stands for all streams.
        streams: the streams that window clauses name.
        properties: the properties of vertices whose label the query does not name.
    """

    labels: frozenset[str] = frozenset()
    vertices: frozenset[str] = frozenset()
    any_label: frozenset[str | None] = frozenset()
    streams: frozenset[str] = frozenset()
    properties: frozenset[str] = frozenset()

    def __or__(self, other: Reads) -> Reads:
        return Reads(
            self.labels | other.labels,
            self.vertices | other.vertices,
            self.any_label | other.any_label,
            self.streams | other.streams,
            self.properties | other.properties,
        )


def reads(query: RegularQuery, catalog: Catalog) -> Reads:
    """The labels, streams and properties that a query may read, also through views."""
    all_reads = _reads(query)
    views = dict(queries_of_views(catalog))
    pending = True
    while pending:
        pending = False
        for name, (constructed, own) in list(views.items()):
            labels = {*constructed, *(f"{name}.{label}" for label in constructed)}
            if labels & all_reads.labels or name in all_reads.any_label | all_reads.streams:
                del views[name]
                all_reads |= _reads(own)
                pending = True
    return all_reads


def input_labels(query: RegularQuery) -> tuple[str, ...]:
    """The labels of edges that a query reads from streams, in the order of their first use."""
    derived = derived_by(query.rules)
    derived |= dict(query.label_sets).keys()
    own = dict(query.leaves)
    used = [name for rule in query.rules for atom in rule.body for name in predicates(atom)]
    used = [own[name].label if name in own else name for name in used]
    return tuple(name for name in dict.fromkeys(used) if name not in derived)


def vertex_labels(query: RegularQuery) -> tuple[str, ...]:
    """The labels of vertices that a query reads, in the order of their first use."""
    atoms = (atom for rule in query.rules for atom in rule.body)
    labels = dict.fromkeys(a.predicate for a in atoms if isinstance(a, VertexAtom))
    return tuple(label for label in labels if label != ANY_VERTEX_LABEL)


def orders_vertices(query: RegularQuery) -> bool:
    """Whether a condition or an aggregate of a query depends on the order of vertices."""
    columns = value_columns(query.rules, evaluation_order(query.rules))
    for rule in query.rules:
        others = named_edges(rule.body).keys() | values_in(rule.body, columns)

        def is_vertex(of: object, others: Container[str] = others) -> bool:
            return isinstance(of, Variable) and of.name not in others

        for condition in comparisons(rule.conditions):
            ordered = condition.sign not in ("=", "<>")
            if ordered and is_vertex(condition.left) and is_vertex(condition.right):
                return True
        for _, of in rule.properties:
            if (
                isinstance(of, Aggregated)
                and of.function in _ORDERED
                and any(map(is_vertex, of.values))
            ):
                return True
    return False


def _reads(query: RegularQuery) -> Reads:
    own = dict(query.leaves)
    vertices = {own[name].label if name in own else name for name in vertex_labels(query)}
    streams = {clause.stream for clause in query.windows if clause.stream is not None}
    return Reads(
        frozenset(input_labels(query)),
        frozenset(vertices),
        frozenset(labels.stream for _, labels in query.label_sets),
        frozenset(streams),
        frozenset(of.name for rule in query.rules for of in properties_of_vertices(rule)),
    )
