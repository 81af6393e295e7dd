"""The logical operators of the Streaming Graph Algebra (thesis chapter 5.1).

An operator is a value without its inputs; a :class:`LogicalExpression` is an operator
with input expressions, and the memo pairs the same operators with input *groups*.
Columns are positional: a relation has columns ``0 .. width-1``, an edge or path relation
is ``(src, trg)``. Names of variables and labels are no part of an operator's identity,
so equal sub-queries are equal whatever their author called things.

``operator.canonical(inputs)`` is the one hook that the memo calls: it brings the operator
and its inputs (any hashable, orderable references) into the form in which equal ones
are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, TypeVar

from . import durations, notation, regex, scalar
from .aggregates import AggregateCall, ReportMode
from .notation import InputNames
from .predicate import TRUE, Predicate
from .window import Window

I = TypeVar("I", bound=int)  # noqa: E741 - a reference to an input: a group or a position


class PathSemantics(StrEnum):
    """Which paths count: any, or only those that repeat no vertex."""

    ARBITRARY = "arbitrary"
    SIMPLE = "simple"


class LogicalOperator:
    """An operator of the algebra: a frozen dataclass without its inputs."""

    __slots__ = ()

    op: ClassVar[str]
    """The name of the operator."""
    names_inputs: ClassVar[bool] = False
    """Whether the arguments in one line name the inputs."""

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The form of the operator and its inputs in which equal ones are equal."""
        return self, inputs

    def width(self, inputs: Sequence[int]) -> int:
        """The number of columns, given those of the inputs."""
        return inputs[0]

    def arguments(self, names: InputNames) -> str:
        """The arguments in one line of text for people."""
        return ""


@dataclass(frozen=True, slots=True)
class WScan(LogicalOperator):
    """W: the edges of one label of a stream, valid as its window says (Definition 30).

    Without a ``window`` it is K: the edges of a stored graph, valid in ``[0, inf)``.
    Columns are source, target, and the edge's ``properties`` by name; ``ts``, the edge's own
    time, is one of them. Edges are one row if they agree in all columns. With a ``predicate``
    over the columns it is W(σ_F(S)): only the edges that satisfy it are scanned. With
    ``deletions`` the stream may say of an edge that it ends; its predicate looks at source and
    target alone then, since a deletion need not carry properties.

    Raises:
        ValueError: if a property is there twice, or the predicate looks at one of a stream with
            deletions.
    """

    stream: str
    label: str
    window: Window | None
    predicate: Predicate | None = None
    properties: tuple[str, ...] = ()
    deletions: bool = field(default=False, hash=False)

    op: ClassVar[str] = "WSCAN"

    def __post_init__(self) -> None:
        if len(set(self.properties)) < len(self.properties):
            raise ValueError("a scan gives a property once")
        if self.deletions and self.predicate and not self.selects_by(self.predicate):
            raise ValueError("a deletion need not have the properties that the scan selects by")

    def selects_by(self, predicate: Predicate) -> bool:
        """Whether the scan may select its edges by ``predicate``."""
        return not self.deletions or max(predicate.columns, default=0) < 2

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The predicate in its normal form, left out if it is always true."""
        if self.predicate is None:
            return self, inputs
        normal = self.predicate.normal
        kept = None if normal == TRUE else normal
        return replace(self, predicate=kept), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return 2 + len(self.properties)

    @property
    def scans(self) -> tuple[WScan, ...]:
        """The labels that the leaf reads, each under its window."""
        return (self,)

    def reads_with(self, other: WScan) -> bool:
        """Whether one scan can read both; a deletion is one of a single label."""
        return not (self.deletions or other.deletions) and (
            self.stream,
            self.window,
            self.properties,
        ) == (other.stream, other.window, other.properties)

    @property
    def unfiltered(self) -> WScan:
        """The scan of all edges of the label."""
        return self if self.predicate is None else replace(self, predicate=None)

    def arguments(self, names: InputNames) -> str:
        """``input.a  window 30d``."""
        return _scan(self.scans, names.time_unit)


@dataclass(frozen=True, slots=True)
class WScanUnion(LogicalOperator):
    """W(S1 ∪ S2): several labels of one stream under one window, read in one scan.

    Raises:
        ValueError: if ``scans`` are fewer than two, of several streams or windows, give
            different columns, or have deletions.
    """

    scans: tuple[WScan, ...]

    op: ClassVar[str] = "WSCAN_UNION"

    def __post_init__(self) -> None:
        if len(self.scans) < 2 or not all(self.scans[0].reads_with(s) for s in self.scans):
            raise ValueError("a scan of several labels has one stream, window and set of columns")

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The scans in their canonical form, sorted, none twice."""
        parts: dict[tuple[str, str], WScan] = {}
        for scan in self.scans:
            normal, _ = scan.canonical(())
            assert isinstance(normal, WScan)
            parts[normal.label, str(normal.predicate or "")] = normal
        if len(parts) == 1:
            return next(iter(parts.values())), inputs
        return WScanUnion(tuple(parts[key] for key in sorted(parts))), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return self.scans[0].width(inputs)

    def arguments(self, names: InputNames) -> str:
        """``input.a ∪ input.b  window 30d``."""
        return _scan(self.scans, names.time_unit)


