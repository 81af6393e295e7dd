"""Rules 1 and 11, and their companion: the order of unions, and joins over them."""

from __future__ import annotations

from collections.abc import Iterator

from ..algebra.logical import Pattern, Union
from ..memo import Expression, Tree
from ..memo.pattern import Match, Op, Var
from .rule import Context, Promise, TransformationRule


class UnionCommute(TransformationRule):
    """A ∪ B  →  B ∪ A

    Thesis rule 1. Always valid.
    """

    name = "UnionCommute"
    number = 1
    patterns = (Op(Union, Var("a"), Var("b")),)
    promise = Promise.REORDER
    redundant = frozenset({"UnionCommute"})
    inherited = frozenset({"UnionToAlternation", "FilterUnionToOr"})

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield Expression(Union(), (match["b"], match["a"]))


class UnionAssociate(TransformationRule):
    """(A ∪ B) ∪ C  →  A ∪ (B ∪ C)

    Not in the thesis, whose unions are n-ary: the unions here are binary, and rule 1 alone does
    not reach every order. Always valid; the other direction follows by commuting.
    """

    name = "UnionAssociate"
    number = None
    patterns = (Op(Union, Op(Union, Var("a"), Var("b")), Var("c")),)
    promise = Promise.REORDER
    redundant = frozenset({"UnionAssociate"})
    inherited = frozenset({"UnionToAlternation", "FilterUnionToOr"})

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        rest = Expression(Union(), (match["b"], match["c"]))
        yield Expression(Union(), (match["a"], rest))


class PatternUnionDistribute(TransformationRule):
    """(A ∪ B) ⋈ C  →  (A ⋈ C) ∪ (B ⋈ C), and so for C ⋈ (A ∪ B)

    Rule 11, left to right. The thesis prints no rule 11 (its list goes from 10 to 12); this rule is
    ours, the relational companion of rule 6. Always valid; applied where the memo has A ⋈ C or
    B ⋈ C when the rule is tried, so that the union shares a part. Without this condition each join
    over unions would be split into all the joins of their parts.
    """

    name = "PatternUnionDistribute"
    number = 11
    patterns = (
        Op(Pattern, Op(Union, Var("a"), Var("b")), Var("c")),
        Op(Pattern, Var("c"), Op(Union, Var("a"), Var("b"))),
    )
    promise = Promise.DECOMPOSE
    redundant = frozenset({"PatternUnionDistributeInverse"})

    def condition(self, match: Match, context: Context) -> bool:
        return any(context.memo.lookup(join) is not None for join in _distributed(match))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield Expression(Union(), _distributed(match))


class PatternUnionDistributeInverse(TransformationRule):
    """(A ⋈ C) ∪ (B ⋈ C)  →  (A ∪ B) ⋈ C, and so for a shared left input

    Rule 11, right to left; ours, as the thesis prints no rule 11. Both joins must bind and
    keep the same columns and share one input.
    """

    name = "PatternUnionDistributeInverse"
    number = 11
    patterns = (Op(Union, Op(Pattern, Var("a"), Var("b")), Op(Pattern, Var("c"), Var("d"))),)
    promise = Promise.COMPOSE
    redundant = frozenset({"PatternUnionDistribute"})

    def condition(self, match: Match, context: Context) -> bool:
        _, left, right = match.expressions
        return left.operator == right.operator

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        _, left, right = match.expressions
        find = context.memo.find
        for shared in (0, 1):
            if find(left.inputs[shared]) == find(right.inputs[shared]):
                one, other = left.inputs[1 - shared], right.inputs[1 - shared]
                inputs: list[Tree] = [Expression(Union(), (one, other))]
                inputs.insert(shared, left.inputs[shared])
                yield Expression(left.operator, tuple(inputs))


def _distributed(match: Match) -> tuple[Expression, Expression]:
    """The joins of each part of a union with the other input."""
    join = match.root.operator
    a, b, c = match["a"], match["b"], match["c"]
    if isinstance(match.pattern.inputs[0], Op):
        return Expression(join, (a, c)), Expression(join, (b, c))
    return Expression(join, (c, a)), Expression(join, (c, b))
