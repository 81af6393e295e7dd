"""Queries have the answers at every instant that Kuzu gives over the snapshot of that instant."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from headrace.languages import parse
from headrace.planning.errors import InvalidQueryError
from tests.languages.cypher.drawing import Texts, graphs, is_there
from tests.languages.cypher.kuzu_engine import Engine
from tests.languages.cypher.random_paths import queries_of_paths
from tests.languages.cypher.random_queries import queries
from tests.languages.cypher.streams import (
    EDGE_LABELS,
    WINDOW,
    Graph,
    Row,
    reports,
    snapshots,
)
from tests.oracles.roots import First, first_rows
from tests.strategies.amount import examples

SEEDS = st.integers(0, 9_999)
EMITS = ("", "EMIT SNAPSHOT EVERY 1", "EMIT SNAPSHOT EVERY 1 Event")
REPORTS = st.sampled_from(EMITS)


def registered(query: str, emit: str = "") -> str:
    """The query with its window."""
    return f"REGISTER QUERY q {{ FROM STREAM s WITH WINDOW RANGE {WINDOW} {query} {emit} }}"


def expected_of(query: Texts, rows: Iterable[Row]) -> list[Row]:
    """The rows of Kuzu as those of Headrace: lists sorted, and the first rows alone."""

    def one(position: int, value: Any) -> Any:
        if position in query.lists:
            return json.dumps(_in_order(v for v in value or () if v is not None))
        return json.dumps(value) if position in query.ordered else value

    found = rounded(tuple(one(k, v) for k, v in enumerate(row)) for row in rows)
    if query.first is None:
        return found
    order, skip, limit = query.first
    columns = tuple(f"c{k}" for k in range(max((len(row) for row in found), default=0)))
    first = First(tuple((columns[k], down) for k, down in order if columns), limit, skip)
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in found:
        groups[row[0] if query.by_groups else None].append(row)
    chosen = (row for rows in groups.values() for row in first_rows(columns, first, rows))
    return rounded(row[: len(columns) - len(order)] for row in chosen)


def _in_order(values: Iterable[Any]) -> list[Any]:
    """Values in ascending order, lists and maps by their texts."""
    return sorted(values, key=lambda v: json.dumps(v) if isinstance(v, list | dict) else v)


def rounded(rows: Iterable[Row]) -> list[Row]:
    """The rows in an order of their own, with numbers that do not depend on the order of sums."""

    def one(value: Any) -> Any:
        return round(value, 9) if isinstance(value, float) else value

    return sorted({tuple(map(one, row)) for row in rows}, key=repr)


def said(query: Texts, rows: Iterable[Row]) -> list[Row]:
    """The rows of Headrace, with lists in the words of Python's JSON."""

    def one(position: int, value: Any) -> Any:
        if position in query.lists:
            found = json.loads(value)
            return json.dumps(
                _in_order(found) if found and isinstance(found[0], list | dict) else found
            )
        return json.dumps(json.loads(value)) if position in query.ordered else value

    return rounded(tuple(one(k, v) for k, v in enumerate(row)) for row in rows)


def events_of(query: str, graph: Graph) -> set[int]:
    """The instants at which a relationship of the query's types arrives."""
    types = {type_ for type_ in EDGE_LABELS if re.search(rf"[:|]{type_}\b", query)}
    if parse(query, "cypher").label_sets:  # relationships of any type, or nodes at their ends
        types = set(EDGE_LABELS)
    return {one.ts for one in graph.relationships if one.type in types}


def check(query: Texts, graph: Graph, seed: int, *, emit: str) -> None:
    """Compares the answers of several plans at each instant with those of Kuzu."""
    note(f"{query.cypher}\n{query.kuzu}\n{graph}")
    found: Mapping[int, Sequence[Row]]
    try:
        if emit:
            found = reports(registered(query.cypher, emit), graph, plans=1, seed=seed)
        else:
            found = snapshots(registered(query.cypher), graph, plans=1, seed=seed)
    except InvalidQueryError as error:
        if not any(code in str(error) for code in ("E-LATER", "E-SIZE", "E-AMBIGUOUS")):
            raise
        event(f"refused: {str(error)[:60]}")
        return
    event("answered")
    engine = Engine(graph)
    parts = re.split(" UNION (?:ALL )?", query.kuzu)
    instants: Sequence[int] = range(graph.end + 1)
    if emit and any(engine.rows(part, ()) for part in parts):
        # Reports of rows that hold forever, as of stored nodes, end with the input.
        instants = range(max(one.ts for one in graph.relationships) + 1)
    if emit.endswith("Event"):
        assert set(found) <= events_of(query.cypher, graph)
        instants = sorted(events_of(query.cypher, graph))
    expected: list[Row] = []
    before: object = None
    for instant in instants:
        if before != (before := graph.at(instant)):
            # Kuzu 0.11.3 loses rows of a UNION of distinct rows, so its parts are evaluated alone.
            rows = [row for part in parts for row in engine.rows(part, before)]
            expected = expected_of(query, rows)
            assert " UNION ALL " not in query.kuzu or len(expected) == len(rows)
        assert said(query, found.get(instant, ())) == expected, instant


