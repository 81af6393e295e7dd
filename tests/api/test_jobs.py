"""The answers of a worker process, computed in this process."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from headrace.api.service.bodies import OptionsBody
from headrace.api.service.jobs import Job, Kind, Question, run
from headrace.catalog import load
from headrace.catalog.document import to_document
from headrace.planning.requests import Format, Stage
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
    outcome = run(Job("explain", QUESTION, details), lambda: False)
    assert outcome.status == 200, outcome.fault
    return outcome.body


def test_stage_plan_is_the_plan_document_alone() -> None:
    plan = json.loads(run(Job("optimize", QUESTION), lambda: False).body)["plan"]
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
    outcome = run(small, lambda: False)
    assert outcome.status == 422
    assert json.loads(outcome.body)["code"] == "E-SIZE"
