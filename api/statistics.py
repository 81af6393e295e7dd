"""Measured statistics as text: a table with its columns explained, times, values and joins."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from ..documents.numbers import counted, duration, number, per_unit, printable
from .console import styled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..catalog.measurement import Measurement
    from ..catalog.model import Catalog, LabelStatistics, PropertyStatistics, RateHistogram
    from ..catalog.time_units import TimeUnitGuess

_JOINS_SHOWN = 10
_VALUE_SHOWN = 40
"""The most characters of a shown value."""
_CELLS = 40
"""The number of characters of a histogram."""
_MOST_IN_FIRST = 0.5
"""With more of the values in the first part of a histogram, its axis is logarithmic."""
_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*#@"
"""The levels of a histogram where the output has no block characters."""
_EXPLAINED = {
    "peak": "the rate in the busiest part of the time",
    "sources": "different vertices at which edges start",
    "targets": "different vertices at which edges end",
    "vertices": "different vertices at either end",
    "pairs": "different pairs of source and target",
    "skew": "1 if all vertices have as many edges; large if few vertices have most edges",
}
"""The columns of the table, except for the label and the rate."""


def text_of(
    catalog: Catalog,
    measured: Sequence[Measurement],
    times: tuple[int, int] | None,
    guess: TimeUnitGuess | None,
) -> str:
    """Returns the statistics as text.

    Args:
        catalog: the catalog with the statistics.
        measured: the measurements of its streams.
        times: the smallest and the largest time of the stream; None without one.
        guess: the probable unit of these times.
    """
    lines = list(_table(catalog))
    if times is not None and guess is not None:
        lines += ["", *_times(catalog, times, guess)]
    for title, section in (
        ("properties", _properties(catalog)),
        ("most frequent vertices", _hubs(catalog)),
        ("joins, compared with uniform degrees", _joins_shown(catalog)),
    ):
        shown = [f"  {line}" for line in section]
        lines += ["", title, *shown] if shown else []
    whole = all(measurement.complete for measurement in measured)
    part = "all of the input" if whole else "the first of each file"
    edges = sum(measurement.rows for measurement in measured)
    return "\n".join([*lines, "", f"measured on {edges:,} edges, {part}", ""])


def _labels(catalog: Catalog) -> Iterator[tuple[str, LabelStatistics]]:
    for stream in catalog.streams.values():
        for label, statistics in stream.labels.items():
            yield printable(label), statistics


def _table(catalog: Catalog) -> Iterator[str]:
    """The table of labels, and what its columns mean."""
    per = per_unit(catalog.time_unit, max((s.rate for _, s in _labels(catalog)), default=0.0))
    head = ("label", f"edges/{per.sign}", *_EXPLAINED)
    rows = [
        (
            label,
            f"{s.population:,.0f} stored" if s.population is not None else per(s.rate),
            "" if s.rates is None else per(s.rates.peak),
            f"{s.distinct_src:,.0f}",
            f"{s.distinct_trg:,.0f}",
            f"{s.vertices:,.0f}",
            "" if s.distinct_pairs is None else f"{s.distinct_pairs:,.0f}",
            "" if s.degree_skew is None else number(s.degree_skew),
        )
        for label, s in _labels(catalog)
    ]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    explained = {head[1]: "the mean rate; of a stored graph its edges", **_EXPLAINED}
    longest = max(map(len, explained))
    yield ""
    yield from (f"  {name.ljust(longest)}  {text}" for name, text in explained.items())


def _times(catalog: Catalog, times: tuple[int, int], guess: TimeUnitGuess) -> Iterator[str]:
    """The time span, the guessed unit, and the rate of each label over the span."""
    from ..catalog.time_units import date_of

    unit = catalog.time_unit
    earliest, latest = times
    first, last = date_of(earliest, unit), date_of(latest, unit)
    length = duration(latest - earliest + 1, unit)
    if guess.unit == unit and first is not None and last is not None:
        yield f"time span  {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} UTC, {length}"
    else:
        yield f"time span  {earliest} to {latest}, {length} as {unit}s"
    yield f"unit of ts  {_said(guess, unit)}"
    yield f"            {guess.reason}"
    part = duration((latest - earliest + 1) / _CELLS, unit)
    shown = [(label, s.rates) for label, s in _labels(catalog) if s.rates is not None]
    longest = max((cell_len(label) for label, _ in shown), default=0)
    yield ""
    yield f"rates over the time span, {part} for each character"
    for label, rates in shown:
        pad = " " * (longest - cell_len(label))
        yield f"  {label}{pad}  {_bars(_over(rates, earliest, latest + 1))}"


def _said(guess: TimeUnitGuess, unit: str) -> str:
    if guess.unit is None:
        return f"probably a plain counter, or times since a start of their own; read as {unit}s"
    if guess.unit == unit:
        return f"{unit}s since 1970"
    return f"probably {guess.unit}s since 1970, but read as {unit}s: say --time-unit {guess.unit}"


def _over(rates: RateHistogram, begin: int, end: int) -> list[float]:
    """The mean rates in equal parts of a time span."""
    width = (end - begin) / _CELLS
    means = []
    for cell in range(_CELLS):
        low, high = begin + cell * width, begin + (cell + 1) * width
        edges = 0.0
        for k, rate in enumerate(rates.rates):
            start = rates.start + k * rates.part
            edges += rate * max(0.0, min(high, start + rates.part) - max(low, start))
        means.append(edges / width)
    return means


def _bars(heights: Sequence[float]) -> str:
    """A histogram in one line; empty parts are blank."""
    top = max(heights, default=0.0)
    levels = _BLOCKS
    try:
        levels.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        levels = _ASCII
    signs = [
        " " if height <= 0 else levels[min(len(levels) - 1, int(height / top * len(levels)))]
        for height in heights
    ]
    return styled("".join(signs).rstrip(), "36", sys.stdout)


def _properties(catalog: Catalog) -> Iterator[str]:
    for stream in catalog.streams.values():
        for label, s in stream.labels.items():
            for name, kind in stream.properties.items():
                if not s.distinct_properties.get(name):
                    continue
                distribution = s.properties.get(name)
                values = counted(round(s.distinct_properties[name]), "value")
                shown = f"{printable(label)}.{printable(name)}: {kind}, {values}"
                yield f"{shown}{_described(distribution)}"
                if distribution is not None and (bars := _histogram(distribution)):
                    yield f"  {bars}"


def _described(statistics: PropertyStatistics | None) -> str:
    """The range, the most common value and the share of missing values of a property."""
    if statistics is None:
        return ""
    parts = []
    if statistics.quantiles:
        values = statistics.quantiles
        low, middle, high = (
            printable(str(values[k])[:_VALUE_SHOWN]) for k in (0, len(values) // 2, -1)
        )
        parts.append(f"from {low} to {high}, median {middle}")
    if statistics.common:
        value, share = statistics.common[0]
        parts.append(f"most common {printable(str(value)[:_VALUE_SHOWN])} ({share:.1%})")
    if statistics.nulls:
        parts.append(f"{statistics.nulls:.1%} missing")
    return "".join(f", {part}" for part in parts)


def _histogram(statistics: PropertyStatistics) -> str:
    """The numbers of a property between the smallest and the largest one; empty for texts."""
    import numpy as np

    values = [v for v in statistics.quantiles if not isinstance(v, str)]
    if len(values) < 2 or not np.isfinite(values[-1] - values[0]) or values[0] == values[-1]:
        return ""
    axis = np.array(values, np.float64)
    shares, scale = _shares(axis), ""
    if shares[0] > _MOST_IN_FIRST:
        shares, scale = _shares(np.log1p(axis - axis[0])), ", logarithmic"
    return f"{number(axis[0])} {_bars(shares)} {number(axis[-1])}{scale}"


def _shares(quantiles: NDArray[np.float64]) -> list[float]:
    """The shares of the values in equal parts between the first and the last quantile."""
    import numpy as np

    up_to = {value: k / (len(quantiles) - 1) for k, value in enumerate(quantiles.tolist())}
    bounds = np.linspace(quantiles[0], quantiles[-1], _CELLS + 1)
    shares = np.interp(bounds, list(up_to), list(up_to.values()))
    shares[0] = 0.0  # the first part includes the smallest value
    parts: list[float] = np.diff(shares).tolist()
    return parts


def _hubs(catalog: Catalog) -> Iterator[str]:
    for stream in catalog.streams.values():
        for label, s in stream.labels.items():
            for end, frequent in (("source", s.frequent_src), ("target", s.frequent_trg)):
                if frequent and not stream.vertices:
                    vertex, share = frequent[0]
                    text = printable(str(vertex))
                    yield f"{printable(label)}: {end} {text}, {share:.1%} of edges"


def _joins_shown(catalog: Catalog) -> list[str]:
    joins = [line for _, line in sorted(_joins(catalog), reverse=True)]
    more = len(joins) - _JOINS_SHOWN
    rest = [f"and {more} more in the catalog"] if more > 0 else []
    return [*joins[:_JOINS_SHOWN], *rest]


def _joins(catalog: Catalog) -> Iterator[tuple[float, str]]:
    """Each join of two ends with the factor by which it is larger than for uniform degrees."""
    for joint in catalog.joint:
        counts = []
        for stream, label, end in (joint.left, joint.right):
            statistics = catalog.streams[stream].labels[label]
            counts.append(statistics.distinct_src if end == "src" else statistics.distinct_trg)
        factor = joint.selectivity * max(counts)
        left, right = (f"{printable(label)}.{end}" for _, label, end in (joint.left, joint.right))
        shared = f"{joint.shared:,.0f} shared vertices"
        yield factor, f"{left} = {right}: {number(factor)} times as large, {shared}"
