"""Queries over a small stream have the answers that are written out here."""

from __future__ import annotations

import pytest

from headrace.catalog.model import Catalog
from headrace.executor import local
from tests.languages.cypher.streams import (
    Graph,
    Node,
    Relationship,
    Row,
    catalog,
    planned,
    reports,
    rows_of,
    snapshots,
)

GRAPH = Graph(
    (Node(1, ("Person",), 30), Node(2, ("Person",)), Node(3, ("City",), 5)),
    (
        Relationship(1, 2, "K", 1, 5),
        Relationship(2, 3, "K", 2, 1),
        Relationship(2, 1, "L", 4),
        Relationship(1, 2, "K", 5, 2),
        Relationship(3, 3, "K", 5, 7),
    ),
)
"""A window of 6 has all relationships at 5 and 6, without the first one at 7."""

AT_5: dict[str, list[Row]] = {
    # A row is there once, and aggregates count each relationship.
    "MATCH (a)-[:K]->(b) RETURN a, b": [(1, 2), (2, 3), (3, 3)],
    "MATCH (a)-[r:K]->(b) RETURN b, count(*) AS n, sum(r.w) AS w": [
        (2, 2, 7),
        (3, 2, 8),
    ],
    # A node alone is there once, however many relationships it has.
    "MATCH (n) RETURN n, n.age AS age": [(1, 30), (2, None), (3, 5)],
    "MATCH (n) WHERE NOT (n)-[:L]-() RETURN count(*) AS n": [(1,)],
    "MATCH (n), (a)-[:K]->(b) RETURN count(*) AS n": [(12,)],
    "MATCH (a)-[:K*0..1]->(b) RETURN a, count(*) AS n": [(1, 3), (2, 2), (3, 2)],
    "MATCH p = shortestPath((a)-[:K*0..2]->(b)) RETURN a, max(length(p)) AS l, count(*) AS n": [
        (1, 2, 3),
        (2, 1, 2),
        (3, 0, 1),
    ],
    "MATCH (a)-[:K]->(b) WITH a RETURN a, count(*) AS n": [(1, 2), (2, 1), (3, 1)],
    "MATCH (a)-[:K]->(b) WITH DISTINCT a, b RETURN a, count(*) AS n": [(1, 1), (2, 1), (3, 1)],
    "MATCH (a)-[r:K]->() RETURN count(r) AS n, avg(r.w) AS mean": [(4, 3.75)],
    # Relationships that differ: of two labels, of either direction, and of an OPTIONAL MATCH.
    "MATCH (a)-[r:K]->(b)-[s]-() RETURN a, count(DISTINCT r) AS r, count(DISTINCT s) AS s, "
    "count(*) AS n": [(1, 2, 4, 6), (2, 1, 1, 1), (3, 1, 1, 1)],
    "MATCH (a)-[s:K]->(b) OPTIONAL MATCH (b)-[r]-(a) RETURN a, count(DISTINCT r) AS r, "
    "count(r) AS m, count(DISTINCT s) AS s": [(1, 3, 6, 2), (2, 1, 1, 1), (3, 1, 1, 1)],
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (b)-[r:L]->(a) RETURN a, count(DISTINCT r) AS n, "
    "count(r) AS r": [(1, 1, 2), (2, 0, 0), (3, 0, 0)],
    "MATCH p = (a)-[:K*1..2]->()-[:K|L]->() UNWIND relationships(p) AS r "
    "RETURN count(DISTINCT r) AS n, count(*) AS m": [(5, 16)],
    # Whether an OPTIONAL MATCH has a relationship; null is equal to nothing, also in CASE.
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (b)-[r:L]->(a) RETURN a, r IS NULL AS n, "
    "CASE r WHEN null THEN 1 ELSE 2 END AS c, exists(r.w) AS e": [
        (1, False, 2, False),
        (2, True, 2, False),
        (3, True, 2, False),
    ],
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (b)-[r:L]-(c) WITH a, r, b WHERE r IS NOT NULL OR b = 2 "
    "RETURN a, count(DISTINCT r) AS n": [(1, 1)],
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (b)-[r:L]-(a) WITH a, r WHERE r IS NULL RETURN a": [
        (2,),
        (3,),
    ],
    # The values are 5, 1, 2 and 7; openCypher gives the deviation 0 for a single one.
    "MATCH (a)-[r:K]->() RETURN stDev(r.w) AS s, stDevP(r.w) AS p": [
        (2.753785273643051, 2.384848003542364)
    ],
    "MATCH (a)-[r:K]->() RETURN a, stDev(r.w) AS s, stDevP(r.w) AS p": [
        (1, 2.1213203435596424, 1.5),
        (2, 0.0, 0.0),
        (3, 0.0, 0.0),
    ],
    "MATCH (a)-[r:K]->() RETURN percentileCont(r.w, 0.4) AS c, percentileDisc(r.w, 0.5) AS d, "
    "percentileDisc(r.w, 0.51) AS e, percentileCont(r.w, 1) AS f": [(2.6, 2, 5, 7.0)],
    "MATCH (a)-[r:K]->() WITH a, percentileCont(r.w, 0.5) AS m WHERE m > 3 "
    "RETURN count(*) AS n, 10 * max(m) AS m": [(2, 70.0)],
    # The relationship L has no w.
    "MATCH (a)-[r:L]->() RETURN stDev(r.w) AS s, percentileDisc(r.w, 0.5) AS d": [(0.0, None)],
    # The queries of UNION ALL have no row in common.
    "MATCH (a)-[:K]->() RETURN a, 'k' AS of UNION ALL MATCH (a)-[:L]->() RETURN a, 'l' AS of": [
        (1, "k"),
        (2, "k"),
        (2, "l"),
        (3, "k"),
    ],
    "MATCH (a)-[:K]->() RETURN 1 AS of, count(*) AS n UNION ALL "
    "MATCH (a)-[r:K]->() WHERE r.w > 0 RETURN NULL AS of, count(*) AS n": [(1, 4), (None, 4)],
    # So have those whose order has a key that is not a column.
    "MATCH (a)-[r:K]->() RETURN a, 'k' AS of ORDER BY r.w, a LIMIT 9 UNION ALL "
    "MATCH (a)-[r:L]->() RETURN a, 'l' AS of ORDER BY r.ts LIMIT 9": [
        (1, "k"),
        (2, "k"),
        (2, "l"),
        (3, "k"),
    ],
    "MATCH (a)-[r:K]->() RETURN a, type(r) AS t UNION ALL MATCH (a)-[r:L]->() "
    "WITH a, type(r) AS t RETURN a, t UNION ALL MATCH p = (a)-[:K*1..2]->() "
    "RETURN a, length(p) AS t": [
        *((1, t) for t in (1, 2, "K")),
        *((2, t) for t in (1, 2, "K", "L")),
        *((3, t) for t in (1, "K")),
    ],
    # UNWIND gives a row for each node, or each relationship, of each path.
    "MATCH p = (a)-[:K*1..2]->(b) UNWIND nodes(p) AS n RETURN n, count(*) AS c": [
        (1, 4),
        (2, 6),
        (3, 7),
    ],
    "MATCH p = (a)-[:K*1..2]->(b)-[:L]-(c) UNWIND relationships(p) AS r "
    "RETURN type(r) AS t": [("K",), ("L",)],
    "MATCH p = (a)-[:K]->(b)-[:L]-(c) UNWIND relationships(p) AS r "
    "RETURN length(p) AS l, count(*) AS n, sum(r.w) AS w": [(2, 4, 7)],
    "MATCH p = (a)<-[:K*2]-(b) UNWIND relationships(p) AS r RETURN a, b, r.w, count(*) AS n": [
        (3, 1, 1, 2),
        (3, 1, 2, 1),
        (3, 1, 5, 1),
        (3, 2, 1, 1),
        (3, 2, 7, 1),
    ],
    "MATCH p = (a)-[:K*0..1]->(b:City) UNWIND nodes(p) AS n RETURN n, count(*) AS c": [
        (2, 1),
        (3, 4),
    ],
    "MATCH p = (a)-[:K*0..1]->(b:City) UNWIND relationships(p) AS r RETURN r.w AS w": [(1,), (7,)],
    "MATCH p = (a)-[:K]->(b:City) UNWIND nodes(p) AS n MATCH (n)-[:L]->(c) RETURN n, c": [(2, 1)],
    "MATCH p = (a:Person)-[:K]->(b:City) UNWIND nodes(p) AS n WITH n WHERE n.age > 3 "
    "RETURN n, n.age AS age": [(3, 5)],
    # Conditions over the nodes, the relationships and the length of a path.
    "MATCH p = (a)-[:K*]->(b) WHERE all(r IN relationships(p) WHERE r.w > 1) RETURN a, b": [
        (1, 2),
        (3, 3),
    ],
    "MATCH p = (a)-[:K*1..2]->(b) WHERE all(r IN relationships(p) WHERE r.w < 6) "
    "RETURN a, b, count(*) AS n": [(1, 2, 2), (1, 3, 2), (2, 3, 1)],
    "MATCH p = (a)-[:K*]->(b) WHERE none(n IN nodes(p) WHERE n:City) RETURN a, b": [(1, 2)],
    "MATCH p = (a)-[:K*0..]->(b:City) WHERE all(n IN nodes(p) WHERE n:City AND n.age = 5) "
    "RETURN a, b": [(3, 3)],
    "MATCH p = (a:Person)-[:K*2]->(b) WHERE any(r IN relationships(p) WHERE r.w + 26 > a.age) "
    "RETURN a, b": [(1, 3)],
    "MATCH p = (a)-[:K*2]->(b) WHERE any(n IN nodes(p) WHERE (n)-[:L]->(a)) RETURN a, b": [(1, 3)],
    "MATCH p = (a)-[:K*1..2]->(b) WHERE single(n IN nodes(p) WHERE n = b) "
    "RETURN a, b, length(p) AS l": [(1, 2, 1), (1, 3, 2), (2, 3, 1)],
    "MATCH p = (a)-[:K*1..2]->(b) WHERE single(n IN nodes(p) WHERE n:City) RETURN a, b, "
    "size(relationships(p)) AS l": [(1, 3, 2), (2, 3, 1)],
    "MATCH p = (a)-[:K*1..2]->(b) WHERE length(p) > 1 MATCH (c)-[r:K]->(b) "
    "WHERE NOT r IN relationships(p) RETURN a, b, c": [(1, 3, 3)],
    "MATCH p = (a)-[:K*1..2]->(b) RETURN a, avg(length(p)) AS l": [(1, 1.5), (2, 1.5), (3, 1.0)],
    # Each path counts.
    "MATCH p = (a)-[:K*1..2]->(b) WITH a, p AS q RETURN a, 1 + count(q) AS n": [
        (1, 5),
        (2, 3),
        (3, 2),
    ],
    "MATCH p = (a)-[:K*1..2]->(b) WITH a, b, p RETURN a, count(*) AS n": [(1, 4), (2, 2), (3, 1)],
    "MATCH (a) OPTIONAL MATCH p = (a)-[:L*1..2]->(b) RETURN a, count(p) AS n, count(*) AS m": [
        (1, 0, 1),
        (2, 1, 1),
        (3, 0, 1),
    ],
    "MATCH p = shortestPath((a)-[:K*..3]->(b)) RETURN a, count(p) AS n": [(1, 2), (2, 1)],
    "MATCH p = (a)-[:K*0..1]->(b:City) WHERE none(r IN relationships(p) WHERE r.w < 6) "
    "RETURN a, b": [(3, 3)],
    "MATCH p = (a)-[:K*0..1]->(b:City) WHERE single(r IN relationships(p) WHERE r.w < 6) "
    "RETURN a, b": [(2, 3)],
    "MATCH p = (a:Person)-[:K]->(b) WHERE NOT none(n IN nodes(p) WHERE n:City) RETURN a, b": [
        (2, 3)
    ],
    "MATCH p = (a)-[:K*1..2]->(b) WHERE length(p) > 0 AND none(n IN nodes(p) WHERE n:City) "
    "RETURN a, b": [(1, 2)],
    "MATCH p = (a)-[:K*1..2]->(b) WHERE NOT all(n IN nodes(p) WHERE n:City) AND NOT "
    "any(n IN nodes(p) WHERE n:City) AND length(p) > 0 RETURN a, b": [(1, 2)],
    "MATCH (a)-[r:K]->(b) WHERE any(x IN [1, 5] WHERE r.w = x) "
    "RETURN a, all(n IN [1, 2] WHERE id(a) = n) AS one": [(1, False), (2, False)],
    "MATCH (a:Person)-[:K]->(b) WHERE none(x IN [4] WHERE a.age = x) RETURN a": [(1,)],
    "MATCH (a:Person) WHERE EXISTS { MATCH p = (a)-[:K*1..2]->(c) WHERE length(p) = 2 AND "
    "none(r IN relationships(p) WHERE r.w = 7) } RETURN a": [(1,)],
    # A relationship of either direction matches a loop once.
    "MATCH (a)-[:K]-(a) RETURN a, count(*) AS n": [(3, 1)],
    "MATCH (a)-[:L]-(b) RETURN a, b": [(1, 2), (2, 1)],
    # Relationships of one MATCH are different; those of two MATCHes need not be.
    "MATCH (a)-[:L]-(b)-[:L]-(c) RETURN a, c": [],
    "MATCH (a)-[:L]-(b) MATCH (b)-[:L]-(c) RETURN a, c": [(1, 1), (2, 2)],
    "MATCH (a)-[:L*2]-(c) RETURN a, c": [],
    "MATCH (a)-[:K*2]->(c) RETURN a, c": [(1, 3), (2, 3)],
    "MATCH (a)-[:K*2]->(c) RETURN a, c, count(*) AS n": [(1, 3, 2), (2, 3, 1)],
    "MATCH (a)-[:K*1..2]->(c) RETURN a, count(c) AS n": [(1, 4), (2, 2), (3, 1)],
    "MATCH (a)-[:K*]->(c:City) RETURN a": [(1,), (2,), (3,)],
    "MATCH (a)-[:K*0..1]->(b:City) RETURN a, b": [(2, 3), (3, 3)],
    "MATCH (a)-[:K*0..0]->(b)-[:K]->() RETURN b, count(*) AS n": [(1, 2), (2, 1), (3, 1)],
    # Nulls are neither equal nor different.
    "MATCH (a:Person)-[:K]->(b) WHERE a.age <> 4 OR a.age = 4 RETURN a": [(1,)],
    "MATCH (a:Person)-[:K]->(b) WHERE NOT a.age = 4 RETURN a": [(1,)],
    "MATCH (a:Person)-[:K]->(b) WHERE a.age IS NULL RETURN a, a.age": [(2, None)],
    # A label in a conjunction is one of the properties before it.
    "MATCH (a)-[:K]->(b) WHERE a.age > 3 AND (b.age = 5 AND b:City OR b.age = 5 AND b:City) "
    "AND a:City RETURN a, b.age": [(3, 5)],
    "MATCH (a)-[r]->(b) WHERE r.w IS NOT NULL XOR r.w > 2 RETURN r.w AS w": [(1,), (2,)],
    "MATCH (a)-[r]->(b) WHERE 1 < r.w <= 5 RETURN r.w AS w": [(2,), (5,)],
    "MATCH (a)-[r]->(b) WHERE r.w IN [7, 5] RETURN r.w AS w": [(5,), (7,)],
    # Patterns in conditions change no count.
    "MATCH (a)-[:L]->(b) WHERE (b)-[:K]->() RETURN a, count(*) AS n": [(2, 1)],
    "MATCH (a)-[:K]->(b) WHERE NOT (b)-->(a) RETURN a, b": [(2, 3)],
    "MATCH (a)-[:K]->(b) WHERE EXISTS { (a)-[r:K]->(c) WHERE r.w > 4 AND c <> a } RETURN a": [(1,)],
    "MATCH (a)-[:K]->(b) WHERE NOT EXISTS { (b)-[:K]->(c) WHERE (c)-[:K]->(c) } RETURN a": [],
    "MATCH (a)-[:K]->(b) WHERE b:City AND NOT a:Person RETURN a": [(3,)],
    "MATCH (a)-[:K]->(b) WHERE a:City OR (b)-[:L]->(a) RETURN a, b": [(1, 2), (3, 3)],
    # OPTIONAL MATCH keeps rows without a match.
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (b)-[r:L]->(c) RETURN a, c, r.w": [
        (1, 1, None),
        (2, None, None),
        (3, None, None),
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[r:K]->(b) WHERE r.w > 1 RETURN a, count(b) AS n": [
        (1, 2),
        (2, 0),
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:K]->(b:City) WITH a, b WHERE b IS NOT NULL RETURN a": [
        (2,)
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:K]->(b:City) WITH a, b WHERE b IS NULL RETURN a": [(1,)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[r:K]->(b:City) RETURN a, coalesce(b, -1) AS b, "
    "CASE WHEN r.w IS NULL THEN 'none' ELSE 'some' END AS w": [(1, -1, "none"), (2, 3, "some")],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[r:K]->(b:City) RETURN a, sum(coalesce(r.w, 10)) AS w": [
        (1, 10),
        (2, 1),
    ],
    # The first row of each group in an order; nulls come last.
    "MATCH (a)-[r:K]->(b) WITH a, b, r.w AS w ORDER BY w DESC "
    "WITH a, head(collect({of: b, w: w})) AS h WHERE h.w > 1 RETURN a, h.of AS b, h.w * 2 AS w": [
        (1, 2, 10),
        (3, 3, 14),
    ],
    "MATCH (a)-[:K|L]->(b:Person) WITH a, b ORDER BY b.age DESC, b "
    "RETURN a, head(collect(b.age)) AS h": [(1, None), (2, 30)],
    "MATCH (a)-[r]->(b) WITH r.w AS w ORDER BY w DESC WITH head(collect(w)) AS h RETURN h": [(7,)],
    "MATCH (a)-[r]->(b) WITH b, r.w AS w, a ORDER BY w, id(a) DESC "
    "WITH b, head(collect(a)) AS h MATCH (h)-[:K]->(c:City) RETURN b, h, c": [(1, 2, 3), (3, 2, 3)],
    "MATCH (a)-[:K]->(b) WITH b, a, count(*) AS n ORDER BY n DESC "
    "WITH b, head(collect({a: a, n: n})) AS h RETURN b, h.a, h.n": [(2, 1, 2), (3, 2, 1)],
    # Members of a list that satisfy a condition, for each row of the groups.
    "MATCH (a)-[:K]->(c) WITH DISTINCT a, c OPTIONAL MATCH (c)-[:K]->(b) "
    "WITH a, collect(b) AS bs, c RETURN a, size([x IN bs WHERE (x)-[:K]->(c)]) + 1 AS m": [
        (1, 1),
        (2, 2),
        (3, 2),
    ],
    "MATCH (a)-[:K]->() WITH DISTINCT a OPTIONAL MATCH (a)-[:K]->(b) WITH a, collect(b) AS bs "
    "RETURN size(bs) AS n, size([a IN bs WHERE NOT (a)-[:K]->(a)]) AS m": [(1, 0), (2, 2)],
    # Lists are columns, also behind WITH; one that WITH hands on is a key beside aggregates.
    "MATCH (a:Person)-[r:K]->(b) WITH a, collect(r.w) AS ws RETURN a.age, ws": [
        (30, "[2,5]"),
        (None, "[1]"),
    ],
    "MATCH (a)-[r:K]->() WITH a AS x, collect(r.w) AS ws WITH x, ws AS vs MATCH (x)-[:K]->(c) "
    "WITH c, vs, collect(DISTINCT x) AS xs, count(*) AS n RETURN vs, xs, n + 1 AS m": [
        ("[1]", "[2]", 2),
        ("[2,5]", "[1]", 3),
        ("[7]", "[3]", 2),
    ],
    "MATCH (a)-[r:K]->() WITH a, collect(r.w) AS ws WHERE size(ws) > 1 RETURN *": [(1, "[2,5]")],
    "MATCH (a)-[r:K]->() RETURN a, collect(r.w) AS ws, count(*) AS n ORDER BY n DESC, a LIMIT 2": [
        (1, "[2,5]", 2),
        (2, "[1]", 1),
    ],
    # OPTIONAL MATCH as the first clause, where the row without a match changes no row.
    "OPTIONAL MATCH (a:City)-[r:K]->() OPTIONAL MATCH (a)-[:L]->(b) "
    "RETURN count(a) AS n, sum(r.w) AS w, count(b) AS m": [(1, 7, 0)],
    "OPTIONAL MATCH (a:City) MATCH (b)-[:K]->(a) RETURN a, count(*) AS n": [(3, 2)],
    "OPTIONAL MATCH (a:Person)-->() WITH a AS x, count(*) AS n WHERE x.age > 3 RETURN x, n": [
        (1, 2)
    ],
    "OPTIONAL MATCH (a:City)-[:L]->() WITH a WHERE a IS NOT NULL RETURN a": [],
    # OPTIONAL MATCH of which several rules have the matches.
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:L]->(m)-[:K*0..2]->(c:City) RETURN a, count(m) AS n": [
        (1, 0),
        (2, 2),
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:L]->(m)-[:K*0..]->(c:City) "
    "WITH a, count(DISTINCT m) AS n RETURN n, count(a) AS people": [(0, 1), (1, 1)],
    "MATCH (a) OPTIONAL MATCH (a)-[:K*0..2]->(b:City) RETURN a, count(b) AS n": [
        (1, 2),
        (2, 2),
        (3, 2),
    ],
    "MATCH (a) OPTIONAL MATCH (a)-[:L*0..1]->(b:Person {age: 30}) RETURN a, count(*) AS n, "
    "count(b) AS m, min(b.age) AS age": [(1, 1, 1, 30), (2, 1, 1, 30), (3, 1, 0, None)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[r:L]->(b) WHERE (b)-[:L]->() OR b.age = 30 "
    "OPTIONAL MATCH (b)-[:K]->(c) RETURN a, count(r) AS n, count(c) AS m, max(type(r)) AS t": [
        (1, 0, 0, None),
        (2, 2, 2, "L"),
    ],
    "MATCH (a)-[:K]->(b) WHERE NOT (a)-[:L*0..1]->(b) RETURN a, b": [(1, 2), (2, 3)],
    # Paths of OPTIONAL MATCH.
    "MATCH (a:Person) OPTIONAL MATCH p = (a)-[:K*1..2]->(b:City) WHERE length(p) > 1 "
    "RETURN a, length(p) AS l, count(b) AS n, count(*) AS rows": [(1, 2, 2, 2), (2, 2, 1, 1)],
    "MATCH (a), (b:Person) OPTIONAL MATCH p = shortestPath((a)-[:K*..3]->(b)) "
    "RETURN a, b, CASE p IS NULL WHEN true THEN -1 ELSE length(p) END AS l": [
        (1, 1, -1),
        (1, 2, 1),
        (2, 1, -1),
        (2, 2, -1),
        (3, 1, -1),
        (3, 2, -1),
    ],
    "MATCH (a:Person) OPTIONAL MATCH p = (a)-[:L]->(b) UNWIND nodes(p) AS n RETURN a, n": [
        (2, 1),
        (2, 2),
    ],
    # Lists as columns.
    "MATCH p = (a)-[:K*0..2]->(b:City) RETURN [n IN nodes(p) | n.age] AS ages, "
    "[r IN relationships(p) | r.w] AS ws, [id(a), 'x'] AS l, nodes(p) AS n": [
        ("[30,null,5]", "[2,1]", '[1,"x"]', "[1,2,3]"),
        ("[30,null,5]", "[5,1]", '[1,"x"]', "[1,2,3]"),
        ("[5,5]", "[7]", '[3,"x"]', "[3,3]"),
        ("[5]", "[]", '[3,"x"]', "[3]"),
        ("[null,5,5]", "[1,7]", '[2,"x"]', "[2,3,3]"),
        ("[null,5]", "[1]", '[2,"x"]', "[2,3]"),
    ],
    "MATCH (a)-[r:K]->(b) RETURN a, [min(r.w), count(*)] AS l": [
        (1, "[2,2]"),
        (2, "[1,1]"),
        (3, "[7,1]"),
    ],
    "MATCH (a)-[r:K]->(b) RETURN a, collect([id(b), r.w]) AS l, "
    "collect(DISTINCT {name: type(r), age: b.age}) AS m": [
        (1, "[[2,2],[2,5]]", '[{"name":"K","age":null}]'),
        (2, "[[3,1]]", '[{"name":"K","age":5}]'),
        (3, "[[3,7]]", '[{"name":"K","age":5}]'),
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[r:L]->(b) WITH a, "
    "collect(CASE b IS NULL WHEN true THEN null ELSE ['to', id(b)] END) AS l "
    "OPTIONAL MATCH (a)-[s:K]->(c) WITH a, l, collect({c: id(c), w: s.w}) AS m "
    "RETURN a.age AS age, l, m, size(m) AS n": [
        (30, "[]", '[{"c":2,"w":2},{"c":2,"w":5}]', 2),
        (None, '[["to",1]]', '[{"c":3,"w":1}]', 1),
    ],
    # Parts that nothing can match.
    "MATCH (a)-[:K]->(b) OPTIONAL MATCH (b)-[:L]->(c) WHERE b <> b RETURN a, count(c) AS n": [
        (1, 0),
        (2, 0),
        (3, 0),
    ],
    "MATCH (a)-[:K]->(b) WHERE NOT EXISTS { (b)-[:L]->(c) WHERE c <> c } RETURN a, b": [
        (1, 2),
        (2, 3),
        (3, 3),
    ],
    # WITH, HAVING, UNION, the first rows.
    "MATCH (a)-[:K]->() WITH a, count(*) AS n WHERE n > 1 MATCH (a)-->(c) RETURN c, n + 1 AS m": [
        (2, 3)
    ],
    "MATCH (a)-[r:K]->(b) WITH b AS a, r.w * 2 AS w WHERE w > 4 RETURN a, w": [(2, 10), (3, 14)],
    "MATCH (a)-[r:K]->(b) RETURN b, sum(r.w) * 1.0 / count(*) AS mean": [(2, 3.5), (3, 4.0)],
    "MATCH (a)-[:K]->(b) RETURN a AS x UNION MATCH (a)-[:L]->(b) RETURN b AS x": [(1,), (2,), (3,)],
    "MATCH (a)-[:K]->() RETURN a, count(*) AS n UNION MATCH (a)-[:L]->() RETURN a, count(*) AS n": [
        (1, 2),
        (2, 1),
        (3, 1),
    ],
    "MATCH (a)-[r:K]->(b) RETURN a, sum(r.w) AS w ORDER BY w DESC, a LIMIT 2": [(1, 7), (3, 7)],
    # A LIMIT in a WITH counts rows that are equal.
    "MATCH (a)-[:K]->(b) WITH a, b LIMIT 3 RETURN a, count(*) AS n": [(1, 2), (2, 1)],
    "MATCH (a)-[r:K]->() WITH a ORDER BY r.w DESC SKIP 1 LIMIT 2 RETURN a, count(*) AS n": [(1, 2)],
    "MATCH (a)-[:K]->() UNWIND range(1, 4) AS x WITH a LIMIT 9 RETURN a, count(*) AS n": [
        (1, 8),
        (2, 1),
    ],
    "MATCH (a)-[r:K]->(b) RETURN a, b AS c ORDER BY r.w DESC SKIP 1 LIMIT 2": [(1, 2)],
    "MATCH (a)-[:K]->(b) WITH b, count(*) AS n WITH b ORDER BY n DESC LIMIT 1 RETURN b": [(2,)],
    "MATCH (a)-[:K*1..2]->(c) RETURN a, count(c) AS n ORDER BY n DESC LIMIT 1": [(1, 4)],
    "MATCH (a)-[r:K]->(b) RETURN a, sum(r.w) AS w ORDER BY abs(w - 7) DESC, -id(a) LIMIT 2": [
        (2, 1),
        (3, 7),
    ],
    "MATCH (a)-[:K]->(b) WITH b AS a, a AS b RETURN a, b": [(2, 1), (3, 2), (3, 3)],
    "MATCH (a)-[r:K]->(b) WHERE id(a) = 2 RETURN type(r) AS t, a, id(b) AS b": [("K", 2, 3)],
    "MATCH (a)<-[r:K]-(b) RETURN a, startNode(r) AS s, id(endNode(r)) AS e": [
        (2, 1, 2),
        (3, 2, 3),
        (3, 3, 3),
    ],
    "MATCH p = (a)<-[:K*2]-(b) UNWIND relationships(p) AS r RETURN startNode(r) AS s, a": [
        (1, 3),
        (2, 3),
        (3, 3),
    ],
    # Shortest paths.
    "MATCH p = shortestPath((a)-[:K|L*..4]->(b)) RETURN a, b, length(p) AS n": [
        (1, 2, 1),
        (1, 3, 2),
        (2, 1, 1),
        (2, 3, 1),
    ],
}  # fmt: skip


def registered(query: str, emit: str = "") -> str:
    """The query with its window."""
    return f"REGISTER QUERY q {{ FROM STREAM s WITH WINDOW RANGE 6 {query} {emit} }}"


@pytest.mark.parametrize("query", AT_5)
def test_the_rows_at_an_instant(query: str) -> None:
    expected = sorted(AT_5[query], key=repr)
    assert snapshots(registered(query), GRAPH).get(5, []) == expected
    assert reports(registered(query, "EMIT SNAPSHOT EVERY 1"), GRAPH).get(5, []) == expected


def test_an_edge_is_in_the_window_until_its_length_has_passed() -> None:
    found = snapshots(registered("MATCH (a)-[r:K {w: 5}]->(b) RETURN a, b"), GRAPH)
    assert list(found) == [1, 2, 3, 4, 5, 6]


def test_reports_of_rows_that_enter_and_exit() -> None:
    query = "MATCH (a)-[:K]->(b) RETURN a, b"
    entering = reports(registered(query, "EMIT ON ENTERING EVERY 1"), GRAPH)
    assert entering == {1: [(1, 2)], 2: [(2, 3)], 5: [(3, 3)]}
    leaving = reports(registered(query, "EMIT ON EXIT EVERY 2"), GRAPH)
    assert leaving == {8: [(2, 3)], 12: [(1, 2), (3, 3)]}


def test_each_match_has_its_own_window() -> None:
    query = "MATCH (a)-[:K]->(b) WITHIN 1 MATCH (b)-[:L]->(a) WITHIN 9 RETURN a, b"
    assert snapshots(registered(query), GRAPH) == {5: [(1, 2)]}


@pytest.mark.parametrize(
    "query",
    [
        "MATCH p = (a)-[:L]->(b) RETURN *",
        "MATCH p = (a)-[:L]->(b) WITH b AS c, p AS q, a WITH * RETURN a, c AS b, q AS p",
    ],
)
def test_a_path_is_a_column_by_any_of_its_names(query: str) -> None:
    rows = snapshots(registered(query), GRAPH)[5]
    assert rows == [(2, 1, '[[2,"L",1]]')]


def test_a_shortest_path_of_no_relationships_has_its_node() -> None:
    query = (
        "MATCH p = allShortestPaths((a:Person)-[:K*0..]->(b)) WITH nodes(p) AS ns, p, b "
        "RETURN p, [n IN ns | id(n)] AS ids, relationships(p) AS r, b.age AS age"
    )
    found = reports(registered(query, "EMIT SNAPSHOT EVERY 1"), GRAPH)[1]
    one = '[[1,"K",2]]'
    assert set(found) == {
        (one, "[1,2]", one, None),
        ("[1]", "[1]", "[]", 30),
        ("[2]", "[2]", "[]", None),
    }


@pytest.mark.parametrize("streams", [("s",), ("people", "places"), ("s", "people")])
def test_a_node_alone_is_one_of_the_streams_that_there_are(streams: tuple[str, ...]) -> None:
    known = catalog().streams
    query = "FROM STREAM s WITH WINDOW RANGE 6 " * ("s" in streams) + "MATCH (n) RETURN n"
    (plan,) = planned(
        f"REGISTER QUERY q {{ {query} }}", Catalog({name: known[name] for name in streams})
    )
    rows = [row for row in rows_of(GRAPH) if {*row[4:5]} <= {*streams}]
    found = {result.bindings for result in local.run_plan(plan, rows, 3)}
    assert found == {(node,) for row in rows for node in (row[0], row[1])}
