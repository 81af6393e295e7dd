"""Expands comparisons of edges, ``e = f``, over their labels, ends and properties."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ...algebra.scalar import Literal
from ..query.atoms import Constant, Location, Row, Term, Variable, VertexAtom
from ..query.regular_query import (
    OWN_LABEL,
    OWN_SOURCE,
    OWN_TARGET,
    Both,
    Comparison,
    Condition,
    Either,
    Missing,
    Negated,
    Property,
    Value,
)

TRUE, FALSE = Both(()), Either(())


Origins = Mapping[str, Collection[str]]
"""The properties of each label that an edge may have, by the tag of the label."""


def written_out(
    condition: Condition,
    edges: Mapping[str, Row],
    origins: Callable[[str], Origins],
    positive: bool = True,
) -> Condition:
    """The condition, or its negation, without edges as values.

    ``origins`` are the origins of each named edge; ``ts`` is one of the properties. Two edges are
    equal if their labels, ends and properties are equal; two missing properties are equal.
    """
    match condition:
        case Negated(part):
            return written_out(part, edges, origins, not positive)
        case Both(parts) | Either(parts):
            inner = tuple(written_out(part, edges, origins, positive) for part in parts)
            return Both(inner) if isinstance(condition, Both) == positive else Either(inner)
        case Comparison(Variable(one), sign, Variable(other)) if one in edges:
            same = (sign == "=") == positive
            first, second = origins(one), origins(other)
            common = first.keys() & second.keys()
            if not common:
                return FALSE if same else TRUE
            names = sorted({name for tag in common for name in first[tag]})
            differ = _difference(edges[one], edges[other], names, condition.location, same)
            tags = [tag_of(edges[name], origins(name)) for name in (one, other)]
            if not all(isinstance(tag, Literal) for tag in tags) and one != other:
                label = Comparison(tags[0], "=" if same else "<>", tags[1], condition.location)
                differ = (label, *differ)
            return Both(differ) if same else Either(differ)
        case _:
            return condition if positive else Negated(condition)


def tag_of(edge: Row, origins: Origins) -> Value:
    """The value that identifies the label of an edge."""
    if len(origins) == 1:
        return Literal(next(iter(origins)))
    assert edge.edge is not None
    return Property(edge.edge, OWN_LABEL)


def _difference(
    one: Row, other: Row, names: Sequence[str], at: Location, same: bool
) -> tuple[Condition, ...]:
    """The condition of each end and property to be equal, or not to be equal."""
    if one.edge == other.edge:
        return ()
    assert one.edge is not None
    assert other.edge is not None
    ends = zip(ends_of(one), ends_of(other), strict=True)
    conditions = [_ends(left, right, at, same) for left, right in ends]
    for name in names:
        left, right = Property(one.edge, name), Property(other.edge, name)
        compared = Comparison(left, "=" if same else "<>", right, at)
        if name == "ts":
            conditions.append(compared)
        elif same:
            conditions.append(Either((compared, Both((Missing(left), Missing(right))))))
        else:
            one_is = Both((Missing(left), Negated(Missing(right))))
            other_is = Both((Negated(Missing(left)), Missing(right)))
            conditions.append(Either((compared, one_is, other_is)))
    return tuple(conditions)


def ends_of(edge: Row) -> tuple[Value, Value]:
    """The stored source and target of an edge, independent of the direction of the atom."""
    source, target = map(_end, (edge.source, edge.target))
    if isinstance(edge, VertexAtom):
        return source, target
    if edge.is_undirected:
        assert edge.edge is not None
        return Property(edge.edge, OWN_SOURCE), Property(edge.edge, OWN_TARGET)
    return (target, source) if edge.alternatives[0].inverse else (source, target)


def _ends(left: Value, right: Value, at: Location, same: bool) -> Condition:
    if left == right:
        return TRUE if same else FALSE
    if isinstance(left, Literal) and isinstance(right, Literal):
        # Within a stream, a number and its text are the same vertex.
        return TRUE if same == (str(left.value) == str(right.value)) else FALSE
    return Comparison(left, "=" if same else "<>", right, at)


def different_ends(one: Term, other: Term, at: Location) -> Condition:
    """The condition of two vertices to be different."""
    return _ends(_end(one), _end(other), at, same=False)


def _end(term: Term) -> Value:
    return Literal(term.value) if isinstance(term, Constant) else term
