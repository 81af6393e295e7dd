"""Random predicates over columns of every type, with their meaning on a row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests.oracles.functions import result

Value = str | int | float | bool | None
Row = tuple[Value, ...]
Truth = bool | None

LARGEST = 2**63 - 1
KINDS: dict[str, tuple[pa.DataType, list[Value]]] = {
    "string": (pa.string(), [None, "", "a", "b", "1", " Ab ", "-1.5", "true"]),
    "integer": (pa.int64(), [None, 0, 1, -2, 7, LARGEST, -LARGEST - 1, 2**53 + 1]),
    "number": (pa.float64(), [None, math.nan, 0.0, -0.0, 1.0, 1.5, -2.0, 1e308, -1e308, 2.0**53]),
    "boolean": (pa.bool_(), [None, True, False]),
}


@dataclass(frozen=True)
class TypedCondition:
    """SQL, and what it says of a row: true, false or unknown."""

    sql: str
    truth: Callable[[Row], Truth]


@dataclass(frozen=True)
class TypedOperand:
    """SQL of a value, and what it is in a row: None if it is unknown."""

    sql: str
    value: Callable[[Row], Value]


@dataclass(frozen=True)
class TypedCase:
    """A condition over three columns of some types."""

    condition: TypedCondition
    kinds: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[pa.Array[Any]]:
        return [
            pa.array([row[i] for row in self.rows], KINDS[kind][0])
            for i, kind in enumerate(self.kinds)
        ]

    @property
    def satisfied(self) -> list[bool]:
        return [self.condition.truth(row) is True for row in self.rows]


def is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def kept(value: Any) -> Value:
    """A number within its limits, or nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if -LARGEST - 1 <= value <= LARGEST else None


def arithmetic(sign: str, a: Value, b: Value) -> Value:
    if not (is_number(a) and is_number(b)):
        return None
    x: Any = a
    y: Any = b
    if sign == "/" or isinstance(a, float) or isinstance(b, float):
        x, y = float(x), float(y)
    match sign:
        case "+":
            return kept(x + y)
        case "-":
            return kept(x - y)
        case "*":
            return kept(x * y)
        case _:
            return kept(x / y) if y else None


def column(place: int) -> TypedOperand:
    def value(row: Row) -> Value:
        found = row[place]
        return None if isinstance(found, float) and math.isnan(found) else found

    return TypedOperand(f"c{place}", value)


def literal(value: Value) -> TypedOperand:
    sql = f"'{value}'" if isinstance(value, str) else str(value)
    return TypedOperand(sql, lambda row: value)


def computed(sign: str, left: TypedOperand, right: TypedOperand) -> TypedOperand:
    return TypedOperand(
        f"({left.sql}) {sign} ({right.sql})",
        lambda row: arithmetic(sign, left.value(row), right.value(row)),
    )


def called(function: str, part: TypedOperand) -> TypedOperand:
    def value(row: Row) -> Value:
        inner: Any = part.value(row)
        if not is_number(inner):
            return None
        return kept(abs(inner) if function == "ABS" else -inner)

    return TypedOperand(f"{function}({part.sql})", value)


def function(name: str, *parts: TypedOperand) -> TypedOperand:
    return TypedOperand(
        f"{name}({', '.join(part.sql for part in parts)})",
        lambda row: result(name, [part.value(row) for part in parts]),
    )


def compare(sign: str, a: Value, b: Value) -> Truth:
    if a is None or b is None:
        return None
    x: Any = a
    y: Any = b
    if is_number(a) and is_number(b):
        if isinstance(a, float) or isinstance(b, float):
            x, y = float(x), float(y)
    elif type(a) is not type(b):
        return {"=": False, "<>": True}.get(sign)
    below, equal = bool(x < y), bool(x == y)
    return {
        "=": equal,
        "<>": not equal,
        "<": below,
        "<=": below or equal,
        ">": not (below or equal),
        ">=": not below,
    }[sign]


def compared(sign: str, left: TypedOperand, right: TypedOperand) -> TypedCondition:
    return TypedCondition(
        f"{left.sql} {sign} {right.sql}",
        lambda row: compare(sign, left.value(row), right.value(row)),
    )


def missing(part: TypedOperand, negated: bool) -> TypedCondition:
    return TypedCondition(
        f"{part.sql} IS {'NOT ' if negated else ''}NULL",
        lambda row: (part.value(row) is None) != negated,
    )


def among(part: TypedOperand, options: list[TypedOperand]) -> TypedCondition:
    def truth(row: Row) -> Truth:
        found = {compare("=", part.value(row), option.value(row)) for option in options}
        return True if True in found else None if None in found else False

    return TypedCondition(f"{part.sql} IN ({', '.join(o.sql for o in options)})", truth)


