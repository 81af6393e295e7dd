"""Projections merge with the operators below. Not in the thesis, which has no PROJECT."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar

from ..algebra.logical import Filter, FilteredPattern, Pattern, Project, WScan, WScanUnion
from ..memo import Expression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .rule import Context, Promise, TransformationRule

Binding = tuple[int, ...]
Joined = TypeVar("Joined", Pattern, FilteredPattern)


class ProjectMerge(TransformationRule):
    """π_p(π_q(S))  →  π_{q∘p}(S)

    Always valid.
    """

    name = "ProjectMerge"
    number = None
    patterns = (Op(Project, Op(Project, Var("s"))),)
    promise = Promise.REDUCE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (e.operator for e in match.expressions)
        assert isinstance(above, Project)
        assert isinstance(below, Project)
        columns = tuple(below.columns[c] for c in above.columns)
        yield Expression(Project(columns), (match["s"],))


class FilterProjectTranspose(TransformationRule):
    """σ_F(π_p(S))  →  π_p(σ_F(S)), F over the columns that p chooses

    Always valid. Joins take projections in themselves, and filters through them.
    """

    name = "FilterProjectTranspose"
    number = None
    patterns = (Op(Filter, Op(Project, Var("s"))),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        return not any(context.memo.group(match["s"]).members(Pattern))

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (e.operator for e in match.expressions)
        assert isinstance(above, Filter)
        assert isinstance(below, Project)
        places = {column: below.columns[column] for column in above.predicate.columns}
        filtered = Expression(Filter(above.predicate.renumbered(places)), (match["s"],))
        yield Expression(below, (filtered,))


class ProjectIntoPattern(TransformationRule):
    """π_p(A ⋈ B)  →  π_q(A) ⋈ π_r(B) with p's columns as output

    Always valid: a join may keep any of its variables, in any order, and needs only the columns
    that it keeps or joins on. Edges and paths are left as they are: they consist of both ends, and
    properties that no operator needs are not scanned.
    """

    name = "ProjectIntoPattern"
    number = None
    patterns = (Op(Project, Op(Pattern, Var("a"), Var("b"))),)
    promise = Promise.REDUCE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (e.operator for e in match.expressions)
        assert isinstance(above, Project)
        assert isinstance(below, Pattern)
        output = tuple(below.output[c] for c in above.columns)
        left, right = below.bindings
        used = {*output, *(set(left) & set(right))}
        bindings, inputs = narrowed((left, right), match.expressions[1].inputs, used, context)
        yield Expression(renumbered(Pattern(bindings, output, below.names)), inputs)


def narrowed(
    bindings: tuple[Binding, Binding],
    groups: tuple[GroupId, ...],
    used: Collection[int],
    context: Context,
) -> tuple[tuple[Binding, Binding], tuple[Tree, ...]]:
    """A join's inputs without the columns of variables that are not used.

    Edges, and inputs of at most two columns, are left whole.
    """
    kept: list[Binding] = []
    inputs: list[Tree] = []
    for binding, group in zip(bindings, groups, strict=True):
        columns = tuple(k for k, variable in enumerate(binding) if variable in used)
        if len(columns) == len(binding) or len(binding) <= 2 or _are_edges(group, context):
            kept.append(binding)
            inputs.append(group)
        else:
            kept.append(tuple(binding[k] for k in columns))
            inputs.append(Expression(Project(columns), (group,)))
    left, right = kept
    return (left, right), tuple(inputs)


def _are_edges(group: GroupId, context: Context) -> bool:
    """Whether a group is a scan with filters and projections on it, or none."""
    seen: set[GroupId] = set()  # merged groups may read each other in a circle
    while group not in seen:
        seen.add(group)
        first = context.memo.group(group).expressions[0]
        if not isinstance(first.operator, Filter | Project):
            return isinstance(first.operator, WScan | WScanUnion)
        (group,) = first.inputs
    return False


def renumbered(join: Joined) -> Joined:
    """A join whose variables are numbered by first occurrence."""
    canonical, _ = join.canonical((0, 1))
    assert isinstance(canonical, type(join))
    return canonical
