"""Joins of three or more atoms at once. Not in the thesis, whose PATTERN operator is binary.

A tree of binary joins holds and emits the rows of every join in it. Where the atoms form a cycle,
such as a triangle, these can be many more than the results. A multiway join holds the atoms alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..algebra.joins import is_connected, is_cyclic, join_variables
from ..algebra.logical import Filter, MultiwayPattern, Pattern, Project
from ..memo import Expression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .rule import Context, Promise, TransformationRule

MOST_ATOMS = 12
"""The most atoms of a multiway join that a search considers."""
MOST_NESTED = 6
"""The most atoms of a multiway join of which two are joined first: a cycle of n atoms has about 2^n
such forms."""


class PatternToMultiway(TransformationRule):
    """A ⋈ B  →  S1 ⋈ S2 ⋈ .. ⋈ Sn, all atoms below the joins at once

    Always valid. Applied where the atoms are connected and form a cycle, and each shares one or two
    variables with others. All expressions of a group have the same atoms, so the first match
    suffices.
    """

    name = "PatternToMultiway"
    number = None
    patterns = (Op(Pattern, Var("a"), Var("b")),)
    promise = Promise.REORDER
    makes = MultiwayPattern

    def condition(self, match: Match, context: Context) -> bool:
        group = context.memo.group(match.root.group)
        members = (e.operator for e in group.members(MultiwayPattern))
        return not any(isinstance(o, MultiwayPattern) and o.predicate is None for o in members)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join = match.root.operator
        assert isinstance(join, Pattern)
        flat = context.columns.atoms(join.bindings, join.output, match.root.inputs)
        bindings = tuple([variables for _, variables in flat.atoms])
        if not 3 <= len(bindings) <= MOST_ATOMS:
            return
        if can_join_at_once(bindings):
            inputs = tuple([relation for relation, _ in flat.atoms])
            reads = tuple(range(len(inputs)))
            joined, used = MultiwayPattern(reads, bindings, flat.columns).canonical(inputs)
            yield Expression(joined, used)


class MultiwayNest(TransformationRule):
    """S1 ⋈ S2 ⋈ .. ⋈ Sn  →  (S1 ⋈ S2) ⋈ .. ⋈ Sn, two atoms as one

    Always valid. Applied to two atoms that alone have some variable, where the other atoms and the
    joined one still form a cycle. Their join drops the variable if the result does not keep it.
    """

    name = "MultiwayNest"
    number = None
    patterns = (Op(MultiwayPattern),)
    promise = Promise.REORDER

    def condition(self, match: Match, context: Context) -> bool:
        join = match.root.operator
        assert isinstance(join, MultiwayPattern)
        return join.predicate is None and 3 < len(join.bindings) <= MOST_NESTED

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        join = match.root.operator
        assert isinstance(join, MultiwayPattern)
        groups = match.root.inputs
        for variable in sorted(join_variables(join.bindings)):
            pair = [k for k, binding in enumerate(join.bindings) if variable in binding]
            if len(pair) == 2:
                others = [k for k in range(len(join.bindings)) if k not in pair]
                nested = _nested(join, (pair[0], pair[1]), others, groups, context)
                if nested is not None:
                    yield nested


def _nested(
    join: MultiwayPattern,
    pair: tuple[int, int],
    others: Sequence[int],
    groups: tuple[GroupId, ...],
    context: Context,
) -> Expression | None:
    """The multiway join of the other atoms and the join of a pair; None if that has no cycle."""
    needed = {*join.output, *(v for k in others for v in join.bindings[k])}
    left, right = (join.bindings[k] for k in pair)
    bound = tuple(dict.fromkeys((*left, *right)))
    number = {v: k for k, v in enumerate(bound)}
    of_pair = tuple([number[v] for v in left]), tuple([number[v] for v in right])
    read = groups[join.reads[pair[0]]], groups[join.reads[pair[1]]]
    wanted = tuple([number[v] for v in bound if v in needed])
    kept = context.columns.order(of_pair, wanted, read)
    bindings = (tuple([bound[k] for k in kept]), *(join.bindings[k] for k in others))
    if not can_join_at_once(bindings):
        return None
    inputs = (_PAIR, *(groups[join.reads[k]] for k in others))
    whole = MultiwayPattern(tuple(range(len(inputs))), bindings, join.output)
    operator, used = whole.canonical(inputs)
    inner = Expression(context.same(Pattern(of_pair, kept)), read)
    return Expression(operator, tuple([inner if i == _PAIR else i for i in used]))


_PAIR = -1
"""Stands for the group of a join that may not be in the memo yet."""


def can_join_at_once(bindings: Sequence[tuple[int, ...]]) -> bool:
    """Whether atoms are connected, form a cycle, and each shares one or two variables."""
    shared = join_variables(bindings)
    return (
        all(1 <= len(shared.intersection(b)) <= 2 for b in bindings)
        and is_connected(bindings)
        and is_cyclic(bindings)
    )


class FilterIntoMultiway(TransformationRule):
    """σ_F(S1 ⋈ .. ⋈ Sn)  →  S1 ⋈ .. ⋈_F Sn, with a residual

    Always valid; applied where some part of F reads columns of several atoms, since rules 9 and 10
    move all other parts further down.
    """

    name = "FilterIntoMultiway"
    number = None
    patterns = (Op(Filter, Op(MultiwayPattern)),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        join = match.expressions[1].operator
        assert isinstance(join, MultiwayPattern)
        atoms = [set(binding) for binding in join.bindings]
        read = [{join.output[c] for c in p.columns} for p in predicate_of(match.root).conjuncts]
        among = any(
            variables and not any(variables <= atom for atom in atoms) for variables in read
        )
        return join.predicate is None and among

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        below = match.expressions[1]
        join = below.operator
        assert isinstance(join, MultiwayPattern)
        predicate = predicate_of(match.root).renumbered(dict(enumerate(join.output)))
        yield Expression(replace(join, predicate=predicate), below.inputs)


class ProjectIntoMultiway(TransformationRule):
    """π_p(S1 ⋈ .. ⋈_F Sn)  →  S1 ⋈ .. ⋈_F Sn with p's columns as output

    Always valid: the columns of F need not be kept. A join without a residual is left to
    ProjectIntoPattern.
    """

    name = "ProjectIntoMultiway"
    number = None
    patterns = (Op(Project, Op(MultiwayPattern)),)
    promise = Promise.REDUCE

    def condition(self, match: Match, context: Context) -> bool:
        join = match.expressions[1].operator
        assert isinstance(join, MultiwayPattern)
        return join.predicate is not None

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        above, below = match.expressions
        assert isinstance(above.operator, Project)
        assert isinstance(below.operator, MultiwayPattern)
        output = tuple([below.operator.output[c] for c in above.operator.columns])
        yield Expression(replace(below.operator, output=output), below.inputs)
