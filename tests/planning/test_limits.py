"""Queries that are too large end within their budget: with a plan, or with an error that helps.

The clock of these tests moves on by a tick whenever it is read. So a budget is a number of looks
at the clock, and a step that does not look would be the only one that could go on for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import pytest

from headrace.algebra import deadline
from headrace.algebra.deadline import Deadline
from headrace.api.service.jobs import Desk, Job, Question, run
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.optimizer.errors import SearchCancelledError
from headrace.planning.errors import InvalidQueryError, UsageError
from headrace.planning.planner import Planned, optimize, plan_translated
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.planning.translating import deadline_of, translate_query

BUDGET_MS = 2_000.0
TICK_MS = 2.0
MOST_LOOKS = 4 * BUDGET_MS / TICK_MS
"""One budget for the search, half a one for its first plan, one for plans that are listed; and what
is looked at after the last of them."""


class Ticking:
    """A clock that advances with each reading."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.looks * TICK_MS / 1000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Ticking:
    found = Ticking()
    monkeypatch.setattr(deadline, "perf_counter", found)
    return found


ONE = LabelStatistics(rate=1.0, distinct_src=100.0, distinct_trg=100.0, vertices=100.0)


def catalog_of(labels: int) -> Catalog:
    return Catalog({"s": Stream("s", dict.fromkeys((f"l{i}" for i in range(labels)), ONE))})


def star(size: int, label: str) -> str:
    return "Answer(x) <- " + ", ".join(f"{label.format(i)}(x, y{i})" for i in range(size)) + "."


def chain(size: int) -> str:
    atoms = ", ".join(f"a{i}(x{i}, x{i + 1})" for i in range(size))
    return f"Answer(x0, x{size}) <- {atoms}."


PLANNED: Mapping[str, str] = {
    "a star": star(100, "a{}"),
    "a star of one label": star(100, "a"),
    "a chain": chain(60),
    "atoms that share nothing": "Answer(x0) <- "
    + ", ".join(f"a(x{i}, y{i})" for i in range(40))
    + ".",
    "repeats of repeats": "Answer(x, y) <- x ((a{8}){8}) y.",
    "optional repeats": "Answer(x, y) <- x ((a{0,9}){0,9}) y.",
    "options within options": "Answer(x, y) <- x a{0,60} y.",
    "brackets": "Answer(x, y) <- x " + "(" * 300 + "a|b" + ")" * 300 + " y.",
    "stars of stars": "Answer(x, y) <- x " + "(" * 90 + "a/b?" + ")*" * 90 + " y.",
    "many states": "Answer(x, y) <- x (a|b)*/a/(a|b){9} y.",
    "constants": "Answer(x, y) <- "
    + ", ".join(f"a{i}(x, 'v{i}')" for i in range(40))
    + ", a(x, y).",
}


def planned(query: str, catalog: Catalog | None = None, parallelism: int = 1) -> Planned:
    options = PlanningOptions(window="10", budget_ms=BUDGET_MS, parallelism=parallelism)
    return optimize(PlanRequest(query, language="rq", catalog=catalog, options=options))


