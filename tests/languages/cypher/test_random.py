"""Queries have the answers at every instant that Kuzu gives over the snapshot of that instant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from headrace.planning.errors import InvalidQueryError
from tests.languages.cypher.drawing import Texts, graphs, queries
from tests.languages.cypher.kuzu_engine import Engine
from tests.languages.cypher.streams import WINDOW, Graph, Row, reports, snapshots
from tests.strategies.amount import examples

SEEDS = st.integers(0, 9_999)


def registered(query: str, emit: str = "") -> str:
    """The query with its window."""
    return f"REGISTER QUERY q {{ FROM STREAM s WITH WINDOW RANGE {WINDOW} {query} {emit} }}"


def rounded(rows: Iterable[Row]) -> list[Row]:
    """The rows in an order of their own, with numbers that do not depend on the order of sums."""

    def one(value: Any) -> Any:
        return round(value, 9) if isinstance(value, float) else value

    return sorted({tuple(map(one, row)) for row in rows}, key=repr)


def check(query: Texts, graph: Graph, seed: int, *, emit: bool) -> None:
    """Compares the answers of several plans at each instant with those of Kuzu."""
    note(f"{query.cypher}\n{query.kuzu}\n{graph}")
    found: Mapping[int, Sequence[Row]]
    try:
        if emit:
            text = registered(query.cypher, "EMIT SNAPSHOT EVERY 1")
            found = reports(text, graph, plans=1, seed=seed)
        else:
            found = snapshots(registered(query.cypher), graph, plans=1, seed=seed)
    except InvalidQueryError as error:
        if "E-LATER" not in str(error) and "E-SIZE" not in str(error):
            raise
        event(f"refused: {str(error)[:60]}")
        return
    engine = Engine(graph)
    expected: list[Row] = []
    for instant in range(graph.end + 1):
        if not instant or graph.at(instant) != graph.at(instant - 1):
            expected = rounded(engine.rows(query.kuzu, graph.at(instant)))
        assert rounded(found.get(instant, ())) == expected, instant


@given(query=queries(), graph=graphs(), seed=SEEDS, emit=st.booleans())
@examples(25)
def test_answers_are_those_of_kuzu(query: Texts, graph: Graph, seed: int, emit: bool) -> None:
    check(query, graph, seed, emit=emit)


@pytest.mark.long
@given(query=queries(), graph=graphs(), seed=SEEDS, emit=st.booleans())
@examples(150)
def test_answers_of_many_queries_are_those_of_kuzu(
    query: Texts, graph: Graph, seed: int, emit: bool
) -> None:
    check(query, graph, seed, emit=emit)


SHORTEST = [
    Texts(
        f"MATCH p = {cypher}((a)-[:{types}*..4]{arrow}(b)) RETURN a, b, length(p) AS l",
        f"MATCH (a:N)-[r:{types}* {kuzu} 1..4]{arrow}(b:N) WHERE a.id <> b.id "
        "RETURN a.id, b.id, length(r) AS l",
    )
    for cypher, kuzu in (("shortestPath", "SHORTEST"), ("allShortestPaths", "ALL SHORTEST"))
    for types in ("K", "K|L")
    for arrow in ("-", "->")
]


@given(query=st.sampled_from(SHORTEST), graph=graphs(), seed=SEEDS, emit=st.booleans())
@examples(20)
def test_shortest_paths_are_those_of_kuzu(
    query: Texts, graph: Graph, seed: int, emit: bool
) -> None:
    check(query, graph, seed, emit=emit)
