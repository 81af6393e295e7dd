"""Projections disappear into what is below them. Not in the thesis, which has no PROJECT."""

from __future__ import annotations

from collections.abc import Iterator

from algebra.logical import Pattern, Project
from memo import Expression, Tree
from memo.pattern import Group, Match, Op
from rules.rule import Context, Promise, TransformationRule


class ProjectMerge(TransformationRule):
    """π_p(π_q(S))  →  π_{q∘p}(S)

    Always valid.
    """

    name = "ProjectMerge"
    number = None
    patterns = (Op(Project, Op(Project, Group("s"))),)
    promise = Promise.REDUCE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (e.operator for e in match.expressions)
        assert isinstance(above, Project)
        assert isinstance(below, Project)
        columns = tuple(below.columns[c] for c in above.columns)
        yield Expression(Project(columns), (match["s"],))


class ProjectIntoPattern(TransformationRule):
    """π_p(A ⋈ B)  →  A ⋈ B with p's columns as output

    Always valid: a join may keep any of its variables, in any order.
    """

    name = "ProjectIntoPattern"
    number = None
    patterns = (Op(Project, Op(Pattern, Group("a"), Group("b"))),)
    promise = Promise.REDUCE

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = (e.operator for e in match.expressions)
        assert isinstance(above, Project)
        assert isinstance(below, Pattern)
        output = tuple(below.output[c] for c in above.columns)
        joined = Pattern(below.bindings, output, below.names)
        yield Expression(joined, (match["a"], match["b"]))
