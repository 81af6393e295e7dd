"""Answers that compute, aggregate and report: their algebra, and refused queries."""

from __future__ import annotations

import pytest

from headrace.algebra.text import one_line
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream
from headrace.languages import QueryError, parse
from headrace.languages.translation.canonical import translate

STREAM = Stream(
    "s",
    dict.fromkeys(("a", "b"), DEFAULT_STATISTICS),
    properties={"n": "integer", "t": "string"},
)
CATALOG = Catalog({"s": STREAM})


@pytest.mark.parametrize(
    ("query", "algebra"),
    [
        (
            "Answer(x, e.n * 2 as m, 1 as one) <- a(x, y) as e. WINDOW 9",
            "C[c0, c1 * 2, 1](C[c1,c3](W[9](a(n))))",
        ),
        ("Answer(x, count(*) as n) <- a(x, y). WINDOW 9", "A[c0 ; count(*)](W[9](a(n,t,ts)))"),
        (
            "Answer(sum(e.n + 1) as n) <- a(x, y) as e. WINDOW 9",
            "A[ ; sum(c5)](C[c0, c1, c2, c3, c4, c2 + 1](W[9](a(n,t,ts))))",
        ),
        ("Answer(x, count(e) as n) <- a(x, y) as e. WINDOW 9", "A[c0 ; count(*)](W[9](a(n,t,ts)))"),
        (
            "Answer(x, count(distinct y) as n) <- x a+ y. WINDOW 9 EMIT SNAPSHOT EVERY 3",
            "R[snapshot every 3](A[c0 ; count(distinct c1) ; every 3](P[Answer;a+](W[9](a))))",
        ),
        (
            "Answer(x, y) <- a(x, y). Answer(x, y) <- b(x, y). "
            "ON s (a) WINDOW 9 SLIDE 6 ON s (b) WINDOW 9 SLIDE 4 EMIT ON ENTERING",
            "R[entering every 2](U[Answer](W[9,6](a), W[9,4](b)))",
        ),
        (
            # a is under the longest of its windows, and the condition chooses no events
            "Answer(x, y) <- a[n > 1](x, y), b(y, z), a[WINDOW 20](x, z). "
            "WINDOW 9 EMIT ON EXIT EVERY 2 EVENTS STARTING AT 7",
            "R[exit every 2 events  from 7](J[src1,trg1,Answer ; trg1=src2 & src1=src3 & trg2=trg3]"
            "(C[c1,c2](F[c3 > 1](W[9](a(n)))), W[9](b), W[20](a)), W[20](a), W[9](b))",
        ),
        (
            "Answer(x, count(*) as n) <- a(x, y). WINDOW 9 EMIT ON ENTERING EVERY 1 EVENT",
            "R[entering every 1 event](A[c0 ; count(*) ; retracts](W[9](a(n,t,ts))), W[9](a))",
        ),
        (
            "Answer(x, count(*) as n) <- a(x, y). WINDOW 9 EMIT SNAPSHOT EVERY 3 STARTING AT 6",
            "R[snapshot every 3  from 6](A[c0 ; count(*) ; every 3](W[9](a(n,t,ts))))",
        ),
        (
            "Answer(x, count(*) as n) <- a(x, y). WINDOW 9 EMIT SNAPSHOT EVERY 3 STARTING AT 7",
            "R[snapshot every 3  from 7](A[c0 ; count(*) ; retracts](W[9](a(n,t,ts))))",
        ),
        (
            "Answer(x, count(*) as n) <- a(x, y). Answer(y, count(*) as n) <- b+(x, y). WINDOW 9",
            "A[c1 ; count(c2)](U(C[0, c0, 0, c0, c1, c2, c3, c4](W[9](a(n,t,ts))), "
            "C[1, c1, 0, c0, c1, 0, 0, 0](P[Answer;b+](W[9](b)))))",
        ),
    ],
)
def test_the_algebra_of_answers(query: str, algebra: str) -> None:
    assert one_line(translate(parse(query), CATALOG).expression) == algebra


