"""Predicates: the allow-list, and one meaning on values, on codes and as Spark SQL."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.plan_parts import PlanError
from headrace.algebra.predicate import Predicate
from headrace.executor import predicates
from headrace.executor.batch import FOREVER
from headrace.executor.dictionary import Dictionary
from tests.executor.typed_predicates import TypedCase, typed_cases
from tests.strategies.amount import examples

Value = str | int
Row = tuple[Value, Value]
Truth = bool | None


@dataclass(frozen=True)
class Condition:
    """SQL, and what it says of a row: true, false or unknown."""

    sql: str
    truth: Callable[[Row], Truth]


@dataclass(frozen=True)
class Operand:
    sql: str
    value: Callable[[Row], Value]


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def written(value: Value) -> Operand:
    return Operand(quoted(value) if isinstance(value, str) else str(value), lambda row: value)


VALUES: st.SearchStrategy[Value] = st.sampled_from(
    ["1", "2", "a", "Z", "é", "it's", 'a"b', "a\\n", "a\nb", "", 1, 2, -3]
)
OPERANDS = st.one_of(
    st.just(Operand("c0", lambda row: row[0])),
    st.just(Operand("c1", lambda row: row[1])),
    VALUES.map(written),
)


def compared(sign: str, left: Operand, right: Operand) -> Condition:
    def truth(row: Row) -> Truth:
        a, b = left.value(row), right.value(row)
        if sign in ("=", "<>"):
            return (a == b) == (sign == "=")
        if isinstance(a, int) and isinstance(b, int):
            below, equal = a < b, a == b
        elif isinstance(a, str) and isinstance(b, str):
            below, equal = a.encode() < b.encode(), a == b
        else:
            return None
        return {"<": below, "<=": below or equal, ">": not (below or equal), ">=": not below}[sign]

    return Condition(f"{left.sql} {sign} {right.sql}", truth)


def negated(part: Condition) -> Condition:
    def truth(row: Row) -> Truth:
        inner = part.truth(row)
        return None if inner is None else not inner

    return Condition(f"NOT ({part.sql})", truth)


def connected(word: str, left: Condition, right: Condition) -> Condition:
    decisive = word == "OR"

    def truth(row: Row) -> Truth:
        both = {left.truth(row), right.truth(row)}
        return decisive if decisive in both else None if None in both else not decisive

    return Condition(f"({left.sql}) {word} ({right.sql})", truth)


def conditions(signs: list[str]) -> st.SearchStrategy[Condition]:
    return st.recursive(
        st.builds(compared, st.sampled_from(signs), OPERANDS, OPERANDS),
        lambda part: st.one_of(
            st.builds(negated, part),
            st.builds(connected, st.sampled_from(["AND", "OR"]), part, part),
        ),
        max_leaves=5,
    )


ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=12)


def encoded(dictionary: Dictionary, values: list[Value]) -> np.ndarray[Any, Any]:
    return np.array([dictionary.constant(value) for value in values], np.int64)


@given(condition=conditions(["=", "<>", "<", "<=", ">", ">="]), rows=ROWS)
@examples(300)
def test_mask_equals_the_meaning_on_values(condition: Condition, rows: list[Row]) -> None:
    """Columns of strings, of integers, or of both, as a dictionary decodes them."""
    dictionary = Dictionary()
    codes = [encoded(dictionary, [row[i] for row in rows]) for i in range(2)]
    found = predicates.mask(condition.sql, [dictionary.decode(c) for c in codes])
    assert found.tolist() == [condition.truth(row) is True for row in rows]


@given(condition=conditions(["=", "<>"]), rows=ROWS)
@examples(200)
def test_code_mask_equals_the_mask_on_values(condition: Condition, rows: list[Row]) -> None:
    dictionary = Dictionary()
    codes = np.stack([encoded(dictionary, [row[i] for row in rows]) for i in range(2)])
    found = predicates.code_mask(condition.sql, codes, dictionary.constant)
    assert found is not None
    assert found.tolist() == [condition.truth(row) is True for row in rows]


def test_codes_do_not_decide_order() -> None:
    codes = np.zeros((2, 3), np.int64)
    assert predicates.code_mask("c0 = 'a' AND c1 < 'b'", codes, Dictionary().constant) is None


def test_every_predicate_of_the_algebra_passes() -> None:
    for predicate in (
        Predicate.column_equals(0, "it's \\ a \n test"),
        Predicate.column_equals(1, -5),
        Predicate.columns_equal(1, 0),
    ):
        predicates.checked(predicate.sql, 2)
    strange = "it's \\ a \n test"
    found = predicates.mask(
        Predicate.column_equals(0, strange).sql, [pa.array([strange, "x"]), pa.array(["", ""])]
    )
    assert found.tolist() == [True, False]


def test_spark_sql_coerces_nothing() -> None:
    sql = "c0 = 5 OR NOT c0 <> c1 OR c1 < 'a' OR c1 <= 7"
    fixed = predicates.spark_sql(sql, ("string", "integer"))
    assert fixed == "FALSE OR FALSE OR FALSE OR c1 <= 7"
    assert predicates.spark_sql("c0 = '5'", ("string", "string")) == "c0 = '5'"


def test_literals_in_spark_sql_keep_their_values() -> None:
    for text in ["it's", "a\\n", "a\nb", 'say "x"', "é", "%_", "${x}"]:
        fixed = predicates.spark_sql(f"c0 = {quoted(text)}", ("string",))
        again = sqlglot.parse_one(fixed, dialect="spark")
        assert again.expression.this == text


@pytest.mark.parametrize(
    "sql",
    [
        "reflect('java.lang.Runtime', 'getRuntime') = c0",
        "java_method('java.lang.System', 'exit', 1) = 'x'",
        "c0 = (SELECT 1)",
        "EXISTS (SELECT 1)",
        "c0 IN (SELECT 1)",
        "c0 LIKE 'a%'",
        "length(c0) = 1",
        "CAST(c0 AS INT) = 1",
        "c0 = 9223372036854775808",
        "c0 = c2",
        "c0 = c",
        "c0 = x",
        "c0 = c-1",
        "t.c0 = 'a'",
        "c0 = NULL",
        "c0 % 2 = 1",
        "c0 = 1e999",
        "c0 + 1 IS NULL",
        "c0 IS TRUE",
        "c0 IN (c1)",
        "c0 IN (NULL)",
        "c0 IN ()",
        "c0 <=> c1",
        "c0 BETWEEN 1 AND 2",
        "c0 || 'a' = 'b'",
        "abs(c0, 1) = 1",
        "-" * 40 + "c0 = 1",
        "- " * 40 + "c0 = 1",
        "c0",
        "'a'",
        "c0 = (c1 = 'a')",
        "(c0 = 'a') = (c1 = 'b')",
        "c0 = @x",
        "c0 = :x",
        "c0 = 'a'; DROP TABLE t",
        "DROP TABLE t",
        "SELECT 1",
        "c0 =",
        "",
        "NOT " * 500 + "c0 = 'a'",
        "c0 = '" + "a" * 200_000 + "'",
    ],
)
def test_a_predicate_off_the_allow_list_is_refused(sql: str) -> None:
    with pytest.raises(PlanError, match="predicate"):
        predicates.checked(sql, 2)
    with pytest.raises(PlanError):
        predicates.spark_sql(sql, ("string", "string"))
    with pytest.raises(PlanError):
        predicates.mask(sql, [pa.array(["a"]), pa.array(["b"])])


@given(value=VALUES)
def test_a_constant_encodes_as_the_vertex(value: Value) -> None:
    dictionary = Dictionary()
    kind = pa.string() if isinstance(value, str) else pa.int64()
    code = dictionary.encode(pa.array([value], kind), np.array([FOREVER]))
    assert dictionary.constant(value) == code[0]


@given(case=typed_cases())
@examples(300)
def test_mask_equals_the_meaning_on_properties(case: TypedCase) -> None:
    """Columns of every type with values missing; also where one column mixes the types."""
    assert predicates.mask(case.condition.sql, case.columns).tolist() == case.satisfied


@given(case=typed_cases())
@examples(100)
def test_mask_equals_the_meaning_on_mixed_types(case: TypedCase) -> None:
    columns = case.columns
    rows = len(case.rows)
    tags = pa.array([i % 2 for i in range(rows)], pa.int8())
    offsets = pa.array([i // 2 for i in range(rows)], pa.int32())
    odd = pa.array([None] * rows, pa.null())
    columns[2] = pa.UnionArray.from_dense(tags, offsets, [columns[2], odd])
    seen = [
        (*row[:2], case.rows[i // 2][2] if i % 2 == 0 else None) for i, row in enumerate(case.rows)
    ]
    expected = [case.condition.truth(row) is True for row in seen]
    assert predicates.mask(case.condition.sql, columns).tolist() == expected


def test_codes_decide_equality_of_vertices_only() -> None:
    codes = np.zeros((3, 1), np.int64)
    constant = Dictionary().constant
    for sql in ["c0 = c1", "c0 <> 'a' AND c1 = 7"]:
        assert predicates.code_mask(sql, codes, constant, vertices={0, 1}) is not None
    for sql in ["c0 = c2", "c2 = 1", "c0 = 1.5", "c0 = TRUE", "c0 + 1 = 2", "c0 IS NULL"]:
        assert predicates.code_mask(sql, codes, constant, vertices={0, 1}) is None
