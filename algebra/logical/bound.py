"""PATH with bound sources, and the join that binds them (sideways information passing)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .. import notation, regex
from ..hashing import hashed_once
from ..notation import InputNames
from ..predicate import Predicate
from .base import I, LogicalOperator, PathSemantics, VertexPaths
from .patterns import Pattern, canonical_regex
from .rows import Empty


@hashed_once
@dataclass(frozen=True, slots=True)
class BoundPath(LogicalOperator):
    """P with bound sources, or bound pairs: some of the pairs of a PATH.

    No rule rewrites it: rules rewrite the PATH that it is made from.

    Attributes:
        regex: as in :class:`Path`. Over a relation of sources it begins with a symbol for the pairs
            (x, x) of these sources, so that a pair is valid while its source is. Of simple paths
            the source does not count as repeated by this step.
        semantics: which paths count.
        sources: the condition on ``c0`` that a source satisfies; None over a relation of sources.
        pairs: whether the last input, which the regex does not read, has the pairs of the result.
            A pair is valid while a path connects it and the input has it.
    """

    regex: regex.Regex
    semantics: VertexPaths = PathSemantics.ARBITRARY
    sources: Predicate | None = None
    pairs: bool = False

    op: ClassVar[str] = "PATH"
    names_inputs: ClassVar[bool] = True

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """As :meth:`Path.canonical`, the condition in its normal form.

        A relation of sources of simple paths stays an input of its own, read by the first symbol.
        """
        steps, pairs = (inputs[:-1], inputs[-1:]) if self.pairs else (inputs, ())
        alone = self.binds_simple
        words = behind_sources(self.regex) if alone else self.regex
        r, used = canonical_regex(words, steps[1:] if alone else steps)
        if r is None:
            return Empty(2), ()
        if alone:
            r, used = after_sources(r), (steps[0], *used)
        sources = None if self.sources is None else self.sources.normal
        return BoundPath(r, self.semantics, sources, self.pairs), (*used, *pairs)

    @property
    def binds_simple(self) -> bool:
        """Whether these are simple paths from a relation of sources."""
        return self.semantics is PathSemantics.SIMPLE and self.sources is None

    def width(self, inputs: Sequence[int]) -> int:
        return 2

    def arguments(self, names: InputNames) -> str:
        """``a·b+  simple  where src = 7``."""
        simple = "" if self.semantics is PathSemantics.ARBITRARY else f"  {self.semantics}"
        words = regex.text(self.regex, lambda ref: names.inputs[int(ref)])
        sql = None if self.sources is None else self.sources.sql
        of_pairs = notation.pairs(names.inputs[-1]) if self.pairs else ""
        return words + simple + notation.sources(sql) + of_pairs


def after_sources(r: regex.Regex) -> regex.Regex:
    """A regex over some inputs, after a symbol for the sources, which are a further first input."""
    steps = regex.substitute(r, lambda s: regex.Symbol(int(s.ref) + 1, s.inverse))
    return regex.concat([regex.Symbol(0), steps])


def behind_sources(r: regex.Regex) -> regex.Regex:
    """The regex of the steps behind the first symbol, which is the one for the sources."""
    assert isinstance(r, regex.Concat)
    steps = regex.concat(r.parts[1:])
    return regex.substitute(steps, lambda s: regex.Symbol(int(s.ref) - 1, s.inverse))


@hashed_once
@dataclass(frozen=True, slots=True)
class BoundPattern(Pattern):
    """⋈ of a relation with a path that the relation binds (:class:`BoundPath`), its second input.

    Where two relations bind a path, one of them is joined with the join of the other, and their
    product has the pairs of the path. BoundPattern means the same as PATTERN, but no rule rewrites
    it: rules reorder the PATTERN that it is made from.
    """

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """As :meth:`Pattern.canonical`."""
        form, inputs = Pattern.canonical(self, inputs)
        assert isinstance(form, Pattern)
        return BoundPattern(form.bindings, form.output, form.names), inputs
