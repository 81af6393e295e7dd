"""Rules about shortest paths.

No other rule about PATH applies to them: a part of a shortest path is one of its own part of the
expression alone, and the lengths of parts do not say which of them are shortest together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..algebra import regex
from ..algebra.logical import Filter, Project, Shortest
from ..algebra.predicate import Predicate
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op
from .filter_rules import predicate_of
from .rule import Context, Promise, TransformationRule


class FilterIntoShortest(TransformationRule):
    """σ_F(P_shortest[r](S))  →  P_shortest,F[r](S), F over the source, or the target

    Always valid: the paths from one vertex do not depend on those from another. The parts of a
    conjunction that look at other columns remain above. A target is bound as the source of the
    reversed path, where no steps are shown.
    """

    name = "FilterIntoShortest"
    number = None
    patterns = (Op(Filter, Op(Shortest)),)
    promise = Promise.REDUCE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return any(part.columns in ({0}, {1}) for part in predicate_of(expression).conjuncts)

    def condition(self, match: Match, context: Context) -> bool:
        return _shortest_of(match.expressions[1]).sources is None

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        found = match.expressions[1]
        path, conjuncts = _shortest_of(found), predicate_of(match.root).conjuncts
        for end in (0, 1):
            own = [part for part in conjuncts if part.columns == {end}]
            rest = [part for part in conjuncts if part not in own]
            if not own or (end and path.labels):
                continue
            sources = Predicate.all_of(own).renumbered({end: 0})
            r = regex.inverse(path.regex) if end else path.regex
            tree: Tree = Expression(replace(path, regex=r, sources=sources), found.inputs)
            if end:
                others = range(2, 2 + len(path.values))
                tree = Expression(Project((1, 0, *others)), (tree,))
            yield Expression(Filter(Predicate.all_of(rest)), (tree,)) if rest else tree


def _shortest_of(expression: GroupExpression) -> Shortest:
    """The operator of an expression of shortest paths."""
    operator = expression.operator
    assert isinstance(operator, Shortest)
    return operator
