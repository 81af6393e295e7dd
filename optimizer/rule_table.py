"""The transformation rules of one search, numbered, with the masks that they leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ..memo import GroupExpression
from ..memo.pattern import Op
from ..rules.registry import enabled_rules
from ..rules.rule import TransformationRule
from .events import RuleStatistics
from .options import Options


@dataclass(frozen=True)
class RuleEntry:
    """A rule of this search with its numbers.

    Attributes:
        index: the number of the rule.
        rule: the rule itself.
        patterns: its patterns, each with a number, under which match cursors are kept.
        redundant: the mask of the rules that find nothing new on a result.
        excluded: the mask of the rules that are not applied to the expressions that the rule adds.
        inherited: the mask of the rules that, if masked on the rewritten expression, are masked on
            the expressions that the rule adds.
        subsumed: whether other rules find every result of the rule, unless a relation occurs twice.
        statistics: counts of the rule in this search.
    """

    index: int
    rule: TransformationRule
    patterns: tuple[tuple[int, Op], ...]
    redundant: int = 0
    excluded: int = 0
    inherited: int = 0
    subsumed: bool = False
    statistics: RuleStatistics = field(default_factory=RuleStatistics)
    _positions: dict[tuple[type, int], tuple[int, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def bit(self) -> int:
        """The mask of this rule alone."""
        return 1 << self.index

    @cached_property
    def inner_types(self) -> frozenset[type]:
        """The types of members that some pattern looks for below the root."""
        return frozenset().union(*(pattern.inner_types for _, pattern in self.patterns))

    def looks_into(self, expression: GroupExpression) -> tuple[int, ...]:
        """The inputs of an expression whose members some pattern looks at."""
        operator, arity = key = type(expression.operator), len(expression.inputs)
        positions = self._positions.get(key)
        if positions is None:
            fitting = [p for _, p in self.patterns if p.of_type is operator]
            looked_into = frozenset[int]().union(*(p.looks_into(arity) for p in fitting))
            positions = self._positions[key] = tuple(sorted(looked_into))
        return positions


class RuleTable:
    """The enabled rules in the order of the registry.

    Raises:
        rules.registry.UnknownRuleError: if the options disable a rule that does not exist.
    """

    def __init__(self, options: Options) -> None:
        rules = enabled_rules(options.disabled_rules)
        bit = {rule.name: 1 << k for k, rule in enumerate(rules)}

        def mask(names: frozenset[str]) -> int:
            return sum(bit.get(name, 0) for name in names)

        entries: list[RuleEntry] = []
        slot = 0
        for k, rule in enumerate(rules):
            patterns = tuple(enumerate(rule.patterns, start=slot))
            slot += len(patterns)
            by = rule.subsumed_by
            entries.append(
                RuleEntry(
                    k,
                    rule,
                    patterns,
                    redundant=mask(rule.redundant) if options.duplicate_free else 0,
                    excluded=mask(rule.excluded),
                    inherited=mask(rule.inherited),
                    subsumed=options.duplicate_free and bool(by) and by <= bit.keys(),
                )
            )
        self.entries = tuple(entries)
        self._by_name = {entry.rule.name: entry for entry in entries}
        self._by_operator: dict[type, tuple[RuleEntry, ...]] = {}

    @property
    def statistics(self) -> dict[str, RuleStatistics]:
        """The statistics of each rule, by its name."""
        return {entry.rule.name: entry.statistics for entry in self.entries}

    def matching(self, operator: type) -> tuple[RuleEntry, ...]:
        """The rules with a pattern whose root has the operator type, least promising first."""
        entries = self._by_operator.get(operator)
        if entries is None:
            fitting = [e for e in self.entries if any(p.of_type is operator for _, p in e.patterns)]
            entries = tuple(sorted(fitting, key=lambda e: (e.rule.promise, -e.index)))
            self._by_operator[operator] = entries
        return entries

    def mask_of_new(self, expression: GroupExpression) -> int:
        """The mask of a new expression that follows from the rule that made it."""
        entry = self._by_name.get(expression.rule)
        if entry is None:
            return 0
        source = expression.source
        return entry.excluded | (0 if source is None else source.masked & entry.inherited)
