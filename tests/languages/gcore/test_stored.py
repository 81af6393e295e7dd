"""Stored graphs in G-CORE: ON without WINDOW."""

from __future__ import annotations

import pytest

from headrace.algebra.text import one_line
from headrace.catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED
from headrace.catalog.model import Catalog, Stream
from headrace.languages import QueryError, parse
from headrace.languages.translation.canonical import translate

CATALOG = Catalog(
    {
        "social": Stream("social", {"likes": DEFAULT_STATISTICS}),
        "forums": Stream("forums", {"in": DEFAULT_STORED}, stored=True),
    }
)


def algebra(query: str) -> str:
    return one_line(translate(parse(query, "gcore"), CATALOG).expression)


@pytest.mark.parametrize("on", [" ON forums", ""])
def test_on_without_a_window_reads_a_stored_graph(on: str) -> None:
    text = algebra(f"SELECT x, f MATCH (x)-[:likes]->(m) ON social WINDOW (5), (m)-[:in]->(f){on}")
    assert text == "J[src1,trg2,Answer ; trg1=src2](W[5](social.likes), K(forums.in))"


def test_a_path_may_combine_a_stream_and_a_stored_graph() -> None:
    query = "SELECT x, f MATCH (x)-/<:in:in^>/->(f) ON forums"
    assert algebra(query) == "P[Answer;in·^in](K(in))"


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("SELECT m, f MATCH (m)-[:in]->(f) ON forums WINDOW (5)", "E-STORED", "leave its window"),
        ("SELECT x, m MATCH (x)-[:likes]->(m) ON social", "E-NOWIN", "stream social has no window"),
        ("SELECT x, m MATCH (x)-[:likes]->(m) ON forums", "E-UNKNOWN", "likes"),
        ("SELECT e.ts MATCH (m)-[e:in]->(f) ON forums", "E-STORED", "have no time"),
    ],
)
def test_invalid_queries_of_stored_graphs_are_refused(query: str, code: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        algebra(query)
    assert caught.value.code == code
    assert caught.value.line == 1
