"""The comparison of Cypher with Kuzu has equal reports, and a document with all measurements."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from bench.cypher import QUERIES, REPORTS, Job, compared, written
from bench.measuring import machine


@pytest.mark.parametrize("query", ["join", "count"])
def test_both_report_the_same_rows(query: str) -> None:
    measured = compared(Job(query, "event", 150, 40_000), rounds=1)
    assert measured["rows"] > 0
    assert measured["reports"] <= 150


@pytest.mark.soak
def test_both_report_the_same_rows_for_each_query() -> None:
    for query in QUERIES:
        for every in REPORTS:
            assert compared(Job(query, every, 150, 40_000), rounds=1)["reports"] > 100


def test_the_document_has_a_row_for_each_measurement() -> None:
    seconds = {"headrace": [0.5, 0.25], "kuzu": [1.0, 2.0]}
    jobs = [Job(query, "event", 9, 3_600) for query in QUERIES]
    rows = [
        {"job": asdict(job), "machine": machine(), "reports": 100, "rows": 7, "seconds": seconds}
        for job in jobs
    ]
    text = written(rows)
    assert (
        "| join | event | 100 | 7 | 3.750 (2.500-5.000) | 15.00 (10.00-20.00) | 5 (2-8) |" in text
    )
    assert all(f"| {query} | event |" in text for query in QUERIES)
