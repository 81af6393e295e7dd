"""Operators, properties and the memo as short text, for people who look into a search."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from headrace.algebra import logical, physical, regex, scalar
from headrace.algebra.logical import (
    Aggregate,
    BoundPath,
    BoundPattern,
    Compute,
    Empty,
    Filter,
    FilteredPattern,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Report,
    Union,
    Witness,
    WScan,
)
from headrace.algebra.physical import (
    AggregateRows,
    AntiJoin,
    AutomatonPath,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    LeftJoin,
    MergeUnion,
    ProjectColumns,
    ReportRows,
    SemiJoin,
    ToKernel,
    WindowScan,
    WitnessPaths,
)
from headrace.algebra.properties import Convention, RequiredProperties, Spread
from headrace.algebra.window import Window
from headrace.memo import GroupId, Memo
from headrace.memo.printer import format_memo
from headrace.optimizer.goals import Choice

STORED = "stored"
"""The text in place of the window of a stored graph."""

Bindings = tuple[tuple[int, ...], ...]


def memo_text(memo: Memo, root: GroupId) -> str:
    """The memo in the format of :mod:`headrace.memo.printer`."""
    return format_memo(memo, root, describe, describe_properties)


def describe(operator: Hashable, inputs: tuple[str, ...]) -> str:
    """An operator over the names of its inputs: ``(join[x,y] G1(x,z) G2(z,y))``."""
    if isinstance(operator, Choice):
        return describe(operator.operator, inputs)
    name, arguments, shown = _parts(operator, inputs)
    return f"({' '.join((name + (f'[{arguments}]' if arguments else ''), *shown))})"


def describe_properties(properties: Hashable) -> str:
    """The required properties, without defaults; empty for any rows of a kernel."""
    assert isinstance(properties, RequiredProperties)
    asked: list[str] = []
    if properties.distribution.spread is not Spread.ANY:
        asked.append(str(properties.distribution))
    if properties.coalesced:
        asked.append("coalesced")
    if properties.update_pattern is not None:
        asked.append(str(properties.update_pattern))
    if properties.convention is not Convention.KERNEL:
        asked.append(str(properties.convention))
    return ", ".join(asked)


def _parts(operator: Hashable, inputs: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """Name, arguments, and the inputs with their bindings."""
    match operator:
        case WScan(stream, label, window):
            return "wscan", f"{stream}.{label} {window or STORED}", inputs
        case WindowScan(stream, label, None, _):
            return "WSCAN", f"{stream}.{label} {STORED}", inputs
        case WindowScan(stream, label, width, slide):
            return "WSCAN", f"{stream}.{label} {width}" + (f",{slide}" * (slide != 1)), inputs
        case Filter(predicate):
            return "filter", str(predicate), inputs
        case FilterRows(predicate):
            return "FILTER", predicate, inputs
        case Union():
            return "union", "", inputs
        case MergeUnion():
            return "UNION", "", inputs
        case Project(columns):
            return "project", _listed(columns), inputs
        case ProjectColumns(columns):
            return "PROJECT", _listed(columns), inputs
        case Pattern(bindings, output):
            name = "bound join" if isinstance(operator, BoundPattern) else "join"
            return name, _variables(output), _bound(bindings, inputs)
        case FilteredPattern(bindings, output, predicate):
            return "join", f"{_variables(output)} where {predicate}", _bound(bindings, inputs)
        case HashJoin(bindings, output, residual=residual):
            where = "" if residual is None else f" where {residual}"
            return "HASH_JOIN", _variables(output) + where, _bound(bindings, inputs)
        case AntiJoin(bindings):
            return "ANTI_JOIN", _variables(bindings[0]), _bound(bindings, inputs)
        case LeftJoin(bindings):
            return "LEFT_JOIN", _variables(operator.output), _bound(bindings, inputs)
        case SemiJoin(bindings, output):
            return "SEMI_JOIN", _variables(output), _bound(bindings, inputs)
        case BoundPath(r, semantics, sources, pairs):
            simple = " simple" if semantics is PathSemantics.SIMPLE else ""
            where = "" if sources is None else f" where {sources}"
            of = f" of {inputs[-1]}" if pairs else ""
            return "bound path", _over(r, inputs) + simple + where + of, ()
        case Path(r, semantics):
            simple = " simple" if semantics is PathSemantics.SIMPLE else ""
            return "path", _over(r, inputs) + simple, ()
        case AutomatonPath():
            where = "" if operator.sources is None else f" where {operator.sources}"
            by = " by root" if operator.roots == "own" else ""
            return operator.op, operator.regex + by + where, inputs
        case Exchange(spread, columns):
            return "EXCHANGE", f"{spread}({_listed(columns)})" if columns else spread, inputs
        case Compute(values):
            return "compute", ", ".join(map(scalar.text, values)), inputs
        case ComputeColumns(values):
            return "COMPUTE", ", ".join(values), inputs
        case Aggregate(keys, calls):
            return "aggregate", _grouped(keys, map(str, calls)), inputs
        case AggregateRows(keys):
            return "AGGREGATE", _grouped(keys, map(str, operator.calls)), inputs
        case logical.PartialAggregate(keys, calls):
            return "aggregate partially", _grouped(keys, map(str, calls)), inputs
        case logical.Top() | physical.TopRows():
            name = "top" if isinstance(operator, logical.Top) else "TOP_K"
            return name, _first(operator), inputs
        case Witness(regex=path, labels=labels):
            return "witness", _over(path, labels), inputs
        case WitnessPaths(regex=path_text):
            return "WITNESS", path_text, inputs
        case logical.EventReport(mode, events) | physical.EventReportRows(mode, events):
            name = "report" if isinstance(operator, logical.EventReport) else "EVENT_REPORT"
            return name, f"{mode} every {events} events", inputs
        case Report(mode, every) | ReportRows(mode, every):
            name = "report" if isinstance(operator, Report) else "REPORT"
            return name, f"{mode} every {every}", inputs
        case Coalesce() | ToKernel():
            return operator.op, "", inputs
        case logical.Rewindow(window):
            return "rewindow", str(window), inputs
        case physical.Rewindow(length, slide):
            return "REWINDOW", str(Window(length, slide)), inputs
        case Empty() | EmptyRelation():
            return "empty", "", inputs
        case _:
            return str(operator), "", inputs


def _first(top: logical.Top | physical.TopRows) -> str:
    listed = ", ".join(f"{column} {direction}" for column, direction in top.order)
    after = f" after {top.offset}" if top.offset else ""
    return f"{top.limit}{after}{' of each' if top.partial else ''} by {listed}"


def _over(r: regex.Regex, inputs: tuple[str, ...]) -> str:
    return regex.text(r, lambda ref: inputs[int(ref)])


def _bound(bindings: Bindings, inputs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{i}({_variables(b)})" for i, b in zip(inputs, bindings, strict=True))


def _variables(numbers: tuple[int, ...]) -> str:
    return ",".join(_variable(n) for n in numbers)


def _variable(number: int) -> str:
    letters = "xyzwuvrst"
    return letters[number] if number < len(letters) else f"x{number}"


def _grouped(keys: tuple[int, ...], calls: Iterable[str]) -> str:
    return f"{_listed(keys)} ; {', '.join(calls)}" if keys else ", ".join(calls)


def _listed(columns: tuple[int, ...]) -> str:
    return ",".join(map(str, columns))