def negated(part: TypedCondition) -> TypedCondition:
    def truth(row: Row) -> Truth:
        inner = part.truth(row)
        return None if inner is None else not inner

    return TypedCondition(f"NOT ({part.sql})", truth)


def connected(word: str, left: TypedCondition, right: TypedCondition) -> TypedCondition:
    decisive = word == "OR"

    def truth(row: Row) -> Truth:
        both = {left.truth(row), right.truth(row)}
        return decisive if decisive in both else None if None in both else not decisive

    return TypedCondition(f"({left.sql}) {word} ({right.sql})", truth)


SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
COLUMNS = st.integers(0, 2).map(column)
WRITTEN: list[Value] = ["a", "1", 0, 1, -2, LARGEST, 1.0, 1.5, 1e300, True, False]
LITERALS = st.sampled_from(WRITTEN).map(literal)
TEXTS = ("TO_LOWER", "TEXT_SIZE", "TEXT_TRIM", "TEXT_REVERSE", "AS_INTEGER", "AS_FLOAT", "AS_TEXT")
OF_ONE = (*TEXTS, "AS_BOOLEAN", "ROUND_UP", "ROUND_DOWN", "ROUND_NEAREST", "SIGN_OF", "SQUARE_ROOT",
          "IS_NOT_NULL", "LOGICAL_NOT", "TO_UPPER", "TEXT_LTRIM", "TEXT_RTRIM")  # fmt: skip
OF_TWO = ("EQUAL", "UNEQUAL", "LESS", "AT_MOST", "ALL_TRUE", "ANY_TRUE", "TEXT_LEFT", "TEXT_RIGHT",
          "TEXT_JOIN", "TEXT_STARTS", "TEXT_ENDS", "TEXT_CONTAINS", "TEXT_PART", "DIVIDE",
          "MODULO", "LIST_OF", "LIST_WHERE", "MAP_OF")  # fmt: skip


EXPRESSIONS = st.sampled_from(["a", "[a-z]1?", "(?i)A.*", ".", "-?\\d+"]).map(literal)
TICKS = st.sampled_from([1, 1_000_000, 86_400_000_000]).map(literal)
PERIODS = st.sampled_from(["year", "month", "week", "day", "minute", "second"]).map(literal)


def chosen(test: TypedOperand, one: TypedOperand, other: TypedOperand) -> TypedOperand:
    """One of two texts, as the values of CASE_WHEN are of one kind."""
    return function("CASE_WHEN", test, function("AS_TEXT", one), function("AS_TEXT", other))


def first_known(one: TypedOperand, other: TypedOperand) -> TypedOperand:
    """The first of two numbers, both with a fraction."""
    return function("FIRST_NOT_NULL", function("AS_FLOAT", one), function("AS_FLOAT", other))


OPERANDS: st.SearchStrategy[TypedOperand] = st.recursive(
    st.one_of(COLUMNS, COLUMNS, LITERALS),
    lambda part: st.one_of(
        st.builds(computed, st.sampled_from("+-*/"), part, part),
        st.builds(called, st.sampled_from(["ABS", "-"]), part),
        st.builds(function, st.sampled_from(OF_ONE), part),
        st.builds(function, st.sampled_from(OF_TWO), part, part),
        st.builds(function, st.sampled_from(["TEXT_PART", "TEXT_REPLACE"]), part, part, part),
        st.builds(function, st.just("TEXT_MATCHES"), part, EXPRESSIONS),
        st.builds(function, st.sampled_from(["TIME_PART", "TIME_START"]), part, TICKS, PERIODS),
        st.builds(chosen, part, part, part),
        st.builds(first_known, part, part),
    ),
    max_leaves=4,
)
CONDITIONS: st.SearchStrategy[TypedCondition] = st.recursive(
    st.one_of(
        st.builds(compared, SIGNS, OPERANDS, OPERANDS),
        st.builds(compared, SIGNS, COLUMNS, COLUMNS),
        st.builds(missing, COLUMNS, st.booleans()),
        st.builds(among, OPERANDS, st.lists(LITERALS, min_size=1, max_size=3)),
    ),
    lambda part: st.one_of(
        st.builds(negated, part),
        st.builds(connected, st.sampled_from(["AND", "OR"]), part, part),
    ),
    max_leaves=4,
)


@st.composite
def typed_cases(draw: st.DrawFn) -> TypedCase:
    """A condition, the types of three columns, and some rows."""
    kinds = tuple(draw(st.sampled_from(sorted(KINDS))) for _ in range(3))
    row = st.tuples(*(st.sampled_from(KINDS[kind][1]) for kind in kinds))
    return TypedCase(draw(CONDITIONS), kinds, tuple(draw(st.lists(row, min_size=1, max_size=8))))
