"""Eager aggregation: an input of a join is grouped before the join. Not in the thesis.

After W. P. Yan and P.-Å. Larson, Eager aggregation and lazy aggregation, VLDB 1995. There a group
before the join is one row, with the number of its rows. Here it is one row on each partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..algebra.aggregates import IGNORING_REPEATS, OF_PARTS, AggregateCall, Function
from ..algebra.logical import Aggregate, PartialAggregate, Pattern
from ..algebra.notation import PARTITION
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op, Var
from .aggregate_rules import aggregate_of, has_partial
from .pattern_rules import AT_ONCE
from .project_rules import renumbered
from .rule import Context, Promise, TransformationRule


class AggregateBeforeJoin(TransformationRule):
    """γ_{K;f}(A ⋈ B)  →  γ_{K;g}(γ'_{L;h}(A) ⋈ B) with L, A's columns in K or joined on; so for B

    The functions h and g are those of ``AggregatePartially``. Each function of f reads a column of
    A, or it ignores repeated values and is its own g. If all do, the rule is valid. Counts, sums
    and means count a row of A once for each partner in B, so the join has to keep all columns of A
    for them: then it has a row for each pair, and a row of γ' has the partners of all its rows.

    Applied where γ' leaves a column of A out: else its groups are single rows. With a period, γ'
    has rows for its multiples or for every instant. The rows may be retracted, and evaluation per
    slide reads none that are. The new join keeps its order: its inputs have theirs.
    """

    name = "AggregateBeforeJoin"
    number = None
    patterns = (Op(Aggregate, Op(Pattern, Var("a"), Var("b"))),)
    promise = Promise.LAST
    excluded = frozenset(
        {
            "AggregateBeforeJoin",
            "JoinIntoPairs",
            "JoinIntoPath",
            "JoinsIntoPairs",
            "PatternAssociate",
            "PatternAssociateInverse",
            "PatternCommute",
            "PatternUnionDistribute",
            *AT_ONCE,
        }
    )
    needs_retractions = True

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return any(call.function in OF_PARTS for call in aggregate_of(expression).aggregates)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        aggregate, below = aggregate_of(match.root), match.expressions[1]
        for side, rows in enumerate(below.inputs):
            split = _split(aggregate, below.operator, side)
            if split is None or has_partial(rows, context):
                continue
            for every in dict.fromkeys([None, aggregate.every]):
                inputs: list[Tree] = list(below.inputs)
                inputs[side] = Expression(replace(split.partial, every=every), (rows,))
                yield Expression(split.whole, (Expression(split.join, tuple(inputs)),))


class _Split(NamedTuple):
    """An aggregation over a join as that of one input, the join, and the aggregation above."""

    partial: PartialAggregate
    join: Pattern
    whole: Aggregate


def _split(aggregate: Aggregate, join: Any, side: int) -> _Split | None:
    """The aggregation of one input before the join; None where that is not valid or of no use.

    The new join has a variable for each value of a group, and for the partition of the group.
    """
    assert isinstance(join, Pattern)
    own, other = join.bindings[side], join.bindings[1 - side]
    keys = [join.output[key] for key in aggregate.keys]
    groups = tuple([v for v in own if v in other or v in keys])
    parts: dict[AggregateCall, int] = {}
    calls: list[tuple[Function, tuple[int, ...]]] = []
    fresh = 1 + max((*own, *other))
    for call in aggregate.aggregates:
        variables = tuple([join.output[column] for column in call.columns])
        if set(variables) <= set(own):
            if call.function not in OF_PARTS:
                return None
            of_part, of_parts = OF_PARTS[call.function]
            part = AggregateCall(of_part, *map(own.index, variables))
            calls.append((of_parts, (parts.setdefault(part, fresh + len(parts)),)))
        elif call.function in IGNORING_REPEATS and set(variables) <= set(other):
            calls.append((call.function, variables))
        else:
            return None
    counts = any(call.function not in IGNORING_REPEATS for call in aggregate.aggregates)
    if not parts or len(groups) == len(own) or (counts and not set(own) <= set(join.output)):
        return None
    partition = fresh + len(parts)
    kept = [v for v in join.output if v in groups or v in other]
    kept += [*parts.values(), *([partition] if counts else [])]
    bindings = [other, other]
    bindings[side] = (*groups, *parts.values(), partition)
    names = join.names
    if names:
        of = [(p.function, "*" if p.column is None else join.name(own[p.column])) for p in parts]
        names = (*names, *[f"{function}({name})" for function, name in of], PARTITION)
    return _Split(
        PartialAggregate(tuple([own.index(v) for v in groups]), tuple(parts)),
        renumbered(Pattern(tuple(bindings), tuple(kept), names)),
        replace(
            aggregate,
            keys=tuple([kept.index(v) for v in keys]),
            aggregates=tuple([AggregateCall(f, *map(kept.index, vs)) for f, vs in calls]),
        ),
    )
