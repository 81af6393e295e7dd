"""The published schema accepts exactly the documents that the reader accepts."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from headrace.algebra.plan_schema import SCHEMA_FILE, plan_schema, schema_text
from tests.api.samples import HOSTILE, sample_plan

VALIDATOR = Draft202012Validator(plan_schema())


def test_the_published_file_is_the_generated_schema() -> None:
    assert SCHEMA_FILE.read_text("utf-8") == schema_text(), (
        "python -m algebra.plan_schema writes it"
    )


def test_the_schema_is_valid_json_schema() -> None:
    Draft202012Validator.check_schema(plan_schema())


@pytest.mark.parametrize("label", ["a2q", HOSTILE])
def test_a_plan_with_every_operator_is_valid(label: str) -> None:
    plan = sample_plan(label)
    document = plan.to_document()
    assert {node["op"] for node in document["nodes"]} == set(
        plan_schema()["$defs"]["PlanNode"]["properties"]["op"]["enum"]
    )
    VALIDATOR.validate(document)
    assert PhysicalPlan.from_json(plan.to_json()) == plan


def _without(document: dict[str, Any], *path: str | int) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return changed


def _with(document: dict[str, Any], value: object, *path: str | int) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return changed


DOCUMENT = sample_plan().to_document()
WRONG: dict[str, dict[str, Any]] = {
    "no nodes": _with(DOCUMENT, [], "nodes"),
    "no root": _without(DOCUMENT, "root"),
    "unknown version": _with(DOCUMENT, 2, "version"),
    "unknown field": _with(DOCUMENT, 1, "speed"),
    "unknown operator": _with(DOCUMENT, "TELEPORT", "nodes", 0, "op"),
    "no arguments": _without(DOCUMENT, "nodes", 0, "args"),
    "another operator's arguments": _with(DOCUMENT, {"width": 2}, "nodes", 0, "args"),
    "missing argument": _without(DOCUMENT, "nodes", 3, "args", "states"),
    "text for a number": _with(DOCUMENT, "four", "nodes", 3, "args", "states"),
    "a transition of three": _with(DOCUMENT, [[0, 0, False]], "nodes", 3, "args", "transitions"),
    "a join of one side": _with(DOCUMENT, [[0]], "nodes", 6, "args", "bindings"),
    "negative cost": _with(DOCUMENT, -1, "nodes", 0, "estimate", "cost"),
    "range 0": _with(DOCUMENT, 0, "windows", 0, "range"),
    "operator in place of op": _with(DOCUMENT, {"op": "COALESCE"}, "nodes", 5, "operator"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_schema_and_reader_refuse_the_same_documents(wrong: str) -> None:
    document = WRONG[wrong]
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(PlanError):
        PhysicalPlan.from_document(document)
