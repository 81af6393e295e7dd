"""The normal form of predicates: equal predicates share it, and it is equivalent to them."""

from __future__ import annotations

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from sqlglot import exp

from headrace.algebra.predicate import FALSE, TRUE, Predicate
from headrace.algebra.predicate_syntax import DEEPEST, PredicateError, columns_of
from headrace.executor import predicates
from tests.executor.test_predicates import ROWS, Condition, Row, conditions
from tests.executor.typed_predicates import TypedCase, typed_cases
from tests.strategies.amount import examples

SIGNS = ["=", "<>", "<", "<=", ">", ">="]


@pytest.mark.parametrize(
    ("sql", "normal"),
    [
        ("c1 = c0", "c0 = c1"),
        ("'a' = c0", "c0 = 'a'"),
        ("7 < c2", "c2 > 7"),
        ("c0 = -3", "c0 = -3"),
        ("c0 = 007", "c0 = 7"),
        ("c1 = 1 AND (c0 = 2 AND c1 = 1)", "c0 = 2 AND c1 = 1"),
        ("c1 = 1 OR c0 = 2 OR 1 = c1", "c0 = 2 OR c1 = 1"),
        ("c1 = 1 AND (c0 = 2 OR c0 = 1)", "(c0 = 1 OR c0 = 2) AND c1 = 1"),
        ("NOT (c1 = c0 OR 7 < c2) OR FALSE", "c0 <> c1 AND c2 <= 7"),
        ("NOT NOT c0 = 1", "c0 = 1"),
        ("NOT TRUE", "FALSE"),
        # Parts that another part implies are removed.
        ("c0 = 1 AND (c0 = 1 OR c1 = 2)", "c0 = 1"),
        ("c0 = 1 OR (c0 = 1 AND c1 = 2)", "c0 = 1"),
        # Literals and a column beside itself are folded.
        ("1 = 2 OR c0 = 1", "c0 = 1"),
        ("c0 = c0 AND c1 <> c1", "FALSE"),
        ("c0 <= c0", "c0 IS NOT NULL"),
        ("c0 < c0 OR c0 + 1 <> 1 + c0", "FALSE"),
        ("c0 + 1 >= 1 + c0", "c0 + 1 = c0 + 1"),
        ("'b' > 'a' AND c0 = 1", "c0 = 1"),
        # The order of a string and an integer is unknown, also when negated.
        ("'a' < 1", "FALSE"),
        ("NOT 'a' < 1", "FALSE"),
        ("'1' = 1", "FALSE"),
        ("'1' <> 1", "TRUE"),
        ("TRUE <> 1", "TRUE"),
        ("1 = 1.0 AND c0 = 1.50", "c0 = 1.5"),
        # Arithmetic: literals are computed, operands of + and * stand in order.
        ("3 * (1 + 1) > c1", "c1 < 6"),
        ("2 + c1 > c0 * (c1 + 1)", "c0 * (c1 + 1) < c1 + 2"),
        ("c1 + c0 = -(-c0)", "-(-c0) = c0 + c1"),
        ("abs(c1 - c0) <= 10", "ABS(c0 - c1) <= 10"),
        ("c1 - c0 <= 10", "c1 - c0 <= 10"),
        ("c0 / 0 > 1 OR c0 > 1 / 0", "c0 / 0 > 1"),
        ("c0 > 9223372036854775807 + 1", "FALSE"),
        ("NOT c0 > 1 - 'a'", "FALSE"),
        # Missing values.
        ("NOT c0 IS NULL OR NOT (c1 IS NOT NULL)", "c0 IS NOT NULL OR c1 IS NULL"),
        ("c0 IN (2, 1, 2)", "c0 = 1 OR c0 = 2"),
        ("c0 NOT IN ('b', TRUE)", "c0 <> 'b' AND c0 <> TRUE"),
    ],
)
def test_equal_predicates_have_one_normal_form(sql: str, normal: str) -> None:
    assert Predicate(sql).normal == Predicate(normal)


@given(condition=conditions(SIGNS), rows=ROWS)
@examples(150)
def test_the_normal_form_is_equivalent(condition: Condition, rows: list[Row]) -> None:
    normal = Predicate(condition.sql).normal
    assert normal.normal == normal
    texts = [row for row in rows if all(isinstance(v, str) for v in row)]
    numbers = [row for row in rows if all(isinstance(v, int) for v in row)]
    for some, kind in ((texts, pa.string()), (numbers, pa.int64())):
        columns = [pa.array([row[i] for row in some], kind) for i in range(2)]
        found = predicates.mask(normal.sql, columns)
        assert found.tolist() == [condition.truth(row) is True for row in some]


@given(case=typed_cases())
@examples(150)
def test_the_normal_form_over_properties_is_equivalent(case: TypedCase) -> None:
    normal = Predicate(case.condition.sql).normal
    assert normal.normal == normal
    assert predicates.mask(normal.sql, case.columns).tolist() == case.satisfied


