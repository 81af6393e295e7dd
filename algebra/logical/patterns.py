"""Operators that combine inputs: PATTERN and PATH."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from .. import notation, regex
from ..combinations import RETRACTING, Feature, Form, declared
from ..hashing import hashed_once
from ..notation import InputNames
from ..predicate import Predicate
from ..remedy import Remedy
from .base import I, LogicalOperator, PathSemantics, VertexPaths
from .rows import Empty

JOINS = declared(Form("joins"))
ANY_PATHS = declared(Form("paths"))
SIMPLE_PATHS = declared(
    Form(
        "simple paths",
        refuses=RETRACTING | {Feature.SHORTEST},
        hint="let the path run over edges that are never deleted, and join it with other rules",
        remedy=Remedy("path_semantics", "ask for arbitrary paths", "arbitrary"),
    )
)


@hashed_once
@dataclass(frozen=True, slots=True)
class Pattern(LogicalOperator):
    """⋈: an equi-join on variables; validity is the intersection (Definition 33).

    ``bindings[k][j]`` is the variable that column ``j`` of input ``k`` is bound to and
    ``output`` the variables of the result. Variables are numbered by first occurrence in
    ``bindings``; no variable occurs twice in one input (that is a Filter below). In the
    canonical expression a PATTERN has as many inputs as its rule has atoms; in the memo
    it has two, and :class:`MultiwayPattern` has more. ``names`` are the variables' names in the
    query, for people to read.
    """

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)

    op: ClassVar[str] = "PATTERN"
    names_inputs: ClassVar[bool] = True

    @property
    def form(self) -> Form:
        return JOINS

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Variables renumbered by first occurrence."""
        number = _by_first_occurrence(self.bindings)
        if all(old == new for old, new in number.items()):
            return self, inputs
        names = tuple(self.names[v] for v in number) if self.names else ()
        return (
            Pattern(
                tuple(tuple(number[v] for v in b) for b in self.bindings),
                tuple(number[v] for v in self.output),
                names,
            ),
            inputs,
        )

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def name(self, variable: int) -> str:
        """The name of a variable for people."""
        return self.names[variable] if self.names else f"v{variable}"

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋈ y,z → x,z  on y``."""
        return notation.joined(self.bindings, self.output, self.name)


@hashed_once
@dataclass(frozen=True, slots=True)
class FilteredPattern(LogicalOperator):
    """⋈ with a residual: the pairs of a PATTERN's two inputs that satisfy a predicate.

    ``bindings`` and ``output`` as in :class:`Pattern`; column ``c<i>`` of the ``predicate`` is
    variable i, which the output need not keep.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    output: tuple[int, ...]
    predicate: Predicate
    names: tuple[str, ...] = field(default=(), compare=False)

    op: ClassVar[str] = "PATTERN"
    names_inputs: ClassVar[bool] = True

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Variables renumbered by first occurrence, the predicate in its normal form."""
        number = _by_first_occurrence(self.bindings)
        left, right = (tuple(number[v] for v in binding) for binding in self.bindings)
        return (
            FilteredPattern(
                (left, right),
                tuple(number[v] for v in self.output),
                self.predicate.renumbered(number).normal,
                tuple(self.names[v] for v in number) if self.names else (),
            ),
            inputs,
        )

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    @property
    def unfiltered(self) -> Pattern:
        """The PATTERN of all pairs, with all variables in order."""
        variables = dict.fromkeys(v for binding in self.bindings for v in binding)
        return Pattern(self.bindings, tuple(sorted(variables)), self.names)

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋈ y,z → x,z  on y  where x < z``."""
        name = notation.variable_names(self.names)
        joined = notation.joined(self.bindings, self.output, name)
        return joined + notation.where(self.predicate.sql, name)


@hashed_once
@dataclass(frozen=True, slots=True)
class MultiwayPattern(LogicalOperator):
    """⋈ of three or more atoms at once, in the memo: an n-ary PATTERN over different inputs.

    Atom k reads input ``reads[k]`` and binds its columns to ``bindings[k]``; ``output`` and
    ``names`` as in :class:`Pattern`. Column ``c<i>`` of the ``predicate``, a residual, is variable
    i. Canonical: inputs are different and numbered by first occurrence.
    """

    reads: tuple[int, ...]
    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    predicate: Predicate | None = None
    names: tuple[str, ...] = field(default=(), compare=False)

    op: ClassVar[str] = "PATTERN"
    names_inputs: ClassVar[bool] = True

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Equal inputs become one, variables are renumbered, the predicate is in normal form."""
        used = tuple(dict.fromkeys([inputs[read] for read in self.reads]))
        number = _by_first_occurrence(self.bindings)
        predicate = self.predicate
        return (
            MultiwayPattern(
                tuple([used.index(inputs[read]) for read in self.reads]),
                tuple([tuple([number[v] for v in b]) for b in self.bindings]),
                tuple([number[v] for v in self.output]),
                None if predicate is None else predicate.renumbered(number).normal,
                tuple([self.names[v] for v in number]) if self.names else (),
            ),
            used,
        )

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    @property
    def atoms(self) -> Pattern:
        """The PATTERN with an input for each atom, without the residual."""
        return Pattern(self.bindings, self.output, self.names)

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋈ y,z ⋈ z,x → x,y,z  on x,y,z  where x < z``."""
        name = notation.variable_names(self.names)
        joined = notation.joined(self.bindings, self.output, name)
        return joined + notation.where(None if self.predicate is None else self.predicate.sql, name)


