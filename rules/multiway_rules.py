"""Joins of three or more atoms at once. Not in the thesis, whose PATTERN operator is binary.

A tree of binary joins holds and emits the rows of every join in it. Where the atoms form a cycle,
such as a triangle, these can be many more than the results. A multiway join holds the atoms alone.

Atoms without a cycle have a join at once only where every binary join of them reads large
intermediate results (:mod:`headrace.optimizer.intermediates`). Elsewhere some tree of binary joins
holds little more than the atoms, and another expression would only make the search longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..algebra.joins import is_connected, is_cyclic, join_variables
from ..algebra.logical import Filter, MultiwayPattern, Pattern, Project
from ..memo import Expression, GroupId, Tree
from ..memo.pattern import Match, Op, Var
from .filter_rules import predicate_of
from .rule import Context, Promise, TransformationRule

MOST_ATOMS = 12
"""The most atoms of a part of a pattern that rules join at once; a whole pattern may have more."""
MOST_NESTED = 5
"""The most atoms of a multiway join of which two are joined first: a cycle of n atoms has about 2^n
such forms."""


class PatternToMultiway(TransformationRule):
    """A ⋈ B  →  S1 ⋈ S2 ⋈ .. ⋈ Sn, all atoms below the joins at once

    Always valid. Applied where the atoms are connected and form a cycle, and each shares one or two
    variables with others. All expressions of a group have the same atoms, so the first match
    suffices. It comes before the joins are reordered, so that a search that is cut has it.
    """

    name = "PatternToMultiway"
    number = None
    patterns = (Op(Pattern, Var("a"), Var("b")),)
    promise = Promise.COMPOSE
    makes = MultiwayPattern
    needs_cycle = True

    def condition(self, match: Match, context: Context) -> bool:
        return not _has_join_at_once(match, context)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        joined = _joined_at_once(match, context)
        if joined is not None and is_cyclic(joined.operator.bindings):
            yield Expression(joined.operator, joined.inputs)


class ForestToMultiway(TransformationRule):
    """A ⋈ B  →  S1 ⋈ S2 ⋈ .. ⋈ Sn, all atoms below the joins at once, without a cycle

    Always valid. Applied where each binary join of the group reads large intermediate results, and
    none of their trees is surely cheaper. The group's joins have to be there for that, so the rule
    is the last one.
    """

    name = "ForestToMultiway"
    number = None
    patterns = (Op(Pattern, Var("a"), Var("b")),)
    promise = Promise.LAST
    makes = MultiwayPattern

    def condition(self, match: Match, context: Context) -> bool:
        if _has_join_at_once(match, context):
            return False
        large = context.intermediates
        return large is None or large.are_large(match.root.group)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        joined = _joined_at_once(match, context)
        if joined is None or is_cyclic(joined.operator.bindings):
            return
        large = context.intermediates
        if large is None or large.may_pay(match.root.group, joined.operator, joined.inputs):
            yield Expression(joined.operator, joined.inputs)


@dataclass(frozen=True, slots=True)
class _JoinedAtOnce:
    """A join of all atoms of a group, and the groups that it reads."""

    operator: MultiwayPattern
    inputs: tuple[GroupId, ...]


def _has_join_at_once(match: Match, context: Context) -> bool:
    members = context.memo.group(match.root.group).members(MultiwayPattern)
    operators = (member.operator for member in members)
    return any(isinstance(o, MultiwayPattern) and o.predicate is None for o in operators)


def _joined_at_once(match: Match, context: Context) -> _JoinedAtOnce | None:
    """The join of all atoms below a join; None if they are too few or too many, or not eligible."""
    join = match.root.operator
    assert isinstance(join, Pattern)
    flat = context.columns.atoms(join.bindings, join.output, match.root.inputs)
    bindings = tuple([variables for _, variables in flat.atoms])
    if not 3 <= len(bindings) <= MOST_ATOMS or not can_join_at_once(bindings):
        return None
    inputs = tuple([relation for relation, _ in flat.atoms])
    reads = tuple(range(len(inputs)))
    operator, used = MultiwayPattern(reads, bindings, flat.columns).canonical(inputs)
    assert isinstance(operator, MultiwayPattern)
    return _JoinedAtOnce(operator, used)


class MultiwayNest(TransformationRule):
    """S1 ⋈ S2 ⋈ .. ⋈ Sn  →  (S1 ⋈ S2) ⋈ .. ⋈ Sn, two atoms as one

    Always valid. Applied to two atoms that alone have some variable, where the other atoms and the
    joined one still form a cycle. Their join drops the variable if the result does not keep it.
    """

    name = "MultiwayNest"
    number = None
    patterns = (Op(MultiwayPattern),)
    promise = Promise.REORDER
    needs_cycle = True

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
    if not (can_join_at_once(bindings) and is_cyclic(bindings)):
        return None
    inputs = (_PAIR, *(groups[join.reads[k]] for k in others))
    whole = MultiwayPattern(tuple(range(len(inputs))), bindings, join.output)
    operator, used = whole.canonical(inputs)
    inner = Expression(context.same(Pattern(of_pair, kept)), read)
    return Expression(operator, tuple([inner if i == _PAIR else i for i in used]))


_PAIR = -1
"""Stands for the group of a join that may not be in the memo yet."""


def can_join_at_once(bindings: Sequence[tuple[int, ...]]) -> bool:
    """Whether atoms are connected, and each shares one or two variables."""
    shared = join_variables(bindings)
    few = all(1 <= len(shared.intersection(b)) <= 2 for b in bindings)
    return few and is_connected(bindings)


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
