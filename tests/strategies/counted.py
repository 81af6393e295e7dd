"""Random queries with counts: a rule over a few parallel edges, in every form of the language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Lit, Prop, Vert
from tests.oracles.query import Atom, BodyAtom, Query, Rule, Var
from tests.oracles.roots import Agg, Column
from tests.strategies.edges import edges_of, gcore_form, with_forms
from tests.strategies.properties import PROPERTIES, with_values
from tests.strategies.queries import TEXT_VERTICES, Case
from tests.strategies.streams import edges, sources

LABELS = ("a", "b")
SHAPES: list[list[tuple[str, str]]] = [
    [("x", "y")],
    [("x", "y")],
    [("x", "x")],
    [("x", "y"), ("x", "y")],
    [("x", "y"), ("y", "x")],
    [("x", "y"), ("y", "z")],
]


@st.composite
def counted_cases(draw: st.DrawFn, gcore: bool = False, longest: int = 12) -> Case:
    """A query whose only rule counts and sums; on request one that G-CORE can express."""
    label = st.sampled_from(LABELS)
    name = st.sampled_from([True, False])
    body: tuple[BodyAtom, ...] = tuple(
        Atom(draw(label), Var(source), Var(target), f"e{number}" if draw(name) else None)
        for number, (source, target) in enumerate(draw(st.sampled_from(SHAPES)))
    )
    rule = Rule("Answer", (), body)
    if gcore:
        atoms = [draw(gcore_form(atom, LABELS)) for atom in body if isinstance(atom, Atom)]
        rule = replace(rule, body=tuple(atoms))
    else:
        rule = draw(with_forms(rule, LABELS))
    window = draw(sources())
    query = Query(
        (draw(_counting(rule)),),
        tuple((label, window) for label in LABELS),
        tuple(PROPERTIES.items()),
    )
    drawn = draw(edges(LABELS, TEXT_VERTICES[:2], longest))
    # Without properties only times and ends distinguish edges.
    return Case(query, draw(with_values(drawn)) if draw(st.booleans()) else drawn)


@st.composite
def _counting(draw: st.DrawFn, rule: Rule) -> Rule:
    """The rule with keys and aggregates for its head, and perhaps a condition that always holds."""
    terms = [term for atom in rule.body for term in atom.terms]
    vertices = sorted({term.name for term in terms if isinstance(term, Var)})
    keys = draw(st.lists(st.sampled_from(vertices), max_size=2, unique=True))
    named = edges_of(rule)
    calls: list[Column] = [Agg("count"), *draw(st.lists(_calls(vertices, named), max_size=2))]
    columns = tuple((f"q{number}", call) for number, call in enumerate(calls))
    always = [Compare(Prop(edge, "ts"), ">=", Lit(0)) for edge in named]
    return replace(
        rule,
        variables=(*keys, *(name for name, _ in columns)),
        properties=columns,
        conditions=tuple(always) if draw(st.booleans()) else (),
    )


def _calls(vertices: Sequence[str], named: Sequence[str]) -> st.SearchStrategy[Agg]:
    vertex = st.sampled_from(vertices).map(Vert)
    calls = [
        st.builds(Agg, st.sampled_from(["count", "count distinct", "max"]), vertex),
    ]
    if named:
        edge = st.sampled_from(named)
        functions = st.sampled_from(["sum", "count", "min", "avg", "count distinct", "stddev"])
        calls.append(st.builds(Agg, functions, st.builds(Prop, edge, st.sampled_from(["n", "ts"]))))
        calls.append(st.builds(Agg, st.just("count"), edge.map(Vert)))
        time = st.builds(Prop, edge, st.just("ts"))
        calls.append(st.builds(Agg, st.just("latest"), st.builds(Prop, edge, st.just("n")), time))
    return st.one_of(calls)
