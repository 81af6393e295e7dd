"""Operators in one line for people, in the signs of the thesis.

Names of variables and labels come from the query; columns of an edge or path are ``src``
and ``trg``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from ..algebra import durations, logical, physical, regex, scalar
from ..algebra.aggregates import AggregateCall, Function
from ..algebra.predicate import Predicate

SYMBOLS = {
    "WSCAN": "W",
    "WSCAN_UNION": "W",
    "FILTER": "σ",
    "UNION": "∪",
    "PROJECT": "π",
    "HASH_JOIN": "⋈",
    "PATTERN": "⋈",
    "S_PATH": "P",
    "SIMPLE_PATH": "P",
    "SLIDE_PATH": "P",
    "PATH": "P",
    "COALESCE": "⊔",
    "REWINDOW": "W",
    "EXCHANGE": "⇄",
    "RETRACT": "⊖",
    "TO_KERNEL": "▷",
    "EMPTY": "∅",
    "COMPUTE": "χ",
    "AGGREGATE": "γ",
    "WITNESS": "ω",
    "REPORT": "ρ",
}
"""The sign of each operator, logical and physical."""

_LONGEST_NAME = 32

_ONLY_NUMBERS = re.compile(r"[0-9()|·*+?^]+")


def window(range_: int | None, slide: int | None, time_unit: str) -> str:
    """``window 30d slide 1d``, the slide left out where it is one tick; else ``stored``."""
    if range_ is None or slide is None:
        return "stored"
    length = f"window {durations.text(range_, time_unit)}"
    return length if slide == 1 else f"{length} slide {durations.text(slide, time_unit)}"


def condition(predicate: str, columns: Sequence[str]) -> str:
    """A condition with the names of the columns in place of ``c0``, ``c1``, ..."""
    return _named(predicate, lambda k: columns[k] if k < len(columns) else f"c{k}")


def _named(predicate: str, name: Callable[[int], str]) -> str:
    tree = Predicate(predicate).expression
    for column in list(tree.find_all(exp.Column)):
        column.this.set("this", name(int(column.name[1:])))
    return tree.sql(dialect="spark")


def logical_operator(
    operator: logical.LogicalOperator,
    inputs: Sequence[str],
    widths: Sequence[int],
    time_unit: str,
) -> tuple[str, str]:
    """An operator's name and its arguments in one line.

    ``inputs`` is what a path may call its inputs, ``widths`` how many columns they have.
    """
    match operator:
        case logical.WScan():
            return "WSCAN", _logical_scan(operator.scans, time_unit)
        case logical.WScanUnion(scans):
            return "WSCAN_UNION", _logical_scan(scans, time_unit)
        case logical.Filter(predicate):
            return "FILTER", condition(predicate.sql, ends(widths[0]))
        case logical.Union():
            return "UNION", ""
        case logical.Project(columns):
            names = ends(widths[0])
            return "PROJECT", f"{','.join(names)} → {','.join(names[c] for c in columns)}"
        case logical.Pattern():
            return "PATTERN", joined(operator.bindings, operator.output, operator.name)
        case logical.FilteredPattern(bindings, output, predicate, variables):
            name = _variable(variables)
            return "PATTERN", joined(bindings, output, name) + where(predicate.sql, name)
        case logical.Path(path, semantics):
            simple = "" if semantics is logical.PathSemantics.ARBITRARY else f"  {semantics}"
            return "PATH", regex.text(path, lambda ref: inputs[int(ref)]) + simple
        case logical.Rewindow(length):
            return "REWINDOW", window(length.range, length.slide, time_unit)
        case logical.Empty():
            return "EMPTY", ""
        case logical.Compute(values):
            names = ends(widths[0])
            return "COMPUTE", ", ".join(_value(scalar.text(v), names) for v in values)
        case logical.Aggregate(keys, calls, _, every):
            named = [(call.function, call.column) for call in calls]
            return "AGGREGATE", _aggregates(keys, named, every, ends(widths[0]), time_unit)
        case logical.Witness():
            simple = "" if operator.semantics is logical.PathSemantics.ARBITRARY else "  simple"
            words = regex.text(operator.regex, lambda ref: operator.labels[int(ref)])
            return "WITNESS", _witness(operator, words, ends(widths[0])) + simple
        case logical.Report(mode, every):
            return "REPORT", f"{mode} every {durations.text(every, time_unit)}"


def physical_operator(
    operator: physical.PhysicalOperator,
    inputs: Sequence[str],
    columns: Sequence[Sequence[str]],
    time_unit: str,
) -> str:
    """The arguments of a physical operator in one line.

    ``inputs`` is what a path may call its inputs, ``columns`` how their columns are called.
    """
    match operator:
        case physical.WindowScan(stream, label, range_, slide, predicate, properties):
            return _scan(
                stream, ((label, predicate),), window(range_, slide, time_unit), properties
            )
        case physical.WindowScanUnion(stream, selections, range_, slide, properties):
            return _scan(stream, selections, window(range_, slide, time_unit), properties)
        case physical.FilterRows(predicate):
            return condition(predicate, columns[0])
        case physical.ProjectColumns(kept):
            return f"{','.join(columns[0])} → {','.join(_chosen(columns[0], kept))}"
        case physical.HashJoin(bindings, output, variables):
            name = _variable(variables)
            return (
                joined(bindings, output, name) + where(operator.residual, name) + _until(operator)
            )
        case physical.AutomatonPath(roots=roots):
            by_root = " by root" if roots == "own" else ""
            rapq = isinstance(operator, physical.SPath) and operator.update_pattern is not None
            return path_text(operator, inputs) + by_root + (" by RAPQ" if rapq else "")
        case physical.Rewindow(range_, slide):
            return window(range_, slide, time_unit)
        case physical.ComputeColumns(values):
            return ", ".join(_value(value, columns[0]) for value in values)
        case physical.AggregateRows(keys, calls, _, every):
            return _aggregates(keys, calls, every, columns[0], time_unit)
        case physical.WitnessPaths():
            words = path_text(operator, operator.labels)
            return _witness(operator, words, columns[0]) + ("  simple" if operator.simple else "")
        case physical.ReportRows(mode, every):
            return f"{mode} every {durations.text(every, time_unit)}"
        case physical.Exchange(spread, hashed):
            return f"{spread}({','.join(_chosen(columns[0], hashed))})" if hashed else spread
        case _:
            return ""


def _witness(
    witness: logical.Witness | physical.WitnessPaths, path: str, columns: Sequence[str]
) -> str:
    """The ends of a returned path and its words."""
    source, target = _chosen(columns, (witness.source, witness.target))
    return f"{source} ({path}) {target}"


def _value(value: str, columns: Sequence[str]) -> str:
    """A computed value with the names of the columns."""
    return re.sub(
        r"\bc([0-9]+)\b(?=(?:[^']*'[^']*')*[^']*$)",
        lambda m: _chosen(columns, [int(m[1])])[0],
        value,
    )


def _aggregates(
    keys: Sequence[int],
    calls: Sequence[tuple[Function, int | None]],
    every: int | None,
    columns: Sequence[str],
    time_unit: str,
) -> str:
    """``x → count(*), sum(amount) by x``, and when rows are given."""
    shown = ", ".join(_value(str(AggregateCall(*call)), columns) for call in calls)
    by = f" by {','.join(columns[key] for key in keys)}" if keys else ""
    at = "" if every is None else f"  every {durations.text(every, time_unit)}"
    return f"{shown}{by}{at}"


def joined(
    bindings: Sequence[Sequence[int]], output: Sequence[int], name: Callable[[int], str]
) -> str:
    """``x,y ⋈ y,z → x,z  on y``."""
    sides = " ⋈ ".join(",".join(map(name, side)) for side in bindings)
    uses = [variable for side in bindings for variable in side]
    common = [name(v) for v in dict.fromkeys(uses) if uses.count(v) > 1]
    on = f"on {','.join(common)}" if common else "cross product"
    return f"{sides} → {','.join(map(name, output))}  {on}"


def where(residual: str | None, name: Callable[[int], str]) -> str:
    """``  where e.ts < f.ts``: what has to hold of two rows that are joined."""
    return "" if residual is None else f"  where {_named(residual, name)}"


def _until(join: physical.HashJoin) -> str:
    """``  held to e.ts + 10``: the horizons of a join."""
    if join.horizon is None:
        return ""
    name = _variable(join.variables)
    held = [
        f"{name(binding[horizon[0]])} {'-' if horizon[1] < 0 else '+'} {abs(horizon[1])}"
        for binding, horizon in zip(join.bindings, join.horizon, strict=True)
        if horizon is not None
    ]
    return f"  held to {', '.join(held)}"


def joined_inputs(
    bindings: Sequence[Sequence[int]],
    output: Sequence[int],
    inputs: Sequence[str],
) -> str:
    """``G1(v0,v1) ⋈ G2(v1,v2) → v0,v2``: a join over what its inputs are called."""
    name = _variable(())
    sides = [
        f"{below}({','.join(map(name, side))})"
        for below, side in zip(inputs, bindings, strict=True)
    ]
    return f"{' ⋈ '.join(sides)} → {','.join(map(name, output))}"


def path_text(path: physical.AutomatonPath | physical.WitnessPaths, inputs: Sequence[str]) -> str:
    """The path's regex over the names of its inputs."""
    if not _ONLY_NUMBERS.fullmatch(path.regex):
        return path.regex or f"automaton of {path.states} states"
    return re.sub(r"\d+", lambda m: _nth(inputs, m.group()), path.regex)


