"""Rules for repeats of a part of a path that stand side by side."""

from __future__ import annotations

from dataclasses import replace

from ..algebra import repeats
from ..algebra.logical import LogicalExpression, Path, Shortest, Trail


class MergeRepeats:
    """P[r?·r*](S)  →  P[r*](S), and so for other repeats of one part side by side

    Always valid, for all path semantics: both regexes have the same words.

    A rule of normalization: the shorter path is never more expensive. The memo would have an
    expression for each way to cut each of the regexes with these words.
    """

    name = "MergeRepeats"

    def rewritten(self, expression: LogicalExpression) -> LogicalExpression:
        """The path with repeats side by side as one; the same object if it has none."""
        operator = expression.operator
        if not isinstance(operator, Path | Trail | Shortest):
            return expression
        merged = repeats.as_one(operator.regex)
        if merged == operator.regex:
            return expression
        return replace(expression, operator=replace(operator, regex=merged))
