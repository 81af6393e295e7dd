"""Restricts an input by a condition, unless the condition holds for all of its rows already."""

from __future__ import annotations

from typing import Any

from ..algebra.logical import Filter, WScan
from ..algebra.predicate import Predicate
from ..memo import Expression, GroupId, Tree
from .filter_rules import predicate_of
from .rule import Context


def restricted(group: GroupId, predicate: Predicate, context: Context) -> Tree:
    """σ_F over a group, without the parts of F that all of its rows are known to satisfy.

    σ_F(σ_F(S)) would be a new group until rule 2 is applied to it. So a rule that restricts the
    same input once more at each application would go on for ever.
    """
    satisfied = _satisfied(group, context, set())
    parts = [part for part in predicate.conjuncts if part not in satisfied]
    return Expression(Filter(Predicate.all_of(parts)), (group,)) if parts else group


def _satisfied(group: GroupId, context: Context, above: set[GroupId]) -> set[Predicate]:
    """The conjuncts of the filters and scans that compute a group, outside the groups ``above``."""
    number = context.memo.find(group)
    satisfied: set[Predicate] = set()
    if number in above:
        return satisfied
    above.add(number)
    members = context.memo.group(number)
    for filtered in members.members(Filter):
        satisfied.update(predicate_of(filtered).conjuncts)
        satisfied |= _satisfied(filtered.inputs[0], context, above)
    for scanned in members.members(WScan):
        scan: Any = scanned.operator
        if scan.predicate is not None:
            satisfied.update(scan.predicate.conjuncts)
    return satisfied
