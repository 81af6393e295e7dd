"""Random queries that compute, aggregate and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Calc, Expr, Lit, Prop, Vert
from tests.oracles.query import Rule, Var
from tests.oracles.roots import Agg, Column, Emit
from tests.strategies.derived import kind_of, values_of
from tests.strategies.edges import edges_of
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case

FUNCTIONS = [
    *["count", "count", "count distinct", "sum", "avg", "min", "max"],
    *["collect", "collect distinct", "latest"],
    *["stddev", "stddev_pop", "percentile_cont", "percentile_disc"],
]
NUMERIC = {"sum", "avg", "stddev", "stddev_pop", "percentile_cont", "percentile_disc"}
"""The functions of numbers alone."""
PERCENTILES = (0.0, 0.1, 0.5, 0.75, 0.99, 1.0)
MODES = st.sampled_from(["entering", "exit", "snapshot"])


@st.composite
def emits(draw: st.DrawFn, *, lists: bool = False) -> Emit:
    """Reports after a period, from an instant on, or at events; lists go with periods from 0 on."""
    mode, every = draw(MODES), draw(st.integers(1, 5))
    if lists or draw(st.booleans()):
        return Emit(mode, every)
    events = draw(st.none() | st.integers(1, 3))
    return Emit(mode, every, events, draw(st.just(0) | st.integers(0, 12)))


def collects(rules: Sequence[Rule]) -> bool:
    """Whether a rule has a list."""
    columns = (column for rule in rules for _, column in rule.properties)
    return any(isinstance(c, Agg) and c.function.startswith("collect") for c in columns)


@st.composite
def root_cases(draw: st.DrawFn, longest: int = 24, *, aggregates: bool = False) -> Case:
    """A query over properties, with computed columns, aggregates or reports.

    ``aggregates``: as in :func:`property_cases`.
    """
    case = draw(property_cases(longest, aggregates=aggregates))
    query = case.query
    answers = [rule for rule in query.rules if rule.head == "Answer"]
    kind = draw(st.sampled_from(["computed", "aggregated", "aggregated", "aggregated", "plain"]))
    shape = _shape(draw) if kind == "aggregated" else []
    changed = []
    for rule in query.rules:
        if rule.head == "Answer" and kind == "computed" and len(answers) == 1:
            changed.append(_with_computed(draw, rule, case.integers))
        elif rule.head == "Answer" and kind == "aggregated":
            changed.append(_aggregated(draw, rule, shape, case.integers))
        else:
            changed.append(rule)
    emit = None
    if kind == "plain" or draw(st.integers(0, 2)) == 0:
        emit = draw(emits(lists=collects(changed)))
    return replace(case, query=replace(query, rules=tuple(changed), emit=emit))


Shape = tuple[str, float | None]
"""A key or the function of an aggregate, with the number of a percentile."""


def _shape(draw: st.DrawFn) -> list[Shape]:
    """The kinds of the columns, keys or aggregates, which all rules of the answer share."""
    keys: list[Shape] = [("key", None)] * draw(st.sampled_from([0, 1, 1, 2]))
    names = draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=3))
    calls = [(name, draw(percentiles(name))) for name in names]
    return draw(st.permutations([*keys, *calls]))


def percentiles(function: str) -> st.SearchStrategy[float | None]:
    """The number of a percentile; None for another function."""
    is_percentile = function.startswith("percentile")
    return st.sampled_from(PERCENTILES) if is_percentile else st.none()


def _with_computed(draw: st.DrawFn, rule: Rule, integers: bool) -> Rule:
    several = range(draw(st.integers(1, 2)))
    columns = [(f"q{i}", draw(_values(rule, integers))) for i in several]
    names = [name for name, _ in columns]
    return replace(
        rule,
        variables=(*rule.variables, *names),
        properties=(*rule.properties, *columns),
    )


def _aggregated(draw: st.DrawFn, rule: Rule, shape: list[Shape], integers: bool) -> Rule:
    names: list[str] = []
    properties: list[tuple[str, Column]] = []
    vertices = [*_vertices(rule), *values_of(rule)]
    for i, (what, percentile) in enumerate(shape):
        if what == "key" and vertices and draw(st.integers(0, 2)):
            free = [name for name in vertices if name not in names]
            if free:
                names.append(draw(st.sampled_from(free)))
                continue
        names.append(f"q{i}")
        if what == "key":
            properties.append((f"q{i}", draw(_values(rule, integers))))
            continue
        argument: Expr | None = None
        if what != "count" or draw(st.booleans()):
            argument = draw(_values(rule, integers, numbers=what in NUMERIC))
        time = draw(_times(rule, integers)) if what == "latest" else None
        properties.append((f"q{i}", Agg(what, argument, time, percentile)))
    return replace(rule, variables=tuple(names), properties=tuple(properties))


def _times(rule: Rule, integers: bool) -> st.SearchStrategy[Expr]:
    """A time of a rule's edges, or any value."""
    edges = edges_of(rule)
    own = st.builds(Prop, st.sampled_from(edges), st.just("ts")) if edges else None
    values = _values(rule, integers)
    return values if own is None else st.one_of(own, own, values)


def _vertices(rule: Rule) -> list[str]:
    terms = [term for atom in rule.body for term in atom.terms]
    names = {term.name for term in terms if isinstance(term, Var)} - {"_"}
    return sorted(name for name in names if kind_of(name) is None)


@st.composite
def _values(draw: st.DrawFn, rule: Rule, integers: bool, numbers: bool = False) -> Expr:
    """A value over a rule's edges, its vertices and constants."""
    edges = edges_of(rule)
    number: list[st.SearchStrategy[Expr]] = [st.sampled_from([0, 1, 2, 0.1, 1e16]).map(Lit)]
    if edges:
        number += [st.builds(Prop, st.sampled_from(edges), st.sampled_from(["n", "r", "ts"]))] * 3
    values = values_of(rule)
    numbers_read = [name for name in values if kind_of(name) in ("n", "r")]
    if numbers_read:
        number += [st.sampled_from(numbers_read).map(Vert)] * 3
    if integers and _vertices(rule):
        number.append(st.sampled_from(_vertices(rule)).map(Vert))
    simple = st.one_of(number)
    computed = st.one_of(
        st.builds(lambda s, a, b: Calc(s, (a, b)), st.sampled_from("+-*/"), simple, simple),
        simple.map(lambda part: Calc("abs", (part,))),
        st.builds(lambda f, a, b: Calc(f, (a, b)), st.sampled_from(["DIVIDE", "MODULO"]), simple,
                  simple),
        simple.map(lambda part: Calc("SIGN_OF", (part,))),
    )  # fmt: skip
    kinds = [simple, computed]
    if not numbers:
        if edges:
            kinds.append(st.builds(Prop, st.sampled_from(edges), st.sampled_from(["s", "b"])))
        if _vertices(rule) or values:
            kinds.append(st.sampled_from([*_vertices(rule), *values]).map(Vert))
    return draw(st.one_of(kinds))
