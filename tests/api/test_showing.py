"""The results of a run on a terminal, and what it waits for before the first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headrace.api.showing import shown_results
from headrace.executor.spark.report import Progress
from tests.executor.spark.plans import edges_of_a


def test_each_wait_is_said_once_before_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = {"bindings": {"x": "1"}, "ts": 1, "exp": 2}
    with shown_results(edges_of_a(), tmp_path) as show:
        for progress in (
            Progress("starting", 0.0),
            Progress("starting", 0.0),
            Progress("reading", 0.5),
            Progress("reading", 1.0),
            Progress("reading", 1.0),
            Progress("waiting", None, reason="no time"),
        ):
            show(progress)
        (tmp_path / "part-00000000-000.jsonl").write_text(json.dumps(result) + "\n")
        show(Progress("running", 1.0, batch=1, edges=3, results=1))
    *waits, first, count = capsys.readouterr().out.splitlines()
    assert first.startswith("  x = 1 ")
    assert count.startswith("  ... 1 results of 3 edges")
    assert [wait.removesuffix(" ...").strip() for wait in waits] == [
        "waiting for Spark's JVM to start",
        "reading the input",
        "waiting for Spark to plan the query and to start its Python workers",
        "waiting to start again: no time",
    ]
