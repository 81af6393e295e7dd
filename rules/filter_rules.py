"""Rules 2 to 6, 9 and 10: predicates are merged, split, and moved through unions and joins.

Predicates name columns by position, never labels or times, so a union or a window hides no column
from them. The memo keeps predicates in their normal form, so ``==`` is equality after
normalisation.

Splitting is limited, so that a memo does not explode: a conjunction or disjunction is cut only
where a part of it can go further down than the whole, and the inverse rules are not applied to each
other's results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, ClassVar

from ..algebra.logical import Filter, Pattern, Union, WScan
from ..algebra.predicate import DEEPEST_MADE, MOST_PARTS, Predicate
from ..memo import Expression, GroupExpression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .rule import Context, Promise, TransformationRule


class FilterIdempotent(TransformationRule):
    """σ_F(σ_F(S))  →  σ_F(S), and so where the inner predicate implies the outer one's parts

    Thesis rule 2. The predicates are compared in their normal forms, conjunct by conjunct.
    The result is the input itself, so the two groups merge.
    """

    name = "FilterIdempotent"
    number = 2
    patterns = (Op(Filter, Op(Filter, Var("s"))),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        outer, inner = (predicate_of(e) for e in match.expressions)
        return set(outer.conjuncts) <= set(inner.conjuncts)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield match.root.inputs[0]


class FilterMerge(TransformationRule):
    """σ_G(σ_F(S))  →  σ_(F and G)(S)

    Thesis rule 3, left to right. Always valid; where F implies G it is rule 2. No predicate
    of more than :data:`headrace.algebra.predicate.MOST_PARTS` parts is made, nor a deeper one than
    :data:`headrace.algebra.predicate.DEEPEST_MADE`: where a group is a filter of itself united with
    something, rules 3 and 4 would go on for ever.
    """

    name = "FilterMerge"
    number = 3
    patterns = (Op(Filter, Op(Filter, Var("s"))),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        outer, inner = (set(predicate_of(e).conjuncts) for e in match.expressions)
        return (
            not outer <= inner
            and len(outer | inner) <= MOST_PARTS
            and shallow(predicate_of(e) for e in match.expressions)
        )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        both = Predicate.all_of(predicate_of(e) for e in match.expressions)
        yield Expression(Filter(both), (match["s"],))


class FilterSplit(TransformationRule):
    """σ_(F and G)(S)  →  σ_G(σ_F(S))

    Thesis rule 3, right to left. Valid for any part F of the conjunction; applied where S is
    a join and F has all conjuncts that a single input can take, but not the whole predicate.
    Rules 9 and 10 move F further down. σ_F(S) is not split again for another join of S: there the
    split of the whole conjunction moves more of it down.
    """

    name = "FilterSplit"
    number = 3
    patterns = (Op(Filter, Op(Pattern, Var("a"), Var("b"))),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"FilterMerge"})
    excluded = frozenset({"FilterSwap", "FilterSplit"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return len(predicate_of(expression).conjuncts) > 1

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join = _pattern(match.expressions[1])
        conjuncts = predicate_of(match.root).conjuncts
        rest = [p for p in conjuncts if not any(fits(p, join, side) for side in (0, 1))]
        down = [p for p in conjuncts if p not in rest]
        if rest and down:
            below = Expression(Filter(Predicate.all_of(down)), match.root.inputs)
            yield Expression(Filter(Predicate.all_of(rest)), (below,))


class FilterUnionToOr(TransformationRule):
    """σ_G(S) ∪ σ_F(S)  →  σ_(F or G)(S)

    Thesis rule 4, left to right. Both sides must read the same group. Relies on set
    semantics: a row that satisfies both counts once. No predicate of more than
    :data:`headrace.algebra.predicate.MOST_PARTS` parts, or too deep (see rule 3), is made.
    """

    name = "FilterUnionToOr"
    number = 4
    patterns = (Op(Union, Op(Filter, Var("s")), Op(Filter, Var("t"))),)
    promise = Promise.COMPOSE
    redundant = frozenset({"OrToFilterUnion"})

    def condition(self, match: Match, context: Context) -> bool:
        if context.memo.find(match["s"]) != context.memo.find(match["t"]):
            return False
        parts = [d for e in match.expressions[1:] for d in predicate_of(e).disjuncts]
        return len(set(parts)) <= MOST_PARTS and shallow(
            predicate_of(e) for e in match.expressions[1:]
        )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        either = Predicate.any_of(predicate_of(e) for e in match.expressions[1:])
        yield Expression(Filter(either), (match["s"],))


class OrToFilterUnion(TransformationRule):
    """σ_(F or G)(S)  →  σ_F(S) ∪ σ_G(S)

    Thesis rule 4, right to left. Valid for any part F of the disjunction; applied in two cases
    where a part can move further down than the whole. Either S is a join and F has all parts that
    one of its inputs can take, or S is a scan and all parts are equalities with a literal, and F is
    the first part. The resulting unions keep their order, so that n parts make n unions and not
    2^n. Not applied to a disjunction with a part v <> w, such as the condition of two edges to
    differ: nearly all rows satisfy that part, so its side would compute the whole again.
    """

    name = "OrToFilterUnion"
    number = 4
    patterns = (Op(Filter, Op(Pattern, Var("a"), Var("b"))), Op(Filter, Op(WScan)))
    promise = Promise.DECOMPOSE
    excluded = frozenset(
        {"FilterUnionToOr", "UnionCommute", "UnionAssociate", "UnionToAlternation"}
    )

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        disjuncts = predicate_of(expression).disjuncts
        return len(disjuncts) > 1 and not any(part.is_inequality for part in disjuncts)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        disjuncts = predicate_of(match.root).disjuncts
        below: Any = match.expressions[1].operator
        if isinstance(below, Pattern):
            cuts = _cuts(disjuncts, below)
        else:
            sargable = all(part.is_sargable for part in disjuncts)
            cuts = [(disjuncts[:1], disjuncts[1:])] if sargable else []
        for one, rest in cuts:
            sides = (Predicate.any_of(one), Predicate.any_of(rest))
            yield Expression(
                Union(), tuple(Expression(Filter(p), match.root.inputs) for p in sides)
            )


class FilterSwap(TransformationRule):
    """σ_G(σ_F(S))  →  σ_F(σ_G(S))

    Thesis rule 5. Always valid; not applied to the results of FilterSplit, which are in order. Over
    a join it is applied only where the memo has σ_G(S), so that it can be shared: else rule 3 in
    both directions reaches what can go further down, and every order of the conjuncts would
    become a relation.
    """

    name = "FilterSwap"
    number = 5
    patterns = (Op(Filter, Op(Filter, Var("s"))),)
    promise = Promise.REORDER
    redundant = frozenset({"FilterSwap", "FilterMerge"})

    def condition(self, match: Match, context: Context) -> bool:
        outer, inner = (predicate_of(e) for e in match.expressions)
        if outer == inner:
            return False
        join = any(context.memo.group(match["s"]).members(Pattern))
        return not join or context.memo.lookup(Expression(Filter(outer), (match["s"],))) is not None

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        outer, inner = (predicate_of(e) for e in match.expressions)
        yield Expression(Filter(inner), (Expression(Filter(outer), (match["s"],)),))


class FilterUnionTranspose(TransformationRule):
    """σ_F(A ∪ B)  →  σ_F(A) ∪ σ_F(B)

    Thesis rule 6, left to right. A union that renames would block predicates on the label;
    here labels are not columns, so no predicate can read one.
    """

    name = "FilterUnionTranspose"
    number = 6
    patterns = (Op(Filter, Op(Union, Var("a"), Var("b"))),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"FilterUnionTransposeInverse"})

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        same = match.root.operator
        sides = (Expression(same, (match["a"],)), Expression(same, (match["b"],)))
        yield Expression(Union(), sides)


class FilterUnionTransposeInverse(TransformationRule):
    """σ_F(A) ∪ σ_F(B)  →  σ_F(A ∪ B)

    Thesis rule 6, right to left: the predicates must be equal.
    """

    name = "FilterUnionTransposeInverse"
    number = 6
    patterns = (Op(Union, Op(Filter, Var("a")), Op(Filter, Var("b"))),)
    promise = Promise.COMPOSE
    redundant = frozenset({"FilterUnionTranspose"})

    def condition(self, match: Match, context: Context) -> bool:
        _, left, right = match.expressions
        return left.operator == right.operator

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        whole = Expression(Union(), (match["a"], match["b"]))
        yield Expression(match.expressions[1].operator, (whole,))


class _IntoJoin(TransformationRule):
    """Rules 9 and 10, left to right."""

    patterns = (Op(Filter, Op(Pattern, Var("a"), Var("b"))),)
    promise = Promise.DECOMPOSE
    side: ClassVar[int]
    """Which input takes a predicate."""

    def condition(self, match: Match, context: Context) -> bool:
        join, conjuncts = _pattern(match.expressions[1]), predicate_of(match.root).conjuncts
        sides = [[fits(p, join, side) for side in (0, 1)] for p in conjuncts]
        return all(map(any, sides)) and any(fitting[self.side] for fitting in sides)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join, conjuncts = _pattern(match.expressions[1]), predicate_of(match.root).conjuncts
        inputs: list[Tree] = list(match.expressions[1].inputs)
        for side in (0, 1):
            moved = [lowered(p, join, side) for p in conjuncts if fits(p, join, side)]
            if moved:
                inputs[side] = Expression(Filter(Predicate.all_of(moved)), (inputs[side],))
        yield Expression(join, tuple(inputs))


class FilterPatternTransposeLeft(_IntoJoin):
    """σ_F(A ⋈ B)  →  σ_F(A) ⋈ B, or σ_F(A) ⋈ σ_F(B) where F looks at join variables alone

    Thesis rule 9, left to right: A has all columns of F. The parts of a conjunction that A
    cannot take go to B in the same step (rule 10), so that not every subset of it becomes a
    relation; if B cannot either, rule 3 splits first. A predicate on join variables goes to
    both inputs, since each has fewer rows to keep then.
    """

    name = "FilterPatternTransposeLeft"
    number = 9
    redundant = frozenset({"FilterPatternTransposeLeftInverse"})
    side = 0


class FilterPatternTransposeRight(_IntoJoin):
    """σ_F(A ⋈ B)  →  A ⋈ σ_F(B), or σ_F(A) ⋈ σ_F(B) where F looks at join variables alone

    Thesis rule 10, left to right: the mirror image of rule 9.
    """

    name = "FilterPatternTransposeRight"
    number = 10
    redundant = frozenset({"FilterPatternTransposeRightInverse"})
    side = 1


class _OutOfJoin(TransformationRule):
    """Rules 9 and 10, right to left."""

    promise = Promise.COMPOSE

    def condition(self, match: Match, context: Context) -> bool:
        join, memo = _pattern(match.root), context.memo
        sides = _filtered_sides(match)
        if not all(rises(predicate_of(e), join, k) for k, e in sides.items()):
            return False
        inputs = _unfiltered_inputs(match)
        if memo.lookup(Expression(join, inputs)) is not None:
            return True
        if len(sides) == 1:
            (position,) = sides
            if any(memo.group(inputs[1 - position]).members(Filter)):
                return False  # both go up together
        if any(any(memo.group(i).members(Pattern)) for i in inputs):
            return False
        # With another column order the memo would have the unfiltered join twice.
        left, right = join.bindings
        return len(set(join.output)) == len(join.output) and (
            context.columns.order((left, right), join.output, inputs) == join.output
        )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join = _pattern(match.root)
        sides = _filtered_sides(match)
        parts = [raised(predicate_of(inner), join, k) for k, inner in sides.items()]
        whole = Expression(join, _unfiltered_inputs(match))
        yield Expression(Filter(Predicate.all_of(parts)), (whole,))


class FilterPatternTransposeLeftInverse(_OutOfJoin):
    """σ_F(A) ⋈ B  →  σ_F(A ⋈ B), and σ_F(A) ⋈ σ_G(B)  →  σ_(F and G)(A ⋈ B)

    Thesis rule 9, right to left: the join keeps all columns of the predicates. Two filtered
    inputs give up their filters together (rules 9, 10 and 3 in one). Applied where the memo
    has A ⋈ B when the rule is tried, so that it can be shared; and where neither input is a
    join, so that a filter also rises above the first join. Without that bound every subset of
    the filters of a query would become a relation.
    """

    name = "FilterPatternTransposeLeftInverse"
    number = 9
    patterns = (
        Op(Pattern, Op(Filter, Var("s")), Var("b")),
        Op(Pattern, Op(Filter, Var("s")), Op(Filter, Var("t"))),
    )
    redundant = frozenset({"FilterPatternTransposeLeft"})


class FilterPatternTransposeRightInverse(_OutOfJoin):
    """A ⋈ σ_F(B)  →  σ_F(A ⋈ B)

    Thesis rule 10, right to left, under the conditions of rule 9; where A is filtered too,
    that rule does it.
    """

    name = "FilterPatternTransposeRightInverse"
    number = 10
    patterns = (Op(Pattern, Var("a"), Op(Filter, Var("s"))),)
    redundant = frozenset({"FilterPatternTransposeRight"})


def _filtered_sides(match: Match) -> dict[int, GroupExpression]:
    """The filters that a match found among a join's inputs, by position."""
    nested = iter(match.expressions[1:])
    return {k: next(nested) for k, part in enumerate(match.pattern.inputs) if isinstance(part, Op)}


