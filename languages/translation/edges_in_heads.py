"""Edges in the heads of rules: ``count(distinct e)``, and the edges of optional parts.

In: rules whose heads have edges. Out: rules with a value in place of each such edge, which is equal
for two edges where the edges are, whatever atoms match them: the JSON text of the label, the ends
and the properties that identify edges of this label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from ...algebra import functions
from ...algebra.scalar import Literal
from ..query.atoms import EdgeAtom, Variable
from ..query.conditions import named_edges
from ..query.regular_query import Aggregated, Computed, Output, Property, Rule, Value
from .edges_as_values import ends_of, tag_of
from .inputs import Inputs


def with_edges_in_head(rule: Rule, inputs: Inputs) -> Rule:
    """The rule with values in place of the edges in its head."""
    edges = {name: of for name, of in named_edges(rule.body).items() if isinstance(of, EdgeAtom)}

    def value(name: str) -> Value:
        return _identity(edges[name], inputs)

    own = [name for name in rule.variables if name in edges and name not in dict(rule.properties)]
    if not own and edges.keys().isdisjoint(counted_edges(rule)):
        return rule
    counted = tuple((name, _with_value(of, edges, value)) for name, of in rule.properties)
    return replace(rule, properties=(*counted, *((name, value(name)) for name in own)))


def counted_edges(rule: Rule) -> set[str]:
    """The variables and edges of which the head of a rule counts the different ones."""
    return {name for _, of in rule.properties if (name := _counted(of)) is not None}


def _counted(of: Output) -> str | None:
    """The variable or edge of which a column counts the different ones, if it does."""
    match of:
        case Aggregated("count_distinct", Variable(name)):
            return name
    return None


def _with_value(of: Output, edges: dict[str, EdgeAtom], value: Callable[[str], Value]) -> Output:
    name = _counted(of)
    if name is None or name not in edges:
        return of
    assert isinstance(of, Aggregated)
    return replace(of, argument=value(name))


def _identity(edge: EdgeAtom, inputs: Inputs) -> Value:
    """The value that identifies an edge: for each label it has the properties of that label."""
    assert edge.edge is not None
    origins = {origin.tag: origin for origin in inputs.origins(edge)}
    label = tag_of(edge, {tag: origin.identity for tag, origin in origins.items()})
    tags: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for tag, origin in origins.items():
        tags[origin.identity].append(tag)
    *several, last = [
        (of_these, _list(label, *ends_of(edge), *(Property(edge.edge, name) for name in names)))
        for names, of_these in tags.items()
    ]
    if not several:
        return last[1]
    parts: list[Value] = []
    for of_these, identity in several:
        tests = [Computed(functions.EQUAL, (label, Literal(tag))) for tag in of_these]
        parts += [Computed(functions.ANY_TRUE, tuple(tests)), identity]
    return Computed(functions.CASE_WHEN, (*parts, last[1]))


def _list(*values: Value) -> Value:
    """A list of values; one that is longer than a call takes has lists in it."""
    most = functions.MOST_ARGUMENTS
    if len(values) > most:
        parts = [values[k : k + most] for k in range(0, len(values), most)]
        values = tuple(Computed(functions.LIST_OF, part) for part in parts)
    return Computed(functions.LIST_OF, values)
