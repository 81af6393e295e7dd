"""Random queries over predicates under windows of their own, some under two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.query import Atom, BodyAtom, Closure, PathAtom, Rule, Step, Vertex
from tests.strategies.queries import TEXT_VERTICES, Case, cases_of, replaced, rules, steps_in


@st.composite
def view_cases(draw: st.DrawFn, longest: int = 20) -> Case:
    """A query with derived predicates, each read under a window, or under two."""
    pool = TEXT_VERTICES[: draw(st.sampled_from([2, 3, 3]))]
    drawn = draw(rules(pool).filter(lambda found: len({rule.head for rule in found}) > 1))
    heads = {rule.head for rule in drawn} - {"Answer"}
    found = tuple(draw(_windowed(rule, sorted(heads), pool)) for rule in drawn)
    return draw(cases_of(found, pool, longest))


@st.composite
def _windowed(draw: st.DrawFn, rule: Rule, heads: Sequence[str], pool: Sequence[Vertex]) -> Rule:
    lengths = st.integers(1, 14)

    def named(label: str) -> str:
        length = draw(lengths)
        slide = draw(st.sampled_from([1, 1, max(1, length // 2), length]))
        window = f"{label}[WINDOW {length}{f' SLIDE {slide}' if slide > 1 else ''}]"
        return window if label in heads and draw(st.integers(0, 4)) else label

    def atom(of: BodyAtom) -> BodyAtom:
        match of:
            case Atom(label) | Closure(label):
                return replace(of, label=named(label))
            case PathAtom(path):
                new = {label: Step(named(label)) for label in steps_in(path)}
                return replace(of, regex=replaced(path, new))
            case _:
                return of

    return replace(rule, body=tuple(map(atom, rule.body)))
