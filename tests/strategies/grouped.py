"""Random queries that aggregate the edges of a join, with keys and values of few of its atoms."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Expr, Lit, Prop, Vert
from tests.oracles.query import Atom, Rule, Var
from tests.oracles.roots import Agg, Column, Emit
from tests.strategies.properties import PROPERTIES, with_values
from tests.strategies.queries import TEXT_VERTICES, Case, bodies, cases_of
from tests.strategies.roots import NUMERIC

FUNCTIONS = ["count", "count", "sum", "avg", "min", "max", "count distinct", "stddev", "stddev_pop"]


@st.composite
def grouped_joins(draw: st.DrawFn) -> Case:
    """An answer with aggregates over two or three atoms; edges have names, and properties."""
    pool, labels = TEXT_VERTICES[-3:], ["a", "b"]
    body = tuple(
        replace(atom, edge=f"e{k}") if isinstance(atom, Atom) else atom
        for k, atom in enumerate(draw(bodies(labels, pool, most=3).filter(lambda b: len(b) > 1)))
    )
    edges = [atom.edge for atom in body if isinstance(atom, Atom) and atom.edge]
    terms = [term for atom in body for term in atom.terms]
    vertices = list(dict.fromkeys(term.name for term in terms if isinstance(term, Var)))
    keys = draw(st.lists(st.sampled_from(vertices), max_size=2, unique=True))
    columns: list[tuple[str, Column]] = []
    of = draw(st.sampled_from(edges)) if edges else None  # most functions are of one atom
    for k, function in enumerate(draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1))[:3]):
        argument: Expr | None = None
        if function in NUMERIC:
            argument = Prop(of, draw(st.sampled_from(["n", "r"]))) if of else Lit(2)
        elif function != "count" or draw(st.booleans()):
            vertex = st.sampled_from(vertices).map(Vert)
            argument = draw(vertex if of is None else vertex | st.just(Prop(of, "s")))
        columns.append((f"q{k}", Agg(function, argument)))
    conditions: tuple[Compare, ...] = ()
    if edges and draw(st.integers(0, 3)) == 0:
        conditions = (Compare(Prop(draw(st.sampled_from(edges)), "n"), ">", Lit(0)),)
    answer = Rule("Answer", (*keys, *(n for n, _ in columns)), body, conditions, tuple(columns))
    case = draw(cases_of((answer,), pool, 24, labels))
    values = draw(with_values(case.edges))
    emit = Emit("snapshot", draw(st.integers(1, 5))) if draw(st.booleans()) else None
    query = replace(case.query, properties=tuple(PROPERTIES.items()), emit=emit)
    return replace(case, query=query, edges=values)
