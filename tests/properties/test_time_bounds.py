"""Joins that hold rows for less than their validity, where times of edges are bounded."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin, MultiwayJoin
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import LocalRun, run_plan
from headrace.optimizer import Options
from tests.oracles.conditions import Calc, Compare, Lit, Prop
from tests.oracles.query import Atom, Query, Rule, Source, Var, text
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, plans_of
from tests.properties.running import BATCH_ROWS, judge, lines_of, record_batch, rows_of_edges
from tests.strategies.amount import examples
from tests.strategies.queries import TEXT_VERTICES, Case, cases_of, input_labels
from tests.strategies.streams import long_stream

SHAPES = [
    [(0, 1), (1, 2)],
    [(0, 1), (0, 2)],
    [(0, 1), (1, 2), (2, 3)],
    [(0, 1), (1, 2), (2, 0)],
    [(0, 1), (0, 2), (0, 3)],
]
"""The shapes of rules, each with its edges as pairs of numbered ends."""


@st.composite
def bounded_cases(draw: st.DrawFn) -> Case:
    """Few edges whose times are compared in any way."""
    shape = draw(st.sampled_from(SHAPES))
    body = [
        Atom(draw(st.sampled_from("ab")), Var(f"v{s}"), Var(f"v{t}"), edge=f"e{k}")
        for k, (s, t) in enumerate(shape)
    ]
    edges = st.sampled_from([f"e{k}" for k in range(len(shape))])
    conditions = []
    for _ in range(draw(st.integers(1, 3))):
        one, other = Prop(draw(edges), "ts"), Prop(draw(edges), "ts")
        bound = Lit(draw(st.integers(0, 8)))
        apart = Calc("-", (one, other))
        conditions.append(
            draw(
                st.sampled_from(
                    [
                        Compare(Calc("abs", (apart,)), "<=", bound),
                        Compare(apart, draw(st.sampled_from(["<", "<=", "="])), bound),
                        Compare(one, draw(st.sampled_from([">", ">="])), Calc("-", (other, bound))),
                        Compare(one, "<=", other),
                        Compare(one, "<", other),
                    ]
                )
            )
        )
    names = sorted({f"v{number}" for pair in shape for number in pair})
    head = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    rule = Rule("Answer", tuple(head), tuple(body), tuple(conditions))
    case = draw(cases_of((rule,), TEXT_VERTICES[-2:]))
    length, pace = draw(st.integers(10, 40)), draw(st.sampled_from([0.5, 2.0]))
    labels, vertices = input_labels((rule,)), TEXT_VERTICES[-2:]
    return replace(
        case, edges=long_stream(draw(st.integers(0, 999)), labels, vertices, length, pace)
    )


@pytest.mark.long
@given(case=bounded_cases(), seed=st.integers(0, 999))
@examples(60)
def test_bounds_on_time_change_no_result(case: Case, seed: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case, statistics=seed), most=6, seed=seed):
        for batch_rows in BATCH_ROWS:
            judge(truth, plan, lines_of(case, plan, batch_rows))


def _case(conditions: tuple[Compare, ...], length: int, window: int, ends: str = "0123") -> Case:
    """A stream for a chain of three edges, or another shape with the ends of its edges in order."""
    vertices = [Var(f"v{end}") for end in ends]
    e, f, g = (Atom("a", vertices[k], vertices[k + 1], edge=n) for k, n in enumerate("efg"))
    rule = Rule("Answer", (vertices[0].name, vertices[2].name), (e, f, g), conditions)
    query = Query((rule,), (("a", Source("s", window, 1)),))
    return Case(query, long_stream(3, ["a"], tuple("0123456789abcdef"), length, 0.5))


def _apart(one: str, other: str, bound: int) -> Compare:
    times = Prop(one, "ts"), Prop(other, "ts")
    return Compare(Calc("abs", (Calc("-", times),)), "<=", Lit(bound))


def _horizons(plan: PhysicalPlan) -> list[object]:
    joins = [n.operator for n in plan.nodes if isinstance(n.operator, HashJoin)]
    return [join.horizon for join in joins]


def _without_horizons(plan: PhysicalPlan) -> PhysicalPlan:
    nodes = []
    for node in plan.nodes:
        operator: Any = node.operator
        match operator:
            case HashJoin():
                operator = replace(operator, horizon=None)
            case MultiwayJoin():
                operator = replace(operator, horizons=None)
        nodes.append(node.model_copy(update={"operator": operator}))
    return plan.model_copy(update={"nodes": tuple(nodes)})


def _held(plan: PhysicalPlan, case: Case) -> tuple[int, set[tuple[object, ...]]]:
    """The most rows that joins held, sampled over time, and all results."""
    run = LocalRun(plan)
    joins = [n.id for n in plan.nodes if isinstance(n.operator, HashJoin | MultiwayJoin)]
    most = 0
    found: set[tuple[object, ...]] = set()
    for start in range(0, len(case.edges), 200):
        edges = case.edges[start : start + 200]
        results = run.push([record_batch(case.query, edges)])
        found |= {(r.bindings, r.ts, r.exp) for r in run.results(results)}
        run.pipeline.purge(edges[-1].ts)
        most = max(most, sum(run.counters[i].state_entries for i in joins))
    return most, found


def test_bounds_reduce_held_rows_on_a_long_stream() -> None:
    case = _case((_apart("e", "f", 3), _apart("f", "g", 3)), 3000, 200)
    plan = optimized(case, Options()).plan
    assert all(horizon is not None for horizon in _horizons(plan))
    less, results = _held(plan, case)
    more, same = _held(_without_horizons(plan), case)
    assert results == same
    assert results
    assert less * 5 < more


def test_bounds_reduce_the_rows_that_a_multiway_join_holds() -> None:
    case = _case((_apart("e", "f", 3), _apart("f", "g", 3)), 3000, 200, "0120")
    plan = optimized(case, Options()).plan
    joins = [n.operator for n in plan.nodes if isinstance(n.operator, MultiwayJoin)]
    assert [join.horizons is not None for join in joins] == [True]
    less, results = _held(plan, case)
    more, same = _held(_without_horizons(plan), case)
    assert results == same
    assert results
    assert less * 5 < more


def test_a_row_that_no_later_row_can_match_is_not_held() -> None:
    later = (
        Compare(Prop("f", "ts"), ">", Prop("e", "ts")),
        Compare(Prop("g", "ts"), ">", Prop("f", "ts")),
    )
    plan = optimized(_case(later, 200, 50), Options()).plan
    held = [h for horizon in _horizons(plan) if isinstance(horizon, tuple) for h in horizon]
    assert any(h is not None and h[1] < 0 for h in held)


@pytest.mark.parametrize("cut", [70, 150])
def test_rows_that_are_still_valid_restore_a_run(cut: int) -> None:
    """The window log keeps enough rows, and more than the joins held."""
    case = _case((_apart("e", "f", 3), _apart("f", "g", 3)), 300, 20)
    rows = rows_of_edges(case.query, case.edges)
    before = [row for row in rows if row[3] < cut]
    after = [row for row in rows if row[3] >= cut]
    valid = [row for row in before if row[3] + 20 > cut]
    for plan in islice(optimized(case).plans.ranked(), 6):
        whole = {(r.bindings, r.exp) for r in run_plan(plan, rows, 7) if r.ts >= cut}
        again = {(r.bindings, r.exp) for r in run_plan(plan, [*valid, *after], 7) if r.ts >= cut}
        assert again == whole
        assert whole
