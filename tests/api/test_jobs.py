"""The answers of a worker process, computed in this process."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from headrace.api.service.bodies import OptionsBody
from headrace.api.service.jobs import Desk, Job, Kind, Question, run
from headrace.api.service.kept_searches import KEPT_SECONDS, MOST_KEPT, KeptSearches
from headrace.api.service.search_progress import FIELDS, Reporter, SearchProgress, read
from headrace.catalog import load
from headrace.catalog.document import to_document
from headrace.planning.planner import optimize
from headrace.planning.requests import Format, PlanRequest, Stage
from tests.api.command import CATALOG, EXAMPLES

QUESTION = Question(
    (EXAMPLES / "chains.rq").read_text("utf-8"),
    None,
    to_document(load(CATALOG)),
    OptionsBody(budget_ms=10_000.0).model_dump(mode="json"),
    "a release",
)


def explain(stage: Stage, form: Format) -> bytes:
    details = {"stage": stage, "format": form, "costs": False, "trace": False, "why": False}
    outcome = run(Job("explain", QUESTION, details), Desk())
    assert outcome.status == 200, outcome.fault
    return outcome.body


def test_stage_plan_is_the_plan_document_alone() -> None:
    plan = json.loads(run(Job("optimize", QUESTION), Desk()).body)["plan"]
    assert json.loads(explain("plan", "json")) == plan
    assert json.loads(explain("plan", "text")) == plan
    assert json.loads(explain("physical", "json"))["plan"] == plan


@pytest.mark.parametrize("form", ["dot", "mermaid", "html"])
def test_stage_plan_is_drawn_as_the_physical_one(form: Format) -> None:
    def without_times(text: bytes) -> list[bytes]:
        return [line for line in text.splitlines() if b" ms" not in line and b"<td>" not in line]

    assert without_times(explain("plan", form)) == without_times(explain("physical", form))


@pytest.mark.parametrize(("kind", "details"), [("memo", {}), ("explanation", {})])
def test_an_answer_over_the_limit_is_refused(kind: Kind, details: dict[str, object]) -> None:
    job = Job(kind, QUESTION, details)
    small = replace(job, limits=replace(job.limits, answer=1_000))
    outcome = run(small, Desk())
    assert outcome.status == 422
    assert json.loads(outcome.body)["code"] == "E-SIZE"


ABOUT: dict[Kind, dict[str, object]] = {
    "explanation": {},
    "memo": {},
    "trace": {"steps": 50_000, "tried": True},
    "alternatives": {"limit": 5, "seconds": 20.0},
}
TIMES = re.compile(rb'"(optimize_ms|ms)":[0-9.e-]+')


def about(kind: Kind, desk: Desk) -> bytes:
    """A document about the plan, from the search that the process keeps."""
    outcome = run(Job(kind, QUESTION, ABOUT[kind], kept=True), desk)
    assert outcome.status == 200, outcome.fault
    return outcome.body


def test_one_search_answers_all_requests_about_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = {kind: about(kind, Desk()) for kind in ABOUT}
    desk = Desk()
    optimized = json.loads(run(Job("optimize", QUESTION, {"explain": True}), desk).body)
    monkeypatch.setattr("headrace.api.service.jobs.plan_translated", None)
    for kind in (*ABOUT, *ABOUT):
        body = about(kind, desk)
        assert TIMES.sub(b"", body) == TIMES.sub(b"", fresh[kind])
        found = re.search(rb'"optimize_ms":([0-9.]+)', body)
        assert found is None or float(found[1]) == round(optimized["optimize_ms"], 3)
    # A process that does not keep the newest search searches.
    assert run(Job("memo", QUESTION), desk).status == 500


def test_kept_searches_are_bounded_and_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    searches = KeptSearches(lambda: now)
    planned = optimize(PlanRequest("Answer(x, y) <- a(x, z), b(z, y) WINDOW 1d"))
    for number in range(MOST_KEPT + 2):
        searches.put(str(number), planned)
    assert len(searches) == MOST_KEPT
    assert searches.get("1") is None
    now = KEPT_SECONDS - 1
    assert searches.get("2") is planned
    now += 2
    assert searches.get("3") is None
    assert searches.get("2") is planned
    monkeypatch.setattr("headrace.api.service.kept_searches.MOST_EXPRESSIONS", 1)
    searches.put("large", planned)
    assert (len(searches), searches.get("large")) == (1, planned)


def test_a_ranking_that_adds_to_the_memo_serves_rankings_alone() -> None:
    searches = KeptSearches()
    planned = optimize(PlanRequest("Answer(x, y) <- a(x, z), b(z, y) WINDOW 1d"))
    searches.put("key", planned)
    planned.optimization.memo.merges += 1
    assert searches.get("key") is None
    assert searches.get("key", ranks=True) is planned


def test_the_progress_of_a_job_is_read_while_it_runs() -> None:
    shared = [0.0] * FIELDS
    seen: list[SearchProgress | None] = []

    def cancelled() -> bool:
        seen.append(read(shared, 7))
        return False

    reporter = Reporter(shared)
    desk = Desk(cancelled, reporter=reporter)
    with reporter.of(7):
        run(Job("optimize", QUESTION, {"explain": True}), desk)
        run(Job("alternatives", QUESTION, ABOUT["alternatives"], kept=True), desk)
        last = read(shared, 7)
    assert read(shared, 7) is None
    doing = [*dict.fromkeys(progress.doing for progress in seen if progress is not None)]
    assert doing[0] == "searching"
    assert "counting" in doing
    assert last is not None
    assert last.groups > 0
    assert last.expressions > last.groups
    assert last.plans == 3
    assert last.cost_bound is not None