@given(query=queries(), graph=graphs(), seed=SEEDS, emit=REPORTS)
@examples(25)
def test_answers_are_those_of_kuzu(query: Texts, graph: Graph, seed: int, emit: str) -> None:
    check(query, graph, seed, emit=emit)


@given(query=queries_of_paths(), graph=graphs(), seed=SEEDS, emit=REPORTS)
@examples(25)
def test_conditions_over_paths_are_those_of_kuzu(
    query: Texts, graph: Graph, seed: int, emit: str
) -> None:
    check(query, graph, seed, emit=emit)


@pytest.mark.long
@given(query=queries(), graph=graphs(), seed=SEEDS, emit=REPORTS)
@examples(150)
def test_answers_of_many_queries_are_those_of_kuzu(
    query: Texts, graph: Graph, seed: int, emit: str
) -> None:
    check(query, graph, seed, emit=emit)


@pytest.mark.soak
@given(query=queries(), graph=graphs(), seed=SEEDS, emit=REPORTS)
@examples(6_000)
def test_answers_of_thousands_of_queries_are_those_of_kuzu(
    query: Texts, graph: Graph, seed: int, emit: str
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
# Kuzu 0.11.3 goes through nodes that the condition of a shortest path forbids.
SHORTEST += [
    Texts(
        f"MATCH p = {cypher}((a)-[:K|L*..4]{arrow}(b)) WHERE {test} RETURN a, b, length(p) AS l",
        f"MATCH p = (a:N)-[r:K|L* TRAIL 1..4]{arrow}(b:N) WHERE a.id <> b.id AND {kuzu} "
        "RETURN a.id, b.id, min(length(p)) AS l",
    )
    for cypher in ("shortestPath", "allShortestPaths")
    for arrow in ("-", "->")
    for test, kuzu in (
        (
            "all(e IN relationships(p) WHERE e.w < 3)",
            "all(e IN rels(p) WHERE e.w IS NOT NULL AND e.w < 3)",
        ),
        ("NOT any(n IN nodes(p) WHERE n:City)", "all(n IN nodes(p) WHERE NOT n.City)"),
    )
]

SHORTEST += [
    Texts(
        of.cypher.replace("*..4", "*0..4"),
        f"{of.kuzu} UNION MATCH (a:N) WHERE {is_there('a')}"
        f"{' AND NOT a.City' * ('n:City' in of.cypher)} RETURN a.id AS a, a.id AS b, 0 AS l",
    )
    for of in SHORTEST
]

# Kuzu 0.11.3 has no OPTIONAL MATCH of shortest paths.
SHORTEST += [
    Texts(
        "MATCH (a:Person), (b) WHERE a <> b OPTIONAL MATCH "
        f"p = shortestPath((a)-[:{types}*..4]{arrow}(b)) "
        "RETURN a, b, CASE p IS NULL WHEN true THEN -1 ELSE length(p) END AS l",
        f"MATCH (a:N), (b:N) WHERE a.Person AND {is_there('b')} AND a.id <> b.id OPTIONAL MATCH "
        f"p = (a)-[:{types}* TRAIL 1..4]{arrow}(b) WITH a, b, min(length(p)) AS l "
        "RETURN a.id, b.id, CASE WHEN l IS NULL THEN -1 ELSE l END AS l",
    )
    for types in ("K", "K|L")
    for arrow in ("-", "->")
]


@given(query=st.sampled_from(SHORTEST), graph=graphs(), seed=SEEDS, emit=REPORTS)
@examples(20)
def test_shortest_paths_are_those_of_kuzu(query: Texts, graph: Graph, seed: int, emit: str) -> None:
    check(query, graph, seed, emit=emit)


NODES_OF_SHORTEST = [
    Texts(
        f"MATCH p = allShortestPaths((a){before}[:{types}*{least}..4]{after}(b)) "
        "WITH nodes(p) AS ns RETURN [n IN ns | id(n)] AS n",
        f"MATCH p = (a:N){before}[:{types}* ALL SHORTEST 1..4]{after}(b:N) WHERE a.id <> b.id "
        "RETURN list_transform(nodes(p), n -> n.id) AS n"
        + f" UNION MATCH (a:N) WHERE {is_there('a')} RETURN [a.id] AS n"
        * (least == 0),
        ordered=(0,),
    )
    for types in ("K", "K|L")
    for before, after in (("-", "-"), ("-", "->"), ("<-", "-"))
    for least in (0, 1)
]


@given(query=st.sampled_from(NODES_OF_SHORTEST), graph=graphs(), seed=SEEDS)
@examples(20)
def test_nodes_of_shortest_paths_are_those_of_kuzu(query: Texts, graph: Graph, seed: int) -> None:
    check(query, graph, seed, emit="EMIT SNAPSHOT EVERY 1")
