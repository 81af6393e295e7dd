"""The benchmarks of the service start it, send requests and count the answers."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path

import pytest

from bench import idle_soak, load
from bench.idle_soak import Sample, per_hour

pytestmark = pytest.mark.soak


def test_load_counts_every_answer(tmp_path: Path) -> None:
    out = tmp_path / "load.json"
    load.main(seconds=0.3, rounds=1, connections=2, searches=1, beside=0, out=out)
    rows = {row["name"]: row for row in json.loads(out.read_text("utf-8"))["rows"]}
    assert len(rows) == 5
    for name, row in rows.items():
        assert row["statuses"].keys() <= {"200", "429"}
        assert row["statuses"]["200"] > 0
        assert "429" not in row["statuses"] or "10 times" in name


def test_the_idle_soak_samples_the_memory_of_each_process(tmp_path: Path) -> None:
    out = tmp_path / "alone.json"
    idle_soak.main(minutes=0.03, warm=0.0, running=0, fill=False, out=out)
    document = json.loads(out.read_text("utf-8"))
    assert document["options"]["faults"] == 0
    assert not any(status.startswith("5") for status in document["options"]["statuses"])
    first = document["rows"][0]
    assert first["service"] > 10
    assert first["searches"] > 10
    assert first["engine"] == first["jvm"] == 0


def test_the_rise_per_hour_is_a_regression_over_the_samples_after_the_warm_up() -> None:
    def at(minute: float, service: float) -> Sample:
        heap = 7.0 * minute if minute % 2 else nan
        return Sample(minute, service, 0, 0, 0, heap, 0, 0, 0, 0, 0, 0)

    samples = [at(0, 500), at(1, 100), at(2, 103), at(3, 106)]
    assert per_hour(samples, "heap", after=1) == pytest.approx(420)
    assert per_hour(samples, "service", after=1) == pytest.approx(180)
    assert per_hour(samples, "files", after=1) == 0
    assert per_hour(samples, "service", after=3) == 0
