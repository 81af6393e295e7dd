"""Rules that bind an end of a path, so that trees grow from bound vertices alone.

In databases this is known as sideways information passing, and as magic sets for recursion. A
target is bound as the source of the reversed path, whose columns then change places.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..algebra import regex
from ..algebra.logical import BoundPath, BoundPattern, Filter, Path, Pattern, Project
from ..algebra.predicate import Predicate
from ..algebra.regex import Symbol
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .path_algebra import arbitrary, path_of, shifted
from .path_rules import SWAP
from .rule import Context, Promise, TransformationRule


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
        path = path_of(match.expressions[1])
        if arbitrary(path):
            return regex.has_closure(path.regex)
        return not isinstance(path.regex, Symbol)

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
    and to any paths, since the pairs (x, x) of d repeat a vertex. The projection stays above A, so
    that a run computes A once. A is the first input of the result, whichever input it was.
    """

    name = "JoinIntoPath"
    makes = BoundPattern
    excluded = frozenset({"ProjectIntoPattern", "ProjectIntoFilteredPattern"})
    number = None
    patterns = (Op(Pattern, Var("a"), Op(Path)), Op(Pattern, Op(Path), Var("b")))
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        path = path_of(match.expressions[1])
        return arbitrary(path) and regex.has_closure(path.regex)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join, found = match.root.operator, match.expressions[1]
        assert isinstance(join, Pattern)
        place = 0 if isinstance(match.pattern.inputs[0], Op) else 1
        other = match.root.inputs[1 - place]
        for end in (0, 1):
            ends = join.bindings[place]
            if ends[end] not in join.bindings[1 - place]:
                continue
            column = join.bindings[1 - place].index(ends[end])
            sources = Expression(Project((column, column)), (other,))
            r = context.once(_after_sources, path_of(found).regex, end)
            bound = Expression(BoundPath(r), (sources, *found.inputs))
            bindings = join.bindings[1 - place], ends[::-1] if end else ends
            yield Expression(BoundPattern(bindings, join.output, join.names), (other, bound))


def _after_sources(r: regex.Regex, end: int) -> regex.Regex:
    """The regex, reversed for end 1, after a symbol 0 for the sources."""
    along = regex.inverse(r) if end else r
    return regex.concat([Symbol(0), shifted(regex.without_empty(along), 1)])
