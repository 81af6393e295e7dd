"""Rules of AGGREGATE. Not in the thesis.

The rows of a group agree in the keys. So a condition on keys keeps whole groups, and may be checked
on the rows instead. Counts, minima and maxima follow from those of the parts of a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..algebra.aggregates import IGNORING_REPEATS, OF_PARTS, AggregateCall
from ..algebra.logical import Aggregate, Filter, PartialAggregate, Project
from ..algebra.predicate import Predicate
from ..memo import Expression, GroupExpression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .rule import Context, Promise, TransformationRule


class FilterAggregateTranspose(TransformationRule):
    """σ_F(γ(S))  →  σ_H(γ(σ_G(S))) where the part G of F looks at keys alone, and H is the rest

    Always valid: a group is kept or dropped as each of its rows is.
    """

    name = "FilterAggregateTranspose"
    number = None
    patterns = (Op(Filter, Op(Aggregate, Var("s"))),)
    promise = Promise.DECOMPOSE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        aggregate = aggregate_of(match.expressions[1])
        of_key = {
            column: aggregate.keys[place]
            for column, place in enumerate(aggregate.output)
            if place < len(aggregate.keys)
        }
        below, above = [], []
        for part in predicate_of(match.root).conjuncts:
            if part.columns and set(part.columns) <= of_key.keys():
                below.append(part.renumbered({c: of_key[c] for c in part.columns}))
            else:
                above.append(part)
        if not below:
            return
        filtered = Expression(Filter(Predicate.all_of(below)), (match["s"],))
        result = Expression(aggregate, (filtered,))
        yield Expression(Filter(Predicate.all_of(above)), (result,)) if above else result


class ProjectIntoAggregate(TransformationRule):
    """π_p(γ(S))  →  γ(S) with the aggregates that p keeps, where p keeps all keys

    Always valid: rows of different groups differ in the keys.
    """

    name = "ProjectIntoAggregate"
    number = None
    patterns = (Op(Project, Op(Aggregate, Var("s"))),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        keys = range(len(aggregate_of(match.expressions[1]).keys))
        return set(keys) <= set(_kept(match))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        aggregate, kept = aggregate_of(match.expressions[1]), _kept(match)
        keys = len(aggregate.keys)
        calls = sorted({place - keys for place in kept if place >= keys})
        output = tuple(p if p < keys else keys + calls.index(p - keys) for p in kept)
        aggregates = tuple(aggregate.aggregates[call] for call in calls)
        narrowed = replace(aggregate, aggregates=aggregates, output=output)
        yield Expression(narrowed, (match["s"],))


class AggregateOverValues(TransformationRule):
    """γ(S)  →  γ(π(S)) over the columns that γ reads, where no aggregate counts repeated values

    Always valid: minima, maxima, latest values and counts of distinct values are those of the set
    of values. An edge that repeats a value then ends at the projection.
    """

    name = "AggregateOverValues"
    number = None
    patterns = (Op(Aggregate, Var("s")),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        aggregate = aggregate_of(match.root)
        calls = aggregate.aggregates
        ignores = all(call.function in IGNORING_REPEATS for call in calls)
        return ignores and len(_read(aggregate)) < context.width(match["s"])

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        aggregate = aggregate_of(match.root)
        columns = _read(aggregate)
        place = {column: k for k, column in enumerate(columns)}
        narrowed = replace(
            aggregate,
            keys=tuple(place[key] for key in aggregate.keys),
            aggregates=tuple(call.moved(place) for call in aggregate.aggregates),
        )
        yield Expression(narrowed, (Expression(Project(columns), (match["s"],)),))


class AggregatePartially(TransformationRule):
    """γ_{K;f}(S)  →  γ_{K;g}(γ'_{K;h}(S)) where g adds up the counts and sums h of each partition

    Valid for counts, sums, means, deviations, minima and maxima: each row is on one partition, and
    γ' has the sums in full. Functions of different values are left out: two partitions may have the
    same. So are percentiles, which need all values.
    """

    name = "AggregatePartially"
    number = None
    patterns = (Op(Aggregate, Var("s")),)
    promise = Promise.LAST
    excluded = frozenset({"AggregatePartially"})
    needs_partitions = True

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        calls = aggregate_of(expression).aggregates
        return bool(calls) and all(call.function in OF_PARTS for call in calls)

    def condition(self, match: Match, context: Context) -> bool:
        return not has_partial(match["s"], context)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        aggregate = aggregate_of(match.root)
        parts = [replace(c, function=OF_PARTS[c.function][0]) for c in aggregate.aggregates]
        partial = PartialAggregate(aggregate.keys, tuple(parts), aggregate.every)
        keys = len(aggregate.keys)
        calls = [
            AggregateCall(OF_PARTS[call.function][1], keys + number)
            for number, call in enumerate(aggregate.aggregates)
        ]
        whole = replace(aggregate, keys=tuple(range(keys)), aggregates=tuple(calls))
        yield Expression(whole, (Expression(partial, (match["s"],)),))


def has_partial(number: GroupId, context: Context) -> bool:
    """Whether the rows of a group come from partial aggregates, filtered and projected."""
    seen: set[GroupId] = set()
    pending = [number]
    while pending:
        group = context.memo.group(pending.pop())
        if group.id in seen:
            continue
        seen.add(group.id)
        if group.has(PartialAggregate):
            return True
        passing = (*group.members(Filter), *group.members(Project))
        pending += [member.inputs[0] for member in passing]
    return False


def aggregate_of(expression: GroupExpression) -> Aggregate:
    """The AGGREGATE of an expression that has one."""
    operator: Any = expression.operator
    assert isinstance(operator, Aggregate)
    return operator


def _read(aggregate: Aggregate) -> tuple[int, ...]:
    """The columns that an aggregation reads."""
    columns = {column for call in aggregate.aggregates for column in call.columns}
    return tuple(sorted({*aggregate.keys, *columns}))


def _kept(match: Match) -> list[int]:
    """The keys and aggregates that a projection above an aggregation keeps, as positions."""
    project: Any = match.root.operator
    assert isinstance(project, Project)
    output = aggregate_of(match.expressions[1]).output
    return [output[column] for column in project.columns]
