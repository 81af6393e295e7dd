"""Relations of the canonical translation: expressions with the types of their columns.

In: relations. Out: an operator over them. The functions refuse expressions too large for the
optimizer, and remove certainly empty relations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...algebra.logical import (
    Aggregate,
    AntiJoin,
    Compute,
    Empty,
    Filter,
    LeftJoin,
    LogicalExpression,
    Path,
    Pattern,
    Project,
    Report,
    Rewindow,
    Shortest,
    Top,
    Trail,
    Union,
    Witness,
    WScan,
)
from ...algebra.orders import Order
from ...algebra.predicate import TRUE, Predicate
from ...catalog.model import PropertyType, VertexType
from ..query.atoms import Location
from ..query.errors import QueryError

MOST_OPERATORS = 10_000
"""The largest number of operators, with derived predicates unfolded at each use."""
DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of a predicate, and its size when unfolded.

    ``types`` are the types of the columns; None if streams disagree.
    """

    expression: LogicalExpression
    types: tuple[PropertyType | None, ...]
    operators: int = 1
    depth: int = 1

    @property
    def identity(self) -> tuple[int, ...]:
        """Equal for relations that are one but for the names of it and of its columns."""
        return (id(self.expression.operator), *map(id, self.expression.inputs))

    @property
    def empty(self) -> bool:
        """Whether the relation certainly has no rows."""
        return isinstance(self.expression.operator, Empty)


def over(
    operator: (
        AntiJoin
        | LeftJoin
        | Pattern
        | Path
        | Trail
        | Shortest
        | Union
        | Filter
        | Project
        | Rewindow
        | Compute
        | Aggregate
        | Witness
        | Report
        | Top
    ),
    inputs: Sequence[Relation],
    types: tuple[PropertyType | None, ...],
) -> Relation:
    """An operator over relations; ``types`` are the types of its columns."""
    return Relation(
        LogicalExpression(operator, tuple(relation.expression for relation in inputs)),
        types,
        1 + sum(relation.operators for relation in inputs),
        1 + max(relation.depth for relation in inputs),
    )


def sized(relation: Relation, text: str, at: Location) -> Relation:
    """Returns ``relation``, or raises E-SIZE if it is too large to plan."""
    if relation.operators <= MOST_OPERATORS and relation.depth <= DEEPEST:
        return relation
    raise QueryError(
        "E-SIZE",
        f"unfolded, the query has more than {MOST_OPERATORS} operators, "
        f"or is nested more than {DEEPEST} deep",
        at=at,
        text=text,
        hint="let fewer rules build on each other",
    )


def nothing(columns: int) -> Relation:
    """The relation without rows."""
    return Relation(LogicalExpression(Empty(columns)), (None,) * columns)


def called(relation: Relation, name: str) -> Relation:
    """``relation`` under the name ``name``, unless it is a label or has a name already."""
    expression = relation.expression
    if expression.name is not None or isinstance(expression.operator, WScan):
        return relation
    return replace(relation, expression=replace(expression, name=name))


def with_columns(relation: Relation, columns: Iterable[str]) -> Relation:
    """``relation`` with the query's names of its columns, for people to read."""
    return replace(relation, expression=replace(relation.expression, columns=tuple(columns)))


def union(left: Relation, right: Relation) -> Relation:
    """The rows of either relation."""
    if left.empty or right.empty:
        return right if left.empty else left
    types = tuple(
        one if one == other else None for one, other in zip(left.types, right.types, strict=True)
    )
    return over(Union(), [left, right], types)


def filtered(relation: Relation, predicate: Predicate) -> Relation:
    """The rows that satisfy a predicate."""
    if relation.empty or predicate == TRUE:
        return relation
    return over(Filter(predicate), [relation], relation.types)


def first_rows(relation: Relation, order: Order, limit: int, offset: int = 0) -> Relation:
    """The first rows in an order at each instant, after some that are left out."""
    if relation.empty:
        return relation
    return over(Top(order, limit, offset=offset), [relation], relation.types)


def projected(relation: Relation, columns: Sequence[int]) -> Relation:
    """Some of the columns, in an order."""
    if relation.empty:
        return nothing(len(columns))
    if list(columns) == list(range(len(relation.types))):
        return relation
    types = tuple(relation.types[column] for column in columns)
    return over(Project(tuple(columns)), [relation], types)


def vertex_type_of(column_type: PropertyType | None) -> VertexType | None:
    """The type of a column of vertices."""
    assert column_type in ("string", "integer", None)
    return column_type
