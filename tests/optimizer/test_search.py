"""The search itself: budgets, circles, events, names, and the same outcome everywhere."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from headrace.algebra.logical import (
    LogicalExpression,
    LogicalQuery,
    Path,
    PathSemantics,
    Pattern,
    Project,
)
from headrace.algebra.properties import RequiredProperties
from headrace.algebra.regex import Symbol, concat
from headrace.memo import Expression, Winner
from headrace.optimizer import CannotPlanError, Optimizer, Options
from headrace.optimizer.entry import Entry
from headrace.optimizer.events import (
    Event,
    EventLog,
    ExpressionAdded,
    GroupAdded,
    RuleApplied,
    WinnerChanged,
)
from headrace.optimizer.extraction import winning_plan
from headrace.optimizer.physical_properties import COALESCED
from headrace.optimizer.result import SearchSpace
from headrace.optimizer.search import Search
from headrace.rules.implementation import PathBySimplePath
from tests.optimizer.describe import memo_text
from tests.optimizer.plan_shapes import plan_shape
from tests.optimizer.shapes import (
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    SetCosts,
    optimize,
    pattern,
    query,
    scan,
    star,
    thesis_model,
)

ROOT = pathlib.Path(__file__).parent.parent.parent

SCRIPT = """
import json
from tests.optimizer.shapes import CONCAT_PLUS, QS, TABLE_4_2, optimize
from tests.optimizer.describe import memo_text
found = {}
for name, expression in {"qs": QS, "qp": CONCAT_PLUS, **TABLE_4_2}.items():
    outcome = optimize(expression)
    found[name] = [
        outcome.plan.to_json(),
        outcome.canonical_plan.to_json(),
        memo_text(outcome.memo, outcome.root),
        [plan.to_json() for plan in outcome.plans.sample(3, seed=1)],
        {name: [s.bindings, s.fired, s.duplicates] for name, s in outcome.rules.items()},
    ]
