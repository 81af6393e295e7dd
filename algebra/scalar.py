"""The values that predicates compare: columns, literals, arithmetic, and functions.

Every operation is *total*: for each row it has a value or is *null*. The following values are
null: a property that the edge lacks (a float that is not a number counts as lacking), arithmetic
on null or on a value that is not a number, division by zero, an integer beyond 64 bits,
and a float that is not finite. Arithmetic on integers is exact, except that ``/`` always gives a
float. Beside a float an integer counts as its nearest float, in arithmetic and in comparisons.
The other functions are those of :mod:`headrace.algebra.functions`.
"""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from . import functions
from .functions import FUNCTIONS, LARGEST_INTEGER, LENIENT, SMALLEST_INTEGER
from .values import EVERY_TYPE, LISTS, ColumnType, PropertyType, Types

DEEPEST_VALUE: Final = 16
"""The deepest nesting of arithmetic."""
LONGEST_VALUE: Final = 10_000
"""The most characters of a value as text."""

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Column:
    """The column ``c<position>``."""

    position: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written out; ``1``, ``1.0`` and ``TRUE`` are different literals."""

    value: Scalar
    type: PropertyType = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", type_of(self.value))


@dataclass(frozen=True, slots=True)
class Call:
    """A function of :data:`ARITY` or :data:`FUNCTIONS` over its arguments."""

    function: str
    arguments: tuple[Value, ...]


Value = Column | Literal | Call

ARITY: Final = {"+": 2, "-": 2, "*": 2, "/": 2, "NEG": 1, "ABS": 1}
"""The functions of arithmetic, with the numbers of their arguments."""

_BINARY: Final[dict[type, str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_TYPES: Final[dict[type, PropertyType]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}


def type_of(value: Scalar) -> PropertyType:
    """The type of a value."""
    return _TYPES[type(value)]


def read(node: Any, width: int, depth: int = 0) -> Value | None:
    """Converts a sqlglot node to a value; None if the node denotes no value.

    Columns are ``c0`` to ``c<width-1>``.
    """
    match node:
        case exp.Paren():
            return read(node.this, width, depth)
        case exp.Column():
            place = -1 if node.table else position(node)
            return Column(place) if 0 <= place < width else None
        case exp.Literal() if node.is_string:
            return Literal(str(node.this))
        case exp.Literal():
            return _number(str(node.this))
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return _number(f"-{node.this.this}")
        case exp.Boolean():
            return Literal(bool(node.this))
        case exp.Neg() | exp.Abs():
            function, parts = "ABS" if isinstance(node, exp.Abs) else "NEG", [node.this]
        case _ if type(node) in _BINARY:
            function, parts = _BINARY[type(node)], [node.this, node.expression]
        case exp.Anonymous() if (known := FUNCTIONS.get(str(node.this).upper())) is not None:
            function, parts = str(node.this).upper(), list(node.expressions)
            if not known.least <= len(parts) <= known.most:
                return None
        case _:
            return None
    if depth == DEEPEST_VALUE:
        return None
    arguments = [read(part, width, depth + 1) for part in parts]
    values = tuple(a for a in arguments if a is not None)
    return Call(function, values) if len(values) == len(arguments) else None


@lru_cache(maxsize=4096)
def parsed(sql: str, width: int) -> Value:
    """The value of :func:`text` over columns ``c0`` to ``c<width-1>``.

    Raises:
        ValueError: if the text is not such a value.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="spark") if len(sql) <= LONGEST_VALUE else None
    except SqlglotError:
        tree = None
    value = None if tree is None else read(tree, width)
    if value is None:
        raise ValueError(f"no value over {width} columns: {sql[:200]}")
    return value


def position(column: exp.Column) -> int:
    """The position of ``c<i>``; -1 for another name."""
    name = column.name
    return int(name[1:]) if name[:1] == "c" and name[1:].isdecimal() and len(name) < 6 else -1


def _number(text: str) -> Literal | None:
    if text.lstrip("-").isdecimal():
        whole = int(text) if len(text) < 100 else LARGEST_INTEGER + 1
        return Literal(whole) if SMALLEST_INTEGER <= whole <= LARGEST_INTEGER else None
    try:
        value = float(text)
    except ValueError:
        return None
    return Literal(value) if math.isfinite(value) else None


def text(value: Value) -> str:
    """The value as SQL."""
    match value:
        case Column(place):
            return f"c{place}"
        case Literal(str() as written):
            return str(exp.Literal.string(written).sql(dialect="spark"))
        case Literal(bool() as written):
            return "TRUE" if written else "FALSE"
        case Literal(written):
            return repr(written)
        case Call("ABS", (part,)):
            return f"ABS({text(part)})"
        case Call("NEG", (part,)):
            return f"-{text(part)}" if isinstance(part, Column) else f"-({text(part)})"
        case Call(function, parts) if function in FUNCTIONS:
            return f"{function}({', '.join(map(text, parts))})"
        case Call(sign, parts):
            return f" {sign} ".join(map(_inner, parts))


def _inner(value: Value) -> str:
    nested = isinstance(value, Call) and value.function in ARITY and value.function != "ABS"
    return f"({text(value)})" if nested else text(value)


