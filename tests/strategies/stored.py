"""Cases some of whose labels are stored graphs: their edges are of time 0 and have no window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Calc, Prop
from tests.oracles.query import AnyBut, AnyOf, Atom, Is, Rule, Source
from tests.oracles.roots import Agg, Column, values_of_column
from tests.oracles.snapshot import labels_of
from tests.strategies.queries import Case

ANY = frozenset({"_"})
"""Stands for all labels."""
STORED = Source("k", 0, stored=True)
VERTICES = Source("kv", 0, stored=True)


@st.composite
def stored_cases(draw: st.DrawFn, of: st.SearchStrategy[Case]) -> Case:
    """A case, at least one of whose labels is stored if that can be; perhaps all are.

    A label stays a stream's where the query asks for the time of one of its edges.
    """
    case = draw(of)
    timed = {label for rule in case.query.rules for label in _timed(rule)}
    free = [label for label, _ in case.query.sources if label not in timed and not ANY & timed]
    if not free:
        return case
    chosen = set(draw(st.lists(st.sampled_from(free), min_size=1, unique=True)))
    stored = {n: VERTICES if n in case.query.vertices else STORED for n in chosen}
    sources = tuple((n, stored.get(n, s)) for n, s in case.query.sources)
    edges = [replace(e, ts=0) if e.label in chosen else e for e in case.edges]
    return replace(
        case,
        query=replace(case.query, sources=sources),
        edges=tuple(sorted(edges, key=lambda edge: edge.ts)),
    )


def _timed(rule: Rule) -> Iterator[str]:
    """The labels of the edges and vertices whose time a rule reads."""
    sides = [side for c in rule.conditions for side in (c.left, c.right)]
    values = [*sides, *(of for _, of in rule.properties)]
    names = {of.edge for value in values for of in _properties(value) if of.name == "ts"}
    for atom in rule.body:
        if isinstance(atom, Atom) and atom.edge in names:
            yield atom.label
        if isinstance(atom, AnyOf) and (atom.edge in names or atom.tests):
            yield from labels_of(atom)
            yield from ANY if any(isinstance(c, AnyBut) for c in atom.choices) else ()
        if isinstance(atom, Is) and {atom.row, getattr(atom.vertex, "name", None)} & names:
            yield atom.label


def _properties(value: Column | None) -> Iterator[Prop]:
    if isinstance(value, Agg):
        for part in values_of_column(value):
            yield from _properties(part)
    elif isinstance(value, Prop):
        yield value
    elif isinstance(value, Calc):
        for part in value.parts:
            yield from _properties(part)