def ends(width: int) -> tuple[str, ...]:
    """What columns are called that have no other name."""
    return ("src", "trg") if width == 2 else tuple(f"c{k + 1}" for k in range(width))


def relation(operator: physical.PhysicalOperator, inputs: Sequence[str | None]) -> str | None:
    """What the rows of an operator may be called where a path walks over them: by the labels
    that they come from, ``(a⋈b)``. None if that is no short name."""
    below = [name for name in inputs if name is not None]
    if len(below) < len(inputs):
        return None
    match operator:
        case physical.WindowScan(label=label):
            name = label
        case physical.WindowScanUnion(selections=selections):
            name = f"({'∪'.join(dict.fromkeys(label for label, _ in selections))})"
        case physical.HashJoin():
            name = f"({'⋈'.join(below)})"
        case physical.MergeUnion():
            name = f"({'∪'.join(below)})"
        case physical.AutomatonPath():
            name = f"({path_text(operator, below)})"
        case physical.ProjectColumns(columns=(1, 0)):
            name = f"^{below[0]}"
        case physical.FilterRows():
            name = f"σ({below[0]})"
        case (
            physical.Exchange()
            | physical.ToKernel()
            | physical.Retract()
            | physical.Coalesce()
            | physical.Rewindow()
        ):
            name = below[0]
        case _:
            return None
    return name if len(name) <= _LONGEST_NAME else None