@dataclass(frozen=True, slots=True)
class Filter(LogicalOperator):
    """σ: the rows of the one input that satisfy a predicate (Definition 31)."""

    predicate: Predicate

    op: ClassVar[str] = "FILTER"

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        normal = self.predicate.normal
        return self if normal == self.predicate else Filter(normal), inputs

    def arguments(self, names: InputNames) -> str:
        """``src = trg``."""
        return notation.condition(self.predicate.sql, names.columns[0])


@dataclass(frozen=True, slots=True)
class Union(LogicalOperator):
    """∪: the rows of either of two inputs with equal columns (Definition 32)."""

    op: ClassVar[str] = "UNION"


@dataclass(frozen=True, slots=True)
class Project(LogicalOperator):
    """π: column ``i`` of the output is column ``columns[i]`` of the input."""

    columns: tuple[int, ...]

    op: ClassVar[str] = "PROJECT"

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.columns)

    def arguments(self, names: InputNames) -> str:
        """``src,trg → trg,src``."""
        below = names.columns[0]
        return f"{','.join(below)} → {','.join(below[c] for c in self.columns)}"


@dataclass(frozen=True, slots=True)
class Pattern(LogicalOperator):
    """⋈: an equi-join on variables; validity is the intersection (Definition 33).

    ``bindings[k][j]`` is the variable that column ``j`` of input ``k`` is bound to and
    ``output`` the variables of the result. Variables are numbered by first occurrence in
    ``bindings``; no variable occurs twice in one input (that is a Filter below). In the
    canonical expression a PATTERN has as many inputs as its rule has atoms; in the memo
    it has two. ``names`` are what the query calls the variables, for people to read.
    """

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)

    op: ClassVar[str] = "PATTERN"
    names_inputs: ClassVar[bool] = True

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Variables renumbered by first occurrence."""
        number: dict[int, int] = {}
        for binding in self.bindings:
            for variable in binding:
                number.setdefault(variable, len(number))
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
        """What people call a variable."""
        return self.names[variable] if self.names else f"v{variable}"

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋈ y,z → x,z  on y``."""
        return notation.joined(self.bindings, self.output, self.name)


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
        number: dict[int, int] = {}
        for binding in self.bindings:
            for variable in binding:
                number.setdefault(variable, len(number))
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


