"""The comparison with other systems gives the same answers, whatever system gives them."""

from __future__ import annotations

import numpy as np
import pytest

from bench.measuring import machine
from bench.peers import snapshots
from bench.peers.jobs import Job, edges_of
from bench.peers.outcome import intervals_of_changes, intervals_of_rows
from bench.peers.report import drawn, write_report
from bench.peers.worker import run_headrace


@pytest.mark.parametrize("query", ["Q3", "Q5", "Q7"])
def test_an_evaluation_anew_at_each_slide_gives_the_answers_of_headrace(query: str) -> None:
    job = Job("mathoverflow", 4_000, "30d", "5d", query, 1_000)
    edges = edges_of(job, None)
    anew = snapshots.run(job, edges, answers=True)
    own = run_headrace(job, edges, answers=True, every=False)
    assert anew.answers > 0
    assert (own.digest, own.answers) == (anew.digest, anew.answers)


def test_changes_and_rows_have_the_same_intervals() -> None:
    changes = np.array([[7, 1, 1], [7, 9, -1], [8, 2, 1], [8, 4, -1], [7, 12, 1], [7, 13, -1]])
    rows = np.array([[7, 1, 5], [7, 5, 9], [7, 12, 13], [8, 2, 3], [8, 3, 4], [8, 2, 4]])
    assert intervals_of_changes(changes, 1).tolist() == intervals_of_rows(rows, 1).tolist()


def test_an_answer_that_is_added_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="added twice"):
        intervals_of_changes(np.array([[7, 1, 1], [7, 2, 1]]), 1)


def test_the_report_says_why_a_system_has_no_figures() -> None:
    outcome = {"cpu_s": 1.0, "peak_bytes": 2_000_000, "answers": 3, "digest": "", "instants": 0}
    job = {"stream": "mathoverflow", "edges": 9, "range": "30d", "slide": "1d", "query": "Q1"}
    row = {
        "job": {**job, "batch": 3},
        "machine": machine(),
        "systems": {"headrace": [outcome], "differential": [{**outcome, "cpu_s": 4.0}]},
        "answers": {"headrace": 3},
        "failed": {"duckdb": "no end within 5 s"},
    }
    text = write_report([row], None)
    assert "| Q1 | 3 | 1.000 | 2 | 4.0 | 2 | no end within 5 s |  | not run |  |" in text
    assert drawn([row]) is None
    longer = {**row, "job": {**row["job"], "range": "60d"}}
    text = write_report([row, longer], "peers.svg")
    assert text.count("## mathoverflow") == 2
    assert "](peers.svg)" in text
    drawing = drawn([row, longer])
    assert drawing is not None
    assert drawing.count("differential dataflow") == 1
