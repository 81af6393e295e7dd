"""The functions of values: names, types, normal forms, and missing arguments."""

import re
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from headrace.algebra import functions, scalar
from headrace.algebra.aggregates import IN_QUERIES
from headrace.algebra.functions import FUNCTIONS, LENIENT, LONGEST_TEXT, applied, types_of
from headrace.algebra.missing import rejects_missing
from headrace.algebra.predicate import FALSE, TRUE, Predicate
from headrace.algebra.scalar import Call, Literal
from headrace.algebra.values import ColumnType
from headrace.languages.rq.parser import PARSER

INTEGER: frozenset[ColumnType] = frozenset({"integer"})
NUMBER: frozenset[ColumnType] = frozenset({"number"})
TRUTH: frozenset[ColumnType] = frozenset({"boolean"})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_dialect_of_sql_knows_the_names(name: str) -> None:
    """A name that sqlglot knows would be parsed as something else, and perhaps printed anew."""
    least = FUNCTIONS[name].least
    text = f"{name}({', '.join(['c0'] * least)})"
    parsed = sqlglot.parse_one(text, dialect="spark")
    assert type(parsed) is exp.Anonymous
    value = scalar.parsed(text, 1)
    assert isinstance(value, Call)
    assert scalar.text(value) == text
    assert scalar.read(parsed, 1) == scalar.read(sqlglot.parse_one(text.lower()), 1) == value


def test_rq_knows_the_same_functions() -> None:
    (line,) = [one for one in PARSER.grammar.splitlines() if one.startswith("FUNCTION")]
    names = line[line.index("(?:") + 3 : line.index(")")].split("|")
    assert sorted(names) == sorted(FUNCTIONS)


def test_rq_knows_the_same_aggregates() -> None:
    (line,) = [one for one in PARSER.grammar.splitlines() if one.startswith("AGGREGATE.")]
    names = line[line.index("(?:") + 3 : line.index(")")].split("|")
    assert sorted(names) == sorted(IN_QUERIES)


def test_the_page_of_rq_lists_all_functions() -> None:
    page = Path(__file__, "../../../docs/language.md").resolve().read_text("utf-8")
    section = page.partition("## Functions\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"\b[A-Z]+(?:_[A-Z0-9]+)+\b|\b[A-Z]{4,}\b", section)) >= set(FUNCTIONS)


def test_a_function_has_a_meaning_unless_it_is_lenient() -> None:
    assert {name for name, of in FUNCTIONS.items() if of.meaning is None} == LENIENT
    for name, function in FUNCTIONS.items():
        assert len(functions.kinds_of(name, function.most)) == function.most


@pytest.mark.parametrize(
    "text",
    ["TEXT_LEFT(c0)", "TEXT_LEFT(c0, 1, 2)", "NULL_VALUE(c0)", "CASE_WHEN(c0, c0)", "MD5(c0)",
     "TEXT_LEFT(DISTINCT c0, 1)", "TEXT_LEFT(c0, (SELECT 1))", "SINE(c1)",
     "IS_NOT_NULL(c0 IS NULL)"],
)  # fmt: skip
def test_other_functions_and_arguments_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no value over 1 columns"):
        scalar.parsed(text, 1)


@pytest.mark.parametrize(
    ("sql", "normal"),
    [
        ("TEXT_SIZE('abc') = c0", "c0 = 3"),
        ("TEXT_LEFT('abc', 1 + 1) = c0", "c0 = 'ab'"),
        ("TEXT_SIZE(5) = c0", "FALSE"),
        ("TEXT_LEFT(c0, 'a') = 'b'", "FALSE"),
        ("NULL_VALUE() = c0", "FALSE"),
        ("NOT MODULO(c0, 1 / 0) = 1", "FALSE"),
        ("FIRST_NOT_NULL(1 / 0, c1) = 2", "FIRST_NOT_NULL(NULL_VALUE(), c1) = 2"),
        ("NOT TEXT_CONTAINS(c0, 'a') = TRUE", "TEXT_CONTAINS(c0, 'a') <> TRUE"),
        ("MODULO(c1 + c0, 2) = 1", "MODULO(c0 + c1, 2) = 1"),
        ("AS_INTEGER('9223372036854775808') = c0", "FALSE"),
        ("SQUARE_ROOT(4) = 2", "TRUE"),
    ],
)
def test_normal_forms(sql: str, normal: str) -> None:
    found = Predicate(sql).normal
    assert found == {"TRUE": TRUE, "FALSE": FALSE}.get(normal, Predicate(normal))
    assert found.normal == found


def test_texts_do_not_grow_without_bound() -> None:
    long = "a" * LONGEST_TEXT
    assert applied("TEXT_JOIN", (long, "a")) is None
    assert applied("TEXT_REPLACE", (long, "a", "aa")) is None
    assert applied("TEXT_REPLACE", (long, "a", "b")) == "b" * LONGEST_TEXT


def test_the_types_of_results() -> None:
    assert types_of("DIVIDE", (INTEGER, INTEGER)) == INTEGER
    assert types_of("DIVIDE", (INTEGER, NUMBER)) == NUMBER
    assert types_of("DIVIDE", (INTEGER | NUMBER, INTEGER)) == INTEGER | NUMBER
    assert types_of("CASE_WHEN", (TRUTH, INTEGER, NUMBER)) == NUMBER
    assert types_of("FIRST_NOT_NULL", (INTEGER, frozenset())) == INTEGER
    assert scalar.types(Call("NULL_VALUE", ()), ()) == frozenset()
    assert types_of("LIST_OF", (INTEGER, TRUTH)) == {"integers", "booleans"}
    assert types_of("LIST_WHERE", (TRUTH, INTEGER)) == {"integers"}
    assert types_of("LIST_OF", (frozenset(),)) == types_of("LIST_OF", ()) == {"integers"}
    assert scalar.types(Call("TEXT_SIZE", (Literal("a"),)), ()) == INTEGER


@pytest.mark.parametrize(
    ("sql", "rejects"),
    [
        ("TEXT_SIZE(c1) > 0", True),
        ("TEXT_CONTAINS(c0, c1) = FALSE", True),
        ("IS_NOT_NULL(c1) = FALSE", False),
        ("FIRST_NOT_NULL(c1, 0) = 0", False),
        ("FIRST_NOT_NULL(c1, c1 + 1) = 0", True),
        ("FIRST_NOT_NULL(c1, c0) = 0", False),
        ("CASE_WHEN(LESS(c1, 0), 1, 2) = 2", False),
        ("CASE_WHEN(LESS(c0, 0), c1, c1 + 1) = 2", True),
        ("ALL_TRUE(c1, c0) = FALSE", False),
        ("ANY_TRUE(c1, c0) = TRUE", False),
        ("LESS(c1, c0) = TRUE", True),
        ("SIGN_OF(FIRST_NOT_NULL(c1, 0)) = 0", False),
    ],
)
def test_conditions_that_rows_with_a_missing_value_never_satisfy(sql: str, rejects: bool) -> None:
    assert rejects_missing(Predicate(sql), {1}) is rejects


def test_spark_sql_has_some_functions() -> None:
    assert Predicate("TEXT_CONTAINS(c0, 'a') = TRUE AND MODULO(c1, 2) = 1").in_sql
    assert not Predicate("TEXT_CONTAINS(TO_LOWER(c0), 'a') = TRUE").in_sql
    assert Predicate("c0 = 'TO_LOWER(c1)'").in_sql
