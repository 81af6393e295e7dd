"""Runs a plan in its own process, slide by slide, and measures each slide."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.measuring import peak_bytes
from bench.streams import slides
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import LocalRun

WARM_UP_SLIDES = 3


@dataclass(frozen=True, slots=True)
class Slides:
    """The measurements of a run; tuples have an entry for each slide.

    Times include the encoding of vertices, but not the decoding of results.

    Attributes:
        edges: the number of edges with a label of the plan.
        results: the number of results.
        wall: wall time, in seconds.
        cpu: processor time, in seconds.
        start_bytes: peak memory before the first slide, with the input.
        peak_bytes: peak memory of the process.
        done: whether the run read the whole stream.
        operators: the counters of each node.
    """

    edges: tuple[int, ...]
    results: tuple[int, ...]
    wall: tuple[float, ...]
    cpu: tuple[float, ...]
    start_bytes: int
    peak_bytes: int
    done: bool
    operators: dict[int, dict[str, Any]]

    def first(self, count: int) -> Slides:
        """The measurements of the first slides only."""
        return Slides(
            self.edges[:count],
            self.results[:count],
            self.wall[:count],
            self.cpu[:count],
            self.start_bytes,
            self.peak_bytes,
            self.done,
            self.operators,
        )

    @property
    def edges_per_second(self) -> float:
        return sum(self.edges) / sum(self.cpu)

    @property
    def edges_per_wall_second(self) -> float:
        return sum(self.edges) / sum(self.wall)

    @property
    def results_per_second(self) -> float:
        return sum(self.results) / sum(self.cpu)

    def p99(self) -> float:
        """The 99th percentile of a slide's processor time, in seconds."""
        return float(np.percentile(self.cpu, 99))


def labels_of(plan: PhysicalPlan) -> tuple[str, ...]:
    """The labels that a plan reads."""
    return tuple(sorted({label for stream in plan.streams for label in stream.labels}))


def run(plan: PhysicalPlan, edges: Path, slide: int, limit: float) -> Slides:
    """Runs a plan over an Arrow file of edges in a new process.

    The run stops after the slide in which it exceeds ``limit`` seconds of processor time.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        done: Slides = pool.apply(_run, (plan.to_json(), str(edges), slide, limit))
        return done


def save_edges(edges: pa.Table, path: Path) -> None:
    """Writes edges for :func:`run`."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, edges.schema) as writer:
        writer.write_table(edges)


def _run(document: str, path: str, slide: int, limit: float) -> Slides:
    plan = PhysicalPlan.from_json(document)
    with pa.OSFile(path, "rb") as file:
        edges = pa.ipc.open_file(file).read_all()
    wanted = pc.is_in(edges["label"], pa.array(labels_of(plan), pa.string()))
    batches = list(slides(edges.filter(wanted), slide))
    del edges
    _warm_up(plan, batches[:WARM_UP_SLIDES])
    return measured(plan, batches, limit)


def _warm_up(plan: PhysicalPlan, batches: Sequence[pa.RecordBatch]) -> None:
    """Loads the kernels."""
    run = LocalRun(plan)
    for batch in batches:
        run.push([batch])


def measured(plan: PhysicalPlan, batches: Sequence[pa.RecordBatch], limit: float) -> Slides:
    """Pushes batches, one per slide, through a plan in this process."""
    run = LocalRun(plan)
    results: list[int] = []
    wall: list[float] = []
    cpu: list[float] = []
    start_bytes = peak_bytes()
    for batch in batches:
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        results.append(len(run.push([batch])))
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
        if sum(cpu) > limit:
            break
    return Slides(
        edges=tuple(batch.num_rows for batch in batches[: len(results)]),
        results=tuple(results),
        wall=tuple(wall),
        cpu=tuple(cpu),
        start_bytes=start_bytes,
        peak_bytes=peak_bytes(),
        done=len(results) == len(batches),
        operators={node: asdict(counters) for node, counters in run.counters.items()},
    )
