"""Random queries over vertex relations: labels of vertices and their properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Prop
from tests.oracles.query import Atom, Is, Rule, Var, Vertex
from tests.oracles.roots import Agg, Column
from tests.strategies.properties import (
    PROPERTIES,
    conditions_over,
    of_edges,
    with_columns,
    with_values,
)
from tests.strategies.queries import INTEGER_VERTICES, TEXT_VERTICES, Case, cases_of, input_labels
from tests.strategies.streams import sources

VERTEX_LABELS = ("P", "Q")


@st.composite
def vertex_cases(draw: st.DrawFn, longest: int = 24) -> Case:
    """A rule or two over edges and vertices, with conditions over both."""
    pool: Sequence[Vertex] = draw(st.sampled_from([TEXT_VERTICES, INTEGER_VERTICES]))
    pool = pool[-draw(st.sampled_from([1, 2, 2, 3])) :]
    drawn = [draw(_with_vertices(rule, pool)) for rule in draw(of_edges(pool))]
    drawn[-1] = draw(with_columns(drawn[-1]))
    case = draw(cases_of(tuple(drawn), pool, longest))
    found = [label for label in input_labels(case.query.rules) if label in VERTEX_LABELS]
    one = draw(st.booleans())
    windows = dict(case.query.sources)
    for label in found:
        windows[label] = replace(windows[label], stream="v") if one else draw(sources(("v",)))
    rows = tuple(replace(e, trg=e.src) if e.label in found else e for e in case.edges)
    query = replace(
        case.query,
        sources=tuple(windows.items()),
        properties=tuple(PROPERTIES.items()),
        vertices=tuple(found),
    )
    return replace(case, query=query, edges=draw(with_values(rows)))


@st.composite
def merged_cases(draw: st.DrawFn) -> Case:
    """A case whose answer has the newest properties of vertices and edges."""
    case = draw(vertex_cases())
    *others, answer = case.query.rules
    terms = [term for atom in answer.body for term in atom.terms]
    vertices = sorted({t.name for t in terms if isinstance(t, Var)} - {"_"})
    keys = draw(st.lists(st.sampled_from(vertices), max_size=2, unique=True)) if vertices else []
    rows = [a.row for a in answer.body if isinstance(a, Is) and a.row]
    rows += [a.edge for a in answer.body if isinstance(a, Atom) and a.edge]
    properties: list[tuple[str, Column]] = [("m0", Agg("count"))]
    for number in range(draw(st.integers(1, 2)) if rows else 0):
        row = draw(st.sampled_from(rows))
        value = Prop(row, draw(st.sampled_from(list(PROPERTIES))))
        properties.append((f"m{number + 1}", Agg("latest", value, Prop(row, "ts"))))
    variables = (*keys, *(name for name, _ in properties))
    answer = replace(answer, variables=variables, properties=tuple(properties))
    return replace(case, query=replace(case.query, rules=(*others, answer)))


@st.composite
def _with_vertices(draw: st.DrawFn, rule: Rule, pool: Sequence[Vertex]) -> Rule:
    """The rule with further atoms of vertices, and conditions over the named ones."""
    body = list(rule.body)
    labels = sorted({atom.label for atom in body if isinstance(atom, Atom)} - {"d"})
    terms = [term for atom in body for term in atom.terms]
    said: list[object] = []
    for number in range(draw(st.integers(1, 3))):
        vertex = draw(st.sampled_from(terms))
        row = draw(st.sampled_from([None, f"r{number}"]))
        place = draw(st.integers(0, len(body)))
        body.insert(place, Is(draw(st.sampled_from(VERTEX_LABELS)), vertex, row))
        said.append(vertex)
    if draw(st.booleans()):
        place = next(i for i, atom in enumerate(body) if isinstance(atom, Atom))
        edge = body[place]
        assert isinstance(edge, Atom)
        body[place] = replace(edge, edge="e" if edge.label in labels else None)
    # A vertex with two rows needs a name for each of them.
    alone = {t.name for t in terms if isinstance(t, Var) and said.count(t) == 1}
    named = [a.edge for a in body if isinstance(a, Atom) and a.edge]
    named += [a.row for a in body if isinstance(a, Is) and a.row]
    variables = sorted({t.name for t in terms if isinstance(t, Var)} - {"_"})
    count = draw(st.sampled_from([0, 1, 1, 2, 3]))
    over = conditions_over(named, variables, pool, sorted(alone - {"_"}))
    conditions = tuple(draw(over) for _ in range(count))
    return replace(rule, body=tuple(body), conditions=conditions)
