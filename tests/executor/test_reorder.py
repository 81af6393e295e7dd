"""The reorder buffer returns waiting rows in order, each once, and frees their memory."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.reorder import ReorderBuffer, sorted_by_ts
from tests.strategies.amount import examples

TIMES = st.lists(st.integers(0, 40), max_size=12)


def table(times: list[int], first: int = 0) -> pa.Table:
    return pa.table(
        {"number": pa.array(range(first, first + len(times)), pa.int64()),
         "ts": pa.array(times, pa.int64())}
    )  # fmt: skip


@given(steps=st.lists(st.tuples(TIMES, st.integers(-1, 45)), max_size=8))
@examples(60)
def test_due_returns_exactly_the_rows_up_to_the_watermark(
    steps: list[tuple[list[int], int]],
) -> None:
    held = ReorderBuffer()
    waiting: dict[int, int] = {}
    count = 0
    for times, watermark in steps:
        held.add(table(times, count))
        waiting |= {count + i: ts for i, ts in enumerate(times)}
        count += len(times)
        found = held.due(watermark)
        assert all(part.equals(sorted_by_ts(part)) for part in found)
        given_ = {row["number"]: row["ts"] for part in found for row in part.to_pylist()}
        assert sum(map(len, found)) == len(given_)
        assert given_ == {number: ts for number, ts in waiting.items() if ts <= watermark}
        waiting = {number: ts for number, ts in waiting.items() if ts > watermark}
        assert len(held) == len(waiting)


def test_a_far_row_does_not_keep_other_rows_in_memory() -> None:
    held = ReorderBuffer()
    held.add(table([*range(10_000), 1_000_000]))
    assert held.nbytes > 100_000
    assert [len(part) for part in held.due(5_000)] == [5_001]
    assert [len(part) for part in held.due(10_000)] == [4_999]
    assert len(held) == 1
    assert held.nbytes < 1_000
