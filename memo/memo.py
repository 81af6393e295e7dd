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
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from .check import Alternatives, check_structure, check_winners, demand
from .expression import Digest, Expression, GroupExpression, GroupId, Tree
from .group import Group, Groups
from .operators import MemoError, Operators


class MemoListener:
    """Callbacks for changes of a memo; they do nothing unless overridden."""

    def group_added(self, group: Group) -> None:
        """A new group, before its first expression."""

    def expression_added(self, expression: GroupExpression) -> None:
        """A new member of a group."""

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Two groups were found equal; ids of the second now mean the first."""

    def expression_changed(self, expression: GroupExpression) -> None:
        """Merging gave a member another operator."""


class Insertion(NamedTuple):
    """The place of an inserted expression; ``expression`` is None if it is a whole group."""

    group: GroupId
    expression: GroupExpression | None
    new: bool


class Memo:
    """All equivalent expressions found so far.

    ``operators`` answers questions about operators, and may read ``groups`` to do so.
    Each change calls the ``listeners`` in order.
    """

    def __init__(
        self,
        groups: Groups | None = None,
        operators: Operators | None = None,
        listeners: Sequence[MemoListener] = (),
    ) -> None:
        self.groups = Groups() if groups is None else groups
        self._alive = self.groups.alive
        self._find = self.groups.find
        self.merges = 0
        self._operators = operators or Operators()
        self._listeners = tuple(listeners)
        self._digests: dict[Digest, GroupExpression] = {}
        self._aliases: dict[Digest, Digest | GroupId] = {}
        self._fingerprints: dict[Hashable, GroupId] = {}
        self._created = 0
        self._members = 0

    # -- looking --------------------------------------------------------------------

    def find(self, group: GroupId) -> GroupId:
        """The number under which a group is known now."""
        return self.groups.find(group)

    def group(self, group: GroupId) -> Group:
        """The group of a number, also of one that was merged away."""
        return self.groups[group]

    @property
    def expressions(self) -> Iterator[GroupExpression]:
        """All members of all groups, group by group."""
        for group in self.groups:
            yield from group.expressions

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self.groups)

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
        owner = self._digests.get(form)
        return None if owner is None else owner.group

    def relation(self, expression: Expression) -> GroupId | None:
        """The group of an expression, or of one with the same fingerprint; inserts nothing."""
        group = self.lookup(expression)
        inputs = tuple([self.lookup(part) for part in expression.inputs])
        if group is None and None not in inputs:
            read = tuple([part for part in inputs if part is not None])
            fingerprint = self._operators.fingerprint(expression.operator, read)
            group = None if fingerprint is None else self._fingerprints.get(fingerprint)
        return None if group is None else self.find(group)

    # -- inserting ------------------------------------------------------------------

    def insert(
        self,
        tree: Tree,
        into: GroupId | None = None,
        rule: str = "",
        source: GroupExpression | None = None,
    ) -> Insertion:
        """Enters an expression and the expressions below it; returns where the expression is.

        Args:
            tree: the expression, or a group.
            into: the group that the expression equals. If the expression is in another group
                already, the two groups merge.
            rule: the rule that made the expression.
            source: the expression that the rule was applied to.
        """
        if isinstance(tree, int):
            return self._equal(self._find(tree), None, into)
        find = self._find
        alive = self._alive
        inputs = tuple(
            [
                (part if part in alive else find(part))
                if isinstance(part, int)
                else self.insert(part, None, rule, source).group
                for part in tree.inputs
            ]
        )
        key: Digest = (tree.operator, inputs)
        twin = self._digests.get(key)
        if twin is None:
            form = self._form(*key)
            if isinstance(form, int):
                return self._equal(find(form), None, into)
            if form != key:
                twin = self._digests.get(form)
            if twin is None:
                return self._enter(form, into, rule, source)
        return self._equal(twin.group, twin, into)

    def merge(self, one: GroupId, other: GroupId) -> GroupId:
        """Merges two groups, and groups that become equal by it; returns the remaining number."""
        pending = deque([(one, other)])
        while pending:
            kept, gone = sorted(map(self.find, pending.popleft()))
            if kept != gone:
                pending.extend(self._absorb(self.groups[kept], self.groups[gone]))
        return self._find(one)

    def _equal(
        self, group: GroupId, twin: GroupExpression | None, into: GroupId | None
    ) -> Insertion:
        if into is not None and self._find(into) != group:
            group = self.merge(group, into)
        return Insertion(group, twin, False)

    def _form(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        key: Digest = (operator, inputs)
        form = self._aliases.get(key)
        if form is None:
            form = self._operators.canonical(operator, inputs)
            if form != key:
                self._aliases[key] = form
        return form

    def _enter(
        self, form: Digest, into: GroupId | None, rule: str, source: GroupExpression | None
    ) -> Insertion:
        """Enters an expression whose digest is new.

        The expression belongs to the group with its fingerprint and to ``into``, which merge if
        they differ. Without either it gets a new group. An expression that reads its own group is
        kept as cyclic and does not become a member.
        """
        operator, inputs = form
        groups = self.groups
        fingerprint = None
        # Another expression of this kind in the group has given it its fingerprint already.
        if into is None or not groups[into].has(type(operator)):
            fingerprint = self._operators.fingerprint(operator, inputs)
        owner = None if fingerprint is None else self._fingerprints.get(fingerprint)
        if owner is not None:
            owner = self._find(owner)
        target = owner if into is None else self._find(into)
        if target is not None and target in inputs:
            cyclic = self._record(form, target, rule, source)
            cyclic.alive = False
            groups[target].cyclic.append(cyclic)
            if owner is not None and owner != target:
                target = self.merge(owner, target)
            return Insertion(target, None, False)
        properties = self._operators.properties(
            operator, tuple([self._alive[i].properties for i in inputs])
        )
        if target is None:
            group = groups.new(properties)
            for listener in self._listeners:
                listener.group_added(group)
        else:
            group = self._alive[target]
            problem = self._operators.contradiction(group.properties, properties)
            if problem is not None:
                raise MemoError(
                    f"{rule or 'an insertion'} put {operator} {inputs} into G{target}: {problem}"
                )
        expression = self._record(form, group.id, rule, source)
        group.add(expression)
        self._members += 1
        if fingerprint is not None:
            self._fingerprints.setdefault(fingerprint, group.id)
        for listener in self._listeners:
            listener.expression_added(expression)
        if owner is not None and owner != group.id:
            self.merge(owner, group.id)
        return Insertion(expression.group, expression, True)

    def _record(
        self, form: Digest, group: GroupId, rule: str, source: GroupExpression | None
    ) -> GroupExpression:
        """Makes an expression, and registers it by its digest and with the groups that it reads."""
        operator, inputs = form
        expression = GroupExpression(
            id=self._created,
            group=group,
            operator=operator,
            inputs=inputs,
            rule=rule,
            source=source,
        )
        self._created += 1
        self._digests[form] = expression
        self._add_parent(expression)
        return expression

    def _add_parent(self, expression: GroupExpression) -> None:
        for i in expression.inputs:
            self._alive[i].parents[expression.id] = expression

    # -- merging --------------------------------------------------------------------

    def _absorb(self, kept: Group, gone: Group) -> list[tuple[GroupId, GroupId]]:
        """Moves all of ``gone`` into ``kept``; returns the groups to merge as a consequence."""
        problem = self._operators.contradiction(kept.properties, gone.properties)
        if problem is not None:
            raise MemoError(f"G{kept.id} and G{gone.id} were found equal: {problem}")
        self.merges += 1
        self._aliases.clear()
        self.groups.absorb(kept, gone)
        for parent in kept.parents.values():
            if parent.alive and parent.group == kept.id:
                self._make_cyclic(parent)
        consequences: list[tuple[GroupId, GroupId]] = []
        changed: list[GroupExpression] = []
        for parent in list(gone.parents.values()):
            if self._digests.get(parent.digest) is parent:
                consequences.extend(self._repair(parent, changed))
        for listener in self._listeners:
            listener.groups_merged(kept, gone)
        for parent in changed:
            if parent.alive:
                for listener in self._listeners:
                    listener.expression_changed(parent)
        return consequences

    def _repair(
        self, parent: GroupExpression, changed: list[GroupExpression]
    ) -> list[tuple[GroupId, GroupId]]:
        """Gives an expression over a merged group its new digest; returns the merges that follow.

        Over the group that remains, the expression may turn out to be

        - a whole group (such as a projection to all columns): then the expression's own group
          equals that group;
        - cyclic, if it now reads its own group;
        - a twin of another expression: the groups of both are equal, and one of the two expressions
          is removed. The remaining one takes over which rules were applied or are masked;
        - changed: its canonical form has another operator, which no rule has been applied to. The
          expression is appended to ``changed``.
        """
        self._forget_digest(parent)
        form = self._form(parent.operator, tuple([self._find(i) for i in parent.inputs]))
        if isinstance(form, int):
            self._bury(parent)
            return [(parent.group, form)]
        operator, inputs = form
        if parent.alive and parent.group in inputs:
            self._make_cyclic(parent)
        twin = self._digests.get(form)
        consequences: list[tuple[GroupId, GroupId]] = []
        if twin is not None:
            if twin.group != parent.group:
                consequences = [(twin.group, parent.group)]
            # A member stays rather than a cyclic expression, an old one rather than a young one.
            if (not twin.alive, twin.id) < (not parent.alive, parent.id):
                twin.inherit_rules(parent)
                self._bury(parent)
                return consequences
            parent.inherit_rules(twin)
            self._forget_digest(twin)
            self._bury(twin)
        if operator != parent.operator:
            parent.fired = 0
            parent.cursors = {}
            changed.append(parent)
            if type(operator) is not type(parent.operator):
                self.groups[parent.group].relog(parent, operator)
        parent.operator, parent.inputs = operator, inputs
        self._digests[form] = parent
        self._add_parent(parent)
        return consequences

    def _forget_digest(self, expression: GroupExpression) -> None:
        """Removes an expression from the digests and from the groups that it reads."""
        del self._digests[expression.digest]
        for i in expression.inputs:
            if i in self._alive:
                self._alive[i].parents.pop(expression.id, None)

    def _bury(self, expression: GroupExpression) -> None:
        """Takes an expression out of its group."""
        group = self.groups[expression.group]
        (group.expressions if expression.alive else group.cyclic).remove(expression)
        self._members -= expression.alive
        expression.alive = False

    def _make_cyclic(self, expression: GroupExpression) -> None:
        """Moves a member that reads its own group to the cyclic expressions, outside of plans."""
        self._bury(expression)
        self.groups[expression.group].cyclic.append(expression)

    # -- checking -------------------------------------------------------------------

    def check(self, alternatives: Alternatives | None = None) -> None:
        """Checks every invariant.

        ``alternatives`` returns the alternatives of a group under required properties, as own costs
        and input goals. If it is given, each winner is compared to the other alternatives.

        Raises:
            MemoError: if an invariant does not hold.
        """
        check_structure(self.groups, self._digests, self._operators)
        demand(
            self._members == sum(len(g.expressions) for g in self.groups),
            "members were miscounted",
        )
        if alternatives is not None:
            check_winners(self.groups, alternatives)
