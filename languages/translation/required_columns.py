"""What each atom of a rule has to give for the rule's conditions and head, and no more.

A condition over the columns of one atom is checked there, below the join; the others above
it. A property is scanned where something looks at it, and kept above its atom only if something
above looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..query.answers import computes
from ..query.conditions import key, references, references_in
from ..query.join_keys import JoinKeys
from ..query.regular_query import (
    Atom,
    Condition,
    Property,
    Row,
    Rule,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Needs:
    """For each atom: its ``own`` conditions, the properties that are ``scanned`` for it, and
    those of them that are ``kept`` above it, in the order of their names. ``residual`` are the
    conditions over several atoms."""

    own: tuple[tuple[Condition, ...], ...]
    residual: tuple[Condition, ...]
    scanned: tuple[tuple[str, ...], ...]
    kept: tuple[tuple[str, ...], ...]


def needs(rule: Rule, conditions: Iterable[Condition], joined: Sequence[Property] = ()) -> Needs:
    """The needs of a rule with these conditions, which say nothing of edges as values.

    ``joined`` are properties that are needed above all atoms, whether the head or a condition
    looks at them or not: that the PATTERN joins on, or that tell edges apart.

    A condition over vertices alone is checked at every atom that binds them all, since each
    has fewer rows to keep then.
    """
    own: list[list[Condition]] = [[] for _ in rule.body]
    residual: list[Condition] = []
    for condition in conditions:
        looked_at = set(references(condition))
        places = [i for i, atom in enumerate(rule.body) if _gives(atom, looked_at)]
        if not looked_at:
            places = places[:1]
        for place in places:
            own[place].append(condition)
        if not places:
            residual.append(condition)
    above = [r for _, of in rule.properties for r in references_in(of) if isinstance(r, Property)]
    above += joined
    above += [p for c in residual for p in references(c) if isinstance(p, Property)]
    return Needs(
        tuple(map(tuple, own)),
        tuple(residual),
        tuple(
            _of(atom, [*above, *(r for c in mine for r in references(c))])
            for atom, mine in zip(rule.body, own, strict=True)
        ),
        tuple(_of(atom, above) for atom in rule.body),
    )


def keys_above(
    rule: Rule, residual: Iterable[Condition], keys: JoinKeys
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the head, and of those the residual conditions need besides.

    Of a head that computes, each column that it looks at once.
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
    return head, tuple(other for other in others if other not in head)


def _gives(atom: Atom, looked_at: set[Variable | Property]) -> bool:
    return all(
        _is_of(atom, r) if isinstance(r, Property) else r in (atom.source, atom.target)
        for r in looked_at
    )


def _of(atom: Atom, looked_at: Sequence[Variable | Property]) -> tuple[str, ...]:
    return tuple(sorted({r.name for r in looked_at if isinstance(r, Property) and _is_of(atom, r)}))


def _is_of(atom: Atom, reference: Property) -> bool:
    return isinstance(atom, Row) and atom.edge == reference.edge
