"""Properties as join variables: ``e.currency = f.currency`` makes one column of the PATTERN.

In: the conditions of a rule and the types of their references. Out: the properties and vertices
that share a variable, and the remaining conditions.

An equality between atoms is a join if both sides have one type: equal values of a type have equal
codes, for vertices and properties alike. A missing value equals nothing, but the PATTERN compares
codes; so each atom drops rows without the property first. An integer and a number are compared
numerically, not by code, so their equality is not a join.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ...algebra.values import PropertyType
from ..query.atoms import Atom, Variable
from ..query.conditions import connected, key, provides
from ..query.disjoint_sets import DisjointSets
from ..query.regular_query import (
    OWN_LABEL,
    OWN_SOURCE,
    OWN_TARGET,
    Comparison,
    Condition,
    Missing,
    Negated,
    Property,
    Rule,
)

_ALWAYS = ("ts", OWN_LABEL, OWN_SOURCE, OWN_TARGET)
Reference = Variable | Property
TypeOf = Callable[[Reference], PropertyType | None]


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The properties that the PATTERN joins on, and the names of the join variables.

    ``leader`` maps the :func:`headrace.languages.query.conditions.key` of each joined reference to
    the key of the reference that names the common variable. ``shared`` are the variables that
    several terms have, or that are equal to something else; they are never missing.
    """

    properties: tuple[Property, ...] = ()
    leader: Mapping[str, str] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()

    def column(self, name: str) -> str:
        """The name of the join variable of a reference, given the key of the reference."""
        return self.leader.get(name, name)


def join_keys(
    rule: Rule, conditions: Iterable[Condition], type_of: TypeOf
) -> tuple[list[Condition], JoinKeys]:
    """The conditions that are not joins, and the joins.

    The conditions require each joined property to be present, unless it always is (``ts``).
    """
    equal: DisjointSets[Reference] = DisjointSets()
    left: list[Condition] = []
    joined: dict[Reference, None] = {}
    for condition in conditions:
        sides = _join(condition, rule.body, type_of)
        if sides is None:
            left.append(condition)
            continue
        joined |= dict.fromkeys(sides)
        # A vertex leads, so that the column has the name of its variable.
        equal.merge(*sorted(map(equal.leader, sides), key=lambda side: isinstance(side, Property)))
    for reference in joined:
        if isinstance(reference, Property) and reference.name not in _ALWAYS:
            left.append(Negated(Missing(reference)))
    for atom in rule.body:
        left += _equal_within(atom, joined, equal, rule)
    return left, JoinKeys(
        tuple(reference for reference in joined if isinstance(reference, Property)),
        {key(reference): key(equal.leader(reference)) for reference in joined},
        frozenset({*_repeated(rule), *(r.name for r in joined if isinstance(r, Variable))}),
    )


def _repeated(rule: Rule) -> Iterator[str]:
    """The variables that occur in several terms of a body."""
    count = Counter(
        term.name for atom in rule.body for term in atom.terms if isinstance(term, Variable)
    )
    return (name for name, times in count.items() if times > 1)


def _join(
    condition: Condition, body: Iterable[Atom], type_of: TypeOf
) -> tuple[Reference, Reference] | None:
    """The two sides of an equality between atoms; None for other conditions."""
    for left, right in connected([condition]):
        if any(provides(atom, left) and provides(atom, right) for atom in body):
            return None
        if isinstance(left, Variable) and isinstance(right, Variable):
            return left, right
        kind = type_of(left)
        return (left, right) if kind is not None and kind == type_of(right) else None
    return None


def _equal_within(
    atom: Atom,
    joined: Iterable[Reference],
    equal: DisjointSets[Reference],
    rule: Rule,
) -> list[Condition]:
    """The equalities between columns of one atom that share a variable through other atoms."""
    first: dict[Reference, Reference] = {}
    conditions: list[Condition] = []
    for reference in (r for r in joined if provides(atom, r)):
        one = first.setdefault(equal.leader(reference), reference)
        if one != reference:
            conditions.append(Comparison(one, "=", reference, rule.location))
    return conditions
