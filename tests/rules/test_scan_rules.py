"""Rules 11 to 13: joins over unions, and what moves through windowed scans."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import LogicalExpression, Pattern, WScan, WScanUnion
from headrace.algebra.predicate import Predicate
from headrace.algebra.window import Window
from headrace.rules.rule import TransformationRule
from headrace.rules.scan_rules import (
    FilterWScanTranspose,
    FilterWScanTransposeInverse,
    WScanUnionTranspose,
    WScanUnionTransposeInverse,
)
from headrace.rules.union_rules import PatternUnionDistribute, PatternUnionDistributeInverse
from tests.rules.bench import apply, scan
from tests.rules.test_filter_rules import chained, union, where

A, B, C = scan("a"), scan("b"), scan("c")
K, L = (LogicalExpression(WScan("g", label, None)) for label in "kl")
"""Labels of a stored graph."""


def selecting(label: str, sql: str) -> LogicalExpression:
    return LogicalExpression(WScan("s", label, Window(10), Predicate(sql)))


def several(*scans: LogicalExpression) -> LogicalExpression:
    leaves = [e.operator for e in scans]
    return LogicalExpression(WScanUnion(tuple(s for s in leaves if isinstance(s, WScan))))


FIRES: list[tuple[TransformationRule, LogicalExpression, LogicalExpression]] = [
    (
        PatternUnionDistributeInverse(),
        union(chained(A, C), chained(B, C)),
        chained(union(A, B), C),
    ),
    (
        PatternUnionDistributeInverse(),
        union(chained(C, A), chained(C, B)),
        chained(C, union(A, B)),
    ),
    (FilterWScanTranspose(), selecting("a", "c0 = 1"), where("c0 = 1", A)),
    (FilterWScanTransposeInverse(), where("1 = c0", A), selecting("a", "c0 = 1")),
    (
        FilterWScanTransposeInverse(),
        where("c0 = 1", selecting("a", "c1 = 2")),
        selecting("a", "c0 = 1 AND c1 = 2"),
    ),
    (WScanUnionTranspose(), several(B, A), union(A, B)),
    (WScanUnionTranspose(), several(C, B, A), union(A, several(B, C))),
    (WScanUnionTransposeInverse(), union(A, B), several(A, B)),
    (WScanUnionTransposeInverse(), union(several(A, B), C), several(A, B, C)),
    (WScanUnionTransposeInverse(), union(C, several(A, B)), several(A, B, C)),
    (
        FilterWScanTransposeInverse(),
        where("c0 = 1", K),
        LogicalExpression(WScan("g", "k", None, Predicate("c0 = 1"))),
    ),
    (WScanUnionTransposeInverse(), union(K, L), several(K, L)),
    (WScanUnionTranspose(), several(K, L), union(K, L)),
    (
        WScanUnionTransposeInverse(),
        union(several(A, B), several(B, selecting("c", "c0 = c1"))),
        several(A, B, selecting("c", "c1 = c0")),
    ),
]


@pytest.mark.parametrize(
    ("rule", "before", "after"), FIRES, ids=[f"{k}-{r.name}" for k, (r, _, _) in enumerate(FIRES)]
)
def test_it_makes(
    rule: TransformationRule, before: LogicalExpression, after: LogicalExpression
) -> None:
    assert apply(rule, before).found(after)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_join_over_a_union_falls_apart_where_a_part_is_shared(mirrored: bool) -> None:
    def joined(left: LogicalExpression) -> LogicalExpression:
        return chained(C, left) if mirrored else chained(left, C)

    whole = joined(union(A, B))
    assert apply(PatternUnionDistribute(), whole).results == (), "nothing is shared"
    shared = apply(PatternUnionDistribute(), whole, below=((joined(B),),))
    assert shared.found(union(joined(A), joined(B)))


DOES_NOT_FIRE: list[tuple[str, TransformationRule, LogicalExpression]] = [
    (
        "other columns are joined",
        PatternUnionDistributeInverse(),
        union(chained(A, C), LogicalExpression(Pattern(((0, 1), (2, 1)), (0, 1, 2)), (B, C))),
    ),
    ("nothing is shared", PatternUnionDistributeInverse(), union(chained(A, C), chained(B, A))),
    (
        "shared on different sides",
        PatternUnionDistributeInverse(),
        union(chained(A, C), chained(C, B)),
    ),
    ("no predicate", FilterWScanTranspose(), A),
    ("no scan below", FilterWScanTransposeInverse(), where("c0 = 1", union(A, B))),
    (
        "another range",
        WScanUnionTransposeInverse(),
        union(A, LogicalExpression(WScan("s", "b", Window(20)))),
    ),
    (
        "another slide",
        WScanUnionTransposeInverse(),
        union(A, LogicalExpression(WScan("s", "b", Window(10, 2)))),
    ),
    (
        "another stream, with an origin and delay of its own",
        WScanUnionTransposeInverse(),
        union(A, LogicalExpression(WScan("t", "b", Window(10)))),
    ),
    (
        "a stored graph has no window",
        WScanUnionTransposeInverse(),
        union(A, LogicalExpression(WScan("s", "b", None))),
    ),
    ("a scan of one label", WScanUnionTranspose(), A),
]


@pytest.mark.parametrize(
    ("why", "rule", "expression"),
    DOES_NOT_FIRE,
    ids=[f"{rule.name}: {why}" for why, rule, _ in DOES_NOT_FIRE],
)
def test_it_leaves_alone(why: str, rule: TransformationRule, expression: LogicalExpression) -> None:
    assert apply(rule, expression).results == (), why


def test_a_scan_of_several_labels_is_sorted_and_has_none_twice() -> None:
    double = several(B, A, B).operator.canonical(())[0]
    assert double == several(A, B).operator
    assert several(A, A).operator.canonical(())[0] == A.operator


def test_a_scan_has_one_window() -> None:
    with pytest.raises(ValueError, match="one stream, window and set of columns"):
        several(A, LogicalExpression(WScan("s", "b", Window(20))))
    with pytest.raises(ValueError, match="one stream, window and set of columns"):
        several(A)
    with pytest.raises(ValueError, match="one stream, window and set of columns"):
        several(A, LogicalExpression(WScan("s", "b", Window(10), properties=("p",))))


def test_a_scan_gives_a_property_once() -> None:
    assert WScan("s", "a", Window(20), properties=("p", "ts")).width(()) == 4
    with pytest.raises(ValueError, match="a property once"):
        WScan("s", "a", Window(20), properties=("p", "p"))
