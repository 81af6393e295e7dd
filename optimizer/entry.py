"""Entry of a canonical query into the memo, with joins of two inputs.

An n-ary PATTERN becomes a tree of binary ones, in the order that the caller gives. By default the
tree is left-deep in the written order, except that an input waits until it shares a variable with
those before it; components that share no variable are combined last. Projections go into the
pattern that they belong to, an operator that needs an empty input is empty, a negated part without
rows is left out, and an atom that repeats another one is dropped.

A PATTERN of more atoms than rules join at once enters as a join at once too: of all its parts, the
whole is the one whose join rules could not make, and pricing a join takes long with many atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..algebra import regex
from ..algebra.deadline import NO_DEADLINE, WITHOUT_PLAN, Deadline
from ..algebra.logical import (
    AntiJoin,
    Empty,
    Filter,
    LeftJoin,
    LogicalExpression,
    LogicalOperator,
    MultiwayPattern,
    Path,
    Pattern,
    Project,
    Shortest,
    Trail,
    Union,
    Witness,
    WScan,
)
from ..algebra.untrusted import MOST_ATOMS as MOST_ATOMS_OF_A_JOIN
from ..memo import Expression, GroupId, Memo
from ..rules.columns import FlatForms
from ..rules.multiway_rules import MOST_ATOMS, PatternToMultiway, can_join_at_once

Atom = tuple[GroupId, tuple[int, ...]]
Joins = tuple[tuple[int, int], ...]
"""Joins of n inputs, in order: the inputs are 0 to n - 1, and join k makes number n + k."""
JoinOrder = Callable[[Pattern, tuple[GroupId, ...]], Joins | None]
"""The joins to start from for a PATTERN over groups; None for the written order."""


class Entry:
    """Inserts canonical expressions into a memo."""

    def __init__(
        self,
        memo: Memo,
        flat: FlatForms,
        order: JoinOrder | None = None,
        deadline: Deadline = NO_DEADLINE,
        *,
        at_once: bool = True,
    ) -> None:
        """Makes an entry into a memo.

        Args:
            memo: the memo.
            flat: the flattened forms of its groups.
            order: the joins to start from.
            deadline: the time for the entry.
            at_once: whether large patterns also enter as joins at once.
        """
        self._at_once = at_once
        self._deadline = deadline
        self._memo = memo
        self._flat = flat
        self._order = order
        self._groups: dict[LogicalExpression, GroupId] = {}
        self._empty: set[GroupId] = set()

    def insert(self, expression: LogicalExpression) -> GroupId:
        """Inserts an expression and the expressions below it; returns its group.

        Raises:
            algebra.deadline.OutOfTimeError: if the time is over.
        """
        pending = [expression]
        while pending:
            current = pending[-1]
            if current in self._groups:
                pending.pop()
                continue
            simple = _folded(current)
            missing = [part for part in simple.inputs if part not in self._groups]
            if missing:
                pending.extend(reversed(missing))
                continue
            inputs = tuple(self._groups[part] for part in simple.inputs)
            self._groups[current] = self._enter(simple.operator, inputs)
            pending.pop()
        return self._groups[expression]

    def _enter(self, operator: LogicalOperator, inputs: tuple[GroupId, ...]) -> GroupId:
        match operator:
            case Union():
                filled = [i for i in inputs if i not in self._empty]
                if not filled:
                    return inputs[0]
                group = filled[0]
                for other in filled[1:]:
                    group = self._insert(operator, (group, other))
                return group
            case Path(r, semantics):
                over = {k: g for k, g in enumerate(inputs) if g in self._empty}
                left = regex.substitute(r, lambda s: regex.NOTHING if s.ref in over else s)
                return self._insert(Path(left, semantics), inputs)
            case Trail(r, relations):
                over = {k: g for k, g in enumerate(inputs) if g in self._empty}
                left = regex.substitute(r, lambda s: regex.NOTHING if s.ref in over else s)
                return self._insert(Trail(left, relations), inputs)
            case Pattern() if any(i in self._empty for i in inputs):
                return self._insert(Empty(len(operator.output)), ())
            case Pattern():
                return self._pattern(operator, inputs)
            case Shortest():
                return self._insert(operator, inputs)
            case Witness() | LeftJoin() if inputs[0] not in self._empty:
                return self._insert(operator, inputs)
            case AntiJoin() if inputs[1] in self._empty:
                return inputs[0]
            case _ if any(i in self._empty for i in inputs):
                widths = [self._memo.group(i).properties.width for i in inputs]
                return self._insert(Empty(operator.width(widths)), ())
            case _:
                return self._insert(operator, inputs)

    def _insert(self, operator: LogicalOperator, inputs: tuple[GroupId, ...]) -> GroupId:
        self._deadline.check("the query was prepared for the search", WITHOUT_PLAN)
        if isinstance(operator, Path | Shortest | Trail):
            form, used = operator.canonical(inputs)
            operator, inputs = form, used
        group = self._memo.insert(Expression(operator, inputs)).group
        if isinstance(operator, Empty):
            self._empty.add(group)
        return group

    def _pattern(self, pattern: Pattern, inputs: tuple[GroupId, ...]) -> GroupId:
        atoms = list(dict.fromkeys(zip(inputs, pattern.bindings, strict=True)))
        if len(atoms) == 1:
            group, binding = atoms[0]
            return self._insert(Project(tuple(binding.index(v) for v in pattern.output)), (group,))
        groups, bindings = zip(*atoms, strict=True)
        single = Pattern(bindings, pattern.output, pattern.names)
        joins = (self._order and self._order(single, groups)) or written_joins(bindings)
        sets = [{k} for k in range(len(atoms))]
        for left, right in joins:
            done = sets[left] | sets[right]
            later = [binding for k, binding in enumerate(bindings) if k not in done]
            atoms.append(self._join(pattern, atoms[left], atoms[right], later))
            sets.append(done)
        group = atoms[-1][0]
        many = MOST_ATOMS < len(bindings) <= MOST_ATOMS_OF_A_JOIN
        if self._at_once and many and can_join_at_once(bindings):
            whole = MultiwayPattern(tuple(range(len(groups))), bindings, pattern.output)
            joined = Expression(*whole.canonical(groups))
            self._memo.insert(joined, group, PatternToMultiway.name)
        return group

    def _join(
        self, pattern: Pattern, left: Atom, right: Atom, later: list[tuple[int, ...]]
    ) -> Atom:
        needed = set(pattern.output).union(*later)
        bound = list(dict.fromkeys((*left[1], *right[1])))
        number = {v: k for k, v in enumerate(bound)}
        pair = tuple(number[v] for v in left[1]), tuple(number[v] for v in right[1])
        groups = left[0], right[0]
        if not later:
            kept = pattern.output
        else:
            wanted = tuple(number[v] for v in bound if v in needed)
            kept = tuple(bound[k] for k in self._flat.order(pair, wanted, groups))
        names = tuple(pattern.name(v) for v in bound) if pattern.names else ()
        joined = Pattern(pair, tuple(number[v] for v in kept), names)
        return self._insert(joined, groups), kept


def written_joins(bindings: Sequence[tuple[int, ...]]) -> Joins:
    """Joins in written order; an input waits until it shares a variable with those before."""
    waiting = list(range(len(bindings)))
    joins: list[tuple[int, int]] = []
    components: list[int] = []
    while waiting:
        done = waiting.pop(0)
        variables = set(bindings[done])
        while True:
            following = next((k for k in waiting if not variables.isdisjoint(bindings[k])), None)
            if following is None:
                break
            waiting.remove(following)
            variables.update(bindings[following])
            joins.append((done, following))
            done = len(bindings) + len(joins) - 1
        components.append(done)
    done = components[0]
    for component in components[1:]:
        joins.append((done, component))
        done = len(bindings) + len(joins) - 1
    return tuple(joins)


def _folded(expression: LogicalExpression) -> LogicalExpression:
    """The expression without projections next to a projection or a pattern."""
    operator, inputs = expression.operator, expression.inputs
    while isinstance(operator, Project):
        below = inputs[0].operator
        if isinstance(below, Project):
            operator, inputs = (
                Project(tuple(below.columns[c] for c in operator.columns)),
                inputs[0].inputs,
            )
        elif isinstance(below, Pattern):
            output = tuple(below.output[c] for c in operator.columns)
            operator, inputs = Pattern(below.bindings, output, below.names), inputs[0].inputs
        else:
            break
    if isinstance(operator, Pattern):
        operator, inputs = _without_projected_inputs(operator, inputs)
    return LogicalExpression(operator, inputs)


def _without_projected_inputs(
    pattern: Pattern, inputs: tuple[LogicalExpression, ...]
) -> tuple[Pattern, tuple[LogicalExpression, ...]]:
    """A pattern that binds the inputs of its projections directly, where no column repeats.

    A projection that drops properties of edges stays, so that a join does not carry them.
    """
    count = 1 + max((v for binding in pattern.bindings for v in binding), default=-1)
    names = list(pattern.names)
    bindings = list(pattern.bindings)
    parts = list(inputs)
    for k in range(len(parts)):
        while True:
            below = parts[k].operator
            if (
                not isinstance(below, Project)
                or len(set(below.columns)) < len(below.columns)
                or _drops_properties(below, parts[k].inputs[0])
            ):
                break
            place = dict(zip(below.columns, bindings[k], strict=True))
            binding: list[int] = []
            for column in range(parts[k].inputs[0].width):
                if column not in place:
                    place[column] = count
                    if names:
                        names.append(f"_{count}")
                    count += 1
                binding.append(place[column])
            bindings[k] = tuple(binding)
            parts[k] = parts[k].inputs[0]
    return Pattern(tuple(bindings), pattern.output, tuple(names)), tuple(parts)


def _drops_properties(projection: Project, below: LogicalExpression) -> bool:
    while isinstance(below.operator, Filter):
        (below,) = below.inputs
    properties = set(range(2, below.width))
    return isinstance(below.operator, WScan) and not properties <= set(projection.columns)
