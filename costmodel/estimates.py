"""Characteristics of an operator's result: operator formulas 1-3 of thesis 6.3.1, and ours.

Joins are in :mod:`headrace.costmodel.joins`, paths in :mod:`headrace.costmodel.paths`. All are pure
functions of characteristics. The two models share them and differ in their :class:`Reading`:
the formulas to the letter, or within set semantics. Under set semantics no more values are valid
at an instant than there are combinations of the distinct values of the columns.

Every number stays finite, so that no estimate ever turns into ``inf - inf``: rates and
populations are capped at :data:`LARGEST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log2, prod

from ..algebra import scalar
from ..algebra.aggregates import ReportMode
from ..algebra.logical import (
    Aggregate,
    EventReport,
    PartialAggregate,
    Report,
    Shortest,
    Top,
    Witness,
)
from ..algebra.path_values import NUMBERS, VERTICES, PathValue, members
from ..algebra.window import Window
from ..catalog.model import LabelStatistics, PropertyType
from .characteristics import LARGEST, Characteristics
from .derived import Reading, derived
from .joint import chosen, united
from .selectivity import Condition

DISTINCT_PROPERTY = 100.0
"""The assumed distinct values of a property without statistics; a boolean property has 2."""


def window_scan(
    statistics: LabelStatistics,
    window: Window | None,
    reading: Reading,
    properties: Sequence[tuple[str, PropertyType]] = (),
) -> Characteristics:
    """Formula 1: rO = ri (6.1), vO = omega (6.2), over edges with the given properties.

    Saturating: vO is omega - (beta - 1)/2, the true mean over the instants of a slide. A
    stored graph has no window, no rate and no end of validity; its statistics give the population.
    The property ``ts`` has a value for each instant of the window, at most one per edge.
    """
    if window is None:
        rate, validity, population = 0.0, inf, statistics.population or 0.0
    else:
        rate, validity = statistics.rate, float(window.range)
        if reading.set_semantics:
            validity -= (window.slide - 1) / 2
        population = rate * validity

    def distinct(name: str, kind: PropertyType) -> float:
        if name == "ts":
            return max(min(population, validity), 1.0)
        default = 2.0 if kind == "boolean" else DISTINCT_PROPERTY
        return statistics.distinct_properties.get(name, default)

    return Characteristics(
        rate,
        validity,
        population,
        (
            statistics.distinct_src,
            statistics.distinct_trg,
            *(distinct(name, kind) for name, kind in properties),
        ),
        statistics.longest_path,
        statistics.vertices,
        in_order=window is not None,
    )


def empty(columns: int) -> Characteristics:
    """A relation without rows."""
    return Characteristics(0.0, inf, 0.0, (0.0,) * columns)


def filtered(source: Characteristics, condition: Condition, reading: Reading) -> Characteristics:
    """Formula 2: rO = f·ri (6.3), vO = vi (6.4)."""
    selectivity = condition.share(source.distinct, source.columns)
    return derived(
        selectivity * source.arrival_rate,
        source.validity,
        selectivity * source.population,
        condition.distinct(source.distinct),
        inputs=(source,),
        reading=reading,
        columns=condition.kept(source.columns),
        most_values=max(selectivity * source.most_values, 1.0) if selectivity > 0 else 1.0,
        repeats=source.repeats,
        in_order=source.in_order,
    )


def projected(
    source: Characteristics, columns: tuple[int, ...], reading: Reading
) -> Characteristics:
    """A projection passes every row on; the thesis has no formula for it.

    Saturating: values that differ only in a dropped column become one.
    """
    kept = {column: source.distinct[column] for column in columns}
    dropped = [v for column, v in enumerate(source.distinct) if column not in kept]
    result = derived(
        source.arrival_rate,
        source.validity,
        source.population,
        tuple(kept.values()),
        inputs=(source,),
        reading=reading,
        columns=chosen(source, columns),
        repeats=1.0 if dropped else source.repeats,
        in_order=source.in_order,
        merges=max(dropped, default=0.0) > 1,
    )
    if len(kept) == len(columns):
        return result
    place = {column: i for i, column in enumerate(kept)}
    return replace(result, distinct=tuple(result.distinct[place[c]] for c in columns))


def rewindowed(source: Characteristics, window: Window, reading: Reading) -> Characteristics:
    """A window over a result: as many results, each valid for no longer than the window.

    The thesis has no formula for REWINDOW. The interval is omega as for a scan, and saturating
    omega - (beta - 1)/2.
    """
    longest = float(window.range)
    if reading.set_semantics:
        longest -= (window.slide - 1) / 2
    validity = min(source.validity, longest)
    return derived(
        source.arrival_rate,
        validity,
        min(source.population, source.arrival_rate * validity)
        if source.arrival_rate
        else source.population,
        source.distinct,
        inputs=(source,),
        reading=reading,
        columns=source.columns,
    )


def computed(
    source: Characteristics, values: Sequence[scalar.Value], reading: Reading
) -> Characteristics:
    """χ, which the thesis does not have: a row for each row, as :func:`projected`.

    A computed column has a value for each combination of the values that it is computed from.
    """

    def distinct(value: scalar.Value) -> float:
        columns = set(scalar.columns(value))
        most = max(min(source.population, LARGEST), 1.0)
        return min(prod(max(source.distinct[c], 1.0) for c in columns), most)

    return derived(
        source.arrival_rate,
        source.validity,
        source.population,
        tuple(map(distinct, values)),
        inputs=(source,),
        reading=reading,
    )


def aggregated(source: Characteristics, aggregate: Aggregate) -> Characteristics:
    """γ, which the thesis does not have: groups = min(product of V(key), p).

    A row of the result ends when a row of the input begins or ends, so rO is 2·ri. With a period
    each group has one row per period.
    """
    keys = _values_of_keys(source, aggregate.keys)
    groups = min(prod(keys), source.population, LARGEST)
    rate = min(2 * source.arrival_rate, LARGEST)
    if aggregate.every is not None:
        rate = groups / aggregate.every
    most = max(groups, 1.0)
    columns = [*(min(key, most) for key in keys), *(most for _ in aggregate.aggregates)]
    distinct = tuple(columns[i] for i in aggregate.output)
    return Characteristics(rate, groups / rate if rate else inf, groups, distinct)


def aggregated_partially(
    source: Characteristics, partial: PartialAggregate, parallelism: int
) -> Characteristics:
    """γ': a group has a row on each partition, if it has as many rows.

    A row changes once in a tick at most, however many rows of its group begin or end then. With a
    period each group has one row per period.
    """
    keys = _values_of_keys(source, partial.keys)
    groups = min(prod(keys) * parallelism, source.population, LARGEST)
    rate = min(2 * source.arrival_rate, groups, LARGEST)
    if partial.every is not None:
        rate = groups / partial.every
    most = max(groups, 1.0)
    values = [most for _ in partial.aggregates]
    distinct = (*(min(key, most) for key in keys), *values, min(float(parallelism), most))
    return Characteristics(rate, groups / rate if rate else inf, groups, distinct)


def _values_of_keys(source: Characteristics, keys: Sequence[int]) -> list[float]:
    return [max(source.distinct[column], 1.0) for column in keys]


def first_rows(source: Characteristics, top: Top, partitions: int = 1) -> Characteristics:
    """τ, which the thesis does not have: p = min(k, p1) rows for a limit of k.

    The first rows of each of n partitions are p = min(n·k, p1). After an offset of m,
    min(k, p1 - m) of the first k + m rows are in the result, and a row that comes to these moves
    another one on.

    A row that arrives is one of the first with the chance s = p/p1. It ends when it expires, or
    when another row pushes it out, and begins again when a row before it ends. In the long run as
    many rows begin for want of an earlier row as are pushed out, so rO is at most 2·s·r1.
    """
    kept = min(kept_rows(top, partitions), source.population)
    share = kept / source.population if source.population else 1.0
    population = max(kept - top.offset, 0.0)
    rate = source.arrival_rate * (1.0 if share == 1 else min(2 * share, 1.0))
    rate = rate if population else 0.0
    most = max(population, 1.0)
    return replace(
        source,
        arrival_rate=rate,
        validity=population / rate if rate else source.validity,
        population=population,
        distinct=tuple([min(values, most) for values in source.distinct]),
        most_values=min(source.most_values, population),
        columns=(),
        repeats=1.0,
        in_order=False,
        on_sample=None,
    )


def kept_rows(top: Top, partitions: int) -> float:
    """The most rows that τ keeps: to its limit after its offset, on each partition if partial."""
    return min(float(top.limit + top.offset), LARGEST) * (partitions if top.partial else 1)


def witnessed(source: Characteristics, witness: Witness, reading: Reading) -> Characteristics:
    """ω, which the thesis does not have: the rows by their keys, each with a path of its own."""
    kept = projected(source, witness.keys, reading)
    of_key = dict(zip(witness.keys, kept.distinct, strict=True))
    most = max(min(kept.population, LARGEST), 1.0)
    distinct = tuple([of_key.get(c, most) for c in witness.output])
    return replace(kept, distinct=distinct, columns=(), repeats=1.0)


def reported(source: Characteristics, report: Report) -> Characteristics:
    """ρ, which the thesis does not have: once a period all valid rows, or at most the new ones."""
    return _once_a_period(source, report.mode, float(report.every))


def reported_at_events(
    source: Characteristics, events: Sequence[Characteristics], report: EventReport
) -> Characteristics:
    """ρ at events: a tick has one event at most, however many rows arrive then."""
    rate = min(sum(rows.arrival_rate for rows in events), 1.0)
    period = report.events / rate if rate else LARGEST
    return _once_a_period(source, report.mode, min(period, LARGEST))


def _once_a_period(source: Characteristics, mode: ReportMode, period: float) -> Characteristics:
    rate = source.population / period
    if mode != "snapshot":
        rate = min(rate, source.arrival_rate)
    return replace(
        source,
        arrival_rate=rate,
        validity=period,
        population=rate * period,
        repeats=1.0,
    )


def at_instants(pairs: Characteristics, shortest: Shortest) -> Characteristics:
    """Shortest paths, which the thesis does not have: once a period a row for each valid pair, or
    for each member of its path.

    The lengths are as many as the logarithm of the number of vertices, as in random graphs. Each
    pair has a path of its own.
    """
    every = float(shortest.every or 1)
    vertices = min(pairs.vertices, LARGEST)
    most = max(min(pairs.population, LARGEST), 1.0)
    lengths = min(_lengths(vertices), most)
    rows = min(pairs.population * rows_of_path(vertices, shortest.values), LARGEST)

    def distinct(value: PathValue) -> float:
        if value in NUMBERS:
            return lengths
        return max(min(vertices, rows), 1.0) if value in VERTICES else most

    values = tuple(map(distinct, shortest.values))
    return Characteristics(rows / every, every, rows, (*pairs.distinct, *values))


def rows_of_path(vertices: float, values: Sequence[PathValue]) -> float:
    """The mean number of rows of a shortest path with some values, in a graph of some vertices."""
    of = members(values)
    if of is None:
        return 1.0
    steps = (1.0 + _lengths(vertices)) / 2.0
    return steps if of == "steps" else steps + 1.0


def _lengths(vertices: float) -> float:
    """The number of lengths of shortest paths in a random graph."""
    return 1.0 + log2(max(vertices, 1.0))


def union(inputs: Sequence[Characteristics], reading: Reading) -> Characteristics:
    """Formulas 3 and 6: rO = sum of ri (6.5, 6.11), vO = sum of vi·ri / rO (6.6, 6.12).

    The columns' values are taken as contained in each other: the largest count remains.
    """
    rate = sum(i.arrival_rate for i in inputs)
    population = sum(i.population for i in inputs)
    validity = population / rate if rate > 0 else inf
    distinct = tuple(map(max, zip(*(i.distinct for i in inputs), strict=True)))
    return derived(
        rate,
        validity,
        population,
        distinct,
        inputs=inputs,
        reading=reading,
        columns=united(inputs),
        most_values=sum([min(i.most_values, i.population) for i in inputs]),
        in_order=all(i.in_order for i in inputs),
    )
