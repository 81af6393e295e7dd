"""A trace tells the whole search: who follows it has the memo and the winners in the end."""

from __future__ import annotations

import pytest
from hypothesis import given

from algebra.logical import LogicalExpression
from optimizer import Optimization, Optimizer, Options
from optimizer.entry import Entry
from optimizer.events import RuleApplied
from optimizer.events import Trace as EventList
from optimizer.options import DEFAULT_BUDGET_EXPRESSIONS
from optimizer.physical_properties import COALESCED
from optimizer.search import Search
from optimizer.trace import Recorder, Trace
from tests.optimizer.shapes import CONCAT_PLUS, QS, TABLE_4_2, query, thesis_model
from tests.optimizer.test_meaning import translated
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

SHAPES = {**TABLE_4_2, "concat plus": CONCAT_PLUS, "star": QS}


def traced(expression: LogicalExpression, most: int) -> tuple[Search, Trace]:
    search = Search(thesis_model(), Options())
    recorder = Recorder(search.memo, most)
    search.listeners = (recorder,)
    search.optimize(Entry(search.memo, search.side.flat).insert(expression), COALESCED)
    return search, recorder.trace


def follow(outcome: Optimization) -> None:
    """Replays the deltas of a whole trace and compares with the memo."""
    trace, memo = outcome.trace, outcome.memo
    assert trace is not None
    assert [delta.step for delta in trace.deltas] == list(range(1, len(trace.deltas) + 1))
    group_of: dict[int, int] = {}
    known: set[int] = set()
    cost: dict[object, float] = {}
    for delta in trace.deltas:
        assert all(group_of[member.id] == member.group for member in delta.matched)
        assert known.isdisjoint(delta.groups)
        known |= set(delta.groups)
        for member in delta.added:
            assert member.id not in group_of
            assert member.group in known
            group_of[member.id] = member.group
        for into, gone in delta.merged:
            known.remove(gone)
            group_of = {e: into if g == gone else g for e, g in group_of.items()}
        if delta.plan is not None:
            plan = delta.plan
            goal = (plan.group, plan.required)
            assert plan.winner.cost == sum(plan.inputs, plan.winner.local)
            assert plan.before is None or plan.before == cost[goal]
            assert plan.again == (plan.before is None and goal in cost)
            cost[goal] = plan.winner.cost
    assert known == {group.id for group in memo.groups}
    assert {e.id: e.group for e in memo.expressions}.items() <= group_of.items()
    assert cost[outcome.root, outcome.required] == outcome.cost


def test_following_a_trace_leads_to_the_memo() -> None:
    for expression in SHAPES.values():
        follow(Optimizer(thesis_model()).optimize(query(expression), trace=True))


@examples(60)
@given(case=cases())
def test_so_it_does_for_any_query(case: Case) -> None:
    logical, model = translated(case)
    outcome = Optimizer(model, Options(budget_expressions=150)).optimize(logical, trace=True)
    assert outcome.trace is not None
    if outcome.trace.more == 0:
        follow(outcome)


def test_some_trace_shows_groups_that_became_one() -> None:
    outcomes = [Optimizer(thesis_model()).optimize(query(e), trace=True) for e in SHAPES.values()]
    merges = {o.memo.merges: [d for d in o.trace.deltas if d.merged] for o in outcomes if o.trace}
    assert max(merges) > 0
    for count, deltas in merges.items():
        assert sum(len(delta.merged) for delta in deltas) == count


def test_a_trace_counts_what_it_does_not_keep() -> None:
    _, whole = traced(QS, DEFAULT_BUDGET_EXPRESSIONS)
    _, few = traced(QS, 7)
    assert whole.more == 0
    rules = [delta for delta in whole.deltas if delta.plan is None]
    plans = [delta for delta in whole.deltas if delta.plan is not None]
    assert few.deltas == (*rules[:7], *plans[:7])
    assert few.more == len(whole.deltas) - 14 > 0
    assert few.known == whole.known > 0


def test_every_rule_application_is_a_delta_or_counted() -> None:
    told = EventList()
    outcome = Optimizer(thesis_model()).optimize(query(CONCAT_PLUS), listeners=[told], trace=True)
    trace = outcome.trace
    assert trace is not None
    applied = [event for event in told.events if isinstance(event, RuleApplied)]
    assert sum(bool(delta.rule) for delta in trace.deltas) + trace.known == len(applied)
    assert 0 < trace.known < len(applied)


def test_plain_searches_keep_no_trace() -> None:
    assert Optimizer(thesis_model()).optimize(query(QS)).trace is None


@pytest.mark.parametrize("shape", SHAPES)
def test_traces_are_the_same_every_time(shape: str) -> None:
    assert traced(SHAPES[shape], 10_000)[1].deltas == traced(SHAPES[shape], 10_000)[1].deltas