@hashed_once
@dataclass(frozen=True, slots=True)
class Path(LogicalOperator):
    """P: pairs connected by a non-empty path whose label word is in L(R) (Definition 34).

    The symbols of ``regex`` are the numbers of the inputs. Canonical: inputs are
    different, numbered by first occurrence in the normal form of the regex.
    """

    regex: regex.Regex
    semantics: VertexPaths = PathSemantics.ARBITRARY

    op: ClassVar[str] = "PATH"
    names_inputs: ClassVar[bool] = True

    @property
    def form(self) -> Form:
        return SIMPLE_PATHS if self.semantics is PathSemantics.SIMPLE else ANY_PATHS

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Equal inputs become one symbol, the regex normal, the rest is renumbered.

        ``P[∅]`` becomes :class:`Empty`. The order of an alternation follows the order of
        the input references.
        """

        r, used = canonical_regex(self.regex, inputs)
        if r is self.regex:
            return self, used
        return (Empty(2), ()) if r is None else (Path(r, self.semantics), used)

    def width(self, inputs: Sequence[int]) -> int:
        return 2

    def arguments(self, names: InputNames) -> str:
        """``a·b+  simple``."""
        simple = "" if self.semantics is PathSemantics.ARBITRARY else f"  {self.semantics}"
        return regex.text(self.regex, lambda ref: names.inputs[int(ref)]) + simple


def canonical_regex(
    r: regex.Regex, inputs: tuple[I, ...]
) -> tuple[regex.Regex | None, tuple[I, ...]]:
    """The canonical regex of a path over inputs, and the inputs that it reads in their order.

    The regex is None if no non-empty word matches.
    """

    if _is_numbered(r, inputs):
        return r, inputs
    ordered = sorted(set(inputs))
    rank = {i: k for k, i in enumerate(ordered)}
    canonical, read = _over_ranks(r, tuple([rank[i] for i in inputs]))
    return canonical, tuple([ordered[k] for k in read])


@lru_cache(maxsize=4096)
def _over_ranks(
    r: regex.Regex, ranks: tuple[int, ...]
) -> tuple[regex.Regex | None, tuple[int, ...]]:
    """The canonical regex over inputs of which only the order matters, and the ranks that it reads.

    Memos number their groups differently, but often have the same paths over groups in one order.
    """

    def to_rank(s: regex.Symbol) -> regex.Regex:
        assert isinstance(s.ref, int)
        return regex.Symbol(ranks[s.ref], s.inverse)

    over_ranks = regex.nonempty(regex.substitute(r, to_rank))
    if isinstance(over_ranks, regex.Nothing):
        return None, ()
    order = regex.refs(over_ranks)
    number = {ref: k for k, ref in enumerate(order)}
    # Renumbering may not re-sort an alternation (that order would then depend on
    # itself), so the tree is rebuilt as it stands.
    renumbered = _relabelled(over_ranks, lambda s: regex.Symbol(number[s.ref], s.inverse))
    return renumbered, tuple([int(ref) for ref in order])


def _is_numbered(r: regex.Regex, inputs: tuple[I, ...]) -> bool:
    """Whether a regex is a concatenation of symbols, one for each input, in their order."""
    return _numbered_steps(r) == len(inputs) == len(set(inputs))


@lru_cache(maxsize=4096)
def _numbered_steps(r: regex.Regex) -> int:
    """The number of parts of a concatenation of the symbols 0, 1, .. in order; 0 for others."""
    if not isinstance(r, regex.Concat):
        return 0
    numbered = all(isinstance(s, regex.Symbol) and s.ref == k for k, s in enumerate(r.parts))
    return len(r.parts) if numbered else 0


def _relabelled(r: regex.Regex, relabel: Callable[[regex.Symbol], regex.Symbol]) -> regex.Regex:
    match r:
        case regex.Symbol():
            return relabel(r)
        case regex.Concat(parts):
            return regex.Concat(tuple(_relabelled(p, relabel) for p in parts))
        case regex.Alternation(parts):
            return regex.Alternation(tuple(_relabelled(p, relabel) for p in parts))
        case regex.Star(part):
            return regex.Star(_relabelled(part, relabel))
        case regex.Plus(part):
            return regex.Plus(_relabelled(part, relabel))
        case regex.Optional(part):
            return regex.Optional(_relabelled(part, relabel))
        case _:
            return r


def _by_first_occurrence(bindings: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """A new number for each variable, in the order in which the variables first occur."""
    number: dict[int, int] = {}
    for binding in bindings:
        for variable in binding:
            number.setdefault(variable, len(number))
    return number
