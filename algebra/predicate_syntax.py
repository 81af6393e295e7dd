"""The text of a predicate: how it is parsed, and which parts it may have.

A predicate has :data:`COMPARISONS` of values (:mod:`headrace.algebra.scalar`: columns, literals,
+ - * /, ABS and functions), ``IN`` a list of literals, a column ``IS NULL`` or ``IS NOT NULL``,
:data:`CONNECTIVES`, TRUE and FALSE. :mod:`headrace.algebra.predicate` has its meaning and its
normal form.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from . import scalar
from .functions import FUNCTIONS
from .scalar import Column, Literal, Value

COMPARISONS: Final[tuple[type[exp.Binary], ...]] = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
)
CONNECTIVES: Final = (exp.And, exp.Or, exp.Not, exp.Paren)

LONGEST: Final = 100_000
"""The most characters of a predicate."""
DEEPEST: Final = 200
"""The deepest nesting of a predicate; a connective of n parts counts n - 1."""
COLUMN: Final = re.compile(r"'(?:\\.|[^'\\])*'|\bc(\d+)\b", re.DOTALL)
"""A quoted string, or a column, whose position is the group."""

_WIDEST: Final = 100_000
_OUTSIDE_SQL: Final = re.compile(
    "|".join(name for name, function in FUNCTIONS.items() if not function.in_sql), re.IGNORECASE
)
"""The names of the functions that Spark SQL does not have."""

Node = Any
"""A sqlglot expression; its typed classes differ between sqlglot's versions."""


class PredicateError(ValueError):
    """A predicate that is not allowed; the message says what and why."""


@lru_cache(maxsize=4096)
def checked(sql: str, width: int = _WIDEST) -> exp.Expression:
    """The parsed condition over columns ``c0`` to ``c<width-1>``; not to be changed.

    Raises:
        PredicateError: if it does not parse, names another column, or holds anything that is
            not allowed.
    """
    if len(sql) > LONGEST:
        raise PredicateError(f"a predicate has at most {LONGEST} characters, this has {len(sql)}")
    try:
        tree = parse(sql)
    except (SqlglotError, RecursionError) as error:
        why = str(error).partition("\n")[0]
        raise PredicateError(f"the predicate {_shown(sql)} does not parse: {why[:200]}") from error
    pending: list[tuple[Node, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > DEEPEST:
            raise PredicateError(f"a predicate nests more than {DEEPEST} deep: {sql[:80]} ...")
        if isinstance(node, CONNECTIVES):
            pending.extend((part, depth + 1) for part in node.iter_expressions())
        elif isinstance(node, exp.In):
            _ = alternatives(node, sql, width)
        elif isinstance(node, exp.Is):
            _ = questioned(node, sql, width)
        elif type(node) in COMPARISONS:
            _ = sides(node, sql, width)
        elif not isinstance(node, exp.Boolean):
            raise _refused(node, sql)
    return tree


@lru_cache(maxsize=4096)
def nesting(sql: str) -> int:
    """How often ANDs and ORs alternate in a condition; 0 for a comparison."""
    deepest = 0
    pending: list[tuple[Node, type | None, int]] = [(parse(sql), None, 0)]
    while pending:
        node, above, level = pending.pop()
        if isinstance(node, exp.And | exp.Or):
            level += type(node) is not above
            deepest = max(deepest, level)
            above = type(node)
        if isinstance(node, CONNECTIVES):
            pending.extend((part, above, level) for part in node.iter_expressions())
    return deepest


def columns_of(tree: exp.Expression) -> frozenset[int]:
    """The positions of the columns in a condition."""
    return frozenset(int(c.name[1:]) for c in tree.find_all(exp.Column))


@lru_cache(maxsize=4096)
def in_sql(sql: str) -> bool:
    """Whether Spark SQL can compute all values in a condition with the same results.

    Raises:
        PredicateError: as :func:`checked`.
    """
    if not _OUTSIDE_SQL.search(sql):
        return True
    calls = checked(sql).find_all(exp.Anonymous)
    return all(FUNCTIONS[str(call.this).upper()].in_sql for call in calls)


def sides(comparison: Node, sql: str, width: int = _WIDEST) -> tuple[Value, Value]:
    """The two values of a comparison.

    Raises:
        PredicateError: if the comparison is not allowed; the message names the predicate ``sql``.
    """
    return (
        _value(comparison.this, sql, width),
        _value(comparison.expression, sql, width),
    )


def alternatives(node: Node, sql: str, width: int = _WIDEST) -> tuple[Value, tuple[Literal, ...]]:
    """The value on the left of ``IN``, and the literals of its list.

    Raises:
        PredicateError: as :func:`sides`.
    """
    options = tuple(_value(option, sql, width) for option in node.expressions)
    literals = tuple(option for option in options if isinstance(option, Literal))
    if not 0 < len(literals) == len(options) <= DEEPEST or set(node.args) - {"this", "expressions"}:
        raise _refused(node, sql)
    return _value(node.this, sql, width), literals


def questioned(node: Node, sql: str, width: int = _WIDEST) -> Column:
    """The column that ``IS NULL`` tests.

    Raises:
        PredicateError: as :func:`sides`.
    """
    column = _value(node.this, sql, width)
    if not isinstance(column, Column) or not isinstance(node.expression, exp.Null):
        raise _refused(node, sql)
    return column


def _value(node: Node, sql: str, width: int) -> Value:
    value = scalar.read(node, width)
    if value is None:
        raise _refused(node, sql)
    return value


def _shown(sql: str) -> str:
    return repr(sql) if len(sql) <= 200 else f"{sql[:200]!r}..."


def _refused(node: Any, sql: str) -> PredicateError:
    what = node.sql(dialect="spark") if isinstance(node, exp.Expression) else repr(node)
    return PredicateError(
        f"the predicate {_shown(sql)} holds {_shown(what)}, which is not allowed: "
        "write comparisons of columns c0, c1, ..., literals, arithmetic and known functions, IN a "
        "list of literals and IS NULL, with AND, OR and NOT"
    )


@lru_cache(maxsize=4096)
def columns_in(sql: str) -> frozenset[int]:
    """The positions of the columns in the text of a condition."""
    return frozenset(int(column) for column in COLUMN.findall(sql) if column)


@lru_cache(maxsize=4096)
def parse(sql: str) -> exp.Expression:
    """The parsed text, not to be changed; texts that differ in columns alone are parsed once."""
    columns: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        columns.append(match[0])
        return f"c{len(columns) - 1}"

    numbered_sql = COLUMN.sub(numbered, sql)
    tree = _parse_numbered(numbered_sql, len(columns))
    if tree is None:
        return _parse_text(sql)
    tree = tree.copy()
    for column in tree.find_all(exp.Column):
        column.this.set("this", columns[int(column.name[1:])])
    return tree


@lru_cache(maxsize=4096)
def _parse_numbered(sql: str, columns: int) -> exp.Expression | None:
    """The parsed text, if its columns are ``c0`` to ``c<columns-1>``, each of them once.

    They are not if the text does not parse, or some ``c<i>`` in it is no column.
    """
    try:
        tree = _parse_text(sql)
    except (SqlglotError, RecursionError):
        return None
    names = [column.name for column in tree.find_all(exp.Column)]
    return tree if sorted(names) == sorted(f"c{k}" for k in range(columns)) else None


def _parse_text(sql: str) -> exp.Expression:
    tree = sqlglot.parse_one(sql, dialect="spark")
    assert isinstance(tree, exp.Expression)
    return tree