def normal(value: Value) -> Value | None:
    """The normal form of values that are equal by the laws used here; None if never known.

    Operations on literals are computed, and the two operands of ``+`` and ``*`` are sorted. Longer
    sums and products are not reordered, because arithmetic on floats and on 64 bits is not
    associative.
    """
    if not isinstance(value, Call):
        return value
    if value.function == functions.NULL_VALUE:
        return None
    parts = [normal(part) for part in value.arguments]
    if value.function in LENIENT:
        kept = [_NULL if part is None else part for part in parts]
        return Call(value.function, tuple(kept))
    operands = [part for part in parts if part is not None]
    if len(operands) < len(parts):
        return None
    if value.function in FUNCTIONS:
        return _applied(value.function, operands)
    if any(isinstance(p, Literal) and p.type in ("string", "boolean") for p in operands):
        return None
    if all(isinstance(part, Literal) for part in operands):
        result = computed(value.function, [p.value for p in operands if isinstance(p, Literal)])
        return None if result is None else Literal(result)
    if value.function in ("+", "*"):
        operands.sort(key=order)
    if value.function == "ABS":
        operands = [_either_way(operands[0])]
    return Call(value.function, tuple(operands))


def _applied(function: str, operands: list[Value]) -> Value | None:
    """A strict function over values; computed if all of them are literals."""
    kinds = functions.kinds_of(function, len(operands))
    literals = [part for part in operands if isinstance(part, Literal)]
    for part, kind in zip(operands, kinds, strict=True):
        if isinstance(part, Literal) and kind not in ("any", kind_of(part.type)):
            return None
    if len(literals) < len(operands):
        return Call(function, tuple(operands))
    result = functions.applied(function, [part.value for part in literals])
    return None if result is None else Literal(result)


_NULL: Final = Call(functions.NULL_VALUE, ())


def _either_way(value: Value) -> Value:
    """``b - a`` as ``a - b``, where only the absolute difference counts."""
    match value:
        case Call("-", (one, other)) if order(other) < order(one):
            return Call("-", (other, one))
        case _:
            return value


def order(value: Value) -> tuple[bool, tuple[int, ...], str]:
    """The sort key of a value: its columns, literals last."""
    places = columns(value)
    return not places, places, text(value)


def kind_of(column_type: ColumnType) -> functions.Kind:
    """The kind of the values of a type: those of a kind are compared. Paths and lists are text."""
    if column_type in ("integer", "number"):
        return "number"
    return "boolean" if column_type == "boolean" else "string"


def types(value: Value, columns: Types) -> frozenset[ColumnType]:
    """The types that a value may have over columns of such types; none if it is always null."""
    match value:
        case Column(position):
            return columns[position]
        case Literal():
            return frozenset({value.type})
        case Call("/"):
            return frozenset({"number"})
        case Call(function, parts) if function in FUNCTIONS:
            return functions.types_of(function, [types(part, columns) for part in parts])
        case Call(_, parts):
            return functions.numeric_types([types(part, columns) for part in parts])


def made_types(value: Value) -> frozenset[PropertyType]:
    """The types that a value may have over columns of any types."""
    places = columns(value)
    found = types(value, (EVERY_TYPE,) * (1 + max(places, default=0)))
    return frozenset(kind for kind in LISTS if kind in found)


def null_without(value: Value, missing: Set[int]) -> bool:
    """Whether a value is null for sure where all of the columns ``missing`` are."""
    match value:
        case Column(position):
            return position in missing
        case Literal():
            return False
        case Call(functions.NULL_VALUE):
            return True
        case Call(functions.IS_NOT_NULL | functions.ALL_TRUE | functions.ANY_TRUE):
            return False
        case Call(functions.LIST_OF | functions.LIST_WHERE):
            return False
        case Call(functions.MAP_OF, parts):
            pairs = zip(parts[::2], parts[1::2], strict=False)
            return any(null_without(key, missing) for key, _ in pairs)
        case Call(functions.CASE_WHEN | functions.FIRST_NOT_NULL as function, parts):
            results = functions.results_of(function, len(parts))
            return all(null_without(parts[place], missing) for place in results)
        case Call(_, parts):
            return any(null_without(part, missing) for part in parts)


def in_sql(value: Value) -> bool:
    """Whether Spark SQL can compute a value with the same results."""
    if not isinstance(value, Call):
        return True
    known = FUNCTIONS.get(value.function)
    return (known is None or known.in_sql) and all(map(in_sql, value.arguments))


def columns(value: Value) -> tuple[int, ...]:
    """The positions of the columns in a value, in order."""
    match value:
        case Column(place):
            return (place,)
        case Literal():
            return ()
        case Call(_, parts):
            return tuple(sorted(place for part in parts for place in columns(part)))


def computed(function: str, values: list[Any]) -> int | float | None:
    """A function of numbers; None if it is null."""
    result: Any
    if function == "/" or any(isinstance(v, float) for v in values):
        values = [float(v) for v in values]
    match function, values:
        case "+", [a, b]:
            result = a + b
        case "-", [a, b]:
            result = a - b
        case "*", [a, b]:
            result = a * b
        case "/", [a, b]:
            result = a / b if b else None
        case "ABS", [a]:
            result = abs(a)
        case _, [a]:
            result = -a
    if result is None or (isinstance(result, float) and not math.isfinite(result)):
        return None
    if isinstance(result, int) and not SMALLEST_INTEGER <= result <= LARGEST_INTEGER:
        return None
    return result  # type: ignore[no-any-return]
