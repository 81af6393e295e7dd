"""Predicates over the columns of one operator's input, as sqlglot expressions.

A column is written ``c0``, ``c1``, ... by its position, so that a predicate does not depend on the
names of a query's variables. The canonical SQL text is the identity.

A predicate has the parts that :mod:`headrace.algebra.predicate_syntax` allows. All of them are
*total*: for every row there is an outcome, true, false or unknown. A comparison with an unknown
value is unknown, and so is the order of two values of different kinds (strings, numbers and
booleans, which are never equal either). A predicate whose outcome is unknown is not satisfied.

Predicates are equal if their normal forms are (:attr:`Predicate.normal`)::

    NOT (c1 = c0 OR 7 < c2) OR FALSE   →   c0 <> c1 AND c2 <= 7
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlglot import exp

from . import predicate_syntax as syntax
from . import scalar
from .scalar import Column, Literal, Scalar, Value

MOST_PARTS: Final = 64
"""The most parts of a connective that a rule makes."""
DEEPEST_MADE: Final = 6
"""The most alternations of AND and OR in a predicate that a rule makes."""

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


class Form(NamedTuple):
    """The parts of a normal form: of a conjunction or a disjunction, or none of a comparison."""

    conjunction: bool
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True, order=True)
class Predicate:
    """A boolean condition over columns ``c0``, ``c1``, ...

    Attributes:
        sql: the text.
        form: the parts of a normal form, so that its text need not be parsed again; None if the
            predicate is read from text.
    """

    sql: str
    form: Form | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(expression: syntax.Node) -> Predicate:
        """The predicate of a sqlglot expression over columns ``c<i>``."""
        return Predicate(expression.sql(dialect="spark"))

    @staticmethod
    def column_equals(column: int, value: str | int) -> Predicate:
        """``c<column> = value``: a constant in place of a variable."""
        return Predicate(f"c{column} = {scalar.text(Literal(value))}")

    @staticmethod
    def columns_equal(left: int, right: int) -> Predicate:
        """``c<left> = c<right>``: a variable that occurs twice in an atom."""
        low, high = sorted((left, right))
        return Predicate(f"c{low} = c{high}")

    @staticmethod
    def column_is_known(column: int) -> Predicate:
        """``c<column> IS NOT NULL``: a value that is not missing."""
        return Predicate(f"NOT (c{column} IS NULL)").normal

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
        return syntax.parse(self.sql).copy()

    @property
    def parsed(self) -> exp.Expression:
        """The parsed condition, not to be changed."""
        return syntax.parse(self.sql)

    @property
    def columns(self) -> frozenset[int]:
        """The positions of the columns that the predicate looks at."""
        return syntax.columns_in(self.sql)

    @property
    def normal(self) -> Predicate:
        """The one form of all predicates that are equal by the laws used here.

        - Negations are pushed into the comparisons.
        - A column stands left of a literal, and the first of two columns left.
        - Parts of AND and OR are sorted, without repeats and parts that another part implies.
        - IN becomes the OR of its equalities.
        - Comparisons of two literals, or of a value with itself, are folded (``c0 = c0`` becomes
          IS NOT NULL).
        - An unknown part becomes FALSE, which is safe because only AND and OR stand above it.

        Raises:
            PredicateError: if it does not parse or has a part that is not allowed.
        """
        return self if self.form is not None else _normal(self.sql)

    @property
    def conjuncts(self) -> tuple[Predicate, ...]:
        """The parts of the normal form's conjunction, in order; other forms have one part."""
        return self._parts(True)

    @property
    def disjuncts(self) -> tuple[Predicate, ...]:
        """The parts of the normal form's disjunction, in order; other forms have one part."""
        return self._parts(False)

    def _parts(self, conjunction: bool) -> tuple[Predicate, ...]:
        form = self.normal.form
        assert form is not None
        return form.parts if form.parts and form.conjunction == conjunction else (self.normal,)

    @property
    def is_sargable(self) -> bool:
        """Whether it is ``column = literal``, which a source may answer from an index."""
        tree = syntax.parse(self.normal.sql)
        if not isinstance(tree, exp.EQ):
            return False
        return isinstance(tree.this, exp.Column) and tree.expression.find(exp.Column) is None

    @property
    def in_sql(self) -> bool:
        """Whether Spark SQL can decide it with the same outcome."""
        return syntax.in_sql(self.sql)

    @property
    def is_inequality(self) -> bool:
        """Whether it is ``value <> value``, which nearly all rows satisfy."""
        return isinstance(syntax.parse(self.normal.sql), exp.NEQ)

    @property
    def nesting(self) -> int:
        """How often ANDs and ORs alternate; 0 for a comparison."""
        return syntax.nesting(self.sql)

    def renumbered(self, position: Mapping[int, int]) -> Predicate:
        """The normal form of the same condition over columns moved to ``position[old]``."""
        normal = self.normal
        assert normal.form is not None
        if not normal.form.parts:
            moves = tuple((old, position[old]) for old in sorted(normal.columns))
            return _renumbered(normal.sql, moves)
        moved = tuple([part.renumbered(position) for part in normal.form.parts])
        return _assembled(normal.form.conjunction, moved)

    def __str__(self) -> str:
        return self.sql


_COMPARISON: Final = Form(True, ())
TRUE: Final = Predicate("TRUE", _COMPARISON)
FALSE: Final = Predicate("FALSE", _COMPARISON)


