"""Estimates of relations from a sample of the stream.

The rows of a relation are counted for a sample of the values of one of its columns, and weighted
with the inverse of the probability that a value is in the sample (Horvitz and Thompson 1952).
Values with more edges are more probable. A first, small sample tells how many values the steps
allow.

The rate of different rows, as COALESCE and S_PATH emit them, comes from the part of the rows that
are new, or expire later, since a short time before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...algebra.logical import LogicalOperator
from ...catalog.model import Catalog, StreamSample
from .evaluation import Evaluation, OverBudgetError, Rows, Steps, keys_of
from .relations import Edges, OnSample, Reach, Relation, Scanned, relation_of, scans_of, width
from .snapshot import Ints, snapshots

if TYPE_CHECKING:
    from ..characteristics import Characteristics

FEW_VALUES = 4
"""The number of values of the first sample, whose steps decide the size of the second."""
MOST_VALUES = 64
"""The most values of the second sample, unless it has all values."""
STEPS = 250_000
"""The steps of all estimates of a query; 250,000 take about twenty milliseconds."""
SHARE = 2
"""An estimate takes at most the remaining steps divided by this."""
SHORT_TIME = 1 / 4
"""The short time before the instant, as a part of the shortest window."""
_MOMENTS = 64
"""The number of instants of the sample among which that of the snapshot is chosen."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sampled:
    """An estimate of a relation from a sample.

    Attributes:
        population: the number of rows valid at an instant.
        rate: the number of different rows, as COALESCE emits them, per time unit.
        distinct: the number of distinct values of each column.
        standard_error: of the population, as a part of it; 0 if all rows were counted.
        repeats: the mean number of derivations of a row; None for a path that is searched.
    """

    population: float
    rate: float
    distinct: tuple[float, ...]
    standard_error: float
    repeats: float | None


