"""The pattern language of rules, and the bindings of a pattern in a memo.

A pattern is an ``Op`` over wildcards and further ``Op``s, two levels at most::

    Op(Join, Op(Join, Var("a"), Var("b")), Var("c"))

``Var`` binds a whole group, never a member of it. ``Op(Join)`` without inputs matches
any inputs, and ``Op(Join, some=Op(Scan))`` looks into each input in turn. An
``Op`` below the root matches every member of that input group that has its type, so the group
has to be explored first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from .expression import GroupExpression, GroupId
from .group import Groups


@dataclass(frozen=True, slots=True)
class Var:
    """Matches any group, under a name."""

    name: str


@dataclass(frozen=True)
class Op:
    """Matches a group expression by the type of its operator and, if given, its inputs."""

    of_type: type
    inputs: tuple[Op | Var, ...] = ()
    some: Op | None = None

    def __init__(self, of_type: type, *inputs: Op | Var, some: Op | None = None) -> None:
        object.__setattr__(self, "of_type", of_type)
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "some", some)

    @cached_property
    def nested(self) -> tuple[tuple[int, Op], ...]:
        """The inputs that look into a group, with their positions."""
        return tuple((k, part) for k, part in enumerate(self.inputs) if isinstance(part, Op))

    @property
    def looks_below(self) -> bool:
        """Whether the pattern looks into some input group."""
        return self.some is not None or bool(self.nested)

    @property
    def inner_types(self) -> frozenset[type]:
        """The operator types of the members that the pattern matches in input groups."""
        below = [op for _, op in self.nested] + ([self.some] if self.some else [])
        return frozenset(op.of_type for op in below)

    def looks_into(self, arity: int) -> frozenset[int]:
        """The positions, below ``arity``, of the inputs that the pattern looks into."""
        if self.some is not None:
            return frozenset(range(arity))
        return frozenset(k for k, _ in self.nested if k < arity)

    @cached_property
    def names(self) -> dict[str, tuple[int, int]]:
        """Name to (which matched expression, which of its inputs)."""
        places: dict[str, tuple[int, int]] = {}
        node = 0
        for k, part in enumerate(self.inputs):
            if isinstance(part, Var):
                places[part.name] = (0, k)
            else:
                node += 1
                for j, inner in enumerate(part.inputs):
                    if not isinstance(inner, Var):
                        raise ValueError("a pattern has two levels at most")
                    places[inner.name] = (node, j)
        return places


Admits = Callable[[int, GroupExpression], bool]
"""Whether a binding may have a member of the root's input group at a position."""


class Match:
    """A binding: the matched expressions, the root first, and the groups by name.

    ``position`` is the input that the match looks into, for a pattern with ``some``.
    """

    __slots__ = ("expressions", "pattern", "position")

    def __init__(
        self, pattern: Op, expressions: tuple[GroupExpression, ...], position: int = -1
    ) -> None:
        self.pattern = pattern
        self.expressions = expressions
        self.position = position

    def __getitem__(self, name: str) -> GroupId:
        """The group bound to a wildcard (as its expression reads it)."""
        node, position = self.pattern.names[name]
        return self.expressions[node].inputs[position]

    @property
    def root(self) -> GroupExpression:
        """The expression that the rule was applied to."""
        return self.expressions[0]


def bindings(
    pattern: Op,
    slot: int,
    root: GroupExpression,
    groups: Groups,
    admits: Admits | None = None,
) -> Iterator[Match]:
    """The bindings of ``pattern`` at ``root`` that no earlier call has returned.

    ``slot`` identifies the rule and pattern; ``root`` keeps their match cursors under it. Only
    members of input groups that ``admits`` accepts are combined. Members that are added while the
    caller works need another call.
    """
    if type(root.operator) is not pattern.of_type:
        return
    if pattern.inputs and len(pattern.inputs) != len(root.inputs):
        return
    if pattern.some is not None:
        yield from _looking_into_each(pattern, pattern.some, slot, root, groups)
        return
    if not pattern.nested:
        yield Match(pattern, (root,))
        return
    old: list[list[GroupExpression]] = []
    new: list[list[GroupExpression]] = []
    for position, inner in pattern.nested:
        seen, unseen = _members(inner, slot, root, position, groups)
        old.append(seen)
        new.append(unseen)
    if not any(new):
        return
    if admits is not None and not _admitted(pattern, old, new, admits):
        return
    inners = [inner for _, inner in pattern.nested]
    # Yield every combination with a new member once: ``first`` is the position of its first new
    # member.
    for first in range(len(new)):
        if not new[first]:
            continue
        choices = [
            old[k] if k < first else new[k] if k == first else old[k] + new[k]
            for k in range(len(new))
        ]
        for chosen in product(*choices):
            if all(_fits(inner, m) for inner, m in zip(inners, chosen, strict=True)):
                yield Match(pattern, (root, *chosen))
            if not root.alive:
                return


def _admitted(
    pattern: Op,
    old: list[list[GroupExpression]],
    new: list[list[GroupExpression]],
    admits: Admits,
) -> bool:
    """Drops the members that ``admits`` refuses; returns whether a binding remains.

    An old member is only part of bindings with a new one at another position, so it is not asked
    about if there is none.
    """
    for members in new, old:
        for k, (position, inner) in enumerate(pattern.nested):
            if members is old and not any(new[j] for j in range(len(new)) if j != k):
                members[k] = []
            else:
                kept = [m for m in members[k] if _fits(inner, m) and admits(position, m)]
                members[k] = kept
        if not any(new):
            return False
    return all(o or n for o, n in zip(old, new, strict=True))


def _looking_into_each(
    pattern: Op, inner: Op, slot: int, root: GroupExpression, groups: Groups
) -> Iterator[Match]:
    matches = [
        Match(pattern, (root, member), position)
        for position in range(len(root.inputs))
        for member in _members(inner, slot, root, position, groups)[1]
    ]
    for match in matches:
        if root.alive and _fits(inner, match.expressions[1]):
            yield match


def _members(
    inner: Op, slot: int, root: GroupExpression, position: int, groups: Groups
) -> tuple[list[GroupExpression], list[GroupExpression]]:
    """The members of an input group before the match cursor, and those since.

    The cursor moves to the end of each of the group's logs.
    """
    cursors = root.cursors.setdefault(slot, {})
    old: list[GroupExpression] = []
    new: list[GroupExpression] = []
    for log in groups[root.inputs[position]].logs:
        members = log.by_type.get(inner.of_type)
        if members:
            cursor = cursors.get((position, log.id), 0)
            cursors[position, log.id] = len(members)
            old += members[:cursor]
            new += members[cursor:]
    return old, new


def _fits(inner: Op, member: GroupExpression) -> bool:
    return (
        member.alive
        and type(member.operator) is inner.of_type
        and (not inner.inputs or len(inner.inputs) == len(member.inputs))
    )