@dataclass(frozen=True, slots=True)
class Path(LogicalOperator):
    """P: pairs connected by a non-empty path whose label word is in L(R) (Definition 34).

    The symbols of ``regex`` are the numbers of the inputs. Canonical: inputs are
    different, numbered by first occurrence in the normal form of the regex.
    """

    regex: regex.Regex
    semantics: PathSemantics = PathSemantics.ARBITRARY

    op: ClassVar[str] = "PATH"
    names_inputs: ClassVar[bool] = True

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Equal inputs become one symbol, the regex normal, the rest is renumbered.

        ``P[∅]`` becomes :class:`Empty`. The order of an alternation follows the order of
        the input references.
        """

        def to_input(s: regex.Symbol) -> regex.Regex:
            assert isinstance(s.ref, int)
            return regex.Symbol(int(inputs[s.ref]), s.inverse)

        over_inputs = regex.nonempty(regex.substitute(self.regex, to_input))
        if isinstance(over_inputs, regex.Nothing):
            return Empty(2), ()
        order = regex.refs(over_inputs)
        by_value = {int(i): i for i in inputs}
        number = {ref: k for k, ref in enumerate(order)}
        # Renumbering may not re-sort an alternation (that order would then depend on
        # itself), so the tree is rebuilt as it stands.
        renumbered = _relabelled(over_inputs, lambda s: regex.Symbol(number[s.ref], s.inverse))
        return Path(renumbered, self.semantics), tuple(by_value[int(ref)] for ref in order)

    def width(self, inputs: Sequence[int]) -> int:
        return 2

    def arguments(self, names: InputNames) -> str:
        """``a·b+  simple``."""
        simple = "" if self.semantics is PathSemantics.ARBITRARY else f"  {self.semantics}"
        return regex.text(self.regex, lambda ref: names.inputs[int(ref)]) + simple


@dataclass(frozen=True, slots=True)
class Rewindow(LogicalOperator):
    """W over a query: its coalesced results, each valid for its window at most.

    A result valid in ``[ts, exp)`` is so in ``[ts, min(exp, floor(ts / slide) * slide + range))``.
    """

    window: Window

    op: ClassVar[str] = "REWINDOW"

    def arguments(self, names: InputNames) -> str:
        """``window 30d slide 1d``."""
        return notation.window(self.window.range, self.window.slide, names.time_unit)


@dataclass(frozen=True, slots=True)
class Empty(LogicalOperator):
    """∅: a relation without rows (``a{3,2}``)."""

    columns: int

    op: ClassVar[str] = "EMPTY"

    def width(self, inputs: Sequence[int]) -> int:
        """The number of columns that it would have."""
        return self.columns


@dataclass(frozen=True, slots=True)
class Compute(LogicalOperator):
    """χ: column ``i`` of the output is ``values[i]``, computed from the columns of the input.

    What cannot be computed is missing (:mod:`headrace.algebra.scalar`).
    """

    values: tuple[scalar.Value, ...]

    op: ClassVar[str] = "COMPUTE"

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """A projection if nothing is computed."""
        columns = [v.position for v in self.values if isinstance(v, scalar.Column)]
        return (Project(tuple(columns)) if len(columns) == len(self.values) else self), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.values)

    def arguments(self, names: InputNames) -> str:
        """``src, src + 1``."""
        return ", ".join(notation.value(scalar.text(v), names.columns[0]) for v in self.values)


@dataclass(frozen=True, slots=True)
class Aggregate(LogicalOperator):
    """γ: one row for each combination of the ``keys`` among the rows valid at an instant.

    Output columns are ``output``, positions in the keys followed by the ``aggregates``. With
    ``every`` the rows are those at its multiples, each valid until the next one.
    """

    keys: tuple[int, ...]
    aggregates: tuple[AggregateCall, ...]
    output: tuple[int, ...]
    every: int | None = None

    op: ClassVar[str] = "AGGREGATE"

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def arguments(self, names: InputNames) -> str:
        """``count(*) by src  every 1d``."""
        calls = [(call.function, call.column) for call in self.aggregates]
        return notation.aggregates(self.keys, calls, self.every, names)


@dataclass(frozen=True, slots=True)
class Witness(LogicalOperator):
    """ω: with each row of the first input a path that says why it holds (payload, Definition 7).

    The path leads from the vertex in column ``source`` to that in ``target`` over edges of the
    other inputs, all of them valid for as long as the row; its word is in ``regex``, whose symbol
    k is input k + 1, each step of which is called ``labels[k]``. Rows are told apart by the
    columns ``keys``; of several that differ in others alone one counts. ``output`` are columns
    of the first input, and the number of those for the path.
    """

    keys: tuple[int, ...]
    output: tuple[int, ...]
    source: int
    target: int
    regex: regex.Regex
    labels: tuple[str, ...]
    semantics: PathSemantics = PathSemantics.ARBITRARY

    op: ClassVar[str] = "WITNESS"

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def arguments(self, names: InputNames) -> str:
        """``src (a·b+) trg  simple``."""
        words = regex.text(self.regex, lambda ref: self.labels[int(ref)])
        ends = notation.chosen(names.columns[0], (self.source, self.target))
        simple = self.semantics is PathSemantics.SIMPLE
        return notation.witness(ends, words, simple=simple)


@dataclass(frozen=True, slots=True)
class Report(LogicalOperator):
    """ρ: what is there, what is new, or what is gone at each multiple of ``every``."""

    mode: ReportMode
    every: int

    op: ClassVar[str] = "REPORT"

    def arguments(self, names: InputNames) -> str:
        """``entering every 1d``."""
        return f"{self.mode} every {durations.text(self.every, names.time_unit)}"


@dataclass(frozen=True, slots=True)
class LogicalExpression:
    """An operator with its input expressions: a query in the Streaming Graph Algebra.

    ``name`` is what the query calls the relation, for people to read.
    """

    operator: LogicalOperator
    inputs: tuple[LogicalExpression, ...] = ()
    name: str | None = field(default=None, compare=False)

    @property
    def width(self) -> int:
        """The number of columns of the result."""
        return self.operator.width([e.width for e in self.inputs])


@dataclass(frozen=True, slots=True)
class LogicalQuery:
    """A whole query: its expression and what the answer's columns are called.

    ``warnings`` are lines for people to read; ``semantics`` is that of all its paths.
    """

    expression: LogicalExpression
    columns: tuple[str, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
    semantics: PathSemantics = PathSemantics.ARBITRARY


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


def _scan(scans: Sequence[WScan], time_unit: str) -> str:
    """Labels of a stream that are read in one scan."""
    first = scans[0]
    selections = [(s.label, None if s.predicate is None else s.predicate.sql) for s in scans]
    range_, slide = (w.range, w.slide) if (w := first.window) is not None else (None, None)
    length = notation.window(range_, slide, time_unit)
    return notation.scan(first.stream, selections, length, first.properties)
