"""Path expressions during parsing: a regex with a bounded size.

Bounded repeats are expanded during parsing, so a short text can denote a huge regex. The functions
here refuse an expression beyond the bounds before building it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...algebra import regex
from ...algebra.regex import Regex
from ..query.atoms import Location
from ..query.errors import QueryError, line_of

MOST_STEPS = 512
"""The largest number of steps of a path expression, with bounded repeats expanded."""
MOST_DEPTH = 200
"""The deepest nesting; an optional tail adds two levels, so ``a{0,n}`` is 2n deep."""


@dataclass(frozen=True, slots=True)
class PathExpression:
    """A regex over labels during parsing.

    Attributes:
        regex: the regular expression.
        at: the place in the text, if any.
        steps: the number of steps.
        depth: the depth of nesting.
        warnings: the warnings of the expression.
        leaves: the steps that are not single labels, by name, in the form of the language.
    """

    regex: Regex
    at: Location | None = None
    steps: int = 1
    depth: int = 1
    warnings: tuple[str, ...] = ()
    leaves: tuple[tuple[str, Any], ...] = ()

    def apply(self, operation: Callable[[Regex], Regex]) -> PathExpression:
        """The expression under a star, plus, optional or inverse.

        Raises:
            QueryError: E-SIZE beyond :data:`MOST_DEPTH`.
        """
        _check_size(self.steps, self.depth + 1, self.at)
        return replace(self, regex=operation(self.regex), depth=self.depth + 1)

    def repeat(self, least: int, most: int | None, at: Location) -> PathExpression:
        """The expression under ``{least,most}``, written at ``at``; ``most`` None is unbounded.

        Raises:
            QueryError: E-SIZE beyond :data:`MOST_STEPS` or :data:`MOST_DEPTH`.
        """
        shown = f"{{{least},{'' if most is None else most}}}"
        steps = self.steps * max(least, most or 0, 1)
        depth = self.depth + 2 * max((most or 0) - least, 0) + 1
        if steps > MOST_STEPS or depth > MOST_DEPTH:
            raise QueryError(
                "E-SIZE",
                f"written out, the repeat has more than {MOST_STEPS} steps, "
                f"or more than {MOST_DEPTH // 2} of them optional",
                at=at,
                text=shown,
                hint="use * or + where any number of steps will do",
            )
        warnings = self.warnings
        if most is not None and most < least:
            reason = "no path fits: the upper bound is below the lower one"
            warnings = (*warnings, line_of("W-EMPTY", at, shown, reason))
        written_out = regex.repeat(self.regex, least, most)
        return PathExpression(written_out, self.at, steps, depth, warnings, self.leaves)


def joined(
    join: Callable[[Iterable[Regex]], Regex], parts: Sequence[PathExpression]
) -> PathExpression:
    """The concatenation or alternation of ``parts``.

    Raises:
        QueryError: E-SIZE beyond :data:`MOST_STEPS` or :data:`MOST_DEPTH`.
    """
    steps, depth = sum(part.steps for part in parts), max(part.depth for part in parts) + 1
    _check_size(steps, depth, parts[0].at)
    warnings = tuple(warning for part in parts for warning in part.warnings)
    whole = join(part.regex for part in parts)
    leaves = tuple(leaf for part in parts for leaf in part.leaves)
    return PathExpression(whole, parts[0].at, steps, depth, warnings, leaves)


def _check_size(steps: int, depth: int, at: Location | None) -> None:
    if steps > MOST_STEPS or depth > MOST_DEPTH:
        raise QueryError(
            "E-SIZE",
            f"the path expression has more than {MOST_STEPS} steps, "
            f"or is nested more than {MOST_DEPTH} deep",
            at=at,
            hint="derive parts of it in rules of their own, and use these as labels",
        )
