"""How a canonical query enters the memo: joins of two inputs, and what never helps left out.

An n-ary PATTERN becomes a left-deep tree of binary ones in its written order, except that an
input waits until it shares a variable with those before it; what is not connected at all is
combined last. Projections go into the pattern that they belong to, an input without rows
makes all that needs it empty, and an atom that says what another said is dropped.
"""

from __future__ import annotations

from algebra import regex
from algebra.logical import (
    Empty,
    LogicalExpression,
    LogicalOperator,
    Path,
    Pattern,
    Project,
    Union,
)
from memo import Expression, GroupId, Memo
from rules.columns import FlatForms

Atom = tuple[GroupId, tuple[int, ...]]


class Entry:
    """Inserts canonical expressions into a memo."""

    def __init__(self, memo: Memo, flat: FlatForms) -> None:
        self._memo = memo
        self._flat = flat
        self._known: dict[LogicalExpression, GroupId] = {}
        self._empty: set[GroupId] = set()

    def insert(self, expression: LogicalExpression) -> GroupId:
        """The group of an expression, with all that stands below it."""
        pending = [expression]
        while pending:
            current = pending[-1]
            if current in self._known:
                pending.pop()
                continue
            simple = _folded(current)
            missing = [part for part in simple.inputs if part not in self._known]
            if missing:
                pending.extend(reversed(missing))
                continue
            inputs = tuple(self._known[part] for part in simple.inputs)
            self._known[current] = self._enter(simple.operator, inputs)
            pending.pop()
        return self._known[expression]

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
            case Pattern() if any(i in self._empty for i in inputs):
                return self._insert(Empty(len(operator.output)), ())
            case Pattern():
                return self._pattern(operator, inputs)
            case _ if any(i in self._empty for i in inputs):
                widths = [self._memo.group(i).properties.width for i in inputs]
                return self._insert(Empty(operator.width(widths)), ())
            case _:
                return self._insert(operator, inputs)

    def _insert(self, operator: LogicalOperator, inputs: tuple[GroupId, ...]) -> GroupId:
        if isinstance(operator, Path):
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
        components = _components(atoms)
        parts: list[Atom] = []
        for k, component in enumerate(components):
            others = [atom for c in components[k + 1 :] for atom in c]
            done = component[0]
            for position, atom in enumerate(component[1:], start=1):
                last = len(components) == 1 and position == len(component) - 1
                later = component[position + 1 :] + others
                done = self._join(pattern, done, atom, later, last)
            parts.append(done)
        done = parts[0]
        for position, part in enumerate(parts[1:], start=1):
            last = position == len(parts) - 1
            done = self._join(pattern, done, part, parts[position + 1 :], last)
        return done[0]

    def _join(
        self, pattern: Pattern, left: Atom, right: Atom, later: list[Atom], last: bool
    ) -> Atom:
        needed = set(pattern.output).union(*(binding for _, binding in later))
        bound = list(dict.fromkeys((*left[1], *right[1])))
        number = {v: k for k, v in enumerate(bound)}
        pair = tuple(number[v] for v in left[1]), tuple(number[v] for v in right[1])
        groups = left[0], right[0]
        if last:
            kept = pattern.output
        else:
            wanted = tuple(number[v] for v in bound if v in needed)
            kept = tuple(bound[k] for k in self._flat.order(pair, wanted, groups))
        names = tuple(pattern.name(v) for v in bound) if pattern.names else ()
        joined = Pattern(pair, tuple(number[v] for v in kept), names)
        return self._insert(joined, groups), kept


def _components(atoms: list[Atom]) -> list[list[Atom]]:
    """The connected parts, each in an order in which every atom shares a variable."""
    waiting = list(atoms)
    components: list[list[Atom]] = []
    while waiting:
        component = [waiting.pop(0)]
        variables = set(component[0][1])
        while True:
            following = next((a for a in waiting if not variables.isdisjoint(a[1])), None)
            if following is None:
                break
            waiting.remove(following)
            component.append(following)
            variables.update(following[1])
        components.append(component)
    return components


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
    """A pattern that binds the inputs of its projections directly, where no column repeats."""
    count = 1 + max(v for binding in pattern.bindings for v in binding)
    names = list(pattern.names)
    bindings = list(pattern.bindings)
    parts = list(inputs)
    for k in range(len(parts)):
        while True:
            below = parts[k].operator
            if not isinstance(below, Project) or len(set(below.columns)) < len(below.columns):
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