print(json.dumps(found))
"""


def test_every_process_finds_the_same() -> None:
    outputs: list[Any] = []
    for seed in ("0", "1", "12345"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(json.loads(done.stdout))
    assert outputs[0] == outputs[1] == outputs[2]
    here = optimize(QS)
    assert outputs[0]["qs"][0] == here.plan.to_json()


def test_earlier_queries_leave_no_trace() -> None:
    """Neither names nor results of one query reach another."""
    before = optimize(QS).plan.to_json()
    named = Pattern(((0, 1), (0, 2), (0, 3), (0, 4)), (1, 4), ("v", "s1", "v2", "v3", "t"))
    optimize(LogicalExpression(named, QS.inputs))
    assert optimize(QS).plan.to_json() == before


@pytest.mark.parametrize("budget", [1, 10, 30, 60])
def test_a_budget_of_expressions_is_kept(budget: int) -> None:
    outcome = optimize(pattern(star(6)), SetCosts(1), budget_expressions=budget)
    assert outcome.stop_reason == "budget_expressions"
    # The query itself has to be in the memo, and one binding may add an inner and an outer join.
    assert outcome.memo.expression_count <= max(budget, 11) + 2
    assert outcome.cost <= outcome.canonical_cost


def test_more_budget_is_never_worse() -> None:
    costs = [
        optimize(pattern(star(6)), SetCosts(4), budget_expressions=b).cost
        for b in (1, 20, 40, 80, 160, 320, 10_000)
    ]
    assert costs == sorted(costs, reverse=True)


def test_a_budget_of_no_time_gives_the_query_as_written() -> None:
    outcome = optimize(pattern(star(8)), SetCosts(1), budget_ms=0.0)
    assert outcome.stop_reason == "budget_ms"
    assert outcome.cost <= outcome.canonical_cost


def test_a_complete_search_reports_that_it_is_complete() -> None:
    assert optimize(QS).stop_reason == "complete"


def explored_by_hand(expression: LogicalExpression, **options: Any) -> tuple[Search, int]:
    search = Search(thesis_model(), Options(**options))
    return search, Entry(search.memo, search.algebra.flat).insert(expression)


def test_a_search_over_groups_in_a_circle_finds_a_plan() -> None:
    """A made-up rule equates π(π(a)) with a, so that groups read each other in a circle."""
    search, root = explored_by_hand(pattern(((0, 1), (1, 2)), labels="ab"))
    memo = search.memo
    a = memo.lookup(Expression(scan("a").operator))
    assert a is not None
    swapped = memo.insert(Expression(Project((1, 0)), (a,))).group
    memo.insert(Expression(Project((1, 0)), (swapped,)), into=a, rule="MadeForATest")
    winner = search.branch_and_bound.optimize(root, COALESCED)
    assert winner is not None
    memo.check(SearchSpace(memo, search.goals).alternatives)
    plan = winning_plan(search.coster, root, COALESCED)
    assert plan.cost == optimize(pattern(((0, 1), (1, 2)), labels="ab")).cost


def test_a_plan_that_reads_itself_is_reported_with_its_circle() -> None:
    search, root = explored_by_hand(pattern(((0, 1), (1, 2)), labels="ab"))
    search.branch_and_bound.optimize(root, COALESCED)
    anything = RequiredProperties()
    choice = search.coster.choices(root)[0]
    group = search.memo.group(choice.inputs[0])
    group.winners[anything] = Winner(1.0, 1.0, choice, ((root, anything),))
    with pytest.raises(CannotPlanError, match=rf"reads itself: .*G{root} → .*G{root}"):
        winning_plan(search.coster, root, COALESCED)


def test_a_query_without_physical_operators_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """All logical operators have a physical one, so that of simple paths is taken away."""
    monkeypatch.setattr(PathBySimplePath, "implement", lambda *_: iter(()))
    simple = LogicalExpression(
        Path(concat([Symbol(0), Symbol(0)]), PathSemantics.SIMPLE), (scan("a"),)
    )
    with pytest.raises(CannotPlanError, match=r"nothing computes .*SIMPLE"):
        Optimizer(thesis_model()).optimize(query(simple))


def test_events_cover_the_whole_search_in_order() -> None:
    trace = EventLog()
    outcome = Optimizer(thesis_model()).optimize(query(CONCAT_PLUS), listeners=[trace])
    events: list[Event] = trace.events
    assert [event.step for event in events] == list(range(1, len(events) + 1))
    added = [e for e in events if isinstance(e, ExpressionAdded)]
    assert len([e for e in events if isinstance(e, GroupAdded)]) == outcome.memo.group_count
    assert len(added) == outcome.memo.expression_count
    applied = [e for e in events if isinstance(e, RuleApplied)]
    for name, statistics in outcome.rules.items():
        mine = [e for e in applied if e.rule == name]
        assert sum(e.results for e in mine) == statistics.fired
        assert sum(e.results - e.new for e in mine) == statistics.duplicates
    cheaper = [e for e in events if isinstance(e, WinnerChanged)]
    assert all(e.before is None or e.cost < e.before for e in cheaper)
    last = [e for e in cheaper if e.group == outcome.root and e.required == COALESCED][-1]
    assert last.cost == outcome.cost


def test_listening_changes_nothing() -> None:
    quiet = optimize(QS)
    loud = Optimizer(thesis_model()).optimize(query(QS), listeners=[EventLog()])
    assert loud.plan.to_json() == quiet.plan.to_json()


def test_a_rule_can_be_switched_off() -> None:
    without = optimize(CONCAT_PLUS, disabled_rules=frozenset({"StarDecompose"}))
    assert without.plans.count == 1
    assert plan_shape(without.plan) == ("path", "(0·1·2)+", "a", "b", "c")


def test_the_memo_is_written_as_text() -> None:
    outcome = optimize(TABLE_4_2["Q2"], SetCosts())
    expected = pathlib.Path(__file__).with_name("memo_of_q2.txt").read_text("utf-8")
    assert memo_text(outcome.memo, outcome.root) == expected


def test_an_answer_in_another_order_is_the_same_search() -> None:
    one = Optimizer(thesis_model()).optimize(LogicalQuery(QS, ("s1", "t")))
    assert one.plan.columns == ("s1", "t")
    assert one.plan.nodes[-1].op == "COALESCE"
