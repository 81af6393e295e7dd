"""Checks the types of the columns that a variable joins.

In: the relations of a rule's atoms. Out: warnings for vertices, which are never equal if their
types differ, and errors for values. A join compares codes, and only equal values of one type have
one code.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.values import PropertyType
from ..query.atoms import Location, Variable
from ..query.errors import QueryError, line_of
from ..query.regular_query import Rule
from .relations import Relation


def check_joined_types(
    rule: Rule,
    atoms: Sequence[tuple[Relation, tuple[str, ...]]],
    kinds: Sequence[tuple[bool, ...]],
) -> list[str]:
    """The warnings of a rule.

    Args:
        rule: the rule, with one variable for equal variables.
        atoms: the relation of each atom, and the name of each of its columns.
        kinds: for each atom, whether each of its terms is a value.

    Raises:
        QueryError: E-TYPE for values of different types, or of several types.
    """
    values = {
        term.name
        for atom, own in zip(rule.body, kinds, strict=True)
        for term, is_value in zip(atom.terms, own, strict=True)
        if isinstance(term, Variable) and is_value
    }
    warnings: list[str] = []
    first: dict[str, PropertyType | None] = {}
    for atom, (relation, binding) in zip(rule.body, atoms, strict=True):
        for name, own in zip(binding, relation.types, strict=True):
            if name not in first or (first[name] is None and name not in values):
                first[name] = own
            elif name in values and (own is None or own != first[name]):
                raise different(name, first[name], own, atom.location)
            elif own is not None and own != first[name]:
                warnings.append(_never_equal(rule, name))
    return warnings


def different(
    name: str, one: PropertyType | None, other: PropertyType | None, at: Location
) -> QueryError:
    """The error for a variable that joins values of different types, None for several types."""
    kinds = " and ".join(
        "of several types" if t is None else f"of the type {t}" for t in (one, other)
    )
    return QueryError(
        "E-TYPE",
        f"it joins values {kinds}, and a join compares values of one type",
        at=at,
        text=name,
        hint="let the heads compute values of one type, as e.amount * 1.0 as amount, or give the "
        "variables two names and compare them in a condition other than =",
    )


def _never_equal(rule: Rule, name: str) -> str:
    return line_of(
        "W-TYPE",
        rule.location,
        name,
        "it joins a stream of strings with one of integers, whose vertices are never equal",
        "set the vertex type in the catalog",
    )