def _unfiltered_inputs(match: Match) -> tuple[GroupId, GroupId]:
    sides = _filtered_sides(match)
    left, right = match.root.inputs
    return (
        sides[0].inputs[0] if 0 in sides else left,
        sides[1].inputs[0] if 1 in sides else right,
    )


def predicate_of(expression: GroupExpression) -> Predicate:
    """The predicate of a FILTER."""
    operator: Any = expression.operator
    assert isinstance(operator, Filter)
    return operator.predicate


def shallow(predicates: Iterable[Predicate]) -> bool:
    """Whether a connective of the predicates is no deeper than a rule may make."""
    return max(predicate.nesting for predicate in predicates) < DEEPEST_MADE


def fits(predicate: Predicate, join: Pattern, side: int) -> bool:
    """Whether an input of a join has all columns of a predicate over the join's output."""
    columns = predicate.columns
    return bool(columns) and columns <= _given(join, side)


@lru_cache(maxsize=4096)
def _given(join: Pattern, side: int) -> frozenset[int]:
    """The columns of a join's output that one of its inputs has."""
    bound = join.bindings[side]
    return frozenset([k for k, variable in enumerate(join.output) if variable in bound])


def lowered(predicate: Predicate, join: Pattern, side: int) -> Predicate:
    """Moves a predicate that :func:`fits` from a join's output to an input."""
    bound = join.bindings[side]
    return predicate.renumbered({c: bound.index(join.output[c]) for c in predicate.columns})


def rises(predicate: Predicate, join: Pattern, side: int) -> bool:
    """Whether the output of a join has all columns of a predicate over an input."""
    columns = predicate.columns
    return bool(columns) and all(join.bindings[side][column] in join.output for column in columns)


def raised(predicate: Predicate, join: Pattern, side: int) -> Predicate:
    """Moves a predicate that :func:`rises` from a join's input to its output."""
    bound = join.bindings[side]
    return predicate.renumbered({c: join.output.index(bound[c]) for c in predicate.columns})


Parts = tuple[Predicate, ...]


def _cuts(parts: Parts, join: Pattern) -> list[tuple[Parts, Parts]]:
    """Splits parts into those that one input of a join can take and the rest, at most once."""
    for side in (0, 1):
        fitting = tuple(p for p in parts if fits(p, join, side))
        rest = tuple(p for p in parts if p not in fitting)
        if not rest:
            return []
        if fitting:
            return [(fitting, rest)]
    return []


def _pattern(expression: GroupExpression) -> Pattern:
    operator: Any = expression.operator
    assert isinstance(operator, Pattern)
    return operator
