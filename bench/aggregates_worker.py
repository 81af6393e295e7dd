"""One side of `bench.aggregates`: times as JSON, of whatever checkout is imported.

Run as text over another checkout's code, so it names only what earlier versions have too.
Deviations and medians need a commit that has them, or ``--only`` for the others.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.algebra.physical import AggregateRows, ReportRows
from headrace.executor.batch import Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.build import Site, build
from headrace.executor.partitions import Partition

VALIDITY = 20_000
KEYS = (1, 10_000)
CALLS: dict[str, tuple[Any, ...]] = {
    "count, sum, min, avg by key": (("count", None), ("sum", 2), ("min", 2), ("avg", 2)),
    "count by key": (("count", None),),
    "mean by key": (("avg", 2),),
    "deviation by key": (("stddev", 2),),
    "median by key": (("percentile_disc", 2, 0.5),),
}


def cases() -> dict[str, tuple[Any, int]]:
    """Each operator with the number of keys of its input."""
    found: dict[str, tuple[Any, int]] = {}
    for keys in KEYS:
        for name, calls in CALLS.items():
            output = tuple(range(1 + len(calls)))
            for emit, every in (("", None), (", EMIT every 1,000", 1_000)):
                operator = AggregateRows((0,), calls, output, every)
                found[f"{name}, {keys:,} keys{emit}"] = operator, keys
        for mode in ("entering", "exit", "snapshot"):
            # A value of a snapshot is reported about twice while it is valid.
            every = 10_000 if mode == "snapshot" else 1_000
            report: Any = ReportRows(mode, every)
            found[f"report {mode}, {keys:,} keys"] = report, keys
    return found


def batches_of(rows: int, keys: int, dictionary: Dictionary, size: int) -> list[Batch]:
    """Rows of a key, a row number and an amount, a row a tick."""
    random = np.random.default_rng(1)
    ts = np.arange(rows, dtype=np.int64)
    exp = ts + VALIDITY
    columns = [
        pa.array(random.integers(0, keys, rows)),
        pa.array(random.integers(0, rows, rows)),
        pa.array(np.round(random.random(rows) * 1000, 2)),
    ]
    codes = np.array([dictionary.encode(column, exp) for column in columns])
    return [
        Batch(np.ascontiguousarray(part.columns), part.ts.copy(), part.exp.copy())
        for part in Batch(codes, ts, exp).pieces(size)
    ]


def measure(
    make: Callable[[Dictionary], Any], rows: int, keys: int, size: int
) -> tuple[float, float]:
    """Microseconds of processor time per row, and the bytes of open rows stored per batch."""
    dictionary = Dictionary()
    batches = batches_of(rows, keys, dictionary, size)
    operator = make(dictionary)
    gc.collect()
    gc.disable()
    start = time.process_time()
    for batch in batches:
        operator.process([batch], True)
        operator.advance(int(batch.ts[-1]), True)
    taken = time.process_time() - start
    gc.enable()
    return taken / rows * 1e6, stored(make, rows, keys, size)


def stored(make: Callable[[Dictionary], Any], rows: int, keys: int, size: int) -> float:
    """The mean number of bytes of open rows that a batch stores, once rows have expired."""
    dictionary = Dictionary()
    batches = batches_of(rows, keys, dictionary, size)
    operator = make(dictionary)
    write = _writer(operator, dictionary)
    sizes = []
    for batch in batches:
        operator.process([batch], True)
        operator.advance(int(batch.ts[-1]), True)
        sizes.append(write())
    later = [size for size, batch in zip(sizes, batches, strict=True) if batch.ts[0] >= VALIDITY]
    return sum(later) / max(1, len(later))


def _writer(operator: Any, dictionary: Dictionary) -> Callable[[], int]:
    """Stores the open rows of a batch, and returns how many bytes were written."""
    if hasattr(operator, "extra_state"):  # of commits that stored all open rows in each batch
        return lambda: len(operator.extra_state() or b"")
    if not hasattr(operator, "open_row_changes") or operator.open_row_changes() is None:
        return lambda: 0
    from headrace.executor.spark.exchange.wire import RowWire
    from headrace.executor.spark.state.open_rows import OpenRows, OpenRowsDirectory
    from headrace.executor.stages import Flow

    operator.records_changes = True
    width = operator.open_row_changes().width
    wire = RowWire([Flow(0, 0, width, "stay")], frozenset({"integer", "number"}))
    store = _Store()
    open_rows = OpenRows(wire, 1, store, OpenRowsDirectory())

    def write() -> int:
        before = store.written
        rows = wire.rows(0, operator.open_row_changes(), dictionary)
        open_rows.append(pa.Table.from_batches([rows]))
        return store.written - before

    return write


class _Store:
    """A store of blobs that counts written bytes."""

    def __init__(self) -> None:
        self._blobs: dict[int, bytes] = {}
        self.written = 0

    def get(self, number: int) -> bytes:
        return self._blobs[number]

    def put(self, number: int, blob: bytes) -> None:
        self.written += len(blob)
        self._blobs[number] = blob

    def remove(self, number: int) -> None:
        del self._blobs[number]


def main(rows: int, only: str, size: int) -> dict[str, tuple[float, float]]:
    """The measurements of each operator."""
    found = {}
    for name, (physical, keys) in cases().items():
        if only in name:

            def make(dictionary: Dictionary, physical: Any = physical) -> Any:
                width = physical.output_width([3])
                return build(physical, Site(width, [3], dictionary, Partition()))

            measure(make, 2_000, keys, size)  # loads the kernels
            found[name] = measure(make, rows, keys, size)
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
