"""Measures the points of an experiment in rounds, and appends each run to a file.

In the first round, number 0, every point runs once to load its kernels and to collect its answer.
Each later round times every point once, in random order. A row is keyed by version, experiment,
size, point and round. A row that the file has is not measured again.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.figures.points import FULL, Experiment, Point, Size, points_of
from bench.figures.shapes import shapes, text
from bench.json_lines import append, rows_of
from bench.measuring import headline, machine
from bench.regret.forms import forms
from bench.regret.kinds import kind_of
from bench.regret.runs import Run, Steady, run
from headrace.running.measures import measured

SEED = 1
MOST_ANSWERS = 5_000_000
"""The most intervals of an answer."""


@dataclass(frozen=True, slots=True)
class Series:
    """What to measure.

    Attributes:
        experiment: the experiment.
        out: the file of rows.
        size: the size of the experiment.
        label: the version; empty for the commit.
    """

    experiment: Experiment
    out: Path
    size: Size = FULL
    label: str = ""


def measure_all(series: Series, console: Console, minutes: float | None = None) -> int:
    """Measures the runs that the file does not have, and returns their number."""
    began = time.monotonic()
    about = machine()
    label = series.label or str(about["commit"])
    key = itemgetter("label", "experiment", "size", "point", "round")
    done = set(map(key, rows_of(series.out)))
    points = points_of(series.experiment, series.size)
    waiting = [
        (number, point)
        for number in range(series.size.rounds + 1)
        for point in _shuffled(points, number)
        if (label, series.experiment, series.size.key, point.name, number) not in done
    ]
    # What the searches left would make every collection between two runs slow.
    gc.collect()
    gc.freeze()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    count = 0
    total = len(points) * (series.size.rounds + 1)
    streams = _Streams()
    warm: set[str] = set()
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("", total=total, completed=total - len(waiting))
        for number, point in waiting:
            if minutes is not None and time.monotonic() - began > 60 * minutes:
                break
            progress.update(bar, description=f"round {number}: {escape(point.name)}")
            calls = streams.calls(point)
            if number and point.name not in warm:
                run(point.priced.plan, calls[:2], float("inf"))  # loads the kernels
            warm.add(point.name)
            answer_rows = 0 if number else MOST_ANSWERS
            result = run(
                point.priced.plan, calls, float("inf"), answer_rows=answer_rows, fill=point.window
            )
            head = {
                "label": label, "experiment": series.experiment, "size": series.size.key,
                "point": point.name, "round": number,
                "machine": {**about, "load": [round(load, 1) for load in os.getloadavg()]},
            }  # fmt: skip
            append(series.out, {**head, **_about(point), **_measures(point, result)})
            progress.advance(bar)
            count += 1
    gc.unfreeze()
    console.print(headline(about))
    return count


def _shuffled(points: Sequence[Point], number: int) -> list[Point]:
    """The points in the order of a round."""
    order = list(points)
    Random(f"{SEED} {number}").shuffle(order)
    return order


class _Streams:
    """The input of the last point, which the next one may share."""

    def __init__(self) -> None:
        self._key: object = None
        self._calls: list[list[pa.RecordBatch]] = []

    def calls(self, point: Point) -> list[list[pa.RecordBatch]]:
        """The input of a point, in the batches of its calls."""
        key = (point.stream, point.call_rows)
        if self._key != key:
            edges = point.stream.edges().combine_chunks()
            self._calls = [[b] for b in edges.to_batches(max_chunksize=point.call_rows)]
            self._key = key
        return self._calls


def _about(point: Point) -> dict[str, Any]:
    return {
        "figure": point.figure,
        "x": point.x,
        "series": point.series,
        "costs": point.costs(),
        "edges_per_second": sum(point.stream.rates.values()),
        "vertices": point.stream.vertices,
    }


def _measures(point: Point, result: Run) -> dict[str, Any]:
    """The times of a run per second of application time, in microseconds, and its answer."""
    steady = result.steady
    if steady is None:
        raise ValueError(f"{point.name}: the stream ends before the window has filled")
    values: dict[str, Any] = {
        "cpu_us": steady.cpu * 1e6 / steady.ticks,
        "edges": steady.edges,
        "results": result.results,
        "nodes": _nodes(point, steady),
    }
    if result.answer is not None:
        values |= {"answer": result.answer.digest, "intervals": len(result.answer)}
    return values


def _nodes(point: Point, steady: Steady) -> list[dict[str, Any]]:
    """The measured and the estimated figures of each node.

    An operator's own time is elapsed time, of which other processes take a part. So its part of the
    elapsed time of all calls is multiplied with their processor time.
    """
    plan, own = point.priced.plan, forms(point.priced.plan)
    drawn = [text(each) for each in shapes(plan)]
    measures = measured(plan, steady.counters, steady.ticks)
    cpu_us = steady.cpu * 1e6 / steady.ticks
    rows = []
    for node, values in measures.items():
        estimates: Mapping[str, Any] = {
            model: {"rate": each[node].emitted_rate / scale, "cost": each[node].cost / scale}
            for model, each in point.priced.estimates.items()
            for scale in (point.scales[model],)
        }
        rows.append(
            {
                "form": own[node],
                "kind": kind_of(plan, node),
                "shape": drawn[node],
                "us": values.counters.seconds / steady.wall * cpu_us,
                "rate": values.rate,
                "estimates": estimates,
            }
        )
    return rows
