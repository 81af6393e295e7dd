"""Relationships as values: counts of different ones, and whether an OPTIONAL MATCH has one."""

from __future__ import annotations

import pytest

from headrace.catalog.model import Catalog, Stream
from headrace.executor import local
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.languages.cypher.streams import Row
from tests.properties.catalogs import ALIKE

STREAMS = Catalog(
    {
        "s": Stream("s", {"K": ALIKE}, vertex_type="integer", properties={"w": "integer"}),
        "g": Stream(
            "g", {"L": ALIKE}, vertex_type="integer", stored=True, properties={"note": "string"}
        ),
    }
)
"""A stream and a stored graph, whose relationships have no time, with other properties."""

ROWS: list[local.Edge] = [
    (1, 2, "L", 0, "g", {"note": "x"}),
    (1, 2, "L", 0, "g", {"note": None}),
    (1, 2, "K", 1, "s", {"w": 1}),
    (1, 2, "K", 1, "s", {"w": None}),
    (2, 1, "K", 1, "s", {"w": 1}),
]

AT_1: dict[str, list[Row]] = {
    "MATCH (a)-[r:K|L]-(b), (a)-[:K]->(b) RETURN a, count(DISTINCT r) AS n, count(*) AS m": [
        (1, 5, 8),
        (2, 4, 4),
    ],
    "MATCH (a)-[r]->(b) RETURN count(DISTINCT r) AS n": [(5,)],
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (a)-[r:L]->(b) "
    "RETURN a, count(r) AS n, count(DISTINCT r) AS m": [(1, 4, 2), (2, 0, 0)],
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (a)-[r:K|L]-(b) "
    "RETURN a, count(r) AS n, count(DISTINCT r) AS m": [(1, 10, 5), (2, 5, 5)],
}


@pytest.mark.parametrize("query", AT_1)
def test_relationships_of_several_streams_are_counted(query: str) -> None:
    options = PlanningOptions(window="6", budget_expressions=100)
    text = f"{query} EMIT SNAPSHOT EVERY 1"
    request = PlanRequest(text, language="cypher", catalog=STREAMS, options=options)
    plan = optimize(request).optimization.plan
    found = [result.bindings for result in local.run_plan(plan, ROWS, 3) if result.ts == 1]
    assert sorted(found, key=repr) == AT_1[query]
