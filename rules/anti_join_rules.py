"""Rules of ANTIJOIN: what only looks at the first input goes below it. Not in the thesis.

A row of the first input stays if no row of the second has its key, so whether it stays depends on
the key alone. A filter, a join or a projection that keeps the key may come before or after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..algebra.logical import AntiJoin, Filter, Pattern, Project, Union
from ..algebra.predicate import Predicate
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .restriction import restricted
from .rule import Context, Promise, TransformationRule


class FilterAntiJoinTranspose(TransformationRule):
    """σ_F(A ▷ B)  →  σ_F(A) ▷ B, and σ_F(A) ▷ σ_G(B) where the part G of F looks at the key alone

    Always valid: a row of B that fails G matches only rows of A that fail it.
    """

    name = "FilterAntiJoinTranspose"
    number = None
    patterns = (Op(Filter, Op(AntiJoin, Var("a"), Var("b"))),)
    promise = Promise.DECOMPOSE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        predicate, join = predicate_of(match.root), _anti_join(match.expressions[1])
        place = {column: k for k, column in enumerate(join.keys)}
        on_key = [
            part.renumbered({c: place[c] for c in part.columns})
            for part in predicate.conjuncts
            if part.columns and set(part.columns) <= place.keys()
        ]
        right: Tree = match["b"]
        if on_key:
            right = restricted(match["b"], Predicate.all_of(on_key), context)
        yield Expression(join, (Expression(Filter(predicate), (match["a"],)), right))


class AntiJoinPatternTranspose(TransformationRule):
    """(A ⋈ B) ▷ C  →  (A ▷ C) ⋈ B where A has the key, and A ⋈ (B ▷ C) where B has it

    Always valid. The anti-join reads fewer columns, and the join fewer rows.
    """

    name = "AntiJoinPatternTranspose"
    number = None
    patterns = (Op(AntiJoin, Op(Pattern, Var("a"), Var("b")), Var("c")),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"AntiJoinPatternTransposeInverse"})

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        anti, join = _anti_join(match.root), _pattern(match.expressions[1])
        key = [join.output[column] for column in anti.keys]
        for side, binding in enumerate(join.bindings):
            if set(key) <= set(binding):
                below = AntiJoin.on(len(binding), [binding.index(v) for v in key])
                inputs: list[Tree] = list(match.expressions[1].inputs)
                inputs[side] = Expression(below, (inputs[side], match["c"]))
                yield Expression(join, tuple(inputs))


class AntiJoinPatternTransposeInverse(TransformationRule):
    """(A ▷ C) ⋈ B  →  (A ⋈ B) ▷ C, and A ⋈ (B ▷ C)  →  (A ⋈ B) ▷ C, where the result has the key

    Always valid. It pays where the join leaves few rows.
    """

    name = "AntiJoinPatternTransposeInverse"
    number = None
    patterns = (
        Op(Pattern, Op(AntiJoin, Var("a"), Var("c")), Var("b")),
        Op(Pattern, Var("b"), Op(AntiJoin, Var("a"), Var("c"))),
    )
    promise = Promise.COMPOSE
    redundant = frozenset({"AntiJoinPatternTranspose"})

    def condition(self, match: Match, context: Context) -> bool:
        return set(self._key(match)) <= set(_pattern(match.root).output)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join = _pattern(match.root)
        inputs: list[Tree] = list(match.root.inputs)
        inputs[self._side(match)] = match["a"]
        above = AntiJoin.on(len(join.output), [join.output.index(v) for v in self._key(match)])
        yield Expression(above, (Expression(join, tuple(inputs)), match["c"]))

    @staticmethod
    def _side(match: Match) -> int:
        return 0 if isinstance(match.pattern.inputs[0], Op) else 1

    def _key(self, match: Match) -> list[int]:
        """The variables of the join that the anti-join compares."""
        binding = _pattern(match.root).bindings[self._side(match)]
        return [binding[column] for column in _anti_join(match.expressions[1]).keys]


class ProjectAntiJoinTranspose(TransformationRule):
    """π_p(A ▷ B)  →  π_p(A) ▷ B where p keeps the key

    Always valid: rows that differ in dropped columns alone have one key.
    """

    name = "ProjectAntiJoinTranspose"
    number = None
    patterns = (Op(Project, Op(AntiJoin, Var("a"), Var("b"))),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        return set(_anti_join(match.expressions[1]).keys) <= set(_columns(match.root))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        columns, join = _columns(match.root), _anti_join(match.expressions[1])
        above = AntiJoin.on(len(columns), [columns.index(k) for k in join.keys])
        yield Expression(above, (Expression(Project(columns), (match["a"],)), match["b"]))


class AntiJoinUnionDistribute(TransformationRule):
    """(A ∪ B) ▷ C  →  (A ▷ C) ∪ (B ▷ C)

    Always valid; applied where the memo has A ▷ C or B ▷ C when the rule is tried, as
    :class:`headrace.rules.union_rules.PatternUnionDistribute`, so that the union shares a part.
    """

    name = "AntiJoinUnionDistribute"
    number = None
    patterns = (Op(AntiJoin, Op(Union, Var("a"), Var("b")), Var("c")),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"AntiJoinUnionDistributeInverse"})

    def condition(self, match: Match, context: Context) -> bool:
        return any(context.memo.lookup(part) is not None for part in self._parts(match))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield Expression(Union(), self._parts(match))

    @staticmethod
    def _parts(match: Match) -> tuple[Expression, Expression]:
        """The anti-joins of each part of the union."""
        join = _anti_join(match.root)
        one, other = (Expression(join, (match[part], match["c"])) for part in ("a", "b"))
        return one, other


class AntiJoinUnionDistributeInverse(TransformationRule):
    """(A ▷ C) ∪ (B ▷ C)  →  (A ∪ B) ▷ C

    Always valid where both compare the same columns with one input. It holds the keys of C once.
    """

    name = "AntiJoinUnionDistributeInverse"
    number = None
    patterns = (Op(Union, Op(AntiJoin, Var("a"), Var("b")), Op(AntiJoin, Var("c"), Var("d"))),)
    promise = Promise.COMPOSE
    redundant = frozenset({"AntiJoinUnionDistribute"})

    def condition(self, match: Match, context: Context) -> bool:
        _, left, right = match.expressions
        find = context.memo.find
        same_keys = left.operator == right.operator
        return same_keys and find(left.inputs[1]) == find(right.inputs[1])

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        _, left, right = match.expressions
        rows = Expression(Union(), (left.inputs[0], right.inputs[0]))
        yield Expression(left.operator, (rows, left.inputs[1]))


def _anti_join(expression: GroupExpression) -> AntiJoin:
    operator: Any = expression.operator
    assert isinstance(operator, AntiJoin)
    return operator


def _pattern(expression: GroupExpression) -> Pattern:
    operator: Any = expression.operator
    assert isinstance(operator, Pattern)
    return operator


def _columns(expression: GroupExpression) -> tuple[int, ...]:
    operator: Any = expression.operator
    assert isinstance(operator, Project)
    return operator.columns
