"""Random expressions over the properties of a relationship, in the words of Cypher and of Kuzu."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import kuzu
from hypothesis import strategies as st

from headrace.algebra.values import PropertyType
from headrace.catalog.model import Catalog, Stream
from headrace.executor import local
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.languages.cypher.drawing import Texts
from tests.properties.catalogs import ALIKE

Values = dict[str, Any]
PROPERTIES: dict[str, PropertyType] = {
    "n": "integer",
    "m": "integer",
    "x": "number",
    "s": "string",
    "u": "string",
    "b": "boolean",
}
KUZU_TYPES = {"integer": "INT64", "number": "DOUBLE", "string": "STRING", "boolean": "BOOLEAN"}


def catalog(time_unit: str = "second", **more: PropertyType) -> Catalog:
    """A stream ``s`` of relationships ``K`` with the properties."""
    stream = Stream("s", {"K": ALIKE}, vertex_type="integer", properties={**PROPERTIES, **more})
    return Catalog({"s": stream}, time_unit=time_unit)


def answers(
    query: str, rows: Sequence[Values], known: Catalog | None = None, **options: Any
) -> list[tuple[Any, ...]]:
    """The rows of a query over relationships ``K`` from node 0, 1, ... to node -1, all at 5."""
    text = f"REGISTER QUERY q {{ FROM STREAM s WITH WINDOW RANGE 10 {query} }}"
    options = {"budget_expressions": 100, **options}
    request = PlanRequest(
        text, language="cypher", catalog=known or catalog(), options=PlanningOptions(**options)
    )
    plan = optimize(request).optimization.plan
    edges: list[local.Edge] = [(k, -1, "K", 5, "s", row) for k, row in enumerate(rows)]
    return sorted((result.bindings for result in local.run_plan(plan, edges, 3)), key=repr)


@dataclass(frozen=True)
class Engine:
    """The same relationships as rows of a table of Kuzu."""

    connection: kuzu.Connection

    @staticmethod
    def of(rows: Sequence[Values]) -> Engine:
        """A new database with the rows."""
        database = kuzu.Database(":memory:", buffer_pool_size=1 << 28, max_db_size=1 << 30)
        connection = kuzu.Connection(database, 1)
        columns = ", ".join(f"{name} {KUZU_TYPES[kind]}" for name, kind in PROPERTIES.items())
        connection.execute(f"CREATE NODE TABLE T(id INT64 PRIMARY KEY, {columns})")
        for number, row in enumerate(rows):
            known = {name: value for name, value in row.items() if value is not None}
            written = "".join(f", {name}: ${name}" for name in known)
            connection.execute(f"CREATE (:T {{id: {number}{written}}})", known)
        return Engine(connection)

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of ``MATCH (r:T)`` and a text."""
        result = self.connection.execute(f"MATCH (r:T) {text}")
        assert isinstance(result, kuzu.QueryResult)
        return sorted((tuple(row) for row in result.get_all() if isinstance(row, list)), key=repr)


