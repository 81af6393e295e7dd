"""Queries that read the nodes and relationships of shortest paths one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.languages.cypher.drawing import Texts, graphs
from tests.languages.cypher.random_shortest import conditions_of_members, members_of_shortest
from tests.languages.cypher.streams import Graph, Row, reports
from tests.languages.cypher.test_answers import GRAPH, registered
from tests.languages.cypher.test_random import SEEDS, check
from tests.strategies.amount import examples

EMIT = "EMIT SNAPSHOT EVERY 1"

AT_5: dict[str, list[Row]] = {
    "MATCH p = shortestPath((a)-[:K|L*..4]->(b)) UNWIND nodes(p) AS n RETURN a, b, n": [
        (1, 2, 1), (1, 2, 2), (1, 3, 1), (1, 3, 2), (1, 3, 3),
        (2, 1, 1), (2, 1, 2), (2, 3, 2), (2, 3, 3),
    ],
    "MATCH p = allShortestPaths((a)-[:K|L*]->(b)) UNWIND nodes(p) AS n "
    "RETURN n.age AS age, count(*) AS m, sum(length(p)) AS l, count(DISTINCT a) AS d": [
        (5, 2, 3, 2), (30, 3, 4, 2), (None, 4, 5, 2),
    ],
    # Steps walked against relationships start where these do.
    "MATCH p = allShortestPaths((a)-[:K|L*]-(b)) UNWIND relationships(p) AS r "
    "RETURN startNode(r) AS s, endNode(r) AS e, count(r) AS m": [
        (1, 2, 4), (2, 1, 4), (2, 3, 6),
    ],
    "MATCH p = shortestPath((a)<-[:K*]-(b)) UNWIND relationships(p) AS r "
    "RETURN type(r) AS t, startNode(r).age AS s, a, nodes(p) AS ns": [
        ("K", 30, 2, "[2,1]"), ("K", 30, 3, "[3,2,1]"),
        ("K", None, 3, "[3,2,1]"), ("K", None, 3, "[3,2]"),
    ],
    "MATCH p = shortestPath((a)-[:K*]->(b)) UNWIND relationships(p) AS r UNWIND nodes(p) AS n "
    "RETURN b, startNode(r) AS s, count(n) AS m": [(2, 1, 2), (3, 1, 3), (3, 2, 5)],
    "MATCH p = shortestPath((a)-[:K*0..]->(b)) UNWIND nodes(p) AS n RETURN b, count(n) AS m": [
        (1, 1), (2, 3), (3, 6),
    ],
    "MATCH p = shortestPath((a)-[:K*]->(b)) WITH b, p AS q UNWIND nodes(q) AS n "
    "WITH q, b, n WHERE n:Person OPTIONAL MATCH (n)-[:L]->(m) RETURN n, m, q": [
        (1, None, '[[1,"K",2],[2,"K",3]]'), (1, None, '[[1,"K",2]]'),
        (2, 1, '[[1,"K",2],[2,"K",3]]'), (2, 1, '[[1,"K",2]]'), (2, 1, '[[2,"K",3]]'),
    ],
    "MATCH p = shortestPath((a)-[:K*]->(b)) UNWIND nodes(p) AS n MATCH (n:Person)-[r:K]->(m) "
    "RETURN a, b, n, r.w AS w": [
        (1, 2, 1, 2), (1, 2, 1, 5), (1, 2, 2, 1), (1, 3, 1, 2), (1, 3, 1, 5), (1, 3, 2, 1),
        (2, 3, 2, 1),
    ],
    "MATCH p = shortestPath((a)-[:K*]->(b)) UNWIND nodes(p) AS n WITH n, count(*) AS m "
    "WHERE m > 2 RETURN n, m": [(2, 3)],
    "MATCH p = shortestPath((a)-[:K*]->(b)) MATCH (c) WHERE c IN nodes(p) AND c <> b "
    "RETURN a, b, c": [(1, 2, 1), (1, 3, 1), (1, 3, 2), (2, 3, 2)],
    "MATCH p = shortestPath((a)-[:K*]->(b)) MATCH (c) WHERE NOT c IN nodes(p) OR c.age > 30 "
    "RETURN a, b, c": [(1, 2, 3), (2, 3, 1)],
    "MATCH p = shortestPath((a)-[:K*]->(b)) WHERE any(n IN nodes(p) WHERE n <> a AND n <> b) "
    "RETURN a, b, count(*) AS m": [(1, 3, 1)],
    "MATCH p = shortestPath((a)-[:K*0..]->(b)) WHERE any(n IN nodes(p) WHERE n:City) "
    "RETURN a, b": [(1, 3), (2, 3), (3, 3)],
    "MATCH p = shortestPath((a)-[:K*]->(b)) MATCH (c:Person) "
    "WHERE NOT none(n IN nodes(p) WHERE (n)-[:K]->(c)) RETURN a, b, c": [(1, 2, 2), (1, 3, 2)],
    "MATCH p = shortestPath((a)-[:K*]->(b)) WHERE any(r IN relationships(p) "
    "WHERE startNode(r) <> a AND endNode(r).age = 5) RETURN a, b": [(1, 3)],
    "MATCH p = shortestPath((a)-[:K*0..]->(b)) "
    "UNWIND [a IN nodes(p) WHERE a.age < 9 | a.age * 2] AS x RETURN a, x, count(*) AS m": [
        (1, 10, 1), (2, 10, 1), (3, 10, 1),
    ],
    "MATCH p = shortestPath((a)-[:K*]->(b)) UNWIND [n IN nodes(p) WHERE n:Person] AS n "
    "RETURN n, count(*) AS m": [(1, 2), (2, 3)],
    "MATCH p = allShortestPaths((a)-[:K*]->(b)) "
    "UNWIND [r IN relationships(p) WHERE endNode(r) <> b | id(startNode(r))] AS x "
    "RETURN b, x": [(3, 1)],
    "MATCH p = shortestPath((a)-[:K*]->(b)) MATCH (c:Person) "
    "RETURN c IN nodes(p) AS has, count(*) AS m": [(False, 1), (True, 5)],
}  # fmt: skip


@pytest.mark.parametrize("query", AT_5)
def test_the_members_of_shortest_paths_at_an_instant(query: str) -> None:
    found = reports(registered(query, EMIT), GRAPH).get(5, [])
    assert sorted(found, key=repr) == sorted(AT_5[query], key=repr)


@given(query=members_of_shortest(), graph=graphs(), seed=SEEDS)
@examples(25)
def test_members_of_shortest_paths_are_those_of_kuzu(query: Texts, graph: Graph, seed: int) -> None:
    check(query, graph, seed, emit=EMIT)


@given(test=conditions_of_members(), graph=graphs(), seed=SEEDS, arrow=st.sampled_from(["-", "->"]))
@examples(15)
def test_any_of_the_nodes_is_one_that_unwind_gives(
    test: Texts, graph: Graph, seed: int, arrow: str
) -> None:
    path = f"MATCH p = shortestPath((a)-[:K|L*]{arrow}(b)) MATCH (a)-[:K|L]-() MATCH (b)-[:K|L]-()"
    queries = [
        f"{path} WHERE any(n IN nodes(p) WHERE {test.cypher}) RETURN a, b",
        f"{path} UNWIND nodes(p) AS n WITH a, b, n WHERE {test.cypher} RETURN a, b",
    ]
    note(queries[0])
    found = [reports(registered(one, EMIT), graph, plans=1, seed=seed) for one in queries]
    assert found[0] == found[1]
