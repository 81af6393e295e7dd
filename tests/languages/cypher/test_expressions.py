"""Expressions have the values that Kuzu gives them, and those of openCypher where Kuzu differs."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.languages import QueryError, parse
from headrace.planning.errors import InvalidQueryError
from tests.languages.cypher.drawing import Texts
from tests.languages.cypher.expressions import (
    ROWS,
    Engine,
    Values,
    answers,
    catalog,
    integers,
    numbers,
    rounded,
    texts,
    truths,
)
from tests.strategies.amount import examples

VALUES = st.one_of(integers(2), numbers(2), texts(2), truths(2))


def check(values: list[Texts], test: Texts, rows: list[Values]) -> None:
    """Compares the values of expressions, and the rows that satisfy a condition."""
    engine = Engine.of(rows)
    columns = [f"{one.cypher} AS v{k}" for k, one in enumerate(values)]
    query = f"MATCH (a)-[r:K]->() RETURN a, {', '.join(columns)}"
    note(query)
    of_kuzu = [f"{one.kuzu} AS v{k}" for k, one in enumerate(values)]
    expected = engine.rows(f"RETURN r.id, {', '.join(of_kuzu)}")
    assert rounded(answers(query, rows)) == rounded(expected)
    query = f"MATCH (a)-[r:K]->() WHERE {test.cypher} RETURN a"
    note(query)
    assert answers(query, rows) == engine.rows(f"WHERE {test.kuzu} RETURN r.id")


@given(values=st.lists(VALUES, min_size=2, max_size=4), test=truths(2), rows=ROWS)
@examples(40)
def test_values_are_those_of_kuzu(values: list[Texts], test: Texts, rows: list[Values]) -> None:
    check(values, test, rows)


@pytest.mark.soak
@given(values=st.lists(VALUES, min_size=4, max_size=8), test=truths(2), rows=ROWS)
@examples(400)
def test_many_values_are_those_of_kuzu(
    values: list[Texts], test: Texts, rows: list[Values]
) -> None:
    check(values, test, rows)


ROW: Values = {"n": 7, "m": -2, "x": 2.5, "s": "Ab c", "u": None, "b": True}
EXPECTED: dict[str, Any] = {
    # Division and remainder keep integers, and drop the fraction towards zero.
    "r.n / r.m": -3,
    "-7 / 2": -3,
    "r.n % r.m": 1,
    "-7 % 2": -1,
    "r.n / 2.0": 3.5,
    "r.n / 0": None,
    "r.x % 0": None,
    "2 ^ 3": 8.0,
    "2 ^ 3 ^ 2": 64.0,
    "-2 ^ 2": 4.0,
    "9223372036854775807 + r.n": None,
    "sqrt(-1)": None,
    "log(0)": None,
    "round(2.5)": 3.0,
    "round(-2.5)": -2.0,
    "round(r.n)": 7.0,
    "ceil(-0.5)": 0.0,
    "floor(-0.5)": -1.0,
    "sign(-2.5)": -1,
    "pi() > 3.14 AND e() < 2.72": True,
    "degrees(radians(90))": 90.0,
    "abs(cot(1) * tan(1) - 1) < 1e-12": True,
    "cot(0)": None,
    "haversin(pi())": 1.0,
    # Texts.
    "substring(r.s, 1)": "b c",
    "substring(r.s, 1, 2)": "b ",
    "substring(r.s, 9)": "",
    "substring(r.s, -1)": None,
    "left(r.s, 2) + right(r.s, 1)": "Abc",
    "left(r.s, 99)": "Ab c",
    "right(r.s, 0)": "",
    "replace(r.s, ' ', '')": "Abc",
    "replace(r.s, '', 'x')": "Ab c",
    "toUpper('straße')": "STRASSE",
    "size('😀é')": 2,
    "trim('\u3000 a\t')": "a",
    "toString(1.0)": "1.0",
    "toString(12345678.9)": "1.23456789E7",
    "toString(0.00012)": "1.2E-4",
    "toString(r.b) + r.n": "true7",
    "'n' + r.n": "n7",
    "r.s CONTAINS ''": True,
    "r.s CONTAINS r.u": None,
    "r.s =~ 'A.*'": True,
    "r.s =~ 'b'": False,
    "r.s =~ r.u": None,
    "r.u =~ '.*'": None,
    "r.s =~ '(?i)AB.C'": True,
    "NOT 'a1' =~ '[a-z]\\\\d'": False,
    "'ab' =~ 'a|ab'": True,
    "r.s =~ ('A' + '(')": None,
    "isEmpty('')": True,
    # Conversions.
    "toInteger('12') + toInteger(' -3 ')": 9,
    "toInteger('1.9')": 1,
    "toInteger(-1.9)": -1,
    "toInteger('one')": None,
    "toInteger('1e400')": None,
    "toFloat('1e3')": 1000.0,
    "toFloat('nan')": None,
    "toFloat(r.n)": 7.0,
    "toBoolean('TRUE')": True,
    "toBoolean('yes')": None,
    # Nulls.
    "null": None,
    "coalesce(r.u, null, r.s)": "Ab c",
    "nullIf(r.n, 7)": None,
    "nullIf(r.n, 8)": 7,
    "null = null": None,
    "r.u = 'a' OR true": True,
    "r.u = 'a' AND true": None,
    "NOT r.u = 'a'": None,
    "r.n IN [1, null]": None,
    "r.n IN [7, null]": True,
    "r.n IN []": False,
    "r.u IS NULL": True,
    "r.n + r.m IS NOT NULL": True,
    "r IS NULL": False,
    "1 < r.n <= 7": True,
    # CASE.
    "CASE WHEN r.u = 'a' THEN 1 WHEN r.b THEN 2 END": 2,
    "CASE r.n WHEN 1 THEN 'one' ELSE 'many' END": "many",
    "CASE r.u WHEN null THEN 1 ELSE 2 END": 2,
    "CASE WHEN false THEN 1 END": None,
    "CASE WHEN r.b THEN 1 ELSE 0.5 END": 1.0,
    "CASE WHEN r.b THEN null ELSE 1 END IS NULL": True,
    "1 + CASE WHEN r.n > 3 THEN CASE WHEN r.m > 0 THEN 10 ELSE 20 END ELSE 30 END": 21,
    # Times in seconds; the relationship is of 5.
    "r.ts - datetime('1970-01-01T00:00:01Z')": 4,
    "datetime('1970-01-01T01:00+01:00')": 0,
    "datetime({year: 1970, month: 1, day: 2})": 86400,
    "datetime({epochMillis: 5999}) = r.ts": True,
    "datetime({epochSeconds: r.n}).epochMillis": 7000,
    "r.ts.epochMillis + r.ts.epochSeconds": 5005,
    "datetime('1970-01-01T00:00') + duration('PT1M30S')": 90,
    "duration({minutes: 1, seconds: 30}) / duration('PT30S')": 3,
    "duration('-PT5S') + r.ts": 0,
    "duration.between(datetime('1970-01-01'), r.ts).seconds": 5,
    "date('1970-01-02')": 86400,
    "r.ts.year": 1970,
    "datetime('2024-02-29T13:05:07Z').month": 2,
    "datetime('2024-02-29T13:05:07Z').ordinalDay": 60,
    "datetime('2024-02-29T13:05:07+02:00').hour": 11,
    "datetime('1969-12-31T23:59:58Z').second": 58,
    "datetime('2024-12-30').week": 1,
    "datetime('2024-12-30').weekYear": 2025,
    "datetime('2024-12-30').dayOfWeek": 1,
    "datetime('2024-12-30').weekDay": 1,
    "datetime('2024-12-30').quarter": 4,
    "datetime('2024-12-30').dayOfQuarter": 91,
    "datetime({epochSeconds: r.n * 100000000000}).year": None,
    "datetime.truncate('year', datetime('2024-02-29T13:05:07Z')).epochSeconds": 1704067200,
    "datetime.truncate('quarter', datetime('2024-06-30')) = datetime('2024-04-01')": True,
    "datetime.truncate('week', datetime('2024-02-29')) = datetime('2024-02-26')": True,
    "datetime.truncate('hour', datetime('1969-12-31T23:59:58Z')) + 3600": 0,
    "date.truncate('day', r.ts)": 0,
    "duration({days: 15}).weeks": 2,
    "datetime(r.s)": None,
    "datetime('1970-01-01T00:00:' + toString(10 + r.ts))": 15,
    # Points.
    "distance(point({x: r.n, y: 1}), point({y: -2, x: 3}))": 5.0,
    "toInteger(point.distance(point({latitude: 0, longitude: 0}), "
    "point({longitude: 180, latitude: 0})))": 20037517,
    "distance(point({latitude: 51.5, longitude: -0.1}), point({latitude: 51.5, longitude: -0.1}))":
        0.0,
    "distance(point({x: r.n / 0, y: 1}), point({x: 0, y: 0}))": None,
}  # fmt: skip


@cache
def values_found() -> dict[str, Any]:
    """The values of the expressions, a dozen in each query."""
    found: dict[str, Any] = {}
    for start in range(0, len(EXPECTED), 12):
        some = list(EXPECTED)[start : start + 12]
        columns = ", ".join(f"{text} AS v{number}" for number, text in enumerate(some))
        (row,) = answers(f"MATCH (a)-[r:K]->() RETURN {columns}", [ROW])
        found.update(zip(some, row, strict=True))
    return found


@pytest.mark.parametrize("text", EXPECTED)
def test_the_value_of_an_expression(text: str) -> None:
    found = values_found()[text]
    assert found == EXPECTED[text]
    assert type(found) is type(EXPECTED[text])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("UNWIND [7, 8] AS x MATCH (a)-[r:K]->() WHERE r.n = x RETURN a, x", [(0, 7), (2, 8)]),
        ("UNWIND [1, 1, null] AS x MATCH (a)-[r:K]->() RETURN a, count(x) AS n",
         [(0, 2), (1, 2), (2, 2)]),
        ("UNWIND [1, 1, 2] AS x MATCH (a)-[r:K]->() WHERE a < 1 RETURN x, count(*) AS n",
         [(1, 2), (2, 1)]),
        ("UNWIND ['a', 'b'] AS x UNWIND [1, 2] AS y MATCH (a)-[r:K]->() WHERE a = y RETURN x, a",
         [("a", 1), ("a", 2), ("b", 1), ("b", 2)]),
        ("UNWIND [] AS x MATCH (a)-[r:K]->() RETURN a, x", []),
        ("UNWIND null AS x MATCH (a)-[r:K]->() RETURN a, x", []),
        ("MATCH (a)-[r:K]->() UNWIND [r.n, r.m] AS x RETURN a, x",
         [(0, -2), (0, 7), (1, 1), (1, None), (2, 8)]),
        ("MATCH (a)-[r:K]->() WHERE CASE WHEN r.n > 7 THEN true ELSE r.m = 1 END RETURN a",
         [(1,), (2,)]),
        ("MATCH (a)-[r:K]->() WITH a, r.n > 7 AS big WHERE big RETURN a", [(2,)]),
        ("MATCH (a)-[r:K]->() WITH a, r.n > 7 AS big WHERE NOT big RETURN a", [(0,)]),
        ("MATCH (a)-[r:K]->() RETURN sum(CASE WHEN r.n > 7 THEN 1 ELSE 0 END) AS n, "
         "toString(count(*)) + ' rows' AS t", [(1, "3 rows")]),
        ("MATCH (a)-[r:K]->() RETURN toUpper(r.s) AS s, max(r.n % 5) AS n",
         [("AB C", 2), ("B", 3), (None, None)]),
        ("MATCH (a)-[r:K]->() WITH a, point({x: r.n, y: 0}) AS p "
         "WHERE distance(p, point({x: 0, y: 0})) > 7 RETURN a", [(2,)]),
        ("MATCH (a)-[r:K {n: 5 + 2}]->() RETURN a", [(0,)]),
        ("MATCH (a)-[r:K]->() WHERE r.s ENDS WITH 'c' OR r.m IN [1, 3] RETURN a", [(0,), (1,)]),
    ],
)  # fmt: skip
def test_expressions_in_clauses(query: str, expected: list[tuple[Any, ...]]) -> None:
    rows = [ROW, {"m": 1}, {"n": 8, "m": 8, "s": "b"}]
    assert answers(query, rows) == sorted(expected, key=repr)


def test_suspects_near_the_scene_of_a_crime() -> None:
    """The conditions of figure 17 of the paper of Seraph, over one relationship."""
    query = """
        MATCH (crime)-[r:K]->()
        WITH crime, r, point({latitude: r.x, longitude: 0.0}) AS scene
        WITH crime, r, distance(point({latitude: 51.5, longitude: 0.0}), scene) AS distance
        WHERE distance < 3000 AND r.s = 'theft'
        RETURN crime, toInteger(distance) AS metres"""
    near, far = {"x": 51.52, "s": "theft"}, {"x": 51.6, "s": "theft"}
    assert answers(query, [near, far, {"x": 51.5, "s": "fraud"}]) == [(0, 2226)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("RETURN toLower(r.n) AS v", "r.n is a number, and TO_LOWER takes a string there"),
        ("RETURN r.s % 2 AS v", "r.s is a string, and MODULO takes a number there"),
        ("RETURN CASE WHEN r.n THEN 1 END AS v", "CASE_WHEN takes a truth value there"),
        ("RETURN CASE WHEN r.b THEN 1 ELSE 'a' END AS v", "CASE_WHEN takes values of one type"),
        ("RETURN r.n = r.s AS v", "1:82: r.n: r.n is a number and r.s is a string: they are never"),
        ("RETURN r.x AS x, 2 > r.x AND r.s > 3 AS v", "1:104: r.s: 3 is a number and r.s is"),
        ("RETURN coalesce(r.n, r.s) AS v", "FIRST_NOT_NULL takes values of one type"),
        ("WHERE toUpper(r.s) = 3 RETURN a", "is a string and 3 is a number"),
    ],
)
def test_values_of_other_types_are_refused(query: str, message: str) -> None:
    with pytest.raises(InvalidQueryError, match="E-TYPE") as caught:
        answers(f"MATCH (a)-[r:K]->() {query}", [ROW])
    assert message in str(caught.value)


def test_times_need_a_unit_with_a_length() -> None:
    query = "MATCH (a)-[r:K]->() RETURN datetime('2021-01-01') AS t"
    with pytest.raises(QueryError, match="the time unit of the catalog has no length"):
        parse(query, "cypher", "step")
    in_hours = answers("MATCH (a)-[r:K]->() RETURN r.ts.epochSeconds AS t, "
                       "duration('P1D') AS d, r.ts.days AS n", [ROW], catalog("hour"))  # fmt: skip
    assert in_hours == [(18000, 24, 0)]
    in_millis = answers(
        "MATCH (a)-[r:K]->() RETURN datetime({epochSeconds: -1}) AS t, r.ts.epochSeconds AS s, "
        "datetime({epochMillis: -1}).epochSeconds AS u", [ROW], catalog("millisecond")
    )  # fmt: skip
    assert in_millis == [(-1000, 0, -1)]


PARAMETERS = {"n": 7, "names": ["b", "x"], "low": 2.5, "flag": True, "nothing": None}


def test_parameters_are_values_and_lists() -> None:
    rows = [ROW, {"n": 8, "s": "b", "b": True}]
    query = "MATCH (a)-[r:K]->() WHERE r.n = $n AND $flag RETURN a, $low AS low, $nothing AS z"
    given = {key: PARAMETERS[key] for key in ("n", "flag", "low", "nothing")}
    assert answers(query, rows, parameters=given) == [(0, 2.5, None)]
    query = "MATCH (a)-[r:K {n: $n}]->() RETURN a LIMIT $most"
    assert answers(query, rows, parameters={"n": 8, "most": 1}) == [(1,)]
    query = "UNWIND $names AS name MATCH (a)-[r:K]->() WHERE r.s = name RETURN a, name"
    assert answers(query, rows, parameters={"names": ["b", "x"]}) == [(1, "b")]
    query = "MATCH (a)-[r:K]->() WHERE r.s IN $names RETURN a"
    assert answers(query, rows, parameters={"names": ["b", "x"]}) == [(1,)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"E-PARAM 1:46: \$n: the parameter has no value"),
        ({"m": 1}, r"E-PARAM 1:46: \$n: the parameter has no value"),
        ({"n": 1, "m": 1}, "m: the query has no parameter of this name; its parameters are"),
        ({"n": {"a": 1}}, "n: its value is not one of a query"),
        ({"n": [[1]]}, "n: its value is not one of a query"),
        ({"n": 2**63}, "n: its value is not one of a query"),
        ({"n": float("inf")}, "n: its value is not one of a query"),
        ({"n": [1]}, "E-LATER 1:46: .: a list as a value is not supported yet"),
    ],
)
def test_parameters_without_a_value_or_a_place(given: dict[str, Any], message: str) -> None:
    query = "MATCH (a)-[r:K]->(b) WHERE r.w > 3 AND r.w < $n RETURN a"
    with pytest.raises(QueryError, match=message):
        parse(query, "cypher", parameters=given)


def test_other_languages_have_no_parameters() -> None:
    with pytest.raises(QueryError, match="RQ has no parameters"):
        parse("A(x) <- a(x, y)", "rq", parameters={"n": 1})
