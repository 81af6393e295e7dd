"""CONSTRUCT CREATE: each relationship is a row of its two ends and its type.

In: the patterns of the clause. Out: for each relationship the projection to that row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algebra.graph_answers import GRAPH_COLUMNS
from ..query.atoms import Location
from . import errors
from .syntax import (
    Direction,
    Expression,
    Item,
    Literal,
    Name,
    Node,
    Pattern,
    Projection,
    Relationship,
    Variable,
)


def projections(patterns: Sequence[Pattern], at: Location) -> Iterator[Projection]:
    """The projections of the relationships of a clause.

    Raises:
        QueryError: E-SKOLEM for a node without a variable, E-LATER for anything but directed
            relationships of one type between variables.
    """
    for pattern in patterns:
        if not pattern.relationships:
            raise errors.CREATED_NODE.error(pattern.nodes[0].at, "(")
        for left, created, right in pattern.steps():
            source, target = _end(left), _end(right)
            if created.direction is Direction.LEFT:
                source, target = target, source
            kind = Literal(_type(created), created.at)
            values: tuple[Expression, ...] = Variable(source), kind, Variable(target)
            items = tuple(
                Item(value, Name(column, created.at), column)
                for value, column in zip(values, GRAPH_COLUMNS, strict=True)
            )
            yield Projection(items, False, (), None, None, at)


def _end(node: Node) -> Name:
    if node.variable is None:
        raise errors.CREATED_END.error(node.at, "(")
    if node.labels or node.properties or node.condition is not None:
        raise errors.CREATED_PARTS.error(node.at, node.variable.text)
    return node.variable


def _type(created: Relationship) -> str:
    if len(created.types) != 1 or created.direction is Direction.EITHER:
        raise errors.CREATED_TYPE.error(created.at, "CREATE")
    others = (created.variable, created.hops, created.condition)
    if created.properties or any(part is not None for part in others):
        raise errors.CREATED_PARTS.error(created.at, created.types[0].text)
    return created.types[0].text
