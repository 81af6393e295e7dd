"""Rules 2 to 6, 9 and 10: what they make, and when they do not apply."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import Filter, LogicalExpression, Pattern, Union
from headrace.algebra.predicate import MOST_PARTS, Predicate
from headrace.rules.filter_rules import (
    FilterIdempotent,
    FilterMerge,
    FilterPatternTransposeLeft,
    FilterPatternTransposeLeftInverse,
    FilterPatternTransposeRight,
    FilterPatternTransposeRightInverse,
    FilterSplit,
    FilterSwap,
    FilterUnionToOr,
    FilterUnionTranspose,
    FilterUnionTransposeInverse,
    OrToFilterUnion,
)
from headrace.rules.rule import TransformationRule
from tests.rules.bench import apply, scan

A, B, C = scan("a"), scan("b"), scan("c")


def where(sql: str, below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Filter(Predicate(sql)), (below,))


def union(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Union(), (left, right))


def chained(
    left: LogicalExpression, right: LogicalExpression, output: tuple[int, ...] = (0, 1, 2)
) -> LogicalExpression:
    """left(0,1) ⋈ right(1,2)."""
    return LogicalExpression(Pattern(((0, 1), (1, 2)), output), (left, right))


AB = chained(A, B)

FIRES: list[tuple[TransformationRule, LogicalExpression, LogicalExpression]] = [
    (FilterIdempotent(), where("c0 = c1", where("c1 = c0", A)), where("c0 = c1", A)),
    (
        FilterIdempotent(),
        where("c0 = 1", where("c0 = 1 AND c1 = 2", A)),
        where("c1 = 2 AND c0 = 1", A),
    ),
    (FilterMerge(), where("c0 = 1", where("c1 = 2", A)), where("c0 = 1 AND c1 = 2", A)),
    # What fits some input goes down, the rest stays.
    (
        FilterSplit(),
        where("c0 = c2 AND c0 = 1 AND c2 = 2", AB),
        where("c0 = c2", where("c0 = 1 AND c2 = 2", AB)),
    ),
    (
        FilterUnionToOr(),
        union(where("c0 = 1", A), where("c1 = 2", A)),
        where("c0 = 1 OR c1 = 2", A),
    ),
    (
        OrToFilterUnion(),
        where("c0 = 1 OR c2 = 2", AB),
        union(where("c0 = 1", AB), where("c2 = 2", AB)),
    ),
    (
        OrToFilterUnion(),
        where("c0 = 1 OR c0 = 2 OR c1 = 3", A),
        union(where("c0 = 1", A), where("c0 = 2 OR c1 = 3", A)),
    ),
    (FilterSwap(), where("c0 = 1", where("c1 = 2", A)), where("c1 = 2", where("c0 = 1", A))),
    (
        FilterUnionTranspose(),
        where("c0 = 1", union(A, B)),
        union(where("c0 = 1", A), where("c0 = 1", B)),
    ),
    (
        FilterUnionTransposeInverse(),
        union(where("c0 = 1 AND c1 = 2", A), where("c1 = 2 AND c0 = 1", B)),
        where("c0 = 1 AND c1 = 2", union(A, B)),
    ),
    (FilterPatternTransposeLeft(), where("c0 = 1", AB), chained(where("c0 = 1", A), B)),
    (FilterPatternTransposeLeft(), where("c0 <> c1", AB), chained(where("c0 <> c1", A), B)),
    (FilterPatternTransposeRight(), where("c2 = 1", AB), chained(A, where("c1 = 1", B))),
    # A column's position below follows from its variable, not from its position above.
    (
        FilterPatternTransposeRight(),
        where("c0 = 1", chained(A, B, (2, 0))),
        chained(A, where("c1 = 1", B), (2, 0)),
    ),
    # A predicate on the join variable goes to both sides.
    *(
        (rule, where("c1 = 5", AB), chained(where("c1 = 5", A), where("c0 = 5", B)))
        for rule in (FilterPatternTransposeLeft(), FilterPatternTransposeRight())
    ),
    (
        FilterPatternTransposeLeft(),
        where("c0 = 1 AND c2 = 2", AB),
        chained(where("c0 = 1", A), where("c1 = 2", B)),
    ),
    (FilterPatternTransposeLeftInverse(), chained(where("c0 = 1", A), B), where("c0 = 1", AB)),
    (
        FilterPatternTransposeLeftInverse(),
        chained(where("c0 = 1", A), where("c1 = 2", B)),
        where("c0 = 1 AND c2 = 2", AB),
    ),
    (FilterPatternTransposeRightInverse(), chained(A, where("c1 = 1", B)), where("c2 = 1", AB)),
]


@pytest.mark.parametrize(
    ("rule", "before", "after"), FIRES, ids=[f"{k}-{r.name}" for k, (r, _, _) in enumerate(FIRES)]
)
def test_it_makes(
    rule: TransformationRule, before: LogicalExpression, after: LogicalExpression
) -> None:
    below = ((before.inputs[0],),) if before.inputs else ()
    assert apply(rule, before, below=below).found(after)


MANY = " OR ".join(f"c0 = {k}" for k in range(MOST_PARTS))

DOES_NOT_FIRE: list[tuple[str, TransformationRule, LogicalExpression]] = [
    ("other predicates", FilterIdempotent(), where("c0 = 1", where("c0 = 2", A))),
    ("the outer one says more", FilterIdempotent(), where("c0 = 1 AND c1 = 2", where("c0 = 1", A))),
    ("implied: that is rule 2", FilterMerge(), where("c0 = 1", where("c0 = 1", A))),
    ("one conjunct", FilterSplit(), where("c0 = c2", AB)),
    ("all of it fits", FilterSplit(), where("c0 = 1 AND c2 = 2", AB)),
    ("none of it fits", FilterSplit(), where("c0 = c2 AND c0 <> c2", AB)),
    ("no join below", FilterSplit(), where("c0 = 1 AND c1 = 2", A)),
    ("different inputs", FilterUnionToOr(), union(where("c0 = 1", A), where("c1 = 2", B))),
    ("too many parts", FilterUnionToOr(), union(where(MANY, A), where("c1 = 2", A))),
    ("the whole fits", OrToFilterUnion(), where("c0 = 1 OR c0 = 2", AB)),
    ("no part fits", OrToFilterUnion(), where("c0 = c2 OR c2 < c0", AB)),
    ("no equalities", OrToFilterUnion(), where("c0 = 1 OR c1 > 2", A)),
    ("one disjunct", OrToFilterUnion(), where("c0 = 1 AND c1 = 2", A)),
    ("equal predicates", FilterSwap(), where("c0 = 1", where("c0 = 1", A))),
    ("no union below", FilterUnionTranspose(), where("c0 = 1", A)),
    (
        "different predicates",
        FilterUnionTransposeInverse(),
        union(where("c0 = 1", A), where("c0 = 2", B)),
    ),
    ("columns of both", FilterPatternTransposeLeft(), where("c0 = c2", AB)),
    ("columns of B", FilterPatternTransposeLeft(), where("c2 = 1", AB)),
    ("columns of both", FilterPatternTransposeRight(), where("c0 = c2", AB)),
    ("columns of A", FilterPatternTransposeRight(), where("c0 = 1", AB)),
    ("no column at all", FilterPatternTransposeLeft(), where("FALSE", AB)),
    (
        "the join drops the column",
        FilterPatternTransposeLeftInverse(),
        chained(where("c0 = 1", A), B, (1, 2)),
    ),
    (
        "the join drops the column",
        FilterPatternTransposeRightInverse(),
        chained(A, where("c1 = 1", B), (0, 1)),
    ),
    (
        "A is filtered too",
        FilterPatternTransposeRightInverse(),
        chained(where("c0 = 1", A), where("c1 = 1", B)),
    ),
    (
        "an input is a join, and the memo has no unfiltered one",
        FilterPatternTransposeLeftInverse(),
        chained(where("c0 = 1", A), chained(B, C, (0, 2))),
    ),
]


@pytest.mark.parametrize(
    ("why", "rule", "expression"),
    DOES_NOT_FIRE,
    ids=[f"{rule.name}: {why}" for why, rule, _ in DOES_NOT_FIRE],
)
def test_it_leaves_alone(why: str, rule: TransformationRule, expression: LogicalExpression) -> None:
    assert apply(rule, expression).results == (), why


def test_a_filter_leaves_any_join_that_the_memo_has_without_it() -> None:
    rest = chained(B, C, (0, 2))
    whole = chained(where("c0 = 1", A), rest)
    done = apply(FilterPatternTransposeLeftInverse(), whole, below=((chained(A, rest),),))
    assert done.found(where("c0 = 1", chained(A, rest)))


def test_a_filter_that_is_its_own_input_is_gone() -> None:
    done = apply(FilterIdempotent(), where("c0 = 1", where("c0 = 1", A)))
    assert len(done.memo.group(done.group).expressions) == 1
    assert done.memo.merges == 1


def test_a_filter_that_is_always_true_is_its_input() -> None:
    done = apply(FilterSwap(), where("1 < 2 OR c1 = 2", A))
    assert done.found(A)
