"""Runs an operator on generated streams, and measures its processor time.

The rates, validities and populations of the inputs and the result are counted, not estimated: the
fit calibrates costs, and the errors of estimates do not enter it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from ...costmodel import Characteristics, CostModel
from ...executor.batch import FOREVER, Batch, IntArray, merged
from ...executor.counters import ADDED_VALIDITY, Counters, counters_of, tally_of
from ...executor.dictionary import Dictionary
from ...executor.kernels import rows as kernel
from ...executor.operators.base import Operator, time_driven
from ...executor.operators.build import Site, build
from ...executor.operators.coalesce import CoalesceOperator
from ...executor.partitions import Partition
from .fitting import Measurement, coefficients
from .workloads import BATCH_ROWS, Source, Workload

_SLIDES = 30
"""The slides in a window."""
_SWEPT = 50_000
"""The rows of a sweep."""
_SWEEPS = 200
_ENCODED = 20_000
"""The most vertices that the dictionary holds."""
_WARM_UP = 1.5
"""The windows that pass before the measurement, so that state has been swept once."""


def measure(workload: Workload, seed: int) -> Measurement:
    """Runs a workload in new state.

    Args:
        workload: the operator and its streams.
        seed: the seed of the streams' vertices.
    """
    rng = np.random.default_rng(seed)
    dictionary = Dictionary()
    rate = sum(source.rate for source in workload.sources)
    warm = int(_WARM_UP * max(source.valid / source.rate for source in workload.sources))
    ticks = max(int(workload.rows / rate), 1)
    widths = [len(source.vertices) for source in workload.sources]
    width = workload.operator.output_width(widths)
    operator = build(workload.operator, Site(width, widths, dictionary, Partition()))
    most = max(max(source.vertices) for source in workload.sources)
    codes = np.arange(most)
    if most <= _ENCODED:  # operators that decode values read no more vertices
        codes = dictionary.encode(pa.array(codes), np.full(most, FOREVER))
    counters, read = Counters(), [Counters() for _ in workload.sources]
    step = max(int(BATCH_ROWS / rate), 1)
    for start, until in _steps(0, warm, step):
        _advance(operator, _batches(workload.sources, codes, start, until, rng), until - 1)
    tally = _added_validity(operator)
    for start, until in _steps(warm, warm + ticks, step):
        batches = _batches(workload.sources, codes, start, until, rng)
        read = [
            so_far.then(counters_of(batch)) for so_far, batch in zip(read, batches, strict=True)
        ]
        counters = counters.then(_advance(operator, batches, until - 1))
    validity = counters.validity if tally is None else (_added_validity(operator) or 0.0) - tally
    output = _characteristics(
        counters.rows_out, validity, ticks, workload.sources[0].vertices, width
    )
    inputs = tuple(
        _characteristics(each.rows_out, each.validity, ticks, source.vertices, len(source.vertices))
        for each, source in zip(read, workload.sources, strict=True)
    )
    rows = sum(each.rows_out for each in read)
    return Measurement(
        workload.kind,
        workload.name,
        {
            name: factor * ticks / rows
            for name, factor in coefficients(CostModel(), workload.operator, output, inputs).items()
        },
        counters.seconds * 1e6 / rows,
        workload.fitted,
    )


class _Sweepable(CoalesceOperator):
    """COALESCE with the part of a sweep that looks at rows."""

    def look(self, now: int) -> None:
        """Looks at each row, and drops those that expired at or before ``now``."""
        kernel.release(self._held.arrays, now)


def measure_sweep(seed: int) -> Measurement:
    """Measures how long a sweep takes to see that a row has not expired.

    Formula 12 of the thesis probes a queue for the next row that expires. Headrace has no such
    queue: a sweep looks at each row.
    """
    operator = _Sweepable(2)
    source = Source(_SWEPT, (_SWEPT, _SWEPT))
    until = int(_SWEPT / source.rate) - 1
    batch = _batch(source, np.arange(_SWEPT), 0, until, np.random.default_rng(seed))
    operator.process([batch], True)
    operator.look(until)
    rows = operator.entries
    start = time.thread_time()
    for _ in range(_SWEEPS):
        operator.look(until)
    microseconds = (time.thread_time() - start) * 1e6 / _SWEEPS
    return Measurement("sweep", f"{rows:,} rows", {"queue_probe": 1.0}, microseconds / rows)


def _advance(operator: Operator, batches: Sequence[Batch], now: int) -> Counters:
    """Runs a batch of each input as a pipeline does, and counts the results."""
    start = time.thread_time()
    result = operator.process(batches, True)
    driven = time_driven(operator)
    if driven is not None:
        result = merged([result, driven.advance(now, True)])
    operator.tick(now)
    counted = counters_of(result)
    return Counters(
        rows_out=counted.rows_out,
        validity=counted.validity,
        seconds=time.thread_time() - start,
    )


def _added_validity(operator: Operator) -> float | None:
    """The validity that a coalescing operator has counted; None for other operators."""
    tally = tally_of(operator)
    return None if tally is None else float(tally[ADDED_VALIDITY])


def _characteristics(
    rows: int, validity: float, ticks: int, vertices: Sequence[int], width: int
) -> Characteristics:
    distinct = [*vertices, *[max(vertices)] * width][:width]
    return Characteristics(
        rows / ticks,
        validity / rows if rows else 0.0,
        validity / ticks,
        tuple(map(float, distinct)),
        vertices=float(max(vertices)),
    )


def _steps(start: int, end: int, step: int) -> Iterator[tuple[int, int]]:
    while start < end:
        yield start, min(start + step, end)
        start += step


def _batches(
    sources: Sequence[Source], codes: IntArray, start: int, until: int, rng: np.random.Generator
) -> list[Batch]:
    return [_batch(source, codes, start, until, rng) for source in sources]


def _batch(
    source: Source, codes: IntArray, start: int, until: int, rng: np.random.Generator
) -> Batch:
    """The rows of a source in a range of time; rows of a slide expire together."""
    first, last = int(start * source.rate), int(until * source.rate)
    ts = (np.arange(first, last) / source.rate).astype(np.int64)
    length = max(int(source.valid / source.rate), 2)
    slide = max(length // _SLIDES, 1)
    exp = ts // slide * slide + length + (slide - 1) // 2
    columns = np.stack([codes[rng.integers(0, values, len(ts))] for values in source.vertices])
    return Batch(np.ascontiguousarray(columns), ts, exp)