@dataclass(eq=False)
class Sampler:
    """Estimates the relations of one query from a sample; each relation once.

    Attributes:
        samples: the samples of the streams.
        scans: the scans of the query.
        instant: the instant of the snapshot.
        weight: the mean number of rows over time, per row at the instant.
        seed: determines the sampled values.
        steps: the steps that are left.
        estimated: the number of estimates from the sample.
        seconds: the time of all estimates.
    """

    samples: Mapping[str, StreamSample]
    scans: tuple[Scanned, ...]
    instant: int
    weight: float = 1.0
    seed: int = 0
    steps: Steps = field(default_factory=lambda: Steps(STEPS))
    estimated: int = 0
    seconds: float = 0.0
    _known: dict[Relation, Sampled | None] = field(default_factory=dict)
    _evaluations: tuple[Evaluation, Evaluation] | None = None

    def refined(
        self,
        operator: LogicalOperator,
        inputs: Sequence[Characteristics],
        estimate: Characteristics,
    ) -> Characteristics:
        """The estimate of an operator's result, with the sample's numbers where it has them.

        Args:
            operator: a logical operator.
            inputs: the characteristics of its inputs.
            estimate: the characteristics of its result by formula.
        """
        below = [i.on_sample.relation if i.on_sample is not None else None for i in inputs]
        relation = relation_of(operator, below)
        if relation is None:
            return estimate if estimate.on_sample is None else replace(estimate, on_sample=None)
        sampled = None if isinstance(relation, Edges) else self.estimate(relation)
        if sampled is None:
            return replace(estimate, on_sample=OnSample(relation))
        population = sampled.population
        if not population:
            # No sampled value has a row: there are few.
            population = min(estimate.population, 1.0)
            rate = estimate.arrival_rate * population / (estimate.population or 1.0)
            distinct = tuple([min(d, max(population, 1.0)) for d in estimate.distinct])
        else:
            rate = sampled.rate * self.weight
            population *= self.weight
            distinct = tuple([min(d, max(population, 1.0)) for d in sampled.distinct])
        return replace(
            estimate,
            arrival_rate=rate,
            validity=population / rate if rate else estimate.validity,
            population=population,
            distinct=distinct,
            vertices=min(sum(distinct), estimate.vertices),
            repeats=estimate.repeats if sampled.repeats is None else sampled.repeats,
            on_sample=OnSample(relation, sampled.standard_error),
        )

    def estimate(self, relation: Relation) -> Sampled | None:
        """The sample's estimate of a relation; None if it takes too many steps or has no window."""
        if relation not in self._known:
            begun = perf_counter()
            self._known[relation] = self._estimate(relation)
            self.seconds += perf_counter() - begun
            self.estimated += self._known[relation] is not None
        return self._known[relation]

    def _estimate(self, relation: Relation) -> Sampled | None:
        windows = [window for *_, window in scans_of(relation)]
        ranges = [window.range for window in windows if window is not None]
        if not ranges or not {*scans_of(relation)} <= {*self.scans}:
            return None
        if self._evaluations is None:
            self._evaluations = self._evaluated()
        now, before = self._evaluations
        own = Steps(self.steps.left // SHARE)
        now, before = replace(now, steps=own), replace(before, steps=own)
        try:
            return self._measured(relation, now, before)
        except OverBudgetError:
            return None
        finally:
            self.steps.take(own.taken)

    def _evaluated(self) -> tuple[Evaluation, Evaluation]:
        moments = (self.instant, self.instant - short_time(self.scans))
        now, before = snapshots(self.samples, self.scans, moments)
        return Evaluation(now, self.steps), Evaluation(before, self.steps)

    def _measured(self, relation: Relation, now: Evaluation, before: Evaluation) -> Sampled:
        columns, vertices = range(width(relation)), now.snapshot.vertices
        candidates = [now.candidates(relation, column) for column in columns]
        column = min(columns, key=lambda c: len(candidates[c][0]))
        values, degrees = candidates[column]
        if not len(values):
            return Sampled(0.0, 0.0, tuple(0.0 for _ in columns), 0.0, 1.0)
        drawn, probability = draw(degrees, FEW_VALUES, self.seed)
        begun = now.steps.taken
        rows = now.rows(relation, column, values[drawn])
        steps = now.steps.taken - begun
        most = len(drawn) * now.steps.left // (2 * steps)
        if most > len(drawn) < len(values):
            size = most if most >= len(values) else min(most, MOST_VALUES)
            drawn, probability = draw(degrees, size, self.seed + 1)
            rows = now.rows(relation, column, values[drawn])
        again = slice(None) if most > len(drawn) else slice(1, None, 2)
        place = np.searchsorted(values[drawn], rows.columns[column])
        weights = 1 / probability[place]
        population = float(weights.sum())
        if not population:
            nothing = tuple(0.0 for _ in columns)
            return Sampled(0.0, 0.0, nothing, float(len(drawn) < len(values)), 1.0)
        of_values = np.bincount(place, weights, len(drawn))
        whole = len(drawn) == len(values)
        error = 0.0 if whole else float(np.std(of_values, ddof=1)) * sqrt(len(drawn)) / population
        distinct = tuple(
            min(
                float((1 / probability[of_values > 0]).sum())
                if c == column
                else _distinct(rows.columns[c], weights),
                float(len(candidates[c][0])),
            )
            for c in columns
        )
        seen = len(rows.expiry)
        mine = np.isin(place, np.arange(len(drawn))[again])
        some = Rows(tuple(c[mine] for c in rows.columns), rows.expiry[mine])
        earlier = before.rows(relation, column, values[drawn[again]])
        new = added(some, earlier, vertices)
        part = float(weights[mine][new].sum()) / (float(weights[mine].sum()) or 1.0)
        part = min(max(part, 0.5 / seen), 1 - 0.5 / (seen + 1))
        repeats = 1.0 if not isinstance(relation, Reach) else None
        if rows.derivations is not None:
            repeats = float((weights * rows.derivations).sum()) / population
        rate = population * self._renewals(relation, part)
        return Sampled(population, rate, distinct, error, repeats)

    def _renewals(self, relation: Relation, part: float) -> float:
        """How often per time unit a row is new or extended.

        Args:
            relation: the relation of the row.
            part: the part of the rows that are new, or expire later, since a short time before.

        If edges arrive evenly, a row of m different edges is new since a part d of the window with
        probability 1 - (1 - d)^m, and there are m new rows per row and window.
        """
        longest = min(w.range for *_, w in scans_of(relation) if w is not None)
        since = min(short_time(self.scans) / longest, 0.9)
        return log(1 - part) / log(1 - since) / longest


def _distinct(values: Ints, weights: Floats) -> float:
    """The distinct values of a column of weighted rows.

    A value that occurs once stands for others, the square root of its weight in all (the estimator
    GEE, Charikar et al. 2000).
    """
    _, first, counts = np.unique(values, return_index=True, return_counts=True)
    once = first[counts == 1]
    return float(len(counts) - len(once) + np.sqrt(weights[once]).sum())


def added(rows: Rows, earlier: Rows, vertices: int) -> Ints:
    """The positions of the rows that are not among ``earlier``, or expire later than there."""
    columns = [np.concatenate(pair) for pair in zip(rows.columns, earlier.columns, strict=True)]
    keys = keys_of(tuple(columns), max(vertices, 1))
    mine, theirs = keys[: len(rows.expiry)], keys[len(rows.expiry) :]
    order = np.argsort(theirs)
    place = np.minimum(np.searchsorted(theirs[order], mine), max(len(theirs) - 1, 0))
    if not len(theirs):
        return np.arange(len(mine))
    known = theirs[order][place] == mine
    same = known & (earlier.expiry[order][place] >= rows.expiry)
    return np.flatnonzero(~same)


def draw(degrees: Ints, size: int, seed: int) -> tuple[Ints, Floats]:
    """Samples positions, sorted, with the probability that the sample has each of them.

    The sample is systematic over the positions in the order of their degrees. Its expected size is
    ``size``. The probability of a position of degree d is in proportion to d plus the mean degree,
    and at most 1. A sample of all positions has probability 1 for each.
    """
    if len(degrees) <= size:
        return np.arange(len(degrees)), np.ones(len(degrees))
    weights = degrees / degrees.mean() + 1
    probability = np.minimum(size * weights / weights.sum(), 1.0)
    while True:
        free = probability < 1
        room = size - np.count_nonzero(~free)
        probability[free] = np.minimum(room * weights[free] / weights[free].sum(), 1.0)
        if np.count_nonzero(probability < 1) == np.count_nonzero(free):
            break
    order = np.argsort(degrees, kind="stable")
    ends = np.cumsum(probability[order])
    start = np.random.default_rng(seed).random()
    places = np.searchsorted(ends, np.arange(start, ends[-1], 1.0), "right")
    drawn = np.unique(order[np.minimum(places, len(order) - 1)])
    return drawn, probability[drawn]


def short_time(scans: Collection[Scanned]) -> int:
    """The short time over which added rows are counted: some slides, a part of a window."""
    windows = [window for *_, window in scans if window is not None]
    slide = max(window.slide for window in windows)
    part = int(min(window.range for window in windows) * SHORT_TIME)
    return max(part // slide, 1) * slide


def sampler_of(catalog: Catalog, scans: Collection[Scanned], seed: int = 0) -> Sampler | None:
    """The sampler of a query.

    Args:
        catalog: the streams with their statistics and samples.
        scans: the scans of the query.
        seed: determines the sampled values.

    Returns:
        None if the catalog has no sample of a scanned stream, or the sample is shorter than a
        window.
    """
    read = tuple(sorted({*scans}, key=str))
    samples = catalog.samples
    if any(stream not in samples for stream, *_ in read):
        return None
    timed = [samples[stream] for stream, _, window in read if window is not None]
    if not timed or any(s.stored == (w is not None) for n, _, w in read for s in [samples[n]]):
        return None
    chosen = _instant(catalog, read)
    return None if chosen is None else Sampler(samples, read, *chosen, seed)


def _instant(catalog: Catalog, scans: Sequence[Scanned]) -> tuple[int, float] | None:
    """The instant of the snapshot, and the weight of its rows in the mean over time.

    A join of two edges has rows in proportion to the square of the number c of valid edges, so most
    of its rows are valid at few instants of a stream with bursts. The instant is the median of the
    instants weighted by c squared. The weight is the mean of c squared over that at the instant.
    """
    windowed = [(stream, label, window) for stream, label, window in scans if window is not None]
    samples = {stream: catalog.samples[stream] for stream, *_ in windowed}
    longest = max(window.range for *_, window in windowed) + short_time(scans)
    first = max(sample.begin for sample in samples.values()) + longest
    last = min(sample.end for sample in samples.values())
    if first > last:
        return None
    moments = np.unique(np.linspace(first, last, _MOMENTS).astype(np.int64))
    valid = np.zeros(len(moments))
    for stream, label, window in windowed:
        sample = samples[stream]
        if label in sample.labels:
            ts = sample.ts[sample.label == sample.labels.index(label)]
            until = np.searchsorted(ts, moments, "right")
            valid += until - np.searchsorted(ts, moments - window.range, "right")
    squares = (valid + 1) ** 2
    mass = np.cumsum(squares)
    chosen = int(np.searchsorted(mass, mass[-1] / 2))
    return int(moments[chosen]), float(squares.mean() / squares[chosen])
