"""Pieces of the notation: windows, conditions, joins and paths in one line of text.

The operators write themselves with these (``arguments`` of :mod:`headrace.algebra.logical` and
:mod:`headrace.algebra.physical`). Names of variables and labels come from the query; the columns
of an edge or path are ``src`` and ``trg``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from sqlglot import exp

from . import durations
from .aggregates import AggregateCall, Call
from .orders import Order
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
        "SEMI_JOIN": "⋉",
        "ANTI_JOIN": "▷",
        "ANTIJOIN": "▷",
        "LEFT_JOIN": "⟕",
        "LEFTJOIN": "⟕",
        "PATTERN": "⋈",
        "S_PATH": "P",
        "PAIR_PATH": "P",
        "SIMPLE_PATH": "P",
        "TRAIL_PATH": "P",
        "SHORTEST_PATH": "P",
        "SHORTEST": "P",
        "SLIDE_PATH": "P",
        "PATH": "P",
        "COALESCE": "⊔",
        "REWINDOW": "W",
        "EXCHANGE": "⇄",
        "RETRACT": "⊖",
        "TO_KERNEL": "⇥",
        "EMPTY": "∅",
        "COMPUTE": "χ",
        "AGGREGATE": "γ",
        "PARTIAL_AGGREGATE": "γ",
        "WITNESS": "ω",
        "REPORT": "ρ",
        "EVENT_REPORT": "ρ",
        "TOP": "τ",
        "TOP_K": "τ",
    }
)
"""The sign of each operator by its name, logical and physical."""

_ONLY_NUMBERS = re.compile(r"[0-9()|·*+?^]+")


class InputNames(NamedTuple):
    """The names with which an operator is written.

    ``inputs`` are the names of the inputs in a path, ``columns`` the names of the columns of each
    input, and ``own`` those of its output columns, if they are known; windows and periods are
    lengths in the ``time_unit``.
    """

    inputs: Sequence[str]
    columns: Sequence[Sequence[str]]
    time_unit: str
    own: Sequence[str] = ()


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


def report(mode: str, every: str, start: int) -> str:
    """``entering every 1d``, with the first instant in ticks unless it is 0."""
    return f"{mode} every {every}{f'  from {start}' if start else ''}"


def events(count: int) -> str:
    """``1 event``, ``2 events``."""
    return f"{count} event{'s' * (count != 1)}"


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


def called(text: str, name: str | None) -> str:
    """``sum(e.amount) as total``: an expression with the name of its column, if it has another."""
    return text if name is None or name == text else f"{text} as {name}"


def values(computed: Sequence[str], names: InputNames) -> str:
    """``x, e.amount * 2 as twice``: computed columns."""
    own = [*names.own, *[None] * (len(computed) - len(names.own))]
    texts = [value(sql, names.columns[0]) for sql in computed]
    return ", ".join(map(called, texts, own))


def aggregates(
    keys: Sequence[int],
    calls: Sequence[Call],
    output: Sequence[int],
    every: int | None,
    names: InputNames,
    *,
    marks: Sequence[str] = (),
) -> str:
    """``count(*) as n, sum(e.amount) as total by x``, the period of the rows, and the ``marks``:
    ``retracts`` for rows that are retracted when they change, ``partial`` for those of a partition.
    """
    columns = names.columns[0]
    own = dict(zip(output, names.own, strict=False))
    shown = ", ".join(
        called(value(str(AggregateCall.read(call)), columns), own.get(len(keys) + k))
        for k, call in enumerate(calls)
    )
    by = f" by {','.join(chosen(columns, keys))}" if keys else ""
    at = "" if every is None else f"  every {durations.text(every, names.time_unit)}"
    return "  ".join([f"{shown}{by}{at}", *marks]).lstrip()


def first_rows(
    order: Order, limit: int, columns: Sequence[str], *, offset: int = 0, partial: bool = False
) -> str:
    """``first 10 by n desc, x``; without an order the rows are ordered by their columns.

    With ``partial``, ``first 10 of each partition by n desc, x``; after an offset,
    ``first 10 after 5 by n desc, x``.
    """
    shown = [
        f"{name}{' desc' * (direction == 'desc')}"
        for (_, direction), name in zip(
            order, chosen(columns, [column for column, _ in order]), strict=True
        )
    ]
    where = f" after {offset}" * bool(offset) + " of each partition" * partial
    return f"first {limit}{where}{' by ' * bool(shown)}{', '.join(shown)}"


def joined(
    bindings: Sequence[Sequence[int]],
    output: Sequence[int],
    name: Callable[[int], str],
    sign: str = "⋈",
) -> str:
    """``x,y ⋈ y,z → x,z  on y``."""
    sides = f" {sign} ".join(",".join(map(name, side)) for side in bindings)
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


def shortest(words: str, values: Sequence[str], every: str, *, all_paths: bool) -> str:
    """``all a·b+ → length, path  every 1h``: shortest paths, the values shown and the period."""
    which = "all shortest" if all_paths else "shortest"
    at = f"  every {every}" if every else ""
    return f"{which} {words} → {', '.join(values)}{at}"


def pairs(relation: str) -> str:
    """``  where (src, trg) in a``: the relation of the pairs of a path."""
    return f"  where (src, trg) in {relation}"


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


_PRIMES = "′″‴"
_PLACE = re.compile(r"_[0-9]*")


def apart(name: str, taken: Collection[str]) -> str:
    """The name, with primes if it is taken: no variable of a query has primes.

    A place without a variable has a number instead.

    >>> apart("m", ["x"]), apart("m", ["m"]), apart("m", ["m", "m′"])
    ('m', 'm′', 'm″')
    >>> apart("_", ["_", "_1"])
    '_2'
    """
    candidate, count, unnamed = name, 0, _PLACE.fullmatch(name) is not None
    while candidate in taken:
        count += 1
        if unnamed:
            candidate = f"_{count}"
        else:
            primes = _PRIMES[count - 1] if count <= len(_PRIMES) else f"{_PRIMES[0]}{count}"
            candidate = name + primes
    return candidate


PARTITION = "partition()"
"""The name of the column with the partition of a group, where others read it."""


def origin(name: str) -> str | None:
    """Where a name comes from that the query does not give; None for a name of the query."""
    stem = re.split(f"[{_PRIMES}]", name, maxsplit=1)[0]
    if stem != name and stem in ends(2):
        return f"a vertex inside a path, the {stem} of an edge; the query has no variable there"
    if stem != name:
        return f"not {stem} itself, but a variable called {stem} in another rule or an equal join"
    if name == PARTITION:
        return "the number of the partition that a group of rows is on"
    if _PLACE.fullmatch(name):
        return "a place of an atom that has no variable of its own in the query"
    return f"column {name[1:]}, without a name in the query" if name.startswith("#") else None


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
