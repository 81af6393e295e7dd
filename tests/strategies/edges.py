"""Other ways to ask for an edge: with tests, of any or several labels, of either direction; and the
path of one step, which is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Calc, Compare, Lit, Prop, Vert
from tests.oracles.query import (
    AnyBut,
    AnyOf,
    Atom,
    Back,
    BodyAtom,
    Choice,
    PathAtom,
    Regex,
    Repeat,
    Rule,
    Step,
)
from tests.oracles.roots import Column, values_of_column

ALWAYS = Compare(Prop("_", "ts"), ">=", Lit(0))
"""True of every edge, so that it changes no answer."""
TESTS = (
    ALWAYS,
    Compare(Prop("_", "n"), ">=", Lit(1)),
    Compare(Prop("_", "ts"), "<", Lit(9)),
    Compare(Prop("_", "s"), "=", Lit("u")),
    Compare(Prop("_", "n"), "<>", Prop("_", "r")),
)
_FORMS = ["as it is", "tested", "any", "any way", "several", "either way", "step", "step"]


@st.composite
def with_forms(draw: st.DrawFn, rule: Rule, labels: Sequence[str]) -> Rule:
    """The rule with other forms for some of its edges of the input."""
    named = names_looked_at(rule)
    body = [
        draw(_form(atom, sorted(labels), atom.edge in named))
        if isinstance(atom, Atom) and atom.label in labels
        else atom
        for atom in rule.body
    ]
    return replace(rule, body=tuple(body))


def edges_of(rule: Rule) -> list[str]:
    """The names of a rule's edges."""
    return [atom.edge for atom in rule.body if isinstance(atom, Atom | AnyOf) and atom.edge]


def names_looked_at(rule: Rule) -> set[str]:
    """The edges and vertices that the conditions and the head of a rule read."""
    values: list[Column | None] = [side for c in rule.conditions for side in (c.left, c.right)]
    values += [part for _, of in rule.properties for part in values_of_column(of)]
    return {name for value in values for name in _names(value)}


def _names(of: Column | None) -> set[str]:
    match of:
        case Vert(name) | Prop(name):
            return {name}
        case Calc(_, parts):
            return set[str]().union(*map(_names, parts))
        case _:
            return set()


@st.composite
def _form(draw: st.DrawFn, atom: Atom, labels: Sequence[str], looked_at: bool) -> BodyAtom:
    form = draw(st.sampled_from(_FORMS[:-2] if looked_at else _FORMS))
    step = Step(atom.label)
    both: list[Choice] = [*map(Step, labels), *(Back(Step(label)) for label in labels)]
    either: st.SearchStrategy[Choice] = st.sampled_from(both)
    match form:
        case "as it is":
            return atom
        case "step":
            return draw(one_step(atom))
        case "several":
            more = st.one_of(either, st.just(AnyBut((atom.label,), None)))
            choices: tuple[Choice, ...] = tuple(dict.fromkeys([step, draw(more), draw(more)]))
        case _:
            choices = _choices(form, step)
    tests = draw(st.lists(st.sampled_from(TESTS), max_size=2, unique=True))
    if form == "tested" and not tests:
        tests = [ALWAYS]
    return AnyOf(choices, atom.source, atom.target, atom.edge, tuple(tests))


@st.composite
def one_step(draw: st.DrawFn, atom: Atom) -> PathAtom:
    """A path of one step along the edges of an atom, or against them."""
    step = Step(atom.label)
    steps: list[Regex] = [step, Back(step), Repeat(step, 1, 1), Back(Back(step))]
    return PathAtom(draw(st.sampled_from(steps)), atom.source, atom.target)


def _choices(form: str, step: Step) -> tuple[Choice, ...]:
    return {
        "any": (AnyBut(),),
        "any way": (AnyBut(), Back(AnyBut())),
        "either way": (step, Back(step)),
        "tested": (step,),
    }[form]


@st.composite
def gcore_form(draw: st.DrawFn, atom: Atom, labels: Sequence[str]) -> BodyAtom:
    """The forms of G-CORE in place of an edge."""
    form = draw(st.sampled_from([*_FORMS, "any way"]))
    if form == "as it is":
        return atom
    if form == "step":
        return draw(one_step(atom))
    if form == "several":
        choices: tuple[Choice, ...] = tuple(map(Step, labels))
        choices += tuple(Back(Step(label)) for label in labels) if draw(st.booleans()) else ()
    else:
        choices = _choices(form, Step(atom.label))
    tests = (Compare(Prop("_", "n"), "=", Lit(2)),) if form == "tested" else ()
    return AnyOf(choices, atom.source, atom.target, atom.edge, tests)
