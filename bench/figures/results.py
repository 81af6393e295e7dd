"""The measurements of an experiment, read back from its file.

In: rows of :mod:`bench.figures.series`. Out: a :class:`Result` for each point.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures.points import EXPERIMENTS
from bench.json_lines import rows_of
from bench.regret.statistics import kendall, median_interval

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a plan; times in microseconds per second of application time.

    Attributes:
        form: the canonical form of the sub-plan that ends with it.
        kind: its kind.
        shape: the sub-plan as text.
        us: the median of its measured time over rounds.
        rate: its rows per second.
        estimates: by model, the estimated ``rate`` and ``cost``.
    """

    form: str
    kind: str
    shape: str
    us: float
    rate: float
    estimates: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Result:
    """The measurements of a point; times in microseconds per second of application time.

    Attributes:
        name: the name of the point.
        about: a row of the point, for what all its rows have in common.
        by_round: the processor time of each timed run, by round.
        operators: its operators.
        answers: the digests of its answers.
        intervals: the length of its answer.
    """

    name: str
    about: Row
    by_round: Mapping[int, float]
    operators: Sequence[Operator]
    answers: frozenset[str]
    intervals: int

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the cost models."""
        return tuple(self.about["costs"])

    @property
    def time(self) -> float:
        """The median of the times."""
        return median(self.by_round.values())

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the median time."""
        return interval(list(self.by_round.values()))

    def cost(self, model: str) -> float:
        """The estimated cost."""
        return float(self.about["costs"][model])


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one experiment of one version.

    Attributes:
        experiment: the experiment.
        label: the version.
        size: the size.
        rows: all rows.
        results: the points with timed runs, in the order of the first round.
    """

    experiment: str
    label: str
    size: str
    rows: Sequence[Row]
    results: Sequence[Result]

    def of_figure(self, figure: str) -> list[Result]:
        """The results of a figure."""
        return [result for result in self.results if result.about["figure"] == figure]


def read(file: Path, label: str) -> list[Measured]:
    """The measurements of each experiment in a file that has timed runs.

    Args:
        file: the rows.
        label: the version; empty for that of the last row of an experiment.
    """
    by_experiment: dict[str, list[Row]] = defaultdict(list)
    for row in rows_of(file):
        if not label or row["label"] == label:
            by_experiment[row["experiment"]].append(row)
    done = []
    for experiment in EXPERIMENTS:
        rows = by_experiment[experiment]
        if not rows:
            continue
        last = rows[-1]
        kept = [r for r in rows if (r["label"], r["size"]) == (last["label"], last["size"])]
        results = _results(kept)
        if results:
            done.append(Measured(experiment, last["label"], last["size"], kept, results))
    return done


def _results(rows: Sequence[Row]) -> list[Result]:
    by_point: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_point[row["point"]].append(row)
    results = []
    for name, own in by_point.items():
        timed = [row for row in own if row["round"]]
        if not timed:
            continue
        answers = [row for row in own if "answer" in row]
        results.append(
            Result(
                name,
                own[-1],
                {row["round"]: row["cpu_us"] for row in timed},
                _operators(timed),
                frozenset(row["answer"] for row in answers),
                max((row["intervals"] for row in answers), default=0),
            )
        )
    return results


def _operators(timed: Sequence[Row]) -> list[Operator]:
    nodes = [row["nodes"] for row in timed]
    return [
        Operator(
            same[0]["form"],
            same[0]["kind"],
            same[0]["shape"],
            median(node["us"] for node in same),
            same[0]["rate"],
            same[0]["estimates"],
        )
        for same in zip(*nodes, strict=True)
    ]


def rank_correlation(results: Sequence[Result], model: str) -> float | None:
    """Kendall's tau-b of estimated cost and median time; None if one of them never varies."""
    return kendall([r.cost(model) for r in results], [r.time for r in results])


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the median; of too few values from the smallest to the largest."""
    low, high = median_interval(values)
    return (low, high) if high < float("inf") else (min(values), max(values))


def ratios(one: Result, other: Result) -> list[float]:
    """The time of a point over that of another one, by round.

    The load of the machine changes from round to round, and both points bear it.
    """
    return [time / other.by_round[n] for n, time in one.by_round.items() if n in other.by_round]


def decided_pairs(results: Sequence[Result]) -> list[tuple[Result, Result]]:
    """The pairs of which one is faster, with the confidence of the interval; it comes first."""
    pairs = []
    for one, other in combinations(results, 2):
        low, high = interval(ratios(one, other))
        if high < 1:
            pairs.append((one, other))
        elif low > 1:
            pairs.append((other, one))
    return pairs