@pytest.mark.parametrize(
    ("gcore", "rules"),
    [
        (
            "SELECT x, e.n * 2 AS m MATCH (x)-[e:a]->() ON s WINDOW (9)",
            "Answer(x, e.n * 2 as m) <- a(x, _) as e. WINDOW 9",
        ),
        (
            "SELECT count(*) AS c, x, max(e.n) AS m, count(DISTINCT y) AS d "
            "MATCH (x)-[e:a]->(y) ON s WINDOW (9) EMIT ON EXIT EVERY (3)",
            "Answer(count(*) as c, x, max(e.n) as m, count(distinct y) as d) <- a(x, y) as e. "
            "WINDOW 9 EMIT ON EXIT EVERY 3",
        ),
        (
            "SELECT x, collect(DISTINCT e.n) AS ns, collect(y) AS ys "
            "MATCH (x)-[e:a]->(y) ON s WINDOW (9)",
            "Answer(x, collect(distinct e.n) as ns, collect(y) as ys) <- a(x, y) as e. WINDOW 9",
        ),
        (
            "SELECT x, latest(e.n) AS m MATCH (x)-[e:a]->(y) ON s WINDOW (9)",
            "Answer(x, latest(e.n, e.ts) as m) <- a(x, y) as e. WINDOW 9",
        ),
        (
            "SELECT x, stddev_pop(e.n) AS s, percentile_cont(e.n, 0.5) AS m "
            "MATCH (x)-[e:a]->(y) ON s WINDOW (9)",
            "Answer(x, stddev_pop(e.n) as s, percentile_cont(e.n, 0.5) as m) <- a(x, y) as e. "
            "WINDOW 9",
        ),
        (
            "SELECT x, y, count(e) AS c MATCH (x)-[e:a]->(z), (y)-[:b]->() ON s WINDOW (9) "
            "WHERE (y) = (z) EMIT SNAPSHOT",
            "Answer(x, y, count(*) as c) <- a(x, y) as e, b(y, _). WINDOW 9 EMIT SNAPSHOT",
        ),
    ],
)
def test_gcore_means_what_rules_mean(gcore: str, rules: str) -> None:
    of_gcore, of_rules = (translate(parse(text), CATALOG) for text in (gcore, rules))
    assert of_gcore.columns == of_rules.columns
    assert one_line(of_gcore.expression) == one_line(of_rules.expression)


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("Answer(sum(e.t) as n) <- a(x, y) as e. WINDOW 9", "E-TYPE", "sum is for numbers"),
        (
            "Answer(x, collect(y) as ys) <- a(x, y). WINDOW 9 EMIT SNAPSHOT EVERY 2 EVENTS",
            "E-LATER",
            "reports at events are not supported with lists in the answer",
        ),
        (
            "Answer(collect(y) as ys) <- a(x, y). WINDOW 9 EMIT SNAPSHOT EVERY 2 STARTING AT 5",
            "E-LATER",
            "reports that start between two periods are not supported with lists",
        ),
        (
            "Answer(x, y, p) <- shortest x a+ y as p. WINDOW 9 EMIT SNAPSHOT EVERY 1 EVENT",
            "E-LATER",
            "reports at events are not supported with shortest paths at instants",
        ),
        ("Answer(x + 1 as n) <- a(x, y). WINDOW 9", "E-TYPE", "arithmetic is for numbers"),
        ("Answer(min(e.z) as n) <- a(x, y) as e. WINDOW 9", "E-UNKNOWN", "no property z"),
        (
            "SELECT sum(e.n) / 2 AS m MATCH (x)-[e:a]->() ON s WINDOW (9)",
            "E-AGG",
            "only in the final result",
        ),
        (
            "SELECT x, collect(y) + 1 AS m MATCH (x)-[:a]->(y) ON s WINDOW (9)",
            "E-AGG",
            "only in the final result",
        ),
        (
            "L(x, collect(y) as ys) <- a(x, y). Answer(x) <- L(x, ys), b(x, ys). WINDOW 9",
            "E-AGG",
            "a join by a list is not supported",
        ),
        (
            "Answer(x, collect(y) as ys) <- a(x, y) ORDER BY ys LIMIT 3. WINDOW 9",
            "E-AGG",
            "a list is not compared",
        ),
        ("Answer(collect(*) as n) <- a(x, y). WINDOW 9", "E-SYNTAX", r"only count takes \*"),
        ("Answer(x) <- a(x, y), collect(y) > 1. WINDOW 9", "E-AGG", "column of a head by itself"),
        ("Answer(collect(e) as n) <- a(x, y) as e. WINDOW 9", "E-PROPERTY", "edge"),
        ("Answer(collect(p) as n) <- x a+ y as p. WINDOW 9", "E-PATHVAR", "path"),
        (
            "Answer(x, collect(y) as ys) <- a(x, y). "
            "Answer(x, collect(distinct y) as ys) <- b(x, y). WINDOW 9",
            "E-AGG",
            "differ",
        ),
        ("SELECT x, count(*) MATCH (x)-[:a]->() ON s WINDOW (9)", "E-SYNTAX", "needs a name"),
        ("Answer(x, latest(y) as n) <- a(x, y). WINDOW 9", "E-AGG", "needs a time"),
        (
            "Answer(latest(e.n + f.n) as n) <- a(x, y) as e, a(y, z) as f. WINDOW 9",
            "E-AGG",
            "of several edges",
        ),
        ("Answer(x) <- a(x, y) as e, latest(e.n) > 1. WINDOW 9", "E-AGG", "head by itself"),
        ("Answer(latest(e.n, e.z) as n) <- a(x, y) as e. WINDOW 9", "E-UNKNOWN", "no property z"),
        ("Answer(latest(e) as n) <- a(x, y) as e. WINDOW 9", "E-AGG", "needs a time"),
        ("Answer(latest(e, e.ts) as n) <- a(x, y) as e. WINDOW 9", "E-PROPERTY", "edge"),
        ("Answer(stddev(e.t) as n) <- a(x, y) as e. WINDOW 9", "E-TYPE", "stddev is for numbers"),
        ("Answer(stddev(distinct e.n) as n) <- a(x, y) as e. WINDOW 9", "E-AGG", "DISTINCT"),
        ("Answer(stddev(e.n, 1) as n) <- a(x, y) as e. WINDOW 9", "E-SYNTAX", "cannot stand"),
        (
            "Answer(percentile_cont(distinct e.n, 0.5) as n) <- a(x, y) as e. WINDOW 9",
            "E-AGG",
            "DISTINCT",
        ),
        (
            "Answer(percentile_disc(e.n) as n) <- a(x, y) as e. WINDOW 9",
            "E-SYNTAX",
            "percentile_disc takes two arguments",
        ),
        (
            "Answer(percentile_disc(e.n, 50) as n) <- a(x, y) as e. WINDOW 9",
            "E-AGG",
            "not a number from 0 to 1",
        ),
        (
            "Answer(percentile_disc(e.n, e.n) as n) <- a(x, y) as e. WINDOW 9",
            "E-AGG",
            "not a number from 0 to 1",
        ),
        (
            "Answer(percentile_disc(e.n, 0.1) as n) <- a(x, y) as e. "
            "Answer(percentile_disc(e.n, 0.2) as n) <- b(x, y) as e. WINDOW 9",
            "E-AGG",
            "differ",
        ),
        ("Answer(sum(e.n, e.ts) as n) <- a(x, y) as e. WINDOW 9", "E-SYNTAX", "cannot stand"),
        ("SELECT sum(e.n, e.n) AS n MATCH ()-[e:a]->() ON s WINDOW (9)", "E-SYNTAX", "argument"),
    ],
)
def test_invalid_aggregates_and_reports_are_refused(query: str, code: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as error:
        translate(parse(query), CATALOG)
    assert error.value.code == code
