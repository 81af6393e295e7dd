"""PATH with bound sources, and the join that binds them (sideways information passing)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .. import notation, regex
from ..notation import InputNames
from ..predicate import Predicate
from .base import I, LogicalOperator, PathSemantics
from .patterns import Pattern, canonical_regex
from .rows import Empty


@dataclass(frozen=True, slots=True)
class BoundPath(LogicalOperator):
    """P with bound sources: the pairs of a PATH that start at one of some vertices.

    No rule rewrites it: rules rewrite the PATH that it is made from.

    Attributes:
        regex: as in :class:`Path`. Over a relation of sources it begins with a symbol for the pairs
            (x, x) of these sources, so that a pair is valid while its source is.
        semantics: which paths count.
        sources: the condition on ``c0`` that a source satisfies; None over a relation of sources.
    """

    regex: regex.Regex
    semantics: PathSemantics = PathSemantics.ARBITRARY
    sources: Predicate | None = None

    op: ClassVar[str] = "PATH"
    names_inputs: ClassVar[bool] = True

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """As :meth:`Path.canonical`, the condition in its normal form."""
        r, used = canonical_regex(self.regex, inputs)
        if r is None:
            return Empty(2), ()
        sources = None if self.sources is None else self.sources.normal
        return BoundPath(r, self.semantics, sources), used

    def width(self, inputs: Sequence[int]) -> int:
        return 2

    def arguments(self, names: InputNames) -> str:
        """``a·b+  simple  where src = 7``."""
        simple = "" if self.semantics is PathSemantics.ARBITRARY else f"  {self.semantics}"
        words = regex.text(self.regex, lambda ref: names.inputs[int(ref)])
        sql = None if self.sources is None else self.sources.sql
        return words + simple + notation.sources(sql)


@dataclass(frozen=True, slots=True)
class BoundPattern(Pattern):
    """⋈ of a relation with a path that the relation binds (:class:`BoundPath`), its second input.

    It means the same as PATTERN, but no rule rewrites it: rules reorder the PATTERN that it is made
    from.
    """

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """As :meth:`Pattern.canonical`."""
        form, inputs = Pattern.canonical(self, inputs)
        assert isinstance(form, Pattern)
        return BoundPattern(form.bindings, form.output, form.names), inputs