@given(case=typed_cases())
@examples(100)
def test_conditions_over_properties_split_into_parts(case: TypedCase) -> None:
    whole = Predicate(case.condition.sql)
    assert Predicate.all_of(whole.conjuncts) == whole.normal
    assert Predicate.any_of(whole.disjuncts) == whole.normal


@given(condition=conditions(SIGNS), rows=ROWS)
@examples(60)
def test_joined_parts_equal_the_whole_predicate(condition: Condition, rows: list[Row]) -> None:
    whole = Predicate(condition.sql)
    assert Predicate.all_of(whole.conjuncts) == whole.normal
    assert Predicate.any_of(whole.disjuncts) == whole.normal
    assert Predicate.all_of([whole, whole]) == whole.normal


def test_a_predicate_has_conjuncts_and_disjuncts() -> None:
    both = Predicate("c1 = 2 AND (c0 = 1 OR c0 = 3)")
    assert both.conjuncts == (Predicate("c0 = 1 OR c0 = 3"), Predicate("c1 = 2"))
    assert both.disjuncts == (both.normal,)
    assert both.conjuncts[0].disjuncts == (Predicate("c0 = 1"), Predicate("c0 = 3"))
    assert (Predicate.all_of(()), Predicate.any_of(())) == (TRUE, FALSE)


def test_only_an_equality_with_a_literal_can_use_an_index() -> None:
    assert Predicate("'a' = c1").is_sargable
    assert not Predicate("c0 = c1").is_sargable
    assert not Predicate("c0 > 1").is_sargable
    assert not Predicate("c0 + 1 = 2").is_sargable
    assert not Predicate("c0 = c1 + 1").is_sargable
    assert not TRUE.is_sargable


def test_renumbering_moves_columns() -> None:
    moved = Predicate("c0 = c2 AND c2 > 1").renumbered({0: 3, 2: 1})
    assert moved.normal == Predicate("c1 = c3 AND c1 > 1")
    assert moved.columns == {1, 3}


@given(case=typed_cases())
@examples(50)
def test_renumbering_changes_columns_alone(case: TypedCase) -> None:
    predicate = Predicate(case.condition.sql)
    tree = predicate.expression
    assert predicate.columns == columns_of(tree)
    for column in list(tree.find_all(exp.Column)):
        column.this.set("this", f"c{int(column.name[1:]) + 1}")
    moved = predicate.renumbered({column: column + 1 for column in predicate.columns})
    assert moved.normal == Predicate.of(tree).normal


def test_renumbering_leaves_text_in_quotes() -> None:
    text = r"c0 = 'c0 \' c1 \\' AND c1 <> 'c1'"
    moved = Predicate(text).renumbered({0: 1, 1: 0})
    assert moved == Predicate(r"c0 <> 'c1' AND c1 = 'c0 \' c1 \\'")
    assert moved.columns == Predicate(text).columns == {0, 1}


@pytest.mark.parametrize(
    "sql",
    [
        "reflect('java.lang.System', 'exit')",
        "c0 = now()",
        "c0",
        "c0 = ",
        "t.c0 = 1",
        "c0 % 2 = 1",
        "x",
    ],
)
def test_sql_that_is_not_allowed_in_a_predicate_is_refused(sql: str) -> None:
    with pytest.raises(PredicateError, match="predicate"):
        _ = Predicate(sql).normal


def test_a_predicate_nested_too_deep_is_refused() -> None:
    deep = " OR ".join(f"c0 = {k}" for k in range(DEEPEST + 2))
    with pytest.raises(PredicateError, match="nests more than"):
        _ = Predicate(deep).normal


def test_a_long_condition_is_folded_at_once() -> None:
    parts = [f"(c0 <> 'v{i}' OR c1 = 'w{i}')" for i in range(60)]
    whole = Predicate(" AND ".join(parts)).normal
    assert whole == Predicate.all_of(Predicate(part).normal for part in parts)
    few = parts[:9]
    nested = Predicate("".join(f"({part} AND " for part in few) + "TRUE" + ")" * len(few))
    assert nested.normal == Predicate(" AND ".join(few)).normal


@pytest.mark.parametrize(
    "sql",
    [
        "c7 = c3",
        "ABS(c10 - c2) <= c2",
        "c0 = c1 AND (c1 < c0 OR NOT c4 IS NULL)",
        "c3 = 'c5' OR c3 = 'it\\'s c6'",
        '"c5" = c1',
        '"c1" = x0 AND c0 = 1',
        "`c5` = c1 + 1",
        "C5 = c1",
        "c05 = c1",
        "t.c5 = c5(c1)",
        "c2 IN (1, 2)",
        "TRUE",
    ],
)
def test_texts_that_differ_in_columns_alone_are_parsed_as_each_alone(sql: str) -> None:
    for text in (sql, sql.replace("c1", "c8")):
        assert repr(Predicate(text).parsed) == repr(sqlglot.parse_one(text, dialect="spark"))
