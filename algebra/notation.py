"""Pieces of the notation: windows, conditions, joins and paths in one line of text.

The operators write themselves with these (``arguments`` of :mod:`headrace.algebra.logical` and
:mod:`headrace.algebra.physical`). Names of variables and labels come from the query; the columns
of an edge or path are ``src`` and ``trg``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from sqlglot import exp

from . import durations
from .aggregates import AggregateCall, Function
from .predicate import Predicate
from .registry import Registry

SYMBOLS: Registry[str, str] = Registry(
    {
        "WSCAN": "W",
        "WSCAN_UNION": "W",
        "FILTER": "σ",
        "UNION": "∪",
        "PROJECT": "π",
        "HASH_JOIN": "⋈",
        "MULTIWAY_JOIN": "⋈",
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
)
"""The sign of each operator by its name, logical and physical."""

_ONLY_NUMBERS = re.compile(r"[0-9()|·*+?^]+")


class InputNames(NamedTuple):
    """The names with which an operator is written.

    ``inputs`` are the names of the inputs in a path, ``columns`` the names of the columns of each
    input; windows and periods are lengths in the ``time_unit``.
    """

    inputs: Sequence[str]
    columns: Sequence[Sequence[str]]
    time_unit: str


class Automaton(Protocol):
    """An automaton with the regex that it was made from."""

    @property
    def states(self) -> int:
        """The number of states."""
        ...

    @property
    def regex(self) -> str:
        """The regex over the numbers of inputs, or of labels."""
        ...


def window(range_: int | None, slide: int | None, time_unit: str) -> str:
    """``window 30d slide 1d``, the slide left out where it is one tick; else ``stored``."""
    if range_ is None or slide is None:
        return "stored"
    length = f"window {durations.text(range_, time_unit)}"
    return length if slide == 1 else f"{length} slide {durations.text(slide, time_unit)}"


def condition(predicate: str, columns: Sequence[str]) -> str:
    """A condition with the names of the columns in place of ``c0``, ``c1``, ..."""
    return renamed(predicate, lambda k: columns[k] if k < len(columns) else f"c{k}")


def renamed(predicate: str, name: Callable[[int], str]) -> str:
    """A condition with other names for the columns ``c0``, ``c1``, ..."""
    tree = Predicate(predicate).expression
    for column in list(tree.find_all(exp.Column)):
        column.this.set("this", name(int(column.name[1:])))
    return tree.sql(dialect="spark")


def value(sql: str, columns: Sequence[str]) -> str:
    """A computed value with the names of the columns."""
    return re.sub(
        r"\bc([0-9]+)\b(?=(?:[^']*'[^']*')*[^']*$)",
        lambda m: chosen(columns, [int(m[1])])[0],
        sql,
    )


def aggregates(
    keys: Sequence[int],
    calls: Sequence[tuple[Function, int | None]],
    every: int | None,
    names: InputNames,
) -> str:
    """``x → count(*), sum(amount) by x``, and the period of the rows."""
    columns = names.columns[0]
    shown = ", ".join(value(str(AggregateCall(*call)), columns) for call in calls)
    by = f" by {','.join(chosen(columns, keys))}" if keys else ""
    at = "" if every is None else f"  every {durations.text(every, names.time_unit)}"
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
    """``  where e.ts < f.ts``: the residual condition on two joined rows."""
    return "" if residual is None else f"  where {renamed(residual, name)}"


def sources(condition_on_sources: str | None) -> str:
    """``  where src = 7``: the condition on the sources of a path; empty without one."""
    return where(condition_on_sources, lambda _: "src")


def path_text(path: Automaton, inputs: Sequence[str]) -> str:
    """The path's regex over the names of its inputs."""
    if not _ONLY_NUMBERS.fullmatch(path.regex):
        return path.regex or f"automaton of {path.states} states"
    return re.sub(r"\d+", lambda m: _nth(inputs, m.group()), path.regex)


def ends(width: int) -> tuple[str, ...]:
    """The names of columns that have no other name."""
    return ("src", "trg") if width == 2 else tuple(f"c{k + 1}" for k in range(width))


def scan(
    stream: str,
    selections: Sequence[tuple[str, str | None]],
    length: str,
    properties: Sequence[str],
) -> str:
    """``input.a(amount)`` with the predicate of the scan, label by label."""
    names = (*ends(2), *properties)
    of_edge = f"({','.join(properties)})" if properties else ""
    read = " ∪ ".join(
        f"{stream}.{label}{of_edge}" + (f" where {condition(sql, names)}" if sql else "")
        for label, sql in selections
    )
    return f"{read}  {length}"


def variable_names(names: Sequence[str]) -> Callable[[int], str]:
    """The names of variables by their numbers; a variable without a name is ``v0``, ``v1``, ..."""
    return lambda v: names[v] if v < len(names) else f"v{v}"


def _nth(inputs: Sequence[str], position: str) -> str:
    there = len(position) < 6 and int(position) < len(inputs)
    return inputs[int(position)] if there else position


def chosen(names: Sequence[str], columns: Sequence[int]) -> list[str]:
    """The names of columns; a plan need not name all."""
    return [names[c] if c < len(names) else f"c{c + 1}" for c in columns]


def witness(ends: Sequence[str], words: str, *, simple: bool) -> str:
    """``x (a·b+) y``: the ends of a returned path and its words."""
    source, target = ends
    return f"{source} ({words}) {target}" + ("  simple" if simple else "")
