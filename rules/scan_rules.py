"""Rules 12 and 13: predicates and unions move through windowed scans.

The source of a scan is written into its leaf: :class:`headrace.algebra.logical.WScan` with a
predicate is W(σ_F(S)), :class:`headrace.algebra.logical.WScanUnion` is W(S1 ∪ S2). The reader of
the source computes the operator below the window, in Spark SQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..algebra.logical import Filter, Union, WScan, WScanUnion
from ..algebra.predicate import DEEPEST_MADE, MOST_PARTS, Predicate
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op
from .filter_rules import predicate_of
from .rule import Context, Promise, TransformationRule


class FilterWScanTranspose(TransformationRule):
    """W(σ_F(S))  →  σ_F(W(S))

    Thesis rule 12, left to right. F must not read the ts or exp that the window computes; a
    predicate has no column for them. A scan of a stream with deletions selects by source and
    target alone, which a deletion carries too.
    """

    name = "FilterWScanTranspose"
    number = 12
    patterns = (Op(WScan),)
    promise = Promise.COMPOSE
    redundant = frozenset({"FilterWScanTransposeInverse"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return _scan(expression).predicate is not None

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        scan = _scan(match.root)
        assert scan.predicate is not None
        yield Expression(Filter(scan.predicate), (Expression(scan.unfiltered),))


class FilterWScanTransposeInverse(TransformationRule):
    """σ_F(W(S))  →  W(σ_F(S))

    Thesis rule 12, right to left, under the same conditions. A scan that selects already,
    W(σ_G(S)), selects by both then.
    """

    name = "FilterWScanTransposeInverse"
    number = 12
    patterns = (Op(Filter, Op(WScan)),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"FilterWScanTranspose"})

    def condition(self, match: Match, context: Context) -> bool:
        both = _both(match)
        small = len(both.conjuncts) <= MOST_PARTS and both.nesting <= DEEPEST_MADE
        return small and _scan(match.expressions[1]).selects_by(both)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield Expression(replace(_scan(match.expressions[1]), predicate=_both(match)))


class WScanUnionTranspose(TransformationRule):
    """W(S1 ∪ S2)  →  W(S1) ∪ W(S2)

    Thesis rule 13, left to right. Always valid. A longer union is split after its first part.
    """

    name = "WScanUnionTranspose"
    number = 13
    patterns = (Op(WScanUnion),)
    promise = Promise.DECOMPOSE
    redundant = frozenset({"WScanUnionTransposeInverse"})

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        first, *rest = _scans(match.root)
        other = rest[0] if len(rest) == 1 else WScanUnion(tuple(rest))
        yield Expression(Union(), (Expression(first), Expression(other)))


class WScanUnionTransposeInverse(TransformationRule):
    """W(S1) ∪ W(S2)  →  W(S1 ∪ S2)

    Thesis rule 13, right to left, for scans of one stream, which have one origin and delay,
    of one window (range and slide) and with equal columns. A UNION below WSCAN never
    coalesces: each edge that it reads becomes a row. Not for streams with deletions.
    """

    name = "WScanUnionTransposeInverse"
    number = 13
    patterns = (
        Op(Union, Op(WScan), Op(WScan)),
        Op(Union, Op(WScanUnion), Op(WScan)),
        Op(Union, Op(WScan), Op(WScanUnion)),
        Op(Union, Op(WScanUnion), Op(WScanUnion)),
    )
    promise = Promise.COMPOSE
    redundant = frozenset({"WScanUnionTranspose"})

    def condition(self, match: Match, context: Context) -> bool:
        scans = [scan for e in match.expressions[1:] for scan in _scans(e)]
        same = all(scans[0].reads_with(scan) for scan in scans)
        return same and len(scans) <= MOST_PARTS

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield Expression(WScanUnion(tuple(s for e in match.expressions[1:] for s in _scans(e))))


def _both(match: Match) -> Predicate:
    """The predicate of a FILTER, and that of the scan below."""
    scanned = _scan(match.expressions[1]).predicate
    return Predicate.all_of([predicate_of(match.root)] + ([scanned] if scanned else []))


def _scans(expression: GroupExpression) -> tuple[WScan, ...]:
    operator: Any = expression.operator
    assert isinstance(operator, WScan | WScanUnion)
    return operator.scans


def _scan(expression: GroupExpression) -> WScan:
    operator: Any = expression.operator
    assert isinstance(operator, WScan)
    return operator
