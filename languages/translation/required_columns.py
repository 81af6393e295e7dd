"""The columns that each atom of a rule must provide for the rule's conditions and head.

In: a rule and its conditions. Out: for each atom the conditions to check on it, and the properties
to scan and to keep. A condition over the columns of one atom is checked there, below the join; the
others are checked above it. A property is scanned if a condition or the head refers to it, and kept
above its atom only if something above refers to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..query.answers import computes
from ..query.atoms import Atom, Variable
from ..query.conditions import key, provides, references, references_in
from ..query.regular_query import Condition, Property, Rule
from .join_keys import JoinKeys


@dataclass(frozen=True, slots=True)
class RequiredColumns:
    """The required columns of a rule; all but ``residual`` have an entry for each atom.

    Attributes:
        own: the conditions that are checked on the atom alone.
        scanned: the properties that its scan provides, sorted by name.
        kept: the scanned properties that are kept above the atom.
        residual: the conditions over several atoms, which are checked above the join.
    """

    own: tuple[tuple[Condition, ...], ...]
    scanned: tuple[tuple[str, ...], ...]
    kept: tuple[tuple[str, ...], ...]
    residual: tuple[Condition, ...]


def required_columns(
    rule: Rule, conditions: Iterable[Condition], joined: Sequence[Property] = ()
) -> RequiredColumns:
    """The required columns of a rule with these conditions, which compare no edges.

    ``joined`` are the properties that are required above every atom in any case: the PATTERN joins
    on them, or they identify edges.

    A condition over vertices alone is checked on every atom that binds all of them, so that each
    such atom keeps fewer rows.
    """
    own: list[list[Condition]] = [[] for _ in rule.body]
    residual: list[Condition] = []
    for condition in conditions:
        referred = set(references(condition))
        places = [
            place
            for place, atom in enumerate(rule.body)
            if all(provides(atom, reference) for reference in referred)
        ]
        if not referred:
            places = places[:1]
        for place in places:
            own[place].append(condition)
        if not places:
            residual.append(condition)
    above = [*joined, *(r for _, of in rule.properties for r in references_in(of))]
    above += (r for condition in residual for r in references(condition))
    return RequiredColumns(
        tuple(map(tuple, own)),
        tuple(
            _properties(atom, [*above, *(r for condition in mine for r in references(condition))])
            for atom, mine in zip(rule.body, own, strict=True)
        ),
        tuple(_properties(atom, above) for atom in rule.body),
        tuple(residual),
    )


def columns_above_join(
    rule: Rule, residual: Iterable[Condition], keys: JoinKeys
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the head, and the further columns of the residual conditions and negations.

    For a computed head, each referenced column occurs once.
    """
    properties = dict(rule.properties)
    head = tuple(
        keys.column(key(r))
        for v in rule.variables
        for r in (references_in(properties[v]) if v in properties else [Variable(v)])
    )
    if computes(rule):
        head = tuple(dict.fromkeys(head))
    others = dict.fromkeys(keys.column(key(r)) for c in residual for r in references(c))
    others |= dict.fromkeys(keys.column(v) for of in rule.negated for v in of.variables)
    return head, tuple(other for other in others if other not in head)


def _properties(atom: Atom, referred: Iterable[Variable | Property]) -> tuple[str, ...]:
    """The names of the properties among references that the atom provides."""
    own = {r.name for r in referred if isinstance(r, Property) and provides(atom, r)}
    return tuple(sorted(own))
