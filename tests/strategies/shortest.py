"""Random queries with shortest paths: at report instants, and bounded ones at every instant."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Lit, Prop, Vert
from tests.oracles.query import (
    Alt,
    Atom,
    BodyAtom,
    Const,
    Derived,
    Not,
    PathAtom,
    Query,
    Regex,
    Repeat,
    Rule,
    Seq,
    Step,
    Term,
    Var,
    plus,
)
from tests.oracles.roots import Agg, Column, Emit
from tests.strategies.queries import INTEGER_VERTICES, LABELS, TEXT_VERTICES, Case, regexes
from tests.strategies.roots import MODES
from tests.strategies.streams import edges, sources

Which = Literal["shortest", "all shortest"]
X, Y, Z = Var("x"), Var("y"), Var("z")
LENGTH, PLACE = Prop("P", "length"), Prop("P", "place")
U, V = Var("u"), Var("v")
OVER: list[tuple[Term, ...]] = [(U,), (U,), (U, V), (X,), (Z,), (Y, V)]
"""The vertices and steps of a path that an atom binds."""


@st.composite
def shortest_cases(draw: st.DrawFn, longest: int = 16, *, emits: bool = True) -> Case:
    """A query with a shortest path, on a stream that is short enough to walk all of them."""
    labels = draw(st.sampled_from([LABELS[:1], LABELS[:2], LABELS[:2]]))
    integers = draw(st.booleans())
    names = [*(INTEGER_VERTICES if integers else TEXT_VERTICES)][: draw(st.integers(3, 5))]
    step, rules = list(labels), list[Rule]()
    if draw(st.integers(0, 4)) == 0:
        both = (Atom(labels[0], X, Z), Atom(labels[-1], Z, Y))
        rules.append(Rule("d", ("x", "y"), both))
        step.append("d")
    path = _path(draw, step, names, emits)
    if emits and draw(st.integers(0, 2)) == 0:
        over = draw(st.sampled_from(OVER))
        path = replace(path, over=over)
    body: list[BodyAtom] = [path]
    conditions: list[Compare] = []
    negated: list[Not] = []
    if draw(st.integers(0, 2)) == 0:
        body.append(Atom(draw(st.sampled_from(labels)), Y, Z))
    if draw(st.integers(0, 2)) == 0:
        sign, most = draw(st.sampled_from(["<=", "=", ">", "<"])), draw(st.integers(1, 3))
        conditions.append(Compare(LENGTH, sign, Lit(most)))
    if draw(st.integers(0, 4)) == 0 and not {X, Y}.isdisjoint(t for a in body for t in a.terms):
        negated.append(Not((Atom(draw(st.sampled_from(labels)), Y, X),)))
    ends = tuple({t.name: None for t in path.terms if isinstance(t, Var)})
    is_placed = bool(path.over) and draw(st.booleans())
    placed: tuple[tuple[str, Column], ...] = (("at", PLACE),) if is_placed else ()
    whole = (tuple(body), tuple(conditions))
    length: tuple[tuple[str, Column], ...] = (("n", LENGTH),)
    kinds = ["plain", "plain", "lists", "counted", "inner", "unread", "handed on", "averaged"]
    match draw(st.sampled_from(kinds)):
        case "lists" if emits:
            lists = draw(st.sampled_from([("relationships",), ("nodes", "relationships")]))
            columns: tuple[tuple[str, Column], ...] = (
                *length, *placed, *((f"of_{name}", Prop("P", name)) for name in lists),
            )  # fmt: skip
            head = (*ends, *(name for name, _ in columns))
            rules.append(Rule("Answer", head, *whole, columns, tuple(negated)))
        case "counted":
            counts: tuple[tuple[str, Column], ...] = (
                ("m", Agg("count")), ("least", Agg("min", LENGTH)),
                *((name, Agg("max", PLACE)) for name, _ in placed),
            )  # fmt: skip
            if path.shortest == "all shortest" and not emits:
                counts = counts[1:]
            head = (*draw(st.sampled_from([ends[:1], ends[-1:]])), *(name for name, _ in counts))
            rules.append(Rule("Answer", head, *whole, counts, tuple(negated)))
        case "inner":
            rules.append(Rule("Far", (*ends, "n"), *whole, length, tuple(negated)))
            terms = (*map(Var, ends), Var("n"))
            more = Atom(labels[0], Var(ends[-1]) if ends else X, Var("w"))
            rules.append(Rule("Answer", ("n", "w"), (Derived("Far", terms), more)))
        case "handed on" if emits:
            lists = draw(st.sampled_from([("relationships",), ("relationships", "nodes")]))
            handed = tuple((f"of_{name}", Prop("P", name)) for name in lists)
            head = tuple(draw(st.permutations([*ends, *(name for name, _ in handed)])))
            rules.append(Rule("Far", head, *whole, handed, tuple(negated)))
            beside = draw(st.sampled_from([(), ends[-1:], ("w",)]))
            far: list[BodyAtom] = [Derived("Far", tuple(map(Var, head)))]
            if beside == ("w",):
                far.append(Atom(labels[0], Var(ends[-1]) if ends else X, Var("w")))
            rules.append(Rule("Answer", ("of_relationships", *beside), tuple(far)))
        case "averaged" if emits:
            keyed: tuple[tuple[str, Column], ...] = (
                ("way", Prop("P", "relationships")), ("mean", Agg("avg", LENGTH)),
            )  # fmt: skip
            rules.append(Rule("Far", (*ends[:1], "mean", "way"), *whole, keyed, tuple(negated)))
            mean = Derived("Far", (*map(Var, ends[:1]), Var("mean"), Var("way")))
            shorter = Compare(Vert("mean"), draw(st.sampled_from(["<", ">="])), Lit(2))
            rules.append(Rule("Answer", ("way", *ends[:1]), (mean,), (shorter,)))
        case "unread":
            rules.append(Rule("Answer", ends or ("z",), *_unread(whole), (), tuple(negated)))
        case _:
            columns = (*length, *placed)
            head = (*ends, *(name for name, _ in columns))
            rules.append(Rule("Answer", head, *whole, columns, tuple(negated)))
    emit = Emit(draw(MODES), draw(st.integers(1, 5))) if emits else None
    of_labels = tuple((label, draw(sources())) for label in labels)
    query = Query(tuple(rules), of_labels, emit=emit)
    return Case(query, draw(edges(labels, names, longest)), integers)


def _unread(whole: tuple[tuple[BodyAtom, ...], tuple[Compare, ...]]) -> tuple[
    tuple[BodyAtom, ...], tuple[Compare, ...]
]:  # fmt: skip
    """The body without the conditions on its path, and with an atom beside it."""
    body, _ = whole
    return (*body, Atom("a", Y, Z)), ()


def _path(draw: st.DrawFn, labels: list[str], names: list[str | int], emits: bool) -> PathAtom:
    """A shortest path between variables, a constant, or one variable."""
    which: Which = draw(st.sampled_from(["shortest", "all shortest"]))
    a, b = Step(labels[0]), Step(labels[-1])
    bounded: list[Regex] = [
        Repeat(a, 1, 3), Alt((a, Seq((b, a)))), Repeat(Alt((a, b)), 1, 3),
        Seq((a, Repeat(b, 0, 2))),
    ]  # fmt: skip
    closures: list[Regex] = [plus(a), plus(Alt((a, b))), Seq((a, plus(b))), plus(Seq((a, b)))]
    regex = draw(st.sampled_from(bounded))
    if emits:
        regex = draw(st.one_of(st.sampled_from([*bounded, *closures]), regexes(labels)))
    starts: list[Term] = [X, X, X, Const(names[0])]
    targets: list[Term] = [Y, Y, Y, Y, Const(names[1]), X]
    source, target = draw(st.sampled_from(starts)), draw(st.sampled_from(targets))
    return PathAtom(regex, source, target, "P", which)
