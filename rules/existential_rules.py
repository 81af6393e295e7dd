"""A rule about ends of paths that nothing reads. Not in the thesis.

Such an end is existential: of all paths from a vertex it only counts that there is one. A path
begins with shorter paths, valid at the same instants, so the shortest words suffice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..algebra import regex
from ..algebra.logical import Filter, LogicalExpression, Path, Pattern, Project, Trail
from ..algebra.regex import Regex


class ShortenPath:
    """A ⋈ P[r·s*](S)  →  A ⋈ P[r](S) where no other input and no output reads the target

    And so for the source, and for a projection to one end. Always valid, for all path semantics: a
    word is dropped where a shorter word of the path begins (or ends, for the source) it, and the
    edges of the shorter path are among those of the longer one. Applied where the shorter words
    read the same inputs, since a query reads the same streams in all of its plans. The path may be
    below filters of the other end.

    A rule of normalization: the shorter path is never more expensive. In the memo it would make a
    join equal to a part of itself, and rules over such joins have no end.
    """

    name = "ShortenPath"

    def rewritten(self, expression: LogicalExpression) -> LogicalExpression:
        """The expression with shorter paths as inputs; the same object if none gets shorter."""
        operator, inputs = expression.operator, expression.inputs
        if isinstance(operator, Project):
            unread = [tuple(end not in operator.columns for end in (0, 1))]
        elif isinstance(operator, Pattern):
            uses = Counter(v for binding in operator.bindings for v in binding)
            uses.update(operator.output)
            unread = [tuple(uses[v] == 1 for v in binding) for binding in operator.bindings]
        else:
            return expression
        shorter = tuple(map(_shortened, inputs, unread))
        if all(new is old for new, old in zip(shorter, inputs, strict=True)):
            return expression
        return replace(expression, inputs=shorter)


def _shortened(path: LogicalExpression, unread: tuple[bool, ...]) -> LogicalExpression:
    """A path with the shortest words that its ends need; the same object if they are as short.

    The path may be below filters, which read ends too.
    """
    operator = path.operator
    if isinstance(operator, Filter):
        read = operator.predicate.columns
        below = _shortened(path.inputs[0], tuple(u and k not in read for k, u in enumerate(unread)))
        return path if below is path.inputs[0] else replace(path, inputs=(below,))
    if not isinstance(operator, Path | Trail):
        return path
    whole = short = regex.nonempty(operator.regex)
    for end in (0, 1):
        if unread[end]:
            shorter = _shortest(short, end)
            if set(regex.refs(shorter)) == set(regex.refs(whole)):
                short = shorter
    if short == whole:
        return path
    return replace(path, operator=replace(operator, regex=short))


def _shortest(r: Regex, end: int) -> Regex:
    if end == 1:
        return regex.beginnings(r)
    return regex.inverse(regex.beginnings(regex.inverse(r)))
