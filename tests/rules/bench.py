"""A workbench for single rules: a memo with an expression in it, and one rule applied to all."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.algebra.logical import LogicalExpression, LogicalOperator
from headrace.memo import Expression, GroupExpression, Groups, Memo, Tree
from headrace.optimizer.algebra_operators import AlgebraOperators
from headrace.rules.rule import Context, TransformationRule


def tree(expression: LogicalExpression) -> Expression:
    """A logical expression in the form that the memo takes."""
    return Expression(expression.operator, tuple(tree(part) for part in expression.inputs))


@dataclass(frozen=True)
class Applied:
    """The result of one rule on one group: the yielded trees, and the memo afterwards."""

    memo: Memo
    group: int
    results: tuple[Tree, ...]

    def found(self, expression: LogicalExpression) -> bool:
        """Whether an expression is now in the group."""
        return self.memo.lookup(tree(expression)) == self.memo.find(self.group)

    @property
    def members(self) -> list[LogicalExpression]:
        """The expressions of the group, for people to read."""
        return [self._read(e) for e in self.memo.group(self.group).expressions]

    def _read(self, expression: GroupExpression) -> LogicalExpression:
        firsts = [self.memo.group(below).expressions[0] for below in expression.inputs]
        assert isinstance(expression.operator, LogicalOperator)
        return LogicalExpression(expression.operator, tuple(map(self._read, firsts)))


def apply(
    rule: TransformationRule | None,
    expression: LogicalExpression,
    *,
    below: tuple[tuple[LogicalExpression, ...], ...] = (),
    cross_products: bool = False,
    paths_of_labels: bool = True,
) -> Applied:
    """One rule (or none), applied once to an expression.

    Before that each tuple of ``below`` is put into a group of its own.
    """
    groups = Groups()
    algebra = AlgebraOperators(groups, paths_of_labels=paths_of_labels)
    memo = Memo(groups, algebra, (algebra.flat, algebra.times))
    for equal in below:
        first = memo.insert(tree(equal[0])).group
        for other in equal[1:]:
            memo.insert(tree(other), into=first)
    group = memo.insert(tree(expression)).group
    context = Context(memo, algebra.flat, cross_products=cross_products)
    results: list[Tree] = []
    if rule is not None:
        for member in list(memo.group(group).expressions):
            results += _apply(rule, member, context)
    memo.check()
    return Applied(memo, group, tuple(results))


def _apply(rule: TransformationRule, expression: GroupExpression, context: Context) -> list[Tree]:
    results: list[Tree] = []
    if any(p.of_type is type(expression.operator) for p in rule.patterns) and rule.considers(
        expression, context
    ):
        for slot, pattern in enumerate(rule.patterns):
            for match in rule.matches(pattern, slot, expression, context):
                if rule.condition(match, context):
                    for result in rule.rewrite(match, context):
                        context.memo.insert(result, expression.group, rule.name, expression)
                        results.append(result)
    return results
