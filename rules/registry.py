"""All rules, in the order of the thesis; a new tuple of objects for every optimizer."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from ..algebra.limits import DEFAULT_STEPS
from ..memo.pattern import Op
from .aggregate_rules import (
    AggregateOverValues,
    AggregatePartially,
    FilterAggregateTranspose,
    ProjectIntoAggregate,
)
from .anti_join_rules import (
    AntiJoinPatternTranspose,
    AntiJoinPatternTransposeInverse,
    AntiJoinUnionDistribute,
    AntiJoinUnionDistributeInverse,
    FilterAntiJoinTranspose,
    ProjectAntiJoinTranspose,
)
from .bound_rules import FilterIntoPath, JoinIntoPairs, JoinIntoPath, JoinsIntoPairs
from .concat_rules import ConcatToPattern, PathInline, PatternToConcat, UnionToConcat
from .eager_rules import AggregateBeforeJoin
from .existential_rules import ShortenPath
from .filter_rules import (
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
from .implementation import IMPLEMENTATIONS
from .left_join_rules import (
    FilterLeftJoinTranspose,
    LeftJoinPatternTranspose,
    LeftJoinPatternTransposeInverse,
    ProjectLeftJoinTranspose,
)
from .missing_rules import LeftJoinToPattern
from .multiway_rules import (
    FilterIntoMultiway,
    ForestToMultiway,
    MultiwayNest,
    PatternToMultiway,
    ProjectIntoMultiway,
)
from .path_rules import (
    AlternationToUnion,
    LabelToPath,
    PathOfLabel,
    SimplePathAsAnyPath,
    StarCompose,
    StarDecompose,
    UnionToAlternation,
)
from .pattern_rules import PatternAssociate, PatternAssociateInverse, PatternCommute
from .project_rules import FilterProjectTranspose, ProjectIntoPattern, ProjectMerge
from .repeat_rules import MergeRepeats
from .residual_rules import FilterIntoPattern, ProjectIntoFilteredPattern
from .rule import (
    DEFAULT_SETTINGS,
    ImplementationRule,
    NormalizationRule,
    Settings,
    TransformationRule,
)
from .scan_rules import (
    FilterWScanTranspose,
    FilterWScanTransposeInverse,
    WScanUnionTranspose,
    WScanUnionTransposeInverse,
)
from .shortest_rules import FilterIntoShortest
from .top_rules import TopOfEachPartition
from .trail_rules import TrailAlternationToUnion, TrailAsAnyPath
from .union_rules import (
    PatternUnionDistribute,
    PatternUnionDistributeInverse,
    UnionAssociate,
    UnionCommute,
)


class UnknownRuleError(ValueError):
    """A rule name does not exist; the message lists the existing names."""


def transformation_rules() -> tuple[TransformationRule, ...]:
    """Every transformation rule; positions are stable within a release."""
    return (
        UnionCommute(),
        UnionAssociate(),
        FilterIdempotent(),
        FilterMerge(),
        FilterSplit(),
        FilterUnionToOr(),
        OrToFilterUnion(),
        FilterSwap(),
        FilterUnionTranspose(),
        FilterUnionTransposeInverse(),
        PatternCommute(),
        PatternAssociate(),
        PatternAssociateInverse(),
        FilterPatternTransposeLeft(),
        FilterPatternTransposeLeftInverse(),
        FilterPatternTransposeRight(),
        FilterPatternTransposeRightInverse(),
        PatternUnionDistribute(),
        PatternUnionDistributeInverse(),
        FilterWScanTranspose(),
        FilterWScanTransposeInverse(),
        WScanUnionTranspose(),
        WScanUnionTransposeInverse(),
        ConcatToPattern(),
        PatternToConcat(),
        UnionToConcat(),
        AlternationToUnion(),
        UnionToAlternation(),
        PathOfLabel(),
        LabelToPath(),
        StarDecompose(),
        StarCompose(),
        PathInline(),
        SimplePathAsAnyPath(),
        TrailAlternationToUnion(),
        TrailAsAnyPath(),
        FilterIntoShortest(),
        ProjectMerge(),
        FilterProjectTranspose(),
        ProjectIntoPattern(),
        FilterIntoPattern(),
        ProjectIntoFilteredPattern(),
        FilterIntoPath(),
        JoinIntoPath(),
        JoinIntoPairs(),
        JoinsIntoPairs(),
        PatternToMultiway(),
        MultiwayNest(),
        FilterIntoMultiway(),
        ProjectIntoMultiway(),
        ForestToMultiway(),
        FilterAntiJoinTranspose(),
        AntiJoinPatternTranspose(),
        AntiJoinPatternTransposeInverse(),
        ProjectAntiJoinTranspose(),
        FilterLeftJoinTranspose(),
        ProjectLeftJoinTranspose(),
        LeftJoinPatternTranspose(),
        LeftJoinPatternTransposeInverse(),
        AntiJoinUnionDistribute(),
        AntiJoinUnionDistributeInverse(),
        FilterAggregateTranspose(),
        ProjectIntoAggregate(),
        AggregateOverValues(),
        TopOfEachPartition(),
        AggregatePartially(),
        AggregateBeforeJoin(),
    )


def normalization_rules() -> tuple[NormalizationRule, ...]:
    """The rules that are applied before the search alone."""
    return (LeftJoinToPattern(), MergeRepeats(), ShortenPath())


def implementation_rules(
    settings: Settings = DEFAULT_SETTINGS,
) -> tuple[ImplementationRule[Any], ...]:
    """Every implementation rule, under the settings of a search."""
    return tuple(rule(settings) for rule in IMPLEMENTATIONS.values())


def implementations_by_operator(
    parallelism: int = 1,
    simple_budget: int = DEFAULT_STEPS,
    period: int | None = None,
) -> dict[type, tuple[ImplementationRule[Any], ...]]:
    """The implementation rules for a number of partitions, by the logical operator they compute."""
    by_operator: dict[type, tuple[ImplementationRule[Any], ...]] = {}
    for rule in implementation_rules(Settings(parallelism, simple_budget, period)):
        by_operator[rule.operator] = (*by_operator.get(rule.operator, ()), rule)
    return by_operator


def enabled_rules(disabled: Collection[str] = ()) -> tuple[TransformationRule, ...]:
    """The transformation rules without the disabled ones.

    Raises:
        UnknownRuleError: if neither a transformation nor a normalization has one of the names.
    """
    rules = transformation_rules()
    names = {rule.name for rule in rules} | {rule.name for rule in normalization_rules()}
    for name in disabled:
        if name not in names:
            close = get_close_matches(name, sorted(names), 1)
            meant = f"; did you mean {close[0]}?" if close else ";"
            raise UnknownRuleError(f"no rule {name!r}{meant} there are: {', '.join(sorted(names))}")
    return tuple(rule for rule in rules if rule.name not in disabled)


def idle_rules(
    absent: Collection[type],
    *,
    cycles: bool = True,
    partitions: bool = True,
    retractions: bool = True,
) -> frozenset[str]:
    """The rules that cannot fire where operators of some types never occur, nor ``cycles``, and
    that are of no use without several ``partitions``, or if no ``retractions`` are read."""
    without = frozenset(absent)

    def can_match(pattern: Op) -> bool:
        return without.isdisjoint({pattern.of_type, *pattern.inner_types})

    return frozenset(
        rule.name
        for rule in transformation_rules()
        if rule.makes in without
        or (rule.needs_cycle and not cycles)
        or (rule.needs_partitions and not partitions)
        or (rule.needs_retractions and not retractions)
        or not any(map(can_match, rule.patterns))
    )
