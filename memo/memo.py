"""The memo: hash-consed group expressions, and groups that merge when found equal.

::

    insert(expression) ──► digest known? ──yes──► its group ──other group wanted?──► merge
                               │ no
                               ▼
                     fingerprint known? ──yes──► join that group
                               │ no
                               ▼
                       a new group, or the one it was found for

    merge ──► union-find ──► parents get new digests ──► equal digests? ──► merge ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from .check import Alternatives, check_structure, check_winners, demand
from .expression import Digest, GroupExpression, GroupId, Tree
from .group import Group, Log
from .operators import MemoError, OperatorSide


class MemoListener:
    """Hears what changes; the methods do nothing unless overridden."""

    def group_added(self, group: Group) -> None:
        """A new group, before its first expression."""

    def expression_added(self, expression: GroupExpression) -> None:
        """A new member of a group."""

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Two groups were found equal; ids of the second now mean the first."""

    def expression_changed(self, expression: GroupExpression) -> None:
        """Merging gave a member another operator."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """Where an expression is now; ``expression`` is None if it is a whole group."""

    group: GroupId
    expression: GroupExpression | None
    new: bool


class Memo:
    """All equivalent expressions found so far."""

    def __init__(
        self, operators: OperatorSide | None = None, listener: MemoListener | None = None
    ) -> None:
        self.operators = operators or OperatorSide()
        self.listener = listener or MemoListener()
        self.merges = 0
        self.version = 0
        self._groups: dict[GroupId, Group] = {}
        self._leader: list[GroupId] = []
        self._digests: dict[Digest, GroupExpression] = {}
        self._aliases: dict[Digest, Digest | GroupId] = {}
        self._fingerprints: dict[Hashable, GroupId] = {}
        self._created = 0
        self._members = 0

    # -- looking --------------------------------------------------------------------

    def find(self, group: GroupId) -> GroupId:
        """The number under which a group is known now."""
        leader = self._leader
        while leader[group] != group:
            leader[group] = leader[leader[group]]
            group = leader[group]
        return group

    def group(self, group: GroupId) -> Group:
        """The group of a number, also of one that was merged away."""
        return self._groups[self.find(group)]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the order of their numbers."""
        return tuple(self._groups[g] for g in sorted(self._groups))

    @property
    def expressions(self) -> Iterator[GroupExpression]:
        """All members of all groups, group by group."""
        for group in self.groups:
            yield from group.expressions

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self._groups)

    @property
    def expression_count(self) -> int:
        """How many group expressions there are."""
        return self._members

    def lookup(self, tree: Tree) -> GroupId | None:
        """The group that holds the whole expression, or None; inserts nothing."""
        if isinstance(tree, int):
            return self.find(tree)
        inputs: list[GroupId] = []
        for part in tree.inputs:
            group = self.lookup(part)
            if group is None:
                return None
            inputs.append(group)
        form = self._form(tree.operator, tuple(inputs))
        if isinstance(form, int):
            return self.find(form)
        found = self._digests.get(form)
        return None if found is None else found.group

    # -- inserting ------------------------------------------------------------------

    def insert(
        self,
        tree: Tree,
        into: GroupId | None = None,
        rule: str = "",
        source: GroupExpression | None = None,
    ) -> Insertion:
        """Enters an expression, and those below it; says where it is.

        ``into``: the group that it was found equal to; if it stands in another one already
        the two merge. ``rule`` and ``source`` are kept as its provenance.
        """
        if isinstance(tree, int):
            return self._equal(self.find(tree), None, into)
        find = self.find
        inputs = tuple(
            [
                find(part) if isinstance(part, int) else self.insert(part, None, rule, source).group
                for part in tree.inputs
            ]
        )
        key: Digest = (tree.operator, inputs)
        found = self._digests.get(key)
        if found is None:
            form = self._form(*key)
            if isinstance(form, int):
                return self._equal(find(form), None, into)
            found = self._digests.get(form)
            if found is None:
                return self._enter(form, into, rule, source)
        return self._equal(found.group, found, into)

    def merge(self, one: GroupId, other: GroupId) -> GroupId:
        """Makes two groups one, and all that follows from it; the number that remains."""
        pending = deque([(one, other)])
        while pending:
            kept, gone = sorted(map(self.find, pending.popleft()))
            if kept != gone:
                pending.extend(self._absorb(self._groups[kept], self._groups[gone]))
        return self.find(one)

    def _equal(
        self, group: GroupId, found: GroupExpression | None, into: GroupId | None
    ) -> Insertion:
        if into is not None and self.find(into) != group:
            group = self.merge(group, into)
        return Insertion(group, found, False)

    def _form(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        key: Digest = (operator, inputs)
        form = self._aliases.get(key)
        if form is None:
            form = self._aliases[key] = self.operators.canonical(operator, inputs)
        return form

    def _enter(
        self, form: Digest, into: GroupId | None, rule: str, source: GroupExpression | None
    ) -> Insertion:
        operator, inputs = form
        fingerprint = None
        # Another expression of this kind in the group has given it its fingerprint already.
        if into is None or not self._groups[self.find(into)].has(type(operator)):
            fingerprint = self.operators.fingerprint(operator, inputs)
        owner = None if fingerprint is None else self._fingerprints.get(fingerprint)
        if owner is not None:
            owner = self.find(owner)
        target = owner if into is None else self.find(into)
        if target is not None and target in inputs:
            self._note_ghost(form, target, rule, source)
            if owner is not None and owner != target:
                target = self.merge(owner, target)
            return Insertion(target, None, False)
        properties = self.operators.properties(
            operator, tuple([self._groups[i].properties for i in inputs])
        )
        if target is None:
            group = self._new_group(properties)
        else:
            group = self._groups[target]
            problem = self.operators.contradiction(group.properties, properties)
            if problem is not None:
                raise MemoError(
                    f"{rule or 'an insertion'} put {operator} {inputs} into G{target}: {problem}"
                )
        expression = GroupExpression(
            id=self._created,
            group=group.id,
            operator=operator,
            inputs=inputs,
            rule=rule,
            source=source,
        )
        self._created += 1
        self._digests[form] = expression
        for i in inputs:
            self._groups[i].parents[expression.id] = expression
        group.add(expression)
        self._members += 1
        if fingerprint is not None:
            self._fingerprints.setdefault(fingerprint, group.id)
        self.listener.expression_added(expression)
        if owner is not None and owner != group.id:
            self.merge(owner, group.id)
        return Insertion(expression.group, expression, True)

    def _note_ghost(
        self, form: Digest, group: GroupId, rule: str, source: GroupExpression | None
    ) -> None:
        """Remembers where an expression belongs that equals one of its own inputs.

        It could never be part of a plan, so it is no member of its group.
        """
        operator, inputs = form
        ghost = GroupExpression(
            id=self._created,
            group=group,
            operator=operator,
            inputs=inputs,
            rule=rule,
            source=source,
        )
        self._created += 1
        ghost.alive = False
        self._groups[group].ghosts.append(ghost)
        self._digests[form] = ghost
        for i in inputs:
            self._groups[i].parents[ghost.id] = ghost

    def _new_group(self, properties: Any) -> Group:
        group = Group(len(self._leader), properties)
        group.logs.append(Log(group.id))
        self._leader.append(group.id)
        self._groups[group.id] = group
        self.listener.group_added(group)
        return group

    # -- merging --------------------------------------------------------------------

    def _absorb(self, kept: Group, gone: Group) -> list[tuple[GroupId, GroupId]]:
        """Moves all of ``gone`` into ``kept``; the merges that this makes necessary."""
        problem = self.operators.contradiction(kept.properties, gone.properties)
        if problem is not None:
            raise MemoError(f"G{kept.id} and G{gone.id} were found equal: {problem}")
        self.merges += 1
        self.version += 1
        self._aliases.clear()
        self._leader[gone.id] = kept.id
        del self._groups[gone.id]
        for member in gone.expressions:
            member.group = kept.id
        kept.expressions.extend(gone.expressions)
        kept.logs.extend(gone.logs)
        kept.watchers.update(gone.watchers)
        kept.explored = kept.explored or gone.explored
        for properties, winner in gone.winners.items():
            known = kept.winners.get(properties)
            if known is None or winner.cost < known.cost:
                kept.winners[properties] = winner
        for ghost in gone.ghosts:
            ghost.group = kept.id
        kept.ghosts.extend(gone.ghosts)
        for parent in kept.parents.values():
            if parent.alive and parent.group == kept.id:
                self._hide(parent)
        consequences: list[tuple[GroupId, GroupId]] = []
        changed: list[GroupExpression] = []
        for parent in list(gone.parents.values()):
            if self._digests.get(parent.digest) is parent:
                consequences.extend(self._repair(parent, changed))
        self.listener.groups_merged(kept, gone)
        for parent in changed:
            if parent.alive:
                self.listener.expression_changed(parent)
        return consequences

    def _repair(
        self, parent: GroupExpression, changed: list[GroupExpression]
    ) -> list[tuple[GroupId, GroupId]]:
        """Gives a parent of a merged group its new digest."""
        del self._digests[parent.digest]
        for i in parent.inputs:
            if i in self._groups:
                self._groups[i].parents.pop(parent.id, None)
        form = self._form(parent.operator, tuple([self.find(i) for i in parent.inputs]))
        if isinstance(form, int):
            self._bury(parent)
            return [(parent.group, form)]
        operator, inputs = form
        if parent.alive and parent.group in inputs:
            self._hide(parent)
        twin = self._digests.get(form)
        consequences: list[tuple[GroupId, GroupId]] = []
        if twin is not None:
            if twin.group != parent.group:
                consequences = [(twin.group, parent.group)]
            # A member stays before a ghost, an old one before a young one.
            if (not twin.alive, twin.id) < (not parent.alive, parent.id):
                twin.fired |= parent.fired
                twin.needless |= parent.needless
                twin.barred |= parent.barred
                self._bury(parent)
                return consequences
            parent.fired |= twin.fired
            parent.needless |= twin.needless
            parent.barred |= twin.barred
            self._drop(twin)
        if operator != parent.operator:
            parent.fired = 0
            parent.marks = {}
            changed.append(parent)
            if type(operator) is not type(parent.operator):
                self._groups[parent.group].relog(parent, operator)
        parent.operator, parent.inputs = operator, inputs
        self._digests[form] = parent
        for i in inputs:
            self._groups[i].parents[parent.id] = parent
        return consequences

    def _drop(self, expression: GroupExpression) -> None:
        """Takes an expression out that needs no successor."""
        del self._digests[expression.digest]
        for i in expression.inputs:
            if i in self._groups:
                self._groups[i].parents.pop(expression.id, None)
        self._bury(expression)

    def _bury(self, expression: GroupExpression) -> None:
        group = self._groups[self.find(expression.group)]
        (group.expressions if expression.alive else group.ghosts).remove(expression)
        self._members -= expression.alive
        expression.alive = False

    def _hide(self, expression: GroupExpression) -> None:
        """Makes a member that reads its own group a ghost."""
        self._bury(expression)
        self._groups[self.find(expression.group)].ghosts.append(expression)

    # -- checking -------------------------------------------------------------------

    def check(self, alternatives: Alternatives | None = None) -> None:
        """Looks at every invariant.

        ``alternatives`` gives the ways to compute a group with some properties, as own cost
        and input goals; with it winners are compared to all that they won against.

        Raises:
            MemoError: if one does not hold.
        """
        check_structure(self._groups, self._digests, self.find, self.operators)
        demand(
            self._members == sum(len(g.expressions) for g in self._groups.values()),
            "members were miscounted",
        )
        if alternatives is not None:
            check_winners(self.groups, self.group, alternatives)
