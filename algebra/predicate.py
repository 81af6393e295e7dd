"""Predicates over the columns of one operator's input, as sqlglot expressions.

A column is written ``c0``, ``c1``, ... by its position, so that a predicate means the
same whatever the variables of a query are called. The canonical SQL text is the identity.

This module is the one place that says what a predicate may hold (:data:`COMPARISONS` of
columns and literals, :data:`CONNECTIVES`, TRUE and FALSE). All of it is *total*: for every row
there is an outcome, true, false or unknown, and nothing is called. Unknown (which of a string
and an integer comes first) counts as not satisfied.

Predicates are equal if their normal forms are (:attr:`Predicate.normal`)::

    NOT (c1 = c0 OR 7 < c2) OR FALSE   →   c0 <> c1 AND c2 <= 7
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

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
"""Characters of a predicate."""
DEEPEST: Final = 200
"""How deep a predicate nests; a connective of n parts counts n - 1."""
MOST_PARTS: Final = 64
"""A connective of more parts is made by no rule."""

_WIDEST: Final = 100_000
_NEGATED: Final[Mapping[type, type[exp.Binary]]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}
_SWAPPED: Final[Mapping[type, type[exp.Binary]]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}

Node = Any
"""A sqlglot expression; its typed classes differ between sqlglot's versions."""

Operand = int | str | exp.Column
"""A literal, or a column ``c<i>``."""


class PredicateError(ValueError):
    """A predicate that is not allowed; the message says what and why."""


@dataclass(frozen=True, slots=True, order=True)
class Predicate:
    """A boolean condition over columns ``c0``, ``c1``, ...; ``sql`` is its text."""

    sql: str

    @staticmethod
    def of(expression: Node) -> Predicate:
        """The predicate of a sqlglot expression over columns ``c<i>``."""
        return Predicate(expression.sql(dialect="spark"))

    @staticmethod
    def column_equals(column: int, value: str | int) -> Predicate:
        """``c<column> = value``: a constant in place of a variable."""
        literal = exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)
        return Predicate.of(exp.EQ(this=exp.column(f"c{column}"), expression=literal))

    @staticmethod
    def columns_equal(left: int, right: int) -> Predicate:
        """``c<left> = c<right>``: a variable that occurs twice in an atom."""
        low, high = sorted((left, right))
        return Predicate.of(exp.EQ(this=exp.column(f"c{low}"), expression=exp.column(f"c{high}")))

    @staticmethod
    def all_of(parts: Iterable[Predicate]) -> Predicate:
        """The normal form of the conjunction; of none it is TRUE."""
        return _assembled(True, tuple(parts))

    @staticmethod
    def any_of(parts: Iterable[Predicate]) -> Predicate:
        """The normal form of the disjunction; of none it is FALSE."""
        return _assembled(False, tuple(parts))

    @property
    def expression(self) -> exp.Expression:
        """The parsed condition (a copy that the caller may change)."""
        return _parse(self.sql).copy()

    @property
    def columns(self) -> frozenset[int]:
        """The positions of the columns that the predicate looks at."""
        return _columns(self.sql)

    @property
    def normal(self) -> Predicate:
        """The one form of all predicates that are equal by the laws used here.

        Negations stand nowhere: they went into the comparisons. A column stands left of a
        literal, and the first of two columns left. Parts of AND and OR are sorted, none twice
        and none that another one implies. Comparisons of two literals, or of a column with
        itself, are folded; what is unknown became FALSE, which is safe below AND and OR alone.

        Raises:
            PredicateError: if it does not parse or holds what is not allowed.
        """
        return _normal(self.sql)

    @property
    def conjuncts(self) -> tuple[Predicate, ...]:
        """The parts of the normal form's conjunction, in order; one if it is none."""
        return _parts(self.sql, True)

    @property
    def disjuncts(self) -> tuple[Predicate, ...]:
        """The parts of the normal form's disjunction, in order; one if it is none."""
        return _parts(self.sql, False)

    @property
    def is_sargable(self) -> bool:
        """Whether it is ``column = literal``, which a source may answer from an index."""
        tree = _parse(self.normal.sql)
        return isinstance(tree, exp.EQ) and not isinstance(tree.expression, exp.Column)

    def renumbered(self, position: Mapping[int, int]) -> Predicate:
        """The same condition over columns moved to ``position[old]``."""
        tree = self.expression
        for column in list(tree.find_all(exp.Column)):
            column.this.set("this", f"c{position[int(column.name[1:])]}")
        return Predicate.of(tree)

    def __str__(self) -> str:
        return self.sql


TRUE: Final = Predicate("TRUE")
FALSE: Final = Predicate("FALSE")


