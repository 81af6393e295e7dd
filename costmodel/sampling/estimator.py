"""Estimates of relations from a sample of the stream.

The rows of a relation are counted for a sample of the values of one of its columns, and weighted
with the inverse of the probability that a value is in the sample (Horvitz and Thompson 1952).
Values with more derivations are more probable. A first, small sample tells how many values the
steps allow.

The rate of different rows, as COALESCE and S_PATH emit them, comes from the lengths of the versions
of the rows; of paths that are searched, from the part of the rows that are new, or expire later,
since a short time before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf, sqrt
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...algebra.logical import LogicalOperator, Project
from ...catalog.model import Catalog, StreamSample
from .arrays import FOREVER, Floats, Ints
from .building import relation_of
from .drawing import draw
from .evaluation import Evaluation
from .parts import is_choice, is_search, one_way, overlapping, parts_of
from .properties import Checking, codes_of, undecided
from .relations import (
    Edges,
    Join,
    OnSample,
    Reach,
    Relation,
    Scanned,
    Wide,
    joins_with_conditions,
    properties_of,
    properties_read,
    scans_of,
    variables_of,
    width,
)
from .rows import OverBudgetError, Steps
from .sampled import Sampled, chained
from .snapshot import Snapshot, TimePoints, snapshot_of
from .time_points import points_of

if TYPE_CHECKING:
    from ..characteristics import Characteristics

FEW_VALUES = 8
"""The number of values of the first sample, whose steps decide the size of the second."""
MOST_VALUES = 128
"""The most values of the second sample, unless it has all values."""
STEPS = 1_000_000
"""The steps of all estimates of a query."""
SHARE = 8
"""An estimate takes at most the remaining steps divided by this."""
FEWEST_STEPS = 12_000
"""The fewest steps of an estimate of joined edges: with less, most would end without a result."""
WORTHWHILE = 4
"""How many times as many values as the first sample the second has at least, unless it has all."""


Matching = Callable[[Scanned, StreamSample], NDArray[np.bool_] | None]
"""The edges of a sample that satisfy the condition of a scan; None if that cannot be decided."""


@dataclass(eq=False)
class Sampler:
    """Estimates the relations of one query from a sample; each relation once.

    Attributes:
        catalog: the streams with their statistics and samples.
        scans: the scans of the query, without conditions.
        points: the instants of the snapshots.
        matching: decides conditions of scans.
        checking: decides conditions on the rows of joins.
        seed: determines the sampled values.
        steps: the steps that are left.
        estimated: the number of estimates from the sample.
        seconds: the time of all estimates.
    """

    catalog: Catalog
    scans: tuple[Scanned, ...]
    points: TimePoints
    matching: Matching
    checking: Checking = undecided
    seed: int = 0
    steps: Steps = field(default_factory=lambda: Steps(STEPS))
    estimated: int = 0
    seconds: float = 0.0
    _known: dict[Relation, Sampled | None] = field(default_factory=dict)
    _masks: dict[Scanned, NDArray[np.bool_]] = field(default_factory=dict)
    _snapshot: Snapshot | None = None

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
        if relation is None or not self._decided(relation):
            return estimate if estimate.on_sample is None else replace(estimate, on_sample=None)
        if isinstance(relation, Edges | Wide):
            return self._scanned(relation, estimate, isinstance(operator, Project))
        sampled = self.estimate(relation)
        if sampled is None:
            return replace(estimate, on_sample=OnSample(relation))
        population, rate = sampled.population, sampled.rate
        both = zip(sampled.distinct, estimate.distinct, strict=True)
        distinct = tuple([formula if own == inf else own for own, formula in both])
        if not population:
            # There is less than one row in all instants, if all values were counted.
            most = sampled.unseen or 0.5 / len(self.points.moments)
            population = min(estimate.population, most)
            rate = estimate.arrival_rate * population / (estimate.population or 1.0)
            distinct = estimate.distinct
        distinct = tuple([min(d, max(population, 1.0)) for d in distinct])
        repeats = sampled.repeats
        if is_choice(relation) and rate:
            # A scan of these labels emits all of their edges.
            repeats = max(estimate.derivation_rate / rate, 1.0)
        return replace(
            estimate,
            arrival_rate=rate,
            validity=population / rate if rate else estimate.validity,
            population=population,
            distinct=distinct,
            vertices=min(sum(distinct), estimate.vertices),
            repeats=repeats,
            on_sample=OnSample(relation, sampled.standard_error),
        )

    def _decided(self, relation: Relation) -> bool:
        """Whether the sample has the scans of a relation, and decides their conditions."""
        for scan in scans_of(relation):
            if scan.bare not in self.scans:
                return False
            if scan.condition is not None and scan not in self._masks:
                mask = self.matching(scan, self.catalog.samples[scan.stream])
                if mask is None:
                    return False
                self._masks[scan] = mask
        return all(map(self._checked, joins_with_conditions(relation)))

    def _checked(self, join: Join) -> bool:
        """Whether the sample decides the condition of a join: asked of no rows."""
        assert join.condition is not None
        properties, none = variables_of(join), np.empty(0, np.int64)
        return all(
            self.checking(each, properties, dict.fromkeys(each.columns, none), 0) is not None
            for each in join.condition.conjuncts
        )

    def _scanned(
        self, relation: Edges | Wide, estimate: Characteristics, projected: bool
    ) -> Characteristics:
        """The estimate of a scan; of a scan with a condition, or with some columns ``projected``,
        with the part of the sample's edges that satisfy the condition."""
        on_sample = OnSample(relation)
        edges = relation if isinstance(relation, Edges) else relation.edges
        if not projected and all(scan.condition is None for scan in edges.scans):
            if isinstance(relation, Wide):
                return replace(estimate, on_sample=on_sample)
            different = self._opened().different(edges) * estimate.population
            return replace(estimate, on_sample=on_sample, most_values=different)
        rate = population = 0.0
        ends: list[list[Ints]] = [[], []]
        for scan in edges.scans:
            sample = self.catalog.samples[scan.stream]
            rows = sample.rows_of(scan.label)
            kept = rows if scan.condition is None else rows[self._masks[scan][rows]]
            statistics = self.catalog.streams[scan.stream].labels.get(scan.label)
            if statistics is None or not len(rows):
                return replace(estimate, on_sample=on_sample)
            # Of none it is half an edge.
            part = max(len(kept), 0.5) / len(rows)
            rate += part * statistics.rate
            if scan.window is None:
                population += part * (statistics.population or 0.0)
            ends[0].append(sample.sources[kept])
            ends[1].append(sample.targets[kept])
        population = population if estimate.validity == inf else rate * estimate.validity
        counts = [float(max(len(np.unique(np.concatenate(end))), 1)) for end in ends]
        return replace(
            estimate,
            arrival_rate=rate,
            population=population,
            distinct=(*map(min, estimate.distinct[:2], counts), *estimate.distinct[2:]),
            repeats=1.0,
            on_sample=on_sample,
        )

    def estimate(self, relation: Relation) -> Sampled | None:
        """The sample's estimate of a relation; None if it takes too many steps or has no window."""
        if relation not in self._known:
            begun, before = perf_counter(), self.seconds
            turned = one_way(relation)
            if turned == relation:
                sampled = self._estimate(relation)
                self.estimated += sampled is not None
            else:
                other = self.estimate(turned)
                sampled = other and replace(other, distinct=other.distinct[::-1])
            self._known[relation] = sampled
            self.seconds = before + perf_counter() - begun
        return self._known[relation]

    def _estimate(self, relation: Relation) -> Sampled | None:
        if not self._decided(relation) or all(s.window is None for s in scans_of(relation)):
            return None
        if len(properties_of(relation)) == width(relation):
            return None
        held = self.catalog.samples
        if any(codes_of(held[s], name) is None for s, name in properties_read(relation)):
            return None
        if any(part != relation and self.estimate(part) is None for part in parts_of(relation)):
            # The evaluation would take more steps than that of the part did.
            return None
        return self._counted(relation) or self._chained(relation)

    def _counted(self, relation: Relation) -> Sampled | None:
        """The estimate from the rows of some values; None if they take too many steps."""
        if self.steps.left < SHARE * FEWEST_STEPS and not isinstance(relation, Edges):
            return None
        own = Steps(self.steps.left // SHARE)
        try:
            return self._measured(relation, Evaluation(self._opened(), own, self.checking))
        except OverBudgetError:
            return None
        finally:
            self.steps.take(own.taken)

    def _chained(self, path: Relation) -> Sampled | None:
        """The estimate of a path from those of two shorter ones that overlap; None without them."""
        shorter = overlapping(path)
        if shorter is None:
            return None
        first, last, common = map(self.estimate, shorter)
        return chained(first, last, common) if first and last and common else None

    def _opened(self) -> Snapshot:
        """The snapshot of the query."""
        if self._snapshot is None:
            samples = _samples_of(self.catalog, self.scans)
            self._snapshot = snapshot_of(samples, self.scans, self.points).of_query(self._masks)
        return self._snapshot

    def _measured(self, relation: Relation, evaluation: Evaluation) -> Sampled:
        snapshot, properties = evaluation.snapshot, properties_of(relation)
        columns = [column for column in range(width(relation)) if column not in properties]
        candidates = {column: evaluation.candidates(relation, column) for column in columns}
        counts = {column: np.count_nonzero(sizes) for column, sizes in candidates.items()}
        column = min(columns, key=lambda c: counts[c])
        values = np.flatnonzero(candidates[column])
        if not len(values):
            return Sampled(0.0, 0.0, (0.0,) * width(relation), 0.0, 1.0)
        sizes = candidates[column][values] * snapshot.weights[values]
        drawn, probability = draw(sizes, FEW_VALUES, self.seed)
        rows = evaluation.rows(relation, column, values[drawn])
        most = _affordable(len(drawn), evaluation.steps)
        if most > min(WORTHWHILE * len(drawn), len(values) - 1) and len(drawn) < len(values):
            size = most if most >= len(values) else min(most, MOST_VALUES)
            more, chance = draw(sizes, size, self.seed + 1)
            # The first sample stands if the values of the second need too many steps.
            with suppress(OverBudgetError):
                rows = evaluation.rows(relation, column, values[more])
                drawn, probability = more, chance
        of_drawn = snapshot.weights[values[drawn]] / probability
        place = np.searchsorted(values[drawn], rows.columns[column])
        versions, weights = rows.versions, of_drawn[place]
        last = versions.replaced == FOREVER
        held = np.where(last, weights, 0.0)
        population, whole = float(held.sum()), len(drawn) == len(values)
        if not population:
            # Another value has a row with a probability of 1 / (n + 1), roughly.
            likely = float(snapshot.weights[values].sum()) / (len(drawn) + 1)
            nothing = (0.0,) * width(relation)
            return Sampled(0.0, 0.0, nothing, float(not whole), 1.0, 0.0 if whole else likely)
        of_values = np.bincount(place, held, len(drawn))
        error = 0.0 if whole else float(np.std(of_values, ddof=1)) * sqrt(len(drawn)) / population
        distinct = tuple(
            inf
            if c in properties
            else min(
                float(of_drawn[of_values > 0].sum())
                if c == column
                else _distinct(rows.columns[c][last], weights[last], snapshot.weights),
                float(np.sum(snapshot.weights, where=candidates[c] > 0)),
            )
            for c in range(width(relation))
        )
        searched = is_search(relation)
        moments = snapshot.moments[rows.columns[column]]
        rates = weights * evaluation.rates(versions, moments, searched)
        rate = float(rates.sum())
        if not rate:
            rate = 0.5 * population / (len(rates) + 1) / self.points.since
        if searched and isinstance(relation, Reach):
            rate = population * self._renewals(rate * self.points.since / population)
        repeats = max(float((weights * rows.emitted).sum()) / rate, 1.0)
        return Sampled(population, rate, distinct, error, repeats)

    def _renewals(self, part: float) -> float:
        """How often per time unit a path is new or extended.

        Args:
            part: the part of the paths that are new, or expire later, since a short time before.

        A path changes at most once in a slide. With n slides in the short time, a path that changes
        in a slide with probability p has changed with probability 1 - (1 - p)^n.
        """
        slides = self.points.since / self.points.slide
        once = 1 - (1 - min(part, 1 - 1e-3)) ** (1 / slides) if slides > 1 else min(part, 1.0)
        return once / self.points.slide


def _affordable(values: int, steps: Steps) -> int:
    """The number of values for which a fourth of the steps that are left suffices.

    Args:
        values: the number of values for which steps were taken.
        steps: the steps; the same overhead is due again.
    """
    of_values = max(steps.taken - steps.overhead, 1)
    return values * max(steps.left - steps.overhead, 0) // (4 * of_values)


def _distinct(values: Ints, weights: Floats, of_instant: Floats) -> float:
    """The mean number over time of the distinct values of a column of weighted rows.

    A value that occurs once stands for others, the square root of its weight in all (the estimator
    GEE, Charikar et al. 2000).
    """
    different, first, counts = np.unique(values, return_index=True, return_counts=True)
    own = of_instant[different]
    weighted = np.where(counts > 1, own, np.sqrt(own * np.maximum(weights[first], own)))
    return float(weighted.sum())


def sampler_of(
    catalog: Catalog,
    scans: Collection[Scanned],
    matching: Matching = lambda scan, sample: None,
    seed: int = 0,
    checking: Checking = undecided,
) -> Sampler | None:
    """The sampler of a query.

    Args:
        catalog: the streams with their statistics and samples.
        scans: the scans of the query; their conditions do not matter.
        matching: decides conditions of scans.
        seed: determines the sampled values.
        checking: decides conditions on the rows of joins.

    Returns:
        None if the catalog has no sample of a scanned stream, or the sample is shorter than a
        window.
    """
    read = tuple(sorted({scan.bare for scan in scans}, key=str))
    samples = catalog.samples
    if any(scan.stream not in samples for scan in read):
        return None
    if all(scan.window is None for scan in read):
        return None
    if any(samples[scan.stream].stored == (scan.window is not None) for scan in read):
        return None
    points = points_of(_samples_of(catalog, read), read)
    return None if points is None else Sampler(catalog, read, points, matching, checking, seed)


def _samples_of(catalog: Catalog, scans: Sequence[Scanned]) -> tuple[tuple[str, StreamSample], ...]:
    """The samples of the streams that are scanned, by name."""
    return tuple([(name, catalog.samples[name]) for name in sorted({s.stream for s in scans})])
