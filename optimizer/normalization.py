"""Normalization of a query before the memo: rewrites that never make a plan more expensive.

Filters on filters become one, in the normal form of predicates, by the memo's own rules (2 and 3).
A filter that is always true is removed, and one that is never true makes its input empty. Paths
with an end that nothing reads become shorter. Regexes need no further normalization here: the
canonical form of a PATH has its regex in normal form.

This module also finds the rules that cannot apply to a query.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..algebra import regex
from ..algebra.deadline import NO_DEADLINE, WITHOUT_PLAN, Deadline
from ..algebra.joins import is_forest
from ..algebra.logical import (
    AntiJoin,
    BoundPath,
    BoundPattern,
    Empty,
    Filter,
    FilteredPattern,
    LeftJoin,
    LogicalExpression,
    MultiwayPattern,
    Path,
    PathSemantics,
    Pattern,
    Shortest,
    Top,
    Trail,
    Union,
    WScan,
    WScanUnion,
)
from ..algebra.predicate import FALSE, TRUE
from ..memo import Digest, Expression, GroupId, Memo, Operators
from ..rules.columns import FlatForms
from ..rules.rule import Context, NormalizationRule, TransformationRule

ALWAYS_WIN = frozenset({"FilterIdempotent", "FilterMerge"})
"""The rules of normalization that also serve in the search."""


def normalized(
    expression: LogicalExpression,
    rules: Sequence[TransformationRule],
    deadline: Deadline = NO_DEADLINE,
    *,
    before: Sequence[NormalizationRule] = (),
) -> LogicalExpression:
    """Normalizes an expression by the normalization rules among ``rules``, and by ``before``.

    Raises:
        algebra.predicate_syntax.PredicateError: for a predicate that is not allowed.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    stage = _Stage([rule for rule in rules if rule.name in ALWAYS_WIN])
    done: dict[int, LogicalExpression] = {}
    for current in _inputs_first(expression):
        deadline.check("the query's filters were simplified", WITHOUT_PLAN)
        inputs = tuple(done[id(part)] for part in current.inputs)
        if isinstance(current.operator, Filter):
            done[id(current)] = stage.filtered(current.operator, inputs[0], current.name)
        elif all(new is old for new, old in zip(inputs, current.inputs, strict=True)):
            done[id(current)] = current
        else:
            done[id(current)] = replace(current, inputs=inputs)
        for rule in before:
            done[id(current)] = rule.rewritten(done[id(current)])
    return done[id(expression)]


def absent_operators(expression: LogicalExpression) -> frozenset[type]:
    """The operators that no rule can bring into a query.

    Rules make unions only from a PATH, filters only from a predicate or simple paths, bound paths
    only from closures and simple paths, and multiway joins only from two binary ones; anti-joins,
    left joins, shortest paths and first rows from none but those of the query.
    """
    filters = unions = closures = simple = negates = optional = shortest = first = False
    joins = 0
    for current in _inputs_first(expression):
        match current.operator:
            case Filter():
                filters = True
            case AntiJoin():
                negates = True
            case Shortest():
                shortest = True
            case LeftJoin():
                optional = True
                joins += 1
            case Top():
                first = True
            case Pattern(bindings):
                joins += len(bindings) - 1
            case Path(r, semantics):
                unions = True
                joins += sum(1 for _ in regex.symbols(r)) - 1
                simple |= semantics is PathSemantics.SIMPLE
                closures |= regex.has_closure(r)
            case Trail(r):
                unions = True
                joins += sum(1 for _ in regex.symbols(r)) - 1
                closures |= regex.has_closure(r)
            case Union():
                unions = True
            case WScan() | WScanUnion():
                filters |= any(s.predicate is not None for s in current.operator.scans)
                unions |= len(current.operator.scans) > 1
    absent: set[type] = set() if filters or simple else {Filter, FilteredPattern}
    if not closures and not simple:
        absent |= {BoundPattern, BoundPath}
    if not negates:
        absent.add(AntiJoin)
    if not shortest:
        absent.add(Shortest)
    if not optional:
        absent.add(LeftJoin)
    if not first:
        absent.add(Top)
    if joins < 2:
        absent.add(MultiwayPattern)
    return frozenset(absent | (set() if unions else {Union, WScanUnion}))


def has_cycle(expression: LogicalExpression) -> bool:
    """Whether rules can join atoms that form a cycle.

    A forest in place of an atom of a forest leaves it a forest.
    """
    operators = (current.operator for current in _inputs_first(expression))
    return any(isinstance(o, Pattern) and not is_forest(o.bindings) for o in operators)


@dataclass(frozen=True, slots=True)
class _Below:
    """The expression below filters, as an opaque operator."""

    number: int


class _Filters(Operators):
    """Filters in their canonical form."""

    def canonical(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        return operator.canonical(inputs) if isinstance(operator, Filter) else (operator, inputs)


class _Stage:
    """Applies rules to filters in a memo of its own, in which a group has one expression."""

    def __init__(self, rules: Sequence[TransformationRule]) -> None:
        self._rules = rules
        self._memo = Memo(operators=_Filters())
        self._context = Context(self._memo, FlatForms(self._memo.groups))
        self._settled: dict[GroupId, GroupId] = {}
        self._group_of: dict[int, GroupId] = {}
        self._normalized: dict[GroupId, LogicalExpression] = {}
        self._alive: list[LogicalExpression] = []

    def filtered(
        self, operator: Filter, below: LogicalExpression, name: str | None
    ) -> LogicalExpression:
        """A filter over an input that is already in the memo."""
        inner = self._group_of.get(id(below))
        if inner is None:
            inner = self._memo.insert(Expression(_Below(len(self._normalized)))).group
            self._record(inner, below)
        group = self._settle(self._memo.insert(Expression(operator, (inner,))).group)
        built = self._built(group)
        if name is not None and built.name is None:
            built = replace(built, name=name)
            self._record(group, built)
        return built

    def _settle(self, group: GroupId) -> GroupId:
        start = group
        while group not in self._settled:
            following = self._rewritten(group)
            if following is None:
                self._settled[group] = group
            else:
                group = following
        self._settled[start] = self._settled[group]
        return self._settled[group]

    def _rewritten(self, group: GroupId) -> GroupId | None:
        (expression,) = self._memo.group(group).expressions
        for number, rule in enumerate(self._rules):
            for slot, pattern in enumerate(rule.patterns):
                for match in rule.matches(pattern, 8 * number + slot, expression, self._context):
                    if rule.condition(match, self._context):
                        (tree,) = rule.rewrite(match, self._context)
                        return self._memo.insert(tree).group
        return None

    def _built(self, group: GroupId) -> LogicalExpression:
        built = self._normalized.get(group)
        if built is None:
            (expression,) = self._memo.group(group).expressions
            operator = expression.operator
            assert isinstance(operator, Filter)
            built = self._built(expression.inputs[0])
            if operator.predicate == FALSE:
                built = LogicalExpression(Empty(built.width))
            elif operator.predicate != TRUE:
                built = LogicalExpression(operator, (built,))
            self._record(group, built)
        return built

    def _record(self, group: GroupId, expression: LogicalExpression) -> None:
        self._normalized[group] = expression
        self._group_of.setdefault(id(expression), group)
        self._alive.append(expression)  # keeps the object alive, so that its id stays unique


def _inputs_first(root: LogicalExpression) -> Iterator[LogicalExpression]:
    """The expressions, distinguished by identity, each after its inputs."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        current = pending[-1]
        missing = [part for part in current.inputs if id(part) not in seen]
        if id(current) not in seen and missing:
            pending.extend(reversed(missing))
            continue
        pending.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
