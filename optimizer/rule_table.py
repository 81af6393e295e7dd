"""The rules of one search, numbered, with what is left out and what they did."""

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

    ``bit`` stands for it in the sets of an expression; ``needless``, ``bars`` and ``inherits``
    are such sets (:class:`headrace.rules.rule.TransformationRule`). ``patterns`` have a number
    each, under which marks are kept. ``spared`` says that other rules find what it finds, where no
    relation occurs twice.
    """

    index: int
    rule: TransformationRule
    patterns: tuple[tuple[int, Op], ...]
    needless: int = 0
    bars: int = 0
    inherits: int = 0
    spared: bool = False
    statistics: RuleStatistics = field(default_factory=RuleStatistics)

    @cached_property
    def bit(self) -> int:
        """The rule in a set of rules."""
        return 1 << self.index

    @cached_property
    def inner_types(self) -> frozenset[type]:
        """The types of members that some pattern looks for below the root."""
        return frozenset().union(*(pattern.inner_types for _, pattern in self.patterns))

    def looks_into(self, expression: GroupExpression) -> list[int]:
        """The inputs of an expression whose members some pattern looks at."""
        if not self.inner_types:
            return []
        arity, operator = len(expression.inputs), type(expression.operator)
        fitting = [p for _, p in self.patterns if p.of_type is operator]
        return sorted(frozenset().union(*(p.looks_into(arity) for p in fitting)))


def rule_table(options: Options) -> tuple[RuleEntry, ...]:
    """The enabled rules in the order of the registry.

    Raises:
        rules.registry.UnknownRuleError: if a rule is to be disabled that does not exist.
    """
    rules = enabled_rules(options.disabled_rules)
    index = {rule.name: k for k, rule in enumerate(rules)}

    def bits(names: frozenset[str]) -> int:
        return sum(1 << index[n] for n in names if n in index)

    entries: list[RuleEntry] = []
    slot = 0
    for k, rule in enumerate(rules):
        patterns = tuple((slot + n, pattern) for n, pattern in enumerate(rule.patterns))
        slot += len(patterns)
        entries.append(
            RuleEntry(
                k,
                rule,
                patterns,
                bits(rule.needless) if options.duplicate_free else 0,
                bits(rule.bars),
                bits(rule.inherits),
                options.duplicate_free and bool(rule.spared_by) and rule.spared_by <= index.keys(),
            )
        )
    return tuple(entries)
