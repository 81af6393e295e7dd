"""Residual conditions of joins. Not in the thesis, whose PATTERN has equalities alone.

A FILTER on columns of both inputs of a join can go no lower. Inside the join it is checked on
two rows before a result is made of them. No other rule matches such a join: its orders are those
of the join below the FILTER.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..algebra.logical import Filter, FilteredPattern, Pattern, Project
from ..memo import Expression, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import fits, predicate_of
from .project_rules import narrowed, renumbered
from .rule import Context, Promise, TransformationRule


class FilterIntoPattern(TransformationRule):
    """σ_F(A ⋈ B)  →  A ⋈_F B, a join with a residual

    Always valid; applied where some part of F reads columns of both inputs, since rules 9 and 10
    move all other parts further down.
    """

    name = "FilterIntoPattern"
    number = None
    patterns = (Op(Filter, Op(Pattern, Var("a"), Var("b"))),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        join = match.expressions[1].operator
        assert isinstance(join, Pattern)
        parts = predicate_of(match.root).conjuncts
        return any(p.columns and not any(fits(p, join, k) for k in (0, 1)) for p in parts)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join = match.expressions[1].operator
        assert isinstance(join, Pattern)
        left, right = join.bindings
        predicate = predicate_of(match.root).renumbered(dict(enumerate(join.output)))
        joined = FilteredPattern((left, right), join.output, predicate, join.names)
        yield Expression(joined, (match["a"], match["b"]))


class ProjectIntoFilteredPattern(TransformationRule):
    """π_p(A ⋈_F B)  →  π_q(A) ⋈_F π_r(B) with p's columns as output

    Always valid: the columns of F need not be kept, only given by the inputs.
    """

    name = "ProjectIntoFilteredPattern"
    number = None
    patterns = (Op(Project, Op(FilteredPattern, Var("a"), Var("b"))),)
    promise = Promise.REDUCE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (e.operator for e in match.expressions)
        assert isinstance(above, Project)
        assert isinstance(below, FilteredPattern)
        output = tuple(below.output[c] for c in above.columns)
        left, right = below.bindings
        used = {*output, *below.predicate.columns, *(set(left) & set(right))}
        bindings, inputs = narrowed(below.bindings, match.expressions[1].inputs, used, context)
        joined = replace(below, bindings=bindings, output=output)
        yield Expression(renumbered(joined), inputs)
