"""The log keeps all valid input, and stays small."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.scans import ScanInput
from headrace.executor.spark.exchange.wire import RowWire, ScanInputWire
from headrace.executor.spark.state.log import Directory, WindowLog
from headrace.executor.stages import Flow
from tests.executor.spark.plans import scan


class Blobs(dict[int, bytes]):
    """A dictionary that behaves like Spark's map state."""

    def put(self, number: int, blob: bytes) -> None:
        assert number not in self
        self[number] = blob

    def remove(self, number: int) -> None:
        del self[number]

    def __missing__(self, number: int) -> bytes:
        raise AssertionError(f"blob {number} was removed or never put")

    def get(self, number: int) -> bytes:  # type: ignore[override] # no default here
        return self[number]


def scan_input(node: int, length: int, slide: int) -> ScanInput:
    return ScanInput(node, scan("a", length, slide), (), "string")


def wire(scan_inputs: tuple[ScanInput, ...]) -> ScanInputWire:
    return ScanInputWire(
        [Flow(scan_input.node, scan_input.node, 2, "hash") for scan_input in scan_inputs],
        scan_inputs,
    )


def table(scan_inputs: tuple[ScanInput, ...], rows: list[tuple[int, int]]) -> pa.Table:
    """Rows (scan input, ts) with distinct vertices."""
    columns: dict[str, list[int] | list[str]] = {
        "port": [number for number, _ in rows],
        "src": [f"s{number}" for number, _ in rows],
        "trg": [f"t{ts}" for _, ts in rows],
        "ts": [ts for _, ts in rows],
    }
    return pa.table(columns, schema=wire(scan_inputs).schema)


def test_a_log_gives_retractions_before_the_new_rows_of_their_instant() -> None:
    """Rows of one instant lie in several blobs, by the length of their validity."""
    rows_wire = RowWire([Flow(0, 0, 1, "hash")], frozenset({"string"}))
    log = WindowLog(rows_wire, Blobs(), Directory())

    def rows(*changes: tuple[str, int, int]) -> pa.Table:
        named = [{"port": 0, "s0": value, "ts": ts, "exp": exp} for value, ts, exp in changes]
        return pa.Table.from_pylist(named, schema=rows_wire.schema)

    log.append(rows(("v", 2, 50), ("w", 3, 9)), 3)
    log.append(rows(("v", 10, ~50), ("v", 10, 20), ("u", 10, 90), ("u", 10, ~90)), 10)
    assert log.rows(10).equals(rows(("v", 2, 50), ("v", 10, ~50), ("v", 10, 20)))


WINDOWS = st.tuples(st.integers(1, 30), st.integers(1, 5)).map(lambda w: (max(w), w[1]))


@given(
    windows=st.lists(WINDOWS, min_size=1, max_size=3),
    steps=st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=6), max_size=12
    ),
)
def test_the_log_holds_exactly_the_valid_rows(
    windows: list[tuple[int, int]], steps: list[list[tuple[int, int]]]
) -> None:
    scan_inputs = tuple(scan_input(i, *window) for i, window in enumerate(windows))
    blobs, directory, seen, now = Blobs(), Directory(), list[tuple[int, int]](), 0
    for step in steps:
        times = accumulate((gap for _, gap in step), initial=now)
        rows = [
            (number % len(scan_inputs), ts) for (number, _), ts in zip(step, times, strict=False)
        ]
        now = max([now, *(ts for _, ts in rows)])
        log = WindowLog(wire(scan_inputs), blobs, directory)
        log.append(table(scan_inputs, rows), now)
        directory = log.directory  # all that is carried over, with the blobs
        seen += rows
        valid = [
            (number, ts)
            for number, ts in seen
            if int(scan_inputs[number].expiry(np.array([ts]))[0]) > now
        ]
        kept = WindowLog(wire(scan_inputs), blobs, directory).rows(now)
        found = [(row["port"], row["ts"]) for row in kept.to_pylist()]
        assert sorted(found) == sorted(valid)
        assert [ts for _, ts in found] == sorted(ts for _, ts in found)
        assert set(blobs) == {blob.number for blob in directory.blobs}
        assert all(blob.expiry > now for blob in directory.blobs)


def test_the_log_stays_small_with_short_batches() -> None:
    scan_inputs = (scan_input(0, 400, 1),)
    log = WindowLog(wire(scan_inputs), Blobs(), Directory())
    most_blobs = most_rows = 0
    for ts in range(1_500):
        log.append(table(scan_inputs, [(0, ts)]), ts)
        most_blobs = max(most_blobs, len(log.directory.blobs))
        held = sum(blob.last - blob.first + 1 for blob in log.directory.blobs)
        most_rows = max(most_rows, held)
    assert most_blobs < 30
    assert most_rows <= 400 + 400 // 8 + 1


def test_a_long_window_does_not_hold_the_rows_of_a_short_one() -> None:
    scan_inputs = (scan_input(0, 1_000, 1), scan_input(1, 10, 1))
    log = WindowLog(wire(scan_inputs), Blobs(), Directory())
    for ts in range(100):
        log.append(table(scan_inputs, [(0, ts), (1, ts)]), ts)
    short = [blob for blob in log.directory.blobs if blob.window == 10]
    assert sum(blob.last - blob.first + 1 for blob in short) <= 12


ROWS = RowWire([Flow(3, 3, 1, "stay"), Flow(4, 5, 2, "hash", 1)], frozenset({"string"}))


@given(
    steps=st.lists(
        st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(1, 90)), max_size=6),
        max_size=12,
    )
)
def test_rows_of_operators_are_kept_until_their_expiry(
    steps: list[list[tuple[int, int, int]]],
) -> None:
    blobs, directory, seen, now = Blobs(), Directory(), list[tuple[int, int, int]](), 0
    for step in steps:
        rows = []
        for port, gap, lifetime in step:
            now += gap
            rows.append((port, now, now + lifetime))
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        names = ["x"] * len(rows)
        found = pa.table(
            dict(zip(ROWS.schema.names, [columns[0], names, names, *columns[1:]], strict=True)),
            schema=ROWS.schema,
        )
        log = WindowLog(ROWS, blobs, directory)
        log.append(found, now)
        directory = log.directory
        seen = [row for row in seen + rows if row[2] > now]
        kept = WindowLog(ROWS, blobs, directory).rows(now).to_pylist()
        assert sorted((row["port"], row["ts"], row["exp"]) for row in kept) == sorted(seen)
        assert [row["ts"] for row in kept] == sorted(row["ts"] for row in kept)
        assert all(blob.expiry > now for blob in directory.blobs)