# -- what is allowed ------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def checked(sql: str, width: int = _WIDEST) -> exp.Expression:
    """The parsed condition over columns ``c0`` to ``c<width-1>``; not to be changed.

    Raises:
        PredicateError: if it does not parse, names another column, or holds anything that is
            not allowed.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="spark") if len(sql) <= LONGEST else None
    except (SqlglotError, RecursionError) as error:
        raise PredicateError(f"the predicate {sql!r} does not parse: {error}") from error
    if not isinstance(tree, exp.Expression):
        raise PredicateError(f"a predicate has at most {LONGEST} characters, this has {len(sql)}")
    pending = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > DEEPEST:
            raise PredicateError(f"a predicate nests more than {DEEPEST} deep: {sql[:80]} ...")
        if isinstance(node, COMPARISONS) and type(node) in _NEGATED:
            for side in (node.this, node.expression):
                operand(side, sql, width)
        elif isinstance(node, CONNECTIVES):
            pending.extend((part, depth + 1) for part in node.iter_expressions())
        elif not isinstance(node, exp.Boolean):
            raise _refused(node, sql)
    return tree


def operand(node: Any, sql: str, width: int = _WIDEST) -> Operand:
    """A side of a comparison: its column, or the literal's value.

    Raises:
        PredicateError: if it is neither; ``sql`` is the predicate that the message names.
    """
    match node:
        case exp.Paren():
            return operand(node.this, sql, width)
        case exp.Column() if not node.table and position(node) in range(width):
            return node
        case exp.Literal() if node.is_string:
            return str(node.this)
        case exp.Literal() if _is_integer(node):
            return int(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and _is_integer(node.this, 2**63):
            return -int(node.this.this)
        case _:
            raise _refused(node, sql)


def position(column: exp.Column) -> int:
    """The position of ``c<i>``; -1 for another name."""
    name = column.name
    return int(name[1:]) if name[:1] == "c" and name[1:].isdecimal() and len(name) < 6 else -1


def _is_integer(literal: exp.Literal, most: int = 2**63 - 1) -> bool:
    digits = str(literal.this)
    return not literal.is_string and digits.isdecimal() and int(digits) <= most


def _refused(node: Any, sql: str) -> PredicateError:
    what = node.sql(dialect="spark") if isinstance(node, exp.Expression) else repr(node)
    return PredicateError(
        f"the predicate {sql!r} holds {what!r}, which is not allowed: write comparisons of "
        "columns c0, c1, ... and literals with AND, OR and NOT"
    )


# -- the normal form ------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _normal(sql: str) -> Predicate:
    return _folded(checked(sql), sql, positive=True)


def _folded(node: Any, sql: str, *, positive: bool) -> Predicate:
    """The normal form of a condition, or of its negation."""
    match node:
        case exp.Paren():
            return _folded(node.this, sql, positive=positive)
        case exp.Not():
            return _folded(node.this, sql, positive=not positive)
        case exp.And() | exp.Or():
            sides = (node.this, node.expression)
            parts = [_folded(side, sql, positive=positive) for side in sides]
            return _assembled(isinstance(node, exp.And) == positive, tuple(parts))
        case exp.Boolean():
            return TRUE if bool(node.this) == positive else FALSE
        case _:
            return _comparison(type(node) if positive else _NEGATED[type(node)], node, sql)


def _comparison(kind: type[exp.Binary], node: Any, sql: str) -> Predicate:
    left, right = operand(node.this, sql), operand(node.expression, sql)
    if not isinstance(left, exp.Column) and not isinstance(right, exp.Column):
        return TRUE if _holds(kind, left, right) else FALSE
    if left == right:
        return TRUE if kind in (exp.EQ, exp.LTE, exp.GTE) else FALSE
    if not isinstance(left, exp.Column) or (
        isinstance(right, exp.Column) and position(right) < position(left)
    ):
        kind, left, right = _SWAPPED[kind], right, left
    return Predicate.of(kind(this=_written(left), expression=_written(right)))


def _written(value: Operand) -> Node:
    if isinstance(value, exp.Column):
        return exp.column(f"c{position(value)}")
    return exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)


def _holds(kind: type, left: int | str, right: int | str) -> bool:
    """A comparison of two values; strings compare by their bytes, as Spark does."""
    if isinstance(left, str) != isinstance(right, str):
        return kind is exp.NEQ
    one: Any = left.encode("utf-8", "surrogatepass") if isinstance(left, str) else left
    other: Any = right.encode("utf-8", "surrogatepass") if isinstance(right, str) else right
    return kind in (_LESS if one < other else _EQUAL if one == other else _GREATER)


_LESS: Final = (exp.LT, exp.LTE, exp.NEQ)
_EQUAL: Final = (exp.EQ, exp.LTE, exp.GTE)
_GREATER: Final = (exp.GT, exp.GTE, exp.NEQ)


@lru_cache(maxsize=4096)
def _assembled(conjunction: bool, parts: tuple[Predicate, ...]) -> Predicate:
    """Parts of a connective, flattened, folded, without repeats and what others imply."""
    neutral, decisive = (TRUE, FALSE) if conjunction else (FALSE, TRUE)
    flat = {piece for part in parts for piece in _parts(part.sql, conjunction)} - {neutral}
    if decisive in flat:
        return decisive
    # F AND (F OR G) is F, and F OR (F AND G) too.
    inner = {piece: set(_parts(piece.sql, not conjunction)) for piece in flat}
    kept = sorted(p for p in flat if not any(o != p and inner[o] < inner[p] for o in flat))
    if not kept:
        return neutral
    trees = [part.expression for part in kept]
    return Predicate.of((exp.and_ if conjunction else exp.or_)(*trees, copy=False))


@lru_cache(maxsize=4096)
def _parts(sql: str, conjunction: bool) -> tuple[Predicate, ...]:
    normal = _normal(sql)
    kind = exp.And if conjunction else exp.Or
    tree = _parse(normal.sql)
    if not isinstance(tree, kind):
        return (normal,)
    return tuple(Predicate.of(part.unnest()) for part in tree.flatten())


@lru_cache(maxsize=4096)
def _columns(sql: str) -> frozenset[int]:
    return frozenset(int(c.name[1:]) for c in _parse(sql).find_all(exp.Column))


@lru_cache(maxsize=4096)
def _parse(sql: str) -> exp.Expression:
    tree = sqlglot.parse_one(sql, dialect="spark")
    assert isinstance(tree, exp.Expression)
    return tree