@pytest.mark.parametrize("parallelism", [1, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", PLANNED)
def test_a_large_query_has_a_plan_in_time(clock: Ticking, name: str, parallelism: int) -> None:
    result = planned(PLANNED[name], parallelism=parallelism).optimization
    assert clock.looks <= MOST_LOOKS
    assert result.stop_reason in ("budget_ms", "complete")
    assert result.plan.nodes
    assert result.shared_cost <= result.canonical_shared_cost * (1 + 1e-9)


def test_a_set_of_many_labels_has_a_plan(clock: Ticking) -> None:
    result = planned("Answer(x, y) <- x _+ y.", catalog_of(200)).optimization
    assert result.plan.nodes


@pytest.mark.parametrize("body", ["_(x, y)", "x _+ y", "x (!l1/^_)+ y"])
def test_a_set_of_too_many_labels_is_refused(body: str) -> None:
    with pytest.raises(InvalidQueryError, match=r"for (19,999|20,000) labels") as raised:
        planned(f"Answer(x, y) <- {body}.", catalog_of(20_000))
    assert raised.value.code == "E-SIZE"
    assert "write the labels that are meant" in raised.value.hint


def test_a_mistyped_label_is_refused_among_very_many() -> None:
    request = PlanRequest("Answer(x, y) <- l123x(x, y).", catalog=catalog_of(200_000))
    with pytest.raises(InvalidQueryError, match="no stream has this label") as raised:
        optimize(request)
    assert "did you mean l123" in raised.value.hint


@pytest.mark.parametrize("step", ["read", "translated", "written out", "as written", "prepared"])
def test_each_step_before_the_search_ends_with_an_error_that_names_it(
    clock: Ticking, step: str
) -> None:
    options = PlanningOptions(window="10", budget_ms=BUDGET_MS)
    queries = {"written out": "Answer(x, y) <- x _+ y."}
    query = queries.get(step, star(30, "l{}"))
    request = PlanRequest(query, language="rq", catalog=catalog_of(30), options=options)

    class Until(Deadline):
        """A deadline that passes at one of the steps."""

        def check(self, doing: str, budgets: float = 1.0) -> None:
            if step in doing:
                clock.looks += 10**6
            super().check(doing, budgets)

    limit = Until(BUDGET_MS)
    with pytest.raises(UsageError, match=f"too large for 2,000 ms.*{step}") as raised:
        plan_translated(translate_query(request, limit), deadline=limit)
    assert raised.value.code == "E-SIZE"
    assert "allow more time" in raised.value.hint


def test_the_search_has_the_rest_of_the_budget(clock: Ticking) -> None:
    options = PlanningOptions(window="10", budget_ms=BUDGET_MS)
    request = PlanRequest(star(9, "a{}"), language="rq", options=options)
    limit = deadline_of(options)
    translated = translate_query(request, limit)
    clock.looks += int(BUDGET_MS / TICK_MS)
    late = plan_translated(translated, deadline=limit).optimization
    assert late.stop_reason == "budget_ms"
    assert late.memo.expression_count < 60
    early = plan_translated(translated, deadline=deadline_of(options)).optimization
    assert early.memo.expression_count > late.memo.expression_count


def test_cancelling_ends_parsing(clock: Ticking) -> None:
    request = PlanRequest(star(3000, "a{}"), language="rq")
    with pytest.raises(UsageError, match="planning was cancelled while the query was read"):
        translate_query(request, Deadline(cancelled=lambda: True))


@pytest.mark.parametrize("kind", ["optimize", "explain", "memo", "alternatives", "explanation"])
def test_a_job_of_the_service_keeps_its_budget(clock: Ticking, kind: str) -> None:
    details = {
        "explain": {
            "stage": "physical", "format": "json", "costs": True, "why": True, "trace": False,
        },
        "alternatives": {"limit": 3, "seconds": 20.0},
    }  # fmt: skip
    options = {"window": "10", "disabled_rules": (), "budget_ms": BUDGET_MS}
    question = Question(star(60, "a"), "rq", None, options, "test")
    outcome = run(Job(kind, question, details.get(kind, {})), Desk())  # type: ignore[arg-type]
    assert clock.looks <= MOST_LOOKS
    assert outcome.status == 200 or (outcome.status == 422 and b"E-SIZE" in outcome.body)
    if outcome.status == 200:
        assert outcome.stop_reason == "budget_ms"


def test_plans_deeper_than_the_stack_are_listed() -> None:
    options = PlanningOptions(window="10", budget_expressions=1)
    result = optimize(PlanRequest(chain(300), language="rq", options=options)).optimization
    assert len(result.plans.sample(2, seed=1)) == 2
    ranked = list(islice(result.plans.ranked(), 2))
    assert ranked[0].nodes[ranked[0].root].estimate.cumulative_cost <= result.cost * (1 + 1e-9)


def test_listing_plans_ends_in_time(clock: Ticking) -> None:
    result = planned(star(60, "a{}")).optimization
    clock.looks += int(5 * BUDGET_MS / TICK_MS)
    with pytest.raises(SearchCancelledError):
        result.plans.sample(10, seed=1)
