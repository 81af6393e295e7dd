"""CONSTRUCT CREATE: each type of relationships has a predicate, and the answer has a row for each.

In: the patterns of the clause. Out: for each relationship its type and the projection to its ends;
and the rule of the answer that reads the relationships of a type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algebra import scalar
from ...algebra.graph_answers import GRAPH_COLUMNS
from ..query.atoms import EdgeAtom, Location, Variable
from ..query.regular_query import Rule, Value
from . import errors
from .clauses import Item, Projection
from .leaves import Direction, Name
from .leaves import Variable as VariableText
from .syntax import Node, Pattern, Relationship

_ENDS = (Variable("x"), Variable("y"))


def relationships(answer: str, type_: str, predicate: str, at: Location) -> Rule:
    """The rule that gives the relationships of a type, whose ends are the rows of a predicate."""
    atom = EdgeAtom.of(predicate, *_ENDS, at)
    values: tuple[Value, ...] = (_ENDS[0], scalar.Literal(type_), _ENDS[1])
    columns = tuple(zip(GRAPH_COLUMNS, values, strict=True))
    return Rule(answer, GRAPH_COLUMNS, (atom,), at, properties=columns)


def projections(patterns: Sequence[Pattern], at: Location) -> Iterator[tuple[Name, Projection]]:
    """The types of the relationships of a clause, and the projections to their ends.

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
            named = (("start", source), ("end", target))
            items = tuple(Item(VariableText(end), Name(name, end.at), name) for name, end in named)
            yield _type(created), Projection(items, False, (), None, None, at)


def _end(node: Node) -> Name:
    if node.variable is None:
        raise errors.CREATED_END.error(node.at, "(")
    if node.labels or node.properties or node.condition is not None:
        raise errors.CREATED_PARTS.error(node.at, node.variable.text)
    return node.variable


def _type(created: Relationship) -> Name:
    if len(created.types) != 1 or created.direction is Direction.EITHER:
        raise errors.CREATED_TYPE.error(created.at, "CREATE")
    others = (created.variable, created.hops, created.condition)
    if created.properties or any(part is not None for part in others):
        raise errors.CREATED_PARTS.error(created.at, created.types[0].text)
    return created.types[0]
