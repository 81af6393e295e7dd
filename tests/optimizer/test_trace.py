"""A trace records the whole search: replaying it gives the final memo and winners."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given

from headrace.algebra.logical import LogicalExpression
from headrace.algebra.properties import RequiredProperties
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.entry import Entry
from headrace.optimizer.events import EventLog, RuleApplied
from headrace.optimizer.options import DEFAULT_BUDGET_EXPRESSIONS
from headrace.optimizer.physical_properties import COALESCED
from headrace.optimizer.search import Search
from headrace.optimizer.trace import Member, Recorder, Trace, Tracing
from tests.optimizer.shapes import CONCAT_PLUS, QS, TABLE_4_2, query, thesis_model
from tests.optimizer.test_meaning import translated
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

SHAPES = {**TABLE_4_2, "concat plus": CONCAT_PLUS, "star": QS}


ALL = Tracing(most=DEFAULT_BUDGET_EXPRESSIONS, tried=True)


def traced(
    expression: LogicalExpression, most: int, *, tried: bool = False
) -> tuple[Search, Trace]:
    recorder = Recorder(Tracing(most, tried))
    search = Search(thesis_model(), Options(), [recorder])
    root = Entry(search.memo, search.algebra.flat).insert(expression)
    search.branch_and_bound.optimize(root, COALESCED)
    return search, recorder.trace


def follow(outcome: SearchResult) -> None:
    """Replays the deltas of a whole trace and compares with the memo."""
    trace, memo = outcome.trace, outcome.memo
    assert trace is not None
    members: dict[int, Member] = {}
    known: set[int] = set()
    cost: dict[tuple[int, RequiredProperties], float] = {}
    costed: set[tuple[int, RequiredProperties]] = set()
    steps = 0
    for delta in trace.deltas:
        changes = bool(delta.added or delta.merged or delta.plan)
        assert delta.step == steps + changes
        steps = delta.step
        assert all(members[member.id] == member for member in delta.matched)
        assert known.isdisjoint(delta.groups)
        known |= set(delta.groups)
        for member in delta.added:
            assert member.id not in members
            assert member.group in known
            members[member.id] = member
        for into, gone in delta.merged:
            known.remove(gone)
            for member in tuple(members.values()):
                if member.group == gone:
                    members[member.id] = replace(member, group=into)
            for goal in [goal for goal in cost if goal[0] == gone]:
                moved = (into, goal[1])
                cost[moved] = min(cost.pop(goal), cost.get(moved, inf))
        for member in delta.changed:
            assert members[member.id] != member
            members[member.id] = member
        for gone in delta.removed:
            del members[gone]
        assert members.keys() >= set(delta.known)
        if delta.forgets:
            cost.clear()
        if delta.plan is not None:
            plan = delta.plan
            goal = (plan.group, plan.required)
            assert plan.winner.cost == sum(plan.inputs, plan.winner.local)
            assert plan.before == cost.get(goal)
            assert plan.again == (plan.before is None and goal in costed)
            cost[goal] = plan.winner.cost
            costed.add(goal)
        if delta.pruned is not None:
            assert delta.pruned.cost >= delta.pruned.bound
    assert members == {e.id: Member(e.id, e.group, e.operator, e.inputs) for e in memo.expressions}
    assert known == {group.id for group in memo.groups}
    assert cost == {
        (group.id, required): winner.cost
        for group in memo.groups
        for required, winner in group.winners.items()
    }
    if outcome.required is not None:
        assert cost[outcome.root, outcome.required] == outcome.cost


def test_replaying_a_trace_gives_the_memo() -> None:
    for expression in SHAPES.values():
        follow(Optimizer(thesis_model()).optimize(query(expression), trace=ALL))


@examples(60)
@given(case=cases())
def test_replaying_a_trace_of_a_random_query_gives_the_memo(case: Case) -> None:
    logical, model = translated(case)
    follow(Optimizer(model, Options(budget_expressions=150)).optimize(logical, trace=ALL))


def test_replaying_merges_needs_the_changed_members() -> None:
    deltas = [delta for e in SHAPES.values() for delta in traced(e, 10_000)[1].deltas]
    assert any(delta.changed for delta in deltas)
    assert any(delta.removed for delta in deltas)


def test_some_trace_has_merged_groups() -> None:
    outcomes = [Optimizer(thesis_model()).optimize(query(e), trace=True) for e in SHAPES.values()]
    merges = {o.memo.merges: [d for d in o.trace.deltas if d.merged] for o in outcomes if o.trace}
    assert max(merges) > 0
    for count, deltas in merges.items():
        assert sum(len(delta.merged) for delta in deltas) == count


def test_a_trace_counts_the_deltas_that_it_drops() -> None:
    _, whole = traced(QS, DEFAULT_BUDGET_EXPRESSIONS)
    _, few = traced(QS, 7)
    assert whole.more == 0
    rules = [delta for delta in whole.deltas if delta.plan is None]
    plans = [delta for delta in whole.deltas if delta.plan is not None]
    assert few.deltas == (*rules[:7], *plans[:7])
    assert few.more == len(whole.deltas) - 14 > 0
    assert few.known == whole.known > 0


def test_every_rule_application_is_a_delta_or_counted() -> None:
    told = EventLog()
    outcome = Optimizer(thesis_model()).optimize(query(CONCAT_PLUS), listeners=[told], trace=True)
    trace = outcome.trace
    assert trace is not None
    applied = [event for event in told.events if isinstance(event, RuleApplied)]
    assert sum(bool(delta.rule) for delta in trace.deltas) + trace.known == len(applied)
    assert 0 < trace.known < len(applied)


def test_fruitless_attempts_are_traced_on_request() -> None:
    _, plain = traced(QS, DEFAULT_BUDGET_EXPRESSIONS)
    _, whole = traced(QS, DEFAULT_BUDGET_EXPRESSIONS, tried=True)
    in_vain = [d for d in whole.deltas if not (d.added or d.merged or d.plan)]
    assert [d for d in whole.deltas if d not in in_vain] == list(plain.deltas)
    assert sum(d.pruned is not None for d in in_vain) == whole.pruned == plain.pruned > 0
    assert sum(bool(d.rule) for d in in_vain) == whole.known > 0
    assert any(d.known for d in in_vain)
    _, few = traced(QS, 5, tried=True)
    assert sum(d.pruned is not None for d in few.deltas) == 5
    assert (few.pruned, few.known) == (whole.pruned, whole.known)


def test_a_search_without_tracing_has_no_trace() -> None:
    assert Optimizer(thesis_model()).optimize(query(QS)).trace is None


@pytest.mark.parametrize("shape", SHAPES)
def test_traces_are_the_same_every_time(shape: str) -> None:
    assert traced(SHAPES[shape], 10_000)[1].deltas == traced(SHAPES[shape], 10_000)[1].deltas