def rounded(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows with numbers of nine digits, as one type."""

    def value(of: Any) -> Any:
        if isinstance(of, bool) or not isinstance(of, int | float):
            return of
        return None if not math.isfinite(of) else float(f"{of:.9g}") + 0.0

    return sorted((tuple(map(value, row)) for row in rows), key=repr)


def _both(template: str, *parts: Texts) -> Texts:
    return Texts(
        template.format(*(part.cypher for part in parts)),
        template.format(*(part.kuzu for part in parts)),
    )


def _plain(*texts: str) -> st.SearchStrategy[Texts]:
    return st.sampled_from([Texts(text, text) for text in texts])


def _joined(one: Texts, other: Texts) -> Texts:
    """Two texts joined; Kuzu 0.11.3 takes null for an empty text there."""
    known = f"{one.kuzu} IS NOT NULL AND {other.kuzu} IS NOT NULL"
    return Texts(
        f"({one.cypher} + '-' + {other.cypher})",
        f"CASE WHEN {known} THEN concat({one.kuzu}, '-', {other.kuzu}) END",
    )


def integers(depth: int) -> st.SearchStrategy[Texts]:
    """Integers."""
    leaves = _plain("r.n", "r.m", "r.n", "2", "3")
    if not depth:
        return leaves
    part, text = integers(depth - 1), texts(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda a, b: _both("({0} + {1})", a, b), part, part),
        st.builds(lambda a, b: _both("({0} - {1})", a, b), part, part),
        st.builds(lambda a: _both("({0} * 3)", a), part),
        st.builds(lambda a, n: _both(f"({{0}} / {n})", a), part, st.sampled_from([2, -3])),
        st.builds(lambda a, n: _both(f"({{0}} % {n})", a), part, st.sampled_from([2, -3])),
        st.builds(lambda a: _both("abs({0})", a), part),
        st.builds(lambda a: _both("sign({0})", a), part),
        st.builds(lambda a: _both("size({0})", a), text),
        st.builds(lambda a, b: _both("coalesce({0}, {1})", a, b), part, part),
        st.builds(_part_of_time, part, st.sampled_from(["year", "month", "day", "hour", "minute"])),
        cases(part, depth),
    )


def _part_of_time(of: Texts, part: str) -> Texts:
    """A part of a time of the years 1685 to 2255."""
    seconds = _both("({0} % 9000) * 1000003", of)
    return Texts(
        f"datetime({{epochSeconds: {seconds.cypher}}}).{part}",
        f"date_part('{part}', to_timestamp({seconds.kuzu}))",
    )


def numbers(depth: int) -> st.SearchStrategy[Texts]:
    """Numbers with a fraction."""
    leaves = _plain("r.x", "r.x", "0.5", "2.0")
    if not depth:
        return leaves
    part, whole = numbers(depth - 1), integers(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda a, b: _both("({0} + {1})", a, b), part, whole),
        st.builds(lambda a, b: _both("({0} * {1})", a, b), part, part),
        st.builds(lambda a: _both("({0} / 4.0)", a), whole),
        st.builds(lambda a: _both("sqrt(abs({0}))", a), part),
        st.builds(lambda a: _both("floor({0})", a), part),
        st.builds(lambda a: _both("ceil({0})", a), part),
        st.builds(lambda a: _both("({0} % 1.5)", a), part),
        st.builds(lambda a: _both("({0} ^ 2)", a), part),
        st.builds(lambda a: _both("sin({0})", a), part),
        st.builds(lambda a, b: _both("coalesce({0}, {1})", a, b), part, part),
        cases(part, depth),
    )


def texts(depth: int) -> st.SearchStrategy[Texts]:
    """Texts."""
    leaves = _plain("r.s", "r.u", "r.s", "'ab'", "' B'")
    if not depth:
        return leaves
    part = texts(depth - 1)
    small = st.integers(0, 3)
    return st.one_of(
        leaves,
        st.builds(_joined, part, part),
        st.builds(lambda f, a: _both(f"{f}({{0}})", a),
                  st.sampled_from(["toLower", "toUpper", "reverse"]), part),
        st.builds(lambda f, a: _both(f"{f}({{0}})", a),
                  st.sampled_from(["trim", "ltrim", "rtrim"]), part),
        st.builds(lambda f, a, n: _both(f"{f}({{0}}, {n})", a),
                  st.sampled_from(["left", "right"]), part, st.integers(1, 3)),
        st.builds(lambda a, k, n: Texts(f"substring({a.cypher}, {k}, {n})",
                                        f"substring({a.kuzu}, {k + 1}, {n})"), part, small, small),
        st.builds(lambda a: Texts(f"toString({a.cypher})", f"cast({a.kuzu} AS STRING)"),
                  integers(depth - 1)),
        st.builds(lambda a, b: _both("coalesce({0}, {1})", a, b), part, part),
        cases(part, depth),
    )  # fmt: skip


def cases(part: st.SearchStrategy[Texts], depth: int) -> st.SearchStrategy[Texts]:
    """CASE of either form over values of one type; Kuzu 0.11.3 has other rows for null tests."""

    def sure(of: Texts, value: str) -> Texts:
        return Texts(of.cypher, f"coalesce({of.kuzu}, {value})")

    test = truths(depth - 1).map(lambda of: sure(of, "false"))
    subject = integers(depth - 1).map(lambda of: sure(of, "-99"))
    return st.one_of(
        st.builds(lambda t, a, b: _both("CASE WHEN {0} THEN {1} ELSE {2} END", t, a, b),
                  test, part, part),
        st.builds(lambda t, u, a, b: _both("CASE WHEN {0} THEN {1} WHEN {2} THEN {3} END",
                                           t, a, u, b), test, test, part, part),
        st.builds(lambda n, a, b: _both("CASE {0} WHEN 1 THEN {1} WHEN 2 THEN {2} ELSE {1} END",
                                        n, a, b), subject, part, part),
    )  # fmt: skip


def truths(depth: int) -> st.SearchStrategy[Texts]:
    """Conditions."""
    sign = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    number = st.one_of(integers(max(depth, 0)), numbers(max(depth, 0)))
    text = texts(max(depth, 0))
    leaves = st.one_of(
        _plain("r.b"),
        st.builds(lambda a, s, b: _both(f"({{0}} {s} {{1}})", a, b), number, sign, number),
        st.builds(lambda a, s, b: _both(f"({{0}} {s} {{1}})", a, b), text, sign, text),
    )
    if depth <= 0:
        return leaves
    part = truths(depth - 1)
    tests = st.sampled_from(["STARTS WITH", "ENDS WITH", "CONTAINS"])
    return st.one_of(
        leaves,
        st.builds(lambda a, w, b: _both(f"({{0}} {w} {{1}})", a, b), part,
                  st.sampled_from(["AND", "OR", "XOR"]), part),
        st.builds(lambda a: _both("(NOT {0})", a), part),
        st.builds(lambda a, t, p: _both(f"({{0}} {t} '{p}')", a), text, tests,
                  st.sampled_from(["a", "B", "ab"])),
        st.builds(lambda a, p: _both(f"({{0}} =~ '{p}')", a), text,
                  st.sampled_from(["a.*", "(?i)[ab ]+", "-?[0-9]+", ".", "a|ab|B"])),
        st.builds(lambda a: _both("({0} IN [1, 2, 5])", a), integers(depth - 1)),
        st.builds(lambda a, n: _both(f"({{0}} IS {n}NULL)", a), st.one_of(number, text),
                  st.sampled_from(["", "NOT "])),
    )  # fmt: skip


ROWS: st.SearchStrategy[list[Values]] = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.sampled_from([None, 0, 1, 2, -5, 7]),
            "m": st.sampled_from([None, 1, 2, -1]),
            "x": st.sampled_from([None, 0.25, -1.75, 2.0, 1.0]),
            "s": st.sampled_from([None, "", "ab", " Ba ", "b"]),
            "u": st.sampled_from([None, "a", "B", "xyz"]),
            "b": st.sampled_from([None, True, False]),
        }
    ),
    min_size=2,
    max_size=6,
)
