"""Logical expressions as text, in the notation of the thesis.

========================  ==========================================================
``W[w,b](l)``             WSCAN of label ``l``, window ``w`` and slide ``b`` (1 if unsaid);
                          ``W[w](F[condition](l), m)`` where it selects, or reads several
``K(l)``                  WSCAN of label ``l`` of a stored graph, which has no window
``F[condition](S)``       FILTER
``U[d](S1,S2)``           UNION, called ``d`` by the query
``J[s,t,d ; eq](S1,..)``  PATTERN: its columns, and the endpoints that are equal;
                          columns after the second stand in a fourth part, a condition
                          on the joined rows in the third
``P[d;R](S1,..)``         PATH over the regex ``R``
``C[columns](S)``         projection; columns may be computed
``W[w,b](S)``             a window over results of operators
``A[keys ; aggs](S)``     AGGREGATE, of rows with the same keys; perhaps at multiples of a period
``E[s,t;R](S,S1,..)``     WITNESS: with each row of ``S`` a path from ``s`` to ``t`` over ``R``
``R[mode every p](S)``    REPORT; EVENT_REPORT: ``R[mode every 2 events](S,S1,..)``
``∅``                     the empty relation
========================  ==========================================================

Inputs are numbered from 1: ``src2`` is the source of the second input. A step of a path has the
name of its label, or the relation's name in the query; without a name ``#2`` is the second input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from sqlglot import exp

from . import durations, notation, regex, scalar
from .logical import (
    Aggregate,
    Compute,
    Empty,
    EventReport,
    Filter,
    FilteredPattern,
    LogicalExpression,
    PartialAggregate,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Report,
    Rewindow,
    Trail,
    Union,
    Witness,
    WScan,
    WScanUnion,
)
from .notation import InputNames, ends
from .predicate import Predicate
from .regex import Ref
from .window import Window


def text(expression: LogicalExpression, time_unit: str = "") -> str:
    """The expression as a tree, an operator a line.

    Windows are written as lengths of ``time_unit``, without one in ticks.
    """
    shown = _Notation.of(expression, time_unit)
    return "\n".join(shown.tree(expression))


def one_line(expression: LogicalExpression, time_unit: str = "") -> str:
    """The expression on one line: ``P[a·b*](W[24h](a), W[24h](b))``."""
    return _Notation.of(expression, time_unit).line(expression)


class _Notation:
    """Writes the parts of one expression; names streams if there are several."""

    def __init__(self, time_unit: str, name_streams: bool) -> None:
        self.time_unit = time_unit
        self.name_streams = name_streams

    @staticmethod
    def of(expression: LogicalExpression, time_unit: str) -> _Notation:
        return _Notation(time_unit, len(set(_streams(expression))) > 1)

    def line(self, e: LogicalExpression) -> str:
        inputs = ", ".join(map(self.line, e.inputs))
        return f"{self.operator(e)}({inputs})" if e.inputs else self.operator(e)

    def tree(self, e: LogicalExpression) -> Iterator[str]:
        yield self.operator(e)
        for number, child in enumerate(e.inputs, start=1):
            last = number == len(e.inputs)
            first, *below = self.tree(child)
            yield ("└─ " if last else "├─ ") + first
            for line in below:
                yield ("   " if last else "│  ") + line

    def operator(self, e: LogicalExpression) -> str:
        name = e.name
        match e.operator:
            case WScan() | WScanUnion():
                scans = e.operator.scans
                read = ", ".join(map(self._scan, scans))
                window = scans[0].window
                return f"K({read})" if window is None else f"W[{self._window(window)}]({read})"
            case Filter(predicate):
                return f"F[{_condition(predicate, e.width)}]"
            case Union():
                return f"U[{name}]" if name else "U"
            case Pattern() | FilteredPattern():
                return f"J[{_pattern(e.operator, [i.width for i in e.inputs], name)}]"
            case Path(path, semantics):
                parts = [name] if name else []
                parts.append(regex.text(path, self._step(e.inputs)))
                if semantics is not PathSemantics.ARBITRARY:
                    parts.append(semantics)
                return f"P[{';'.join(parts)}]"
            case Trail(path):
                return f"P[{regex.text(path, self._step(e.inputs))};trail]"
            case Compute(values):
                return f"C[{', '.join(map(scalar.text, values))}]"
            case Aggregate(keys, calls, _, every, retracts):
                by = ",".join(f"c{key}" for key in keys)
                at = "" if every is None else f" ; every {self._length(every)}"
                at += " ; retracts" * retracts
                return f"A[{by} ; {', '.join(map(str, calls))}{at}]"
            case PartialAggregate(keys, calls, every):
                by = ",".join(f"c{key}" for key in keys)
                at = "" if every is None else f" ; every {self._length(every)}"
                return f"A[{by} ; {', '.join(map(str, calls))}{at} ; partial]"
            case Witness():
                return self._witness(e.operator, e.inputs[0].width)
            case Report(mode, every, start):
                return f"R[{notation.report(mode, self._length(every), start)}]"
            case EventReport(mode, events, start):
                return f"R[{notation.report(mode, notation.events(events), start)}]"
            case Project(columns):
                width = e.inputs[0].width
                return f"C[{','.join(_column(column, width) for column in columns)}]"
            case Rewindow(window):
                return f"W[{self._window(window)}]"
            case Empty():
                return "∅"
            case other:
                named = [child.name or f"#{i}" for i, child in enumerate(e.inputs, start=1)]
                column_names = [ends(child.width) for child in e.inputs]
                names = InputNames(named, column_names, self.time_unit)
                return f"{other.op}[{other.arguments(names)}]"

    def _witness(self, witness: Witness, width: int) -> str:
        ends = ",".join(_column(c, width) for c in (witness.source, witness.target))
        parts = [ends, regex.text(witness.regex, lambda ref: witness.labels[int(ref)])]
        if witness.semantics is not PathSemantics.ARBITRARY:
            parts.append(witness.semantics)
        return f"E[{';'.join(parts)}]"

    def _length(self, ticks: int) -> str:
        return durations.text(ticks, self.time_unit) if self.time_unit else str(ticks)

    def _window(self, window: Window) -> str:
        lengths = [window.range] if window.slide == 1 else [window.range, window.slide]
        if not self.time_unit:
            return ",".join(map(str, lengths))
        return ",".join(durations.text(length, self.time_unit) for length in lengths)

    def _scan(self, scan: WScan) -> str:
        properties = f"({','.join(scan.properties)})" if scan.properties else ""
        label = self._label(scan) + properties
        if scan.predicate is None:
            return label
        return f"F[{_condition(scan.predicate, scan.width(()))}]({label})"

    def _label(self, scan: WScan) -> str:
        return f"{scan.stream}.{scan.label}" if self.name_streams else scan.label

    def _step(self, inputs: tuple[LogicalExpression, ...]) -> Callable[[Ref], str]:
        """The names of the inputs of a path; inputs with equal names get numbers."""
        called = [
            self._label(e.operator) if isinstance(e.operator, WScan) else e.name for e in inputs
        ]
        uses = Counter(called)
        names = [n if n and uses[n] == 1 else f"#{i}" for i, n in enumerate(called, start=1)]
        return lambda ref: names[int(ref)]


def _streams(e: LogicalExpression) -> Iterator[str]:
    if isinstance(e.operator, WScan | WScanUnion):
        yield e.operator.scans[0].stream
    for child in e.inputs:
        yield from _streams(child)


def _column(column: int, width: int, number: str = "") -> str:
    """Column ``column`` of an input of ``width`` columns; edges and paths have two ends."""
    if width <= 2:
        return ("src", "trg")[column] + number
    return f"c{column + 1}" + (f"_{number}" if number else "")


def _condition(predicate: Predicate, width: int) -> str:
    return _named(predicate, lambda column: _column(column, width))


def _named(predicate: Predicate, name: Callable[[int], str]) -> str:
    tree = predicate.expression
    for column in list(tree.find_all(exp.Column)):
        column.this.set("this", name(int(column.name[1:])))
    return tree.sql(dialect="spark")


def _pattern(pattern: Pattern | FilteredPattern, widths: list[int], name: str | None) -> str:
    """``s,t,d ; equalities ; residual ; further columns``."""
    first: dict[int, str] = {}
    equal: list[str] = []
    for number, (binding, width) in enumerate(zip(pattern.bindings, widths, strict=True), start=1):
        for column, variable in enumerate(binding):
            end = _column(column, width, str(number))
            if variable in first:
                equal.append(f"{first[variable]}={end}")
            else:
                first[variable] = end
    ends = [first[variable] for variable in pattern.output]
    columns = ",".join(ends[:2] + ([name] if name else []))
    residual = ""
    if isinstance(pattern, FilteredPattern):
        residual = _named(pattern.predicate, lambda variable: first[variable])
    parts = [columns, " & ".join(equal), residual, ",".join(ends[2:])]
    while not parts[-1]:
        parts.pop()
    return " ;".join(f" {part}" if part else "" for part in parts).lstrip()
