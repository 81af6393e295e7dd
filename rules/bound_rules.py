"""Rules that bind an end of a path, so that trees grow from bound vertices alone.

In databases this is known as sideways information passing, and as magic sets for recursion. A
target is bound as the source of the reversed path, whose columns then change places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..algebra import regex
from ..algebra.logical import BoundPath, BoundPattern, Filter, Path, Pattern, Project
from ..algebra.logical.bound import after_sources
from ..algebra.predicate import Predicate
from ..algebra.regex import Symbol
from ..memo import Expression, GroupExpression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .path_algebra import arbitrary, path_of
from .path_rules import NO_LOOPS, SWAP, as_any_path
from .rule import Context, Promise, TransformationRule

Binding = tuple[int, ...]


class FilterIntoPath(TransformationRule):
    """σ_F(P[r](S))  →  P_F[r](S) where F looks at the source, and so for the target

    Always valid. The parts of a conjunction that look at the other end, or at both, remain above.
    Where both ends have conditions, either end may be bound. Applied where r has a closure, since
    other paths are joins that conditions move into; and to all simple paths but those of one step.
    """

    name = "FilterIntoPath"
    makes = BoundPath
    number = None
    patterns = (Op(Filter, Op(Path)),)
    promise = Promise.REDUCE
    excluded = frozenset({"LabelToPath"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return any(len(part.columns) == 1 for part in predicate_of(expression).conjuncts)

    def condition(self, match: Match, context: Context) -> bool:
        return _grows_trees(path_of(match.expressions[1]))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        found = match.expressions[1]
        path, conjuncts = path_of(found), predicate_of(match.root).conjuncts
        for end in (0, 1):
            own = [part for part in conjuncts if part.columns == {end}]
            rest = [part for part in conjuncts if part not in own]
            if not own:
                continue
            sources = Predicate.all_of(own).renumbered({end: 0})
            r = regex.inverse(path.regex) if end else path.regex
            tree: Tree = Expression(BoundPath(r, path.semantics, sources), found.inputs)
            if end:
                tree = Expression(SWAP, (tree,))
            yield Expression(Filter(Predicate.all_of(rest)), (tree,)) if rest else tree


class JoinIntoPath(TransformationRule):
    """A ⋈ P[r](S)  →  A ⋈ P[d·r](S) with d = π(x, x)(A) for the source x, and so for the target

    Always valid: a pair of the bound path is valid while A has its source, and the join needs that
    anyway. Applied where r has a closure, since other paths are joins that rules 8 and 14 reorder;
    and to all simple paths but those of one step, as any paths where a repeated vertex can be left
    out. The projection stays above A, so that a run computes A once. A is the first input of the
    result, whichever input it was.
    """

    name = "JoinIntoPath"
    makes = BoundPattern
    excluded = frozenset({"ProjectIntoPattern", "ProjectIntoFilteredPattern"})
    number = None
    patterns = (Op(Pattern, Var("a"), Op(Path)), Op(Pattern, Op(Path), Var("b")))
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        return _grows_trees(path_of(match.expressions[1]))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join, found = match.root.operator, match.expressions[1]
        assert isinstance(join, Pattern)
        place = 0 if isinstance(match.pattern.inputs[0], Op) else 1
        other, binding = match.root.inputs[1 - place], join.bindings[1 - place]
        path, ends = path_of(found), join.bindings[place]
        for end in (0, 1):
            if ends[end] not in binding:
                continue
            column = binding.index(ends[end])
            sources = Expression(Project((column, column)), (other,))
            r = context.once(_from_sources, path.regex, end)
            bound = _without_repeats(path, r, (sources, *found.inputs))
            bindings = binding, ends[::-1] if end else ends
            yield Expression(BoundPattern(bindings, join.output, join.names), (other, bound))


class JoinIntoPairs(TransformationRule):
    """A ⋈ P[r](S)  →  A ⋈ P_D[d·r](S) with D = π(x, y)(A), d = π(x, x)(A) for both ends x and y

    And so with trees from the target. Always valid: the join needs a row of A with both ends. Where
    A has no other columns, P_D[d·r](S) is the join itself. Applied to any paths with a closure, and
    to simple paths where a repeated vertex can be left out. So the pairs of other vertices, which
    are most pairs of a closure, never reach a join.
    """

    name = "JoinIntoPairs"
    makes = BoundPattern
    excluded = frozenset({"ProjectIntoPattern", "ProjectIntoFilteredPattern"})
    number = None
    patterns = (Op(Pattern, Var("a"), Op(Path)), Op(Pattern, Op(Path), Var("b")))
    promise = Promise.REDUCE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        join: Any = expression.operator
        left, right = map(set, join.bindings)
        return len(left & right) == 2

    def condition(self, match: Match, context: Context) -> bool:
        path = path_of(match.expressions[1])
        return _grows_trees(path) and (arbitrary(path) or as_any_path(path))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join, found = match.root.operator, match.expressions[1]
        assert isinstance(join, Pattern)
        place = 0 if isinstance(match.pattern.inputs[0], Op) else 1
        other, binding = match.root.inputs[1 - place], join.bindings[1 - place]
        if len(join.bindings[place]) != 2:
            return
        for end in (0, 1):
            ends = join.bindings[place][::-1] if end else join.bindings[place]
            columns = binding.index(ends[0]), binding.index(ends[1])
            sources = Expression(Project((columns[0], columns[0])), (other,))
            pairs = Expression(Project(columns), (other,))
            r = context.once(_from_sources, path_of(found).regex, end)
            below: tuple[Tree, ...] = (sources, *found.inputs, pairs)
            bound = _without_repeats(path_of(found), r, below, pairs=True)
            if len(binding) == 2:
                yield Expression(Project(tuple([ends.index(v) for v in join.output])), (bound,))
            else:
                operator = BoundPattern((binding, ends), join.output, join.names)
                yield Expression(operator, (other, bound))


class JoinsIntoPairs(TransformationRule):
    """A ⋈ (B ⋈ P[d·r](S))  →  A ⋈ (B ⋈ P_D[d·r](S)) with D = π(x)(B) × π(y)(A) for the ends x, y

    One relation binds the source and another one the target. Matched where ``JoinIntoPath`` has
    bound the path by B, so that each order of the joins gives the trees from B once, and those from
    A in B ⋈ (A ⋈ P). Always valid: the joins need a row of B with the source and a row of A with
    the target. A join is left out where the result has no other columns of A, or of B. Applied
    where ``JoinIntoPairs`` would be, and where A shares the target alone: a variable that A and B
    share makes A ⋈ B a join, which ``JoinIntoPairs`` takes. No rule reorders the product D.
    """

    name = "JoinsIntoPairs"
    makes = BoundPattern
    excluded = frozenset({"ProjectIntoPattern", "ProjectIntoFilteredPattern"})
    number = None
    patterns = (
        Op(Pattern, Var("a"), Op(BoundPattern, Var("b"), Var("p"))),
        Op(Pattern, Op(BoundPattern, Var("b"), Var("p")), Var("a")),
    )
    promise = Promise.REDUCE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        join: Any = expression.operator
        left, right = map(set, join.bindings)
        return len(left & right) == 1

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (found.operator for found in match.expressions)
        assert isinstance(above, Pattern)
        assert isinstance(below, BoundPattern)
        place = 0 if isinstance(match.pattern.inputs[0], Op) else 1
        joined, binding = above.bindings[place], above.bindings[1 - place]
        (shared,) = set(joined) & set(binding)
        bound, ends = below.bindings
        if len(ends) != 2 or below.output[joined.index(shared)] != ends[1] or ends[1] in bound:
            return  # a product of this rule, or a join that does not bind the target
        source = Expression(Project((bound.index(ends[0]),)), (match["b"],))
        target = Expression(Project((binding.index(shared),)), (match["a"],))
        product = Expression(BoundPattern(((0,), (1,)), (0, 1)), (source, target))
        for path in _of_pairs(match["p"], product, context):
            inner = _joined(below, (bound, ends), (match["b"], path))
            yield _joined(above, (binding, joined), (match["a"], inner))


def _grows_trees(path: Path) -> bool:
    """Whether binding an end of a path can save trees: a closure, or several simple steps."""
    if arbitrary(path):
        return regex.has_closure(path.regex)
    return not isinstance(path.regex, Symbol)


def _without_repeats(
    path: Path, r: regex.Regex, inputs: tuple[Tree, ...], *, pairs: bool = False
) -> Expression:
    """A path with bound ends: of simple paths any paths between different vertices, if that is the
    same."""
    if not as_any_path(path):
        return Expression(BoundPath(r, path.semantics, pairs=pairs), inputs)
    return Expression(NO_LOOPS, (Expression(BoundPath(r, pairs=pairs), inputs),))


def _from_sources(r: regex.Regex, end: int) -> regex.Regex:
    """The regex, reversed for end 1, after a symbol 0 for the sources."""
    along = regex.inverse(r) if end else r
    return after_sources(regex.without_empty(along))


def _of_pairs(group: GroupId, pairs: Tree, context: Context) -> Iterator[Tree]:
    """The paths of a group from a relation of sources, between some pairs alone."""
    for found in context.memo.group(group).members(BoundPath):
        path = found.operator
        assert isinstance(path, BoundPath)
        if path == BoundPath(path.regex):  # any paths, neither a condition nor pairs so far
            yield Expression(replace(path, pairs=True), (*found.inputs, pairs))
    for found in context.memo.group(group).members(Filter):
        if found.operator == NO_LOOPS:
            for below in _of_pairs(found.inputs[0], pairs, context):
                yield Expression(NO_LOOPS, (below,))


def _joined(join: Pattern, bindings: tuple[Binding, Binding], inputs: tuple[Tree, Tree]) -> Tree:
    """A join with a relation of which the second input has only matching rows; without that
    relation, if the result has none of its other columns."""
    ends = bindings[1]
    if set(join.output) <= set(ends):
        return Expression(Project(tuple([ends.index(v) for v in join.output])), inputs[1:])
    return Expression(BoundPattern(bindings, join.output, join.names), inputs)
