"""Vertices on the command line: described by a catalog, or named with ``--vertices``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.command import Commands

AMLSIM = Path(__file__).parents[2] / "examples" / "amlsim"


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_the_example_runs_on_spark(
    headrace: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many results as its README says, each from an account that its file flags."""
    monkeypatch.chdir(AMLSIM)
    out = tmp_path / "found.jsonl"
    headrace("run", "flagged.gcore", "--catalog", "catalog.yaml", "--output", out)
    rows = [json.loads(line)["bindings"] for line in out.read_text("utf-8").splitlines()]
    assert "There are 106." in (AMLSIM / "README.md").read_text("utf-8")
    assert len({tuple(row.values()) for row in rows}) == 106
    assert all(row["first"] <= row["last"] for row in rows)
