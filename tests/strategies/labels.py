"""Random queries whose paths go over sets of labels, and over edges chosen by properties."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Lit, Prop
from tests.oracles.query import (
    AnyBut,
    Atom,
    Back,
    BodyAtom,
    PathAtom,
    Query,
    Regex,
    Rule,
    Step,
    Var,
)
from tests.strategies.properties import PROPERTIES, with_values
from tests.strategies.queries import TEXT_VERTICES, Case, regexes, replaced
from tests.strategies.streams import edges, sources

LABELS = ("a", "b", "c")
TESTS = (
    Compare(Prop("_", "n"), ">=", Lit(2)),
    Compare(Prop("_", "ts"), "<", Lit(9)),
    Compare(Prop("_", "s"), "=", Lit("u")),
    Compare(Prop("_", "n"), "<>", Prop("_", "r")),
)


@st.composite
def leaves(draw: st.DrawFn, labels: tuple[str, ...] = LABELS) -> Regex:
    """A label or a set of labels, perhaps with tests, forwards or backwards."""
    tests = tuple(draw(st.lists(st.sampled_from(TESTS), max_size=2, unique=True)))
    tests = draw(st.sampled_from([(), (), tests]))
    some = st.lists(st.sampled_from(labels), min_size=1, max_size=2, unique=True).map(tuple)
    found: Step | AnyBut = draw(
        st.one_of(
            st.builds(Step, st.sampled_from(labels), st.just(tests)),
            st.just(AnyBut((), None, tests)),
            st.builds(AnyBut, some, st.none(), st.just(tests)),
            st.builds(AnyBut, st.none(), some, st.just(tests)),
            st.builds(AnyBut, some, some, st.just(tests)),
        )
    )
    return Back(found) if draw(st.integers(0, 3)) == 0 else found


@st.composite
def label_cases(draw: st.DrawFn, longest: int = 20) -> Case:
    """One rule of up to three paths, over labels of up to two streams."""
    pool = TEXT_VERTICES[: draw(st.sampled_from([2, 3, 3]))]
    ends = [("x", "y"), ("y", "z"), ("x", "z")][: draw(st.sampled_from([1, 1, 2, 3]))]
    body: list[BodyAtom] = []
    for source, target in ends:
        shape = draw(regexes(("0", "1"), 1))
        steps = {"0": draw(leaves()), "1": draw(leaves())}
        body.append(PathAtom(replaced(shape, steps), Var(source), Var(target)))
    if draw(st.integers(0, 3)) == 0:
        body.append(Atom("a", Var("x"), Var("w")))
    rule = Rule("Answer", tuple(ends[0]), tuple(body))
    one = draw(sources())
    several = {label: draw(sources(("s", "t"))) for label in LABELS}
    chosen = draw(st.sampled_from([dict.fromkeys(LABELS, one), several]))
    query = Query((rule,), tuple(chosen.items()), tuple(PROPERTIES.items()))
    drawn = draw(edges(LABELS, pool, longest))
    return Case(replace(query), draw(with_values(drawn)), False)
