"""The rule of TOP: the first rows of each partition before those of all. Not in the thesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..algebra.logical import Top
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op, Var
from .rule import Context, Promise, TransformationRule


class TopOfEachPartition(TransformationRule):
    """τ(S)  →  τ(τ_partial(S)), the first rows among the first rows of each partition

    Always valid: a row that is one of the first k of all has fewer than k rows before it, and fewer
    than k on its partition. So an EXCHANGE between both moves k rows of each partition, and those
    that replace them, in place of all rows. With an offset of m, the first k + m are kept. Applied
    over several partitions alone.
    """

    name = "TopOfEachPartition"
    number = None
    patterns = (Op(Top, Var("s")),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"TopOfEachPartition"})
    needs_partitions = True

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return not _top(expression).partial

    def condition(self, match: Match, context: Context) -> bool:
        below = context.memo.group(match["s"]).expressions
        return not any(isinstance(e.operator, Top) and e.operator.partial for e in below)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        top = _top(match.root)
        yield Expression(top, (Expression(top.of_each_partition, (match["s"],)),))


def _top(expression: GroupExpression) -> Top:
    operator: Any = expression.operator
    assert isinstance(operator, Top)
    return operator
