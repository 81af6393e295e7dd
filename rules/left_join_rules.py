"""Rules of LEFTJOIN: filters, projections and joins change places with it. Not in the thesis.

Which rows of the second input a row of the first is paired with depends on the key alone, and each
row of the first input stays. So a filter, projection or join of the first input may come before or
after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..algebra.logical import Filter, LeftJoin, Pattern, Project
from ..algebra.notation import apart
from ..algebra.predicate import TRUE, Predicate
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .project_rules import narrowed
from .restriction import restricted
from .rule import Context, Promise, TransformationRule


class FilterLeftJoinTranspose(TransformationRule):
    """σ_F∧H(A ⟕ B)  →  σ_H(σ_F(A) ⟕ σ_G(B)), F over A alone, G the part of F over the key

    Always valid: a row of A that satisfies F has the same pairs before and after, and a row of B
    that fails G matches only rows of A that fail it.
    """

    name = "FilterLeftJoinTranspose"
    number = None
    patterns = (Op(Filter, Op(LeftJoin, Var("a"), Var("b"))),)
    promise = Promise.DECOMPOSE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        predicate, join = predicate_of(match.root), _left_join(match.expressions[1])
        width, keys = len(join.bindings[0]), join.keys
        first = [part for part in predicate.conjuncts if max(part.columns, default=width) < width]
        if not first:
            return
        on_key = [part for part in first if part.columns <= keys.keys()]
        left = Expression(Filter(Predicate.all_of(first)), (match["a"],))
        right: Tree = match["b"]
        if on_key:
            of_right = Predicate.all_of([p.renumbered(keys) for p in on_key])
            right = restricted(match["b"], of_right, context)
        joined = Expression(join, (left, right))
        rest = Predicate.all_of([part for part in predicate.conjuncts if part not in first])
        yield joined if rest == TRUE else Expression(Filter(rest), (joined,))


class ProjectLeftJoinTranspose(TransformationRule):
    """π_p(A ⟕ B)  →  π_p(π_q(A) ⟕ π_r(B)), where q and r keep the key and what p keeps

    Always valid: pairs depend on the key alone. Edges and inputs of two columns are left whole.
    """

    name = "ProjectLeftJoinTranspose"
    number = None
    patterns = (Op(Project, Op(LeftJoin, Var("a"), Var("b"))),)
    promise = Promise.REDUCE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, join = match.root.operator, _left_join(match.expressions[1])
        assert isinstance(above, Project)
        left, right = join.bindings
        kept = [join.output[column] for column in above.columns]
        used = {*kept, *(set(left) & set(right))}
        bindings, inputs = narrowed((left, right), match.expressions[1].inputs, used, context)
        if bindings == (left, right):
            return
        narrow = LeftJoin(bindings, join.names)
        yield _chosen(narrow.output, kept, Expression(_numbered(narrow), inputs))


class LeftJoinPatternTranspose(TransformationRule):
    """(A ⋈ C) ⟕ B  →  (A ⟕ B) ⋈ C where A has the key, and A ⋈ (C ⟕ B) where C has it

    Always valid: no row of the join leaves it for want of a match. It pays where the join has
    many rows.
    """

    name = "LeftJoinPatternTranspose"
    number = None
    patterns = (Op(LeftJoin, Op(Pattern, Var("a"), Var("c")), Var("b")),)
    promise = Promise.REORDER
    redundant = frozenset({"LeftJoinPatternTransposeInverse"})

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, join = _left_join(match.root), _pattern(match.expressions[1])
        compared = [None if c is None else join.output[c] for c in above.compared]
        key = {variable for variable in compared if variable is not None}
        names = list(join.names)
        fresh = 1 + max([v for binding in join.bindings for v in binding])
        own = tuple(range(fresh, fresh + compared.count(None)))
        if names and above.names:
            for variable in above.output[len(join.output) :]:
                names.append(apart(above.names[variable], names))
        for side, binding in enumerate(join.bindings):
            if key <= set(binding):
                below = LeftJoin.on(
                    len(binding), [None if v is None else binding.index(v) for v in compared]
                )
                bindings, inputs = list(join.bindings), list[Tree](match.expressions[1].inputs)
                bindings[side] = (*binding, *own)
                inputs[side] = Expression(below, (inputs[side], match["b"]))
                yield _joined(bindings, (*join.output, *own), names, inputs)


class LeftJoinPatternTransposeInverse(TransformationRule):
    """(A ⟕ B) ⋈ C  →  (A ⋈ C) ⟕ B, where C shares variables with A alone and the result has the key

    Also for C ⋈ (A ⟕ B). Always valid. It pays where the join leaves few rows.
    """

    name = "LeftJoinPatternTransposeInverse"
    number = None
    patterns = (
        Op(Pattern, Op(LeftJoin, Var("a"), Var("b")), Var("c")),
        Op(Pattern, Var("c"), Op(LeftJoin, Var("a"), Var("b"))),
    )
    promise = Promise.REORDER
    redundant = frozenset({"LeftJoinPatternTranspose"})

    def condition(self, match: Match, context: Context) -> bool:
        join, side = _pattern(match.root), self._side(match)
        below = _left_join(match.expressions[1])
        binding = join.bindings[side]
        own = set(binding[len(below.bindings[0]) :])
        key = {binding[column] for column in below.keys}
        return own.isdisjoint(join.bindings[1 - side]) and key <= set(join.output)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join, side = _pattern(match.root), self._side(match)
        below = _left_join(match.expressions[1])
        binding, width = join.bindings[side], len(below.bindings[0])
        own = binding[width:]
        kept = tuple([v for v in join.output if v not in own])
        bindings, inputs = list(join.bindings), list[Tree](match.root.inputs)
        bindings[side], inputs[side] = binding[:width], match["a"]
        compared = [None if c is None else kept.index(binding[c]) for c in below.compared]
        above = LeftJoin.on(len(kept), compared)
        joined = _joined(bindings, kept, join.names, inputs)
        yield _chosen((*kept, *own), join.output, Expression(above, (joined, match["b"])))

    @staticmethod
    def _side(match: Match) -> int:
        return 0 if isinstance(match.pattern.inputs[0], Op) else 1


def _chosen(columns: tuple[int, ...], kept: Any, below: Expression) -> Expression:
    """The variables ``kept`` of rows with the variables ``columns``."""
    places = tuple([columns.index(variable) for variable in kept])
    return below if places == tuple(range(len(columns))) else Expression(Project(places), (below,))


def _joined(bindings: Any, output: tuple[int, ...], names: Any, inputs: list[Tree]) -> Expression:
    """A join whose variables are numbered by first occurrence."""
    first, second = bindings
    number = {v: k for k, v in enumerate(dict.fromkeys(first + second))}
    pattern = Pattern(
        (tuple([number[v] for v in first]), tuple([number[v] for v in second])),
        tuple([number[v] for v in output]),
        tuple([names[v] for v in number]) if len(names) > max(number) else (),
    )
    return Expression(pattern, tuple(inputs))


def _numbered(join: LeftJoin) -> LeftJoin:
    canonical, _ = join.canonical((0, 1))
    assert isinstance(canonical, LeftJoin)
    return canonical


def _left_join(expression: GroupExpression) -> LeftJoin:
    operator: Any = expression.operator
    assert isinstance(operator, LeftJoin)
    return operator


def _pattern(expression: GroupExpression) -> Pattern:
    operator: Any = expression.operator
    assert isinstance(operator, Pattern)
    return operator