def step_name(label: str | None, position: int) -> str:
    """What a path calls an input: its name, or else its place among the inputs."""
    return label if label is not None else f"[{position + 1}]"


def _logical_scan(scans: Sequence[logical.WScan], time_unit: str) -> str:
    first = scans[0]
    read = [(s.label, None if s.predicate is None else s.predicate.sql) for s in scans]
    range_, slide = (w.range, w.slide) if (w := first.window) is not None else (None, None)
    length = window(range_, slide, time_unit)
    return _scan(first.stream, read, length, first.properties)


def _scan(
    stream: str,
    selections: Sequence[tuple[str, str | None]],
    length: str,
    properties: Sequence[str],
) -> str:
    """``input.a(amount)`` and what is selected of it, label by label."""
    names = (*ends(2), *properties)
    given = f"({','.join(properties)})" if properties else ""
    read = " ∪ ".join(
        f"{stream}.{label}{given}" + (f" where {condition(sql, names)}" if sql else "")
        for label, sql in selections
    )
    return f"{read}  {length}"


def _variable(names: Sequence[str]) -> Callable[[int], str]:
    return lambda v: names[v] if v < len(names) else f"v{v}"


def _nth(inputs: Sequence[str], position: str) -> str:
    known = len(position) < 6 and int(position) < len(inputs)
    return inputs[int(position)] if known else position


def _chosen(names: Sequence[str], columns: Sequence[int]) -> list[str]:
    """The names of columns; a plan need not name all."""
    return [names[c] if c < len(names) else f"c{c + 1}" for c in columns]