@lru_cache(maxsize=4096)
def _normal(sql: str) -> Predicate:
    return _ASSEMBLED.get(sql) or _folded(syntax.checked(sql), sql, positive=True)


_ASSEMBLED: Final[dict[str, Predicate]] = {}
"""Connectives in normal form by their text, which need not be parsed again; the latest ones."""
_MOST_ASSEMBLED: Final = 4096


def _folded(node: Any, sql: str, *, positive: bool) -> Predicate:
    """The normal form of a condition, or of its negation."""
    match node:
        case exp.Paren():
            return _folded(node.this, sql, positive=positive)
        case exp.Not():
            return _folded(node.this, sql, positive=not positive)
        case exp.And() | exp.Or():
            # One call for all sides: pairwise calls would parse every prefix of a long condition.
            parts = [_folded(side, sql, positive=positive) for side in node.flatten()]
            return _assembled(isinstance(node, exp.And) == positive, tuple(parts))
        case exp.Boolean():
            return TRUE if bool(node.this) == positive else FALSE
        case exp.In():
            value, literals = syntax.alternatives(node, sql)
            kind = exp.EQ if positive else exp.NEQ
            options = [_comparison(kind, value, literal) for literal in literals]
            return _assembled(not positive, tuple(options))
        case exp.Is():
            column = syntax.questioned(node, sql)
            return Predicate(f"c{column.position} IS {'' if positive else 'NOT '}NULL", _COMPARISON)
        case _:
            return _comparison(
                type(node) if positive else _NEGATED[type(node)], *syntax.sides(node, sql)
            )


def _comparison(kind: type[exp.Binary], one: Value, other: Value) -> Predicate:
    left, right = scalar.normal(one), scalar.normal(other)
    if left is None or right is None:
        return FALSE
    if isinstance(left, Literal) and isinstance(right, Literal):
        return TRUE if _holds(kind, left, right) else FALSE
    if left == right:
        if kind not in (exp.EQ, exp.LTE, exp.GTE):
            return FALSE
        if isinstance(left, Column):
            return Predicate(f"c{left.position} IS NOT NULL", _COMPARISON)
        kind = exp.EQ
    if scalar.order(right) < scalar.order(left):
        kind, left, right = _SWAPPED[kind], right, left
    return Predicate(f"{scalar.text(left)} {_SIGNS[kind]} {scalar.text(right)}", _COMPARISON)


def _holds(kind: type, left: Literal, right: Literal) -> bool:
    """A comparison of two values; strings compare by their bytes, as Spark does."""
    one, other = _comparable(left), _comparable(right)
    if one[0] != other[0]:
        return kind is exp.NEQ
    if "number" in (left.type, right.type):
        one, other = ("number", float(one[1])), ("number", float(other[1]))
    return kind in (_LESS if one < other else _EQUAL if one == other else _GREATER)


def _comparable(literal: Literal) -> tuple[str, Any]:
    value: Scalar = literal.value
    if isinstance(value, str):
        return "string", value.encode("utf-8", "surrogatepass")
    return "boolean" if literal.type == "boolean" else "number", value


_SIGNS: Final[Mapping[type, str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_KINDS: Final = {sign: kind for kind, sign in _SIGNS.items()}
_TWO_COLUMNS: Final = re.compile(r"c(\d+) ([<>=]+) c(\d+)")
"""The normal form of a comparison of two columns, which need not be parsed to be renumbered."""
_LESS: Final = (exp.LT, exp.LTE, exp.NEQ)
_EQUAL: Final = (exp.EQ, exp.LTE, exp.GTE)
_GREATER: Final = (exp.GT, exp.GTE, exp.NEQ)


@lru_cache(maxsize=4096)
def _assembled(conjunction: bool, parts: tuple[Predicate, ...]) -> Predicate:
    """Parts of a connective, flattened and folded, without repeats and parts that others imply."""
    neutral, decisive = (TRUE, FALSE) if conjunction else (FALSE, TRUE)
    flat = {piece for part in parts for piece in part._parts(conjunction)} - {neutral}
    if decisive in flat:
        return decisive
    # F AND (F OR G) is F, and F OR (F AND G) too.
    inner = {piece: set(piece._parts(not conjunction)) for piece in flat}
    kept = sorted(p for p in flat if not any(o != p and inner[o] < inner[p] for o in flat))
    if not kept:
        return neutral
    if len(kept) == 1:
        return kept[0]
    texts = [f"({part.sql})" if len(inner[part]) > 1 else part.sql for part in kept]
    sql = (" AND " if conjunction else " OR ").join(texts)
    assembled = Predicate(sql, Form(conjunction, tuple(kept)))
    if len(_ASSEMBLED) >= _MOST_ASSEMBLED:
        _ASSEMBLED.clear()
    _ASSEMBLED[sql] = assembled
    return assembled


@lru_cache(maxsize=16_384)
def _renumbered(comparison: str, moves: tuple[tuple[int, int], ...]) -> Predicate:
    position = dict(moves)
    columns = _TWO_COLUMNS.fullmatch(comparison)
    if columns:
        left, right = (Column(position[int(columns[k])]) for k in (1, 3))
        return _comparison(_KINDS[columns[2]], left, right)
    moved = syntax.COLUMN.sub(lambda m: f"c{position[int(m[1])]}" if m[1] else m[0], comparison)
    return _normal(moved)
