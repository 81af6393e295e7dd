"""Rules 1 and 11, and their companion: the order of unions, and joins over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..algebra.logical import Pattern, Union, WScan, WScanUnion
from ..memo import Expression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .rule import Context, Promise, TransformationRule

MOST_PARTS_REORDERED = 6
"""The most parts of a union that is associated in every order: n parts have 2^n unions and 3^n
trees."""


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
    not reach every order. Always valid; the other direction follows by commuting. Of more than
    :data:`MOST_PARTS_REORDERED` parts it is applied where the memo has B ∪ C when the rule is
    tried, or where one scan can read B and C, but not A: unions of all subsets of the parts cost
    about the same, and a scan of several labels or a PATH reads all parts at once.
    """

    name = "UnionAssociate"
    number = None
    patterns = (Op(Union, Op(Union, Var("a"), Var("b")), Var("c")),)
    promise = Promise.REORDER
    redundant = frozenset({"UnionAssociate"})
    inherited = frozenset({"UnionToAlternation", "FilterUnionToOr"})

    def condition(self, match: Match, context: Context) -> bool:
        if not _has_many_parts([match[part] for part in "abc"], context):
            return True
        a, b, c = (_scan_of(match[part], context) for part in "abc")
        if b is not None and c is not None and b.reads_with(c) and not (a and a.reads_with(b)):
            return True
        rest = Expression(Union(), (match["b"], match["c"]))
        return context.memo.relation(rest) is not None

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


def _has_many_parts(groups: list[GroupId], context: Context) -> bool:
    """Whether groups are together the union of more than :data:`MOST_PARTS_REORDERED` others."""
    memo, waiting = context.memo, list(groups)
    parts: set[GroupId] = set()
    seen: set[GroupId] = set()
    while waiting:
        number = memo.find(waiting.pop())
        if number in seen:
            continue
        seen.add(number)
        union = next(memo.group(number).members(Union), None)
        if union is None:
            parts.add(number)
        else:
            waiting.extend(union.inputs)
    return len(parts) > MOST_PARTS_REORDERED


def _scan_of(group: GroupId, context: Context) -> WScan | None:
    """A scan that reads a group, alone or with others; None if no scan does."""
    members = context.memo.group(group)
    for of_type in (WScan, WScanUnion):
        for member in members.members(of_type):
            operator: Any = member.operator
            scan: WScan = operator.scans[0]
            return scan
    return None


def _distributed(match: Match) -> tuple[Expression, Expression]:
    """The joins of each part of a union with the other input."""
    join = match.root.operator
    a, b, c = match["a"], match["b"], match["c"]
    if isinstance(match.pattern.inputs[0], Op):
        return Expression(join, (a, c)), Expression(join, (b, c))
    return Expression(join, (c, a)), Expression(join, (c, b))
