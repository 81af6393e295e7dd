"""Rules about trails: paths that repeat no edge.

No other rule about PATH applies to trails. The parts of a concatenation could use one edge, so no
join of parts is the whole; and a closure of a part is not one of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..algebra import regex
from ..algebra.logical import Project, Trail, Union
from ..algebra.logical.trails import in_order
from ..algebra.regex import Regex, Symbol
from ..memo import Expression, GroupExpression, GroupId, Tree
from ..memo.pattern import Match, Op
from .path_algebra import path_over
from .rule import Context, Promise, TransformationRule


class TrailAlternationToUnion(TransformationRule):
    """P_trail[r1 | r2](S)  →  P_trail[r1](S) ∪ P_trail[r2](S)

    Always valid: the word of a trail is in one of the two languages.
    """

    name = "TrailAlternationToUnion"
    number = None
    patterns = (Op(Trail),)
    promise = Promise.DECOMPOSE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return isinstance(_trail_of(expression).regex, regex.Alternation)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        trail, inputs = _trail_of(match.root), match.root.inputs
        assert isinstance(trail.regex, regex.Alternation)
        first, *rest = trail.regex.parts
        one = _trail_over(first, trail, inputs)
        other = _trail_over(regex.alternation(rest), trail, inputs)
        yield Expression(Union(), (one, other))


class TrailAsAnyPath(TransformationRule):
    """P_trail[r](S)  →  P[r](π(src, trg)(S)), where a repeated edge can be left out

    Valid if the minimal automaton accepts a path without the part between two walks over an edge,
    for each two steps that may walk over one edge
    (:meth:`headrace.algebra.automaton.Automaton.ignores_repeated_edges`): for a+, (a·b)+ or
    (a|b)*, and for a·b·c of three labels, where no edge can be repeated.
    """

    name = "TrailAsAnyPath"
    number = None
    patterns = (Op(Trail),)
    promise = Promise.REDUCE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return _trail_of(expression).is_any_path

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        ends = tuple(
            group if context.width(group) == 2 else Expression(Project((0, 1)), (group,))
            for group in match.root.inputs
        )
        yield path_over(_trail_of(match.root).regex, ends)


def _trail_of(expression: GroupExpression) -> Trail:
    """The operator of an expression that is a PATH of trails."""
    operator: Any = expression.operator
    assert isinstance(operator, Trail)
    return operator


def _trail_over(r: Regex, trail: Trail, inputs: tuple[GroupId, ...]) -> Expression:
    """The trails with words in r, over those inputs that ``r`` refers to."""
    whole = regex.nonempty(r)
    used = [int(ref) for ref in regex.refs(whole)]
    number = {ref: k for k, ref in enumerate(used)}
    renumbered = regex.substitute(whole, lambda s: Symbol(number[int(s.ref)], s.inverse))
    relations = in_order([trail.relations[ref] for ref in used])
    return Expression(Trail(renumbered, relations), tuple(inputs[ref] for ref in used))
