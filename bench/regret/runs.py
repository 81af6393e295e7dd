"""Runs a plan over a cut in this process, and measures its processor time.

In: a plan, and edges in batches by time. Out: a :class:`Run`. A run stops when it exceeds its limit
of processor time or of memory.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from bench.regret.answers import Answer, Collector
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import read
from headrace.catalog.inputs import files_of_stream
from headrace.catalog.model import Catalog
from headrace.executor.counters import Counters
from headrace.executor.local import LocalRun
from headrace.executor.scans import property_column

ROWS = 2_000
"""The edges of one call."""
MOST_BYTES = 3 * 2**30
"""The memory above which a run stops."""


@dataclass(frozen=True, slots=True)
class Steady:
    """The part of a run after the window has filled, without the end of the input.

    Attributes:
        cpu: the processor time of the calls, in seconds.
        wall: their elapsed time, in seconds.
        ticks: the time units that they cover.
        edges: the rows of the input.
        counters: the counters of each node.
    """

    cpu: float
    wall: float
    ticks: int
    edges: int
    counters: Mapping[int, Counters]


@dataclass(frozen=True, slots=True)
class Run:
    """The measurements of a run.

    Attributes:
        seconds: the processor time of all calls, without reading the input.
        stopped: ``time`` or ``memory`` if the run exceeded a limit, else empty.
        reached: the first instant that the run did not reach; None after the whole input.
        results: the rows that left the plan.
        answer: the normalized answer, if asked for.
        counters: the counters of each node after the window has filled, if asked for.
        ticks: the time units in which they were counted.
        steady: the times after the window has filled, if it did and counters are asked for.
        whole: the counters of each node in the whole run, if counters are asked for.
        whole_ticks: the time units of the whole run.
    """

    seconds: float
    stopped: str
    reached: int | None
    results: int
    answer: Answer | None = None
    counters: Mapping[int, Counters] | None = None
    ticks: int = 0
    steady: Steady | None = None
    whole: Mapping[int, Counters] | None = None
    whole_ticks: int = 0


def batches_of(catalog: Catalog, labels: Mapping[str, Sequence[str]]) -> list[list[pa.RecordBatch]]:
    """The input of a run: the rows of each call, stored rows first.

    Args:
        catalog: the streams and their files.
        labels: the labels that are read of each stream.
    """
    calls: list[list[pa.RecordBatch]] = []
    stored: list[pa.RecordBatch] = []
    for name, stream in catalog.streams.items():
        if name not in labels:
            continue
        files = files_of_stream(stream, catalog.time_unit)
        table = pa.Table.from_batches([b.edges for file in files for b in read(file)])
        table = table.filter(pc.is_in(table["label"], pa.array(labels[name], pa.string())))
        names = [property_column(n) if n in stream.properties else n for n in table.column_names]
        table = table.rename_columns(names).combine_chunks()
        table = table.append_column("stream", pa.array([name] * len(table), pa.string()))
        if stream.stored:
            stored += table.combine_chunks().to_batches()
        else:
            rows = table.sort_by("ts").combine_chunks().to_batches(max_chunksize=ROWS)
            calls += [[batch] for batch in rows]
    return [stored, *calls] if stored else calls


def run(
    plan: PhysicalPlan,
    calls: Sequence[Sequence[pa.RecordBatch]],
    limit: float,
    *,
    answer_rows: int = 0,
    fill: int | None = None,
) -> Run:
    """Runs a plan.

    Args:
        plan: the plan.
        calls: the input.
        limit: seconds of processor time.
        answer_rows: the most intervals of the answer; 0 does not collect the answer.
        fill: the time units after which counting begins; None does not count.

    Raises:
        TooManyAnswersError: above ``answer_rows``.
    """
    local = LocalRun(plan)
    collector = Collector(len(plan.columns), answer_rows) if answer_rows else None
    seconds, results, stopped = 0.0, 0, ""
    reached: int | None = None
    first: int | None = None
    filled: tuple[int, dict[int, Counters]] | None = None
    steady: Steady | None = None
    steady_cpu = steady_wall = 0.0
    steady_edges = last = 0
    gc.collect()
    gc.disable()
    try:
        for call in calls:
            begins, last = call[0]["ts"][0].as_py(), call[-1]["ts"][-1].as_py()
            is_stream = begins > 0
            if is_stream and first is None:
                first = begins
            if fill is not None and first is not None and not filled and begins >= first + fill:
                filled = begins, local.counters
            wall_started, started = time.perf_counter(), time.process_time()
            rows = local.push(call)
            spent = time.process_time() - started
            seconds += spent
            if filled:
                steady_cpu += spent
                steady_wall += time.perf_counter() - wall_started
                steady_edges += sum(batch.num_rows for batch in call)
            results += len(rows)
            if collector is not None:
                collector.add(rows, local.dictionary)
            if seconds > limit or resident() > MOST_BYTES:
                stopped = "time" if seconds > limit else "memory"
                reached = last
                break
        else:
            if filled:
                counted = _since(filled[1], local.counters)
                steady = Steady(
                    steady_cpu, steady_wall, last - filled[0] + 1, steady_edges, counted
                )
            started = time.process_time()
            rows = local.end()
            seconds += time.process_time() - started
            results += len(rows)
            if collector is not None:
                collector.add(rows, local.dictionary)
    finally:
        gc.enable()
    counters, whole, ticks, whole_ticks = None, None, 0, 0
    if fill is not None and not stopped and first is not None:
        begin, before = filled or (first, {})
        whole = local.counters
        counters = _since(before, whole)
        ticks, whole_ticks = last - begin + 1, last - first + 1
    answer = collector.answer() if collector is not None else None
    return Run(
        seconds, stopped, reached, results, answer, counters, ticks, steady, whole, whole_ticks
    )


def _since(before: Mapping[int, Counters], now: Mapping[int, Counters]) -> dict[int, Counters]:
    """The work of each node since earlier counters, or since the beginning without any."""
    return {node: own.since(before[node]) if before else own for node, own in now.items()}


def resident() -> int:
    """The memory of this process, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
