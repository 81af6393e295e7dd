"""Which paths a query reads step by step, and which conditions are tests of each of their steps.

A path that is read, as by ``nodes(p)``, becomes the relationships on it, for each of its lengths in
rules of its own. ``all`` and ``none`` over a path need no such rules where they read nothing but
the member: such a condition holds for each step of the path, however long it is. A condition on all
nodes is one on both ends of each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..query.shortest_paths import NODES, RELATIONSHIPS, VALUES
from .clauses import Match, Projection, Unwind, With
from .leaves import Direction, Name, Quantifier, Variable
from .syntax import Call, Expression, Not, Part, Quantified, Relationship
from .walking import conjuncts, names_in, parts_of

LISTS = (NODES, RELATIONSHIPS)
"""The functions that give the members of a path."""


def is_of_nodes(list_: Expression) -> bool:
    """Whether a list is that of the nodes of a path, and not of its relationships."""
    return isinstance(list_, Call) and list_.function.text.lower() == NODES


def path_of(of: Expression, functions: Sequence[str] = LISTS) -> Name | None:
    """The path of ``nodes(path)`` and ``relationships(path)``, or of other functions."""
    match of:
        case Call(function, (Variable(path),)) if function.text.lower() in functions:
            return path
    return None


def shares(one: Relationship, others: Sequence[Relationship]) -> bool:
    """Whether another relationship can be the same edge."""
    types = {name.text for name in one.types}
    return any(
        not types or not other.types or types & {name.text for name in other.types}
        for other in others
        if other is not one
    )


def repeats(one: Relationship, others: Sequence[Relationship]) -> bool:
    """Whether a path could have a relationship twice that it must not have twice."""
    least = 1 if one.hops is None else one.hops.least
    return one.direction is Direction.EITHER or least > 1 or shares(one, others)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of patterns.

    Attributes:
        of_steps: the tests of each step of a path, by the name of the path.
        others: the other conditions.
    """

    of_steps: dict[str, tuple[Quantified, ...]]
    others: tuple[Expression, ...]


def conditions_of(
    parts: Sequence[Part],
    condition: Expression | None,
    *,
    counted: bool,
    read: frozenset[str] = frozenset(),
) -> Conditions:
    """The conditions of patterns.

    Those of paths that are ``read`` are no tests of steps, but for shortest paths.
    """
    others = [r for part in parts if part.shortest is None for r in part.pattern.relationships]
    by_name = {part.variable.text: part for part in parts if part.variable is not None}
    of_steps: dict[str, tuple[Quantified, ...]] = {}
    rest: list[Expression] = []
    for one in () if condition is None else conjuncts(condition):
        test = _of_each(one)
        name = None if test is None else path_of(test.members)
        part = None if name is None else by_name.get(name.text)
        if part is None or (part.shortest is None and name is not None and name.text in read):
            rest.append(one)
        elif test is not None and name is not None and _is_of_steps(test, part, others, counted):
            of_steps[name.text] = (*of_steps.get(name.text, ()), test)
        else:
            rest.append(one)
    return Conditions(of_steps, tuple(rest))


def paths_read(
    clauses: Sequence[Match | With | Unwind], result: Projection, *, counted: bool
) -> frozenset[str]:
    """The names of the paths that are read, also those that they have before a WITH."""
    names = set(_read(result))
    for clause in reversed(clauses):
        if isinstance(clause, Match):
            names |= read_by(clause.parts, clause.condition, counted=counted)
            continue
        names.update(_read(clause))
        if isinstance(clause, With):
            for item in clause.projection.items:
                renamed = item.alias is not None and item.alias.text in names
                if renamed and isinstance(item.value, Variable):
                    names.add(item.value.name.text)
    return frozenset(names)


def paths_returned(clauses: Sequence[Match | With | Unwind], result: Projection) -> frozenset[str]:
    """The names of the paths that are columns, also those that they have before a WITH."""
    names = _variables(result, None)
    found = set(names or ())
    for clause in reversed(clauses):
        if isinstance(clause, With):
            names = _variables(clause.projection, names)
            found.update(names or ())
        elif isinstance(clause, Match) and names is None:
            found.update(part.variable.text for part in clause.parts if part.variable is not None)
    return frozenset(found)


def _variables(projection: Projection, later: set[str] | None) -> set[str] | None:
    """The variables that columns are, of those with names ``later``; None stands for all."""
    if projection.is_star and later is None:
        return None
    passed = later if projection.is_star and later is not None else set[str]()
    return passed | {
        item.value.name.text
        for item in projection.items
        if isinstance(item.value, Variable)
        and (later is None or (item.text if item.alias is None else item.alias.text) in later)
    }


def read_by(
    parts: Sequence[Part], condition: Expression | None, *, counted: bool
) -> frozenset[str]:
    """The names of the paths that patterns and their condition read."""
    others = conditions_of(parts, condition, counted=counted).others
    return frozenset([*_read(tuple(parts)), *_read(others)])


def _read(tree: Any) -> Iterator[str]:
    """The names of the paths that expressions in a tree read."""
    for part in parts_of(tree):
        if (path := path_of(part, VALUES)) is not None:
            yield path.text
        yield from _read(part)


def _of_each(of: Expression) -> Quantified | None:
    """The ``all`` or ``none`` that a condition is."""
    match of:
        case Quantified(Quantifier.ALL | Quantifier.NONE):
            return of
        case Not(Quantified(Quantifier.ANY) as part):
            return replace(part, quantifier=Quantifier.NONE)
    return None


def _is_of_steps(
    test: Quantified, part: Part, others: Sequence[Relationship], counted: bool
) -> bool:
    """Whether a test of a path is one of each of its steps.

    Tests of labels make relations of their own, without the identities of relationships; so a path
    that could repeat a relationship has none. A shortest path repeats none.
    """
    links = part.pattern.relationships
    if len(links) != 1 or links[0].hops is None:
        return False
    if any(name != test.variable.text for name in names_in(test.condition)):
        return False
    if part.shortest is not None:
        return True
    if counted and links[0].hops.most is not None:
        return False
    return not (is_of_nodes(test.members) and repeats(links[0], others))
