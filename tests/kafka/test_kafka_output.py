"""A topic of a real broker gets every result at least once, with ids that tell repeats."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from random import Random

import pytest

from headrace.executor.batch import FOREVER
from headrace.executor.local import Result
from tests.api.command import ROOT, command_line, environment
from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(900)]

QUERY = "Answer(x, y) <- a+(x, y) WINDOW 20"


def results_of(messages: list[tuple[str, str]]) -> dict[str, Result]:
    """The results by id; checks that repeats are equal and that keys are the bindings."""
    values: dict[str, str] = {}
    results: dict[str, Result] = {}
    for key, value in messages:
        row = json.loads(value)
        assert json.loads(key) == row["bindings"]
        assert values.setdefault(row["id"], value) == value
        exp = FOREVER if row["exp"] is None else row["exp"]
        results[row["id"]] = Result(tuple(row["bindings"].values()), row["ts"], exp)
    return results


def test_a_killed_run_into_a_topic_resumes_with_exact_results(
    kafka: Broker, tmp_path: Path
) -> None:
    random = Random(2)
    rows = [f"{random.randrange(9)},{random.randrange(9)},a,{ts}" for ts in range(120)]
    edges, out = tmp_path / "edges.csv", tmp_path / "out.jsonl"
    edges.write_text("\n".join(["src,trg,label,ts", *rows, ""]))
    run = ("run", QUERY, "--input", str(edges))
    subprocess.run(
        command_line(*run, "--engine", "local", "--output", out),
        cwd=ROOT, env=environment(), check=True, timeout=PATIENCE,
    )  # fmt: skip
    expected = [
        Result(tuple(row["bindings"].values()), row["ts"], row["exp"])
        for row in map(json.loads, out.read_text().splitlines())
    ]
    jars = ",".join(map(str, connector_jars()))
    resumed = command_line(
        *run, "--output", f"kafka://{kafka.address}/answers",
        "--checkpoint", tmp_path / "checkpoint", "--largest-batch", "6",
        "--conf", f"spark.jars={jars}",
    )  # fmt: skip
    killed = subprocess.Popen(resumed, cwd=ROOT, env=environment(), stderr=subprocess.PIPE)
    try:
        until(lambda: _has_messages(kafka, killed))
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    before = len(kafka.received("answers"))
    done = subprocess.run(
        resumed, cwd=ROOT, env=environment(), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    messages = kafka.received("answers")
    assert 0 < before < len(messages)
    results = results_of(messages)
    for t in range(145):
        valid = {r.bindings for r in results.values() if r.ts <= t < r.exp}
        assert valid == {r.bindings for r in expected if r.ts <= t < r.exp}, t


def _has_messages(kafka: Broker, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, process.communicate()
    return bool(kafka.received("answers"))
