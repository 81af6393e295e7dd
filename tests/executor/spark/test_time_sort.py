"""Sorting on disk equals a stable sort in memory, for all sizes of runs."""

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.spark.reading.time_sort import TimeSorter, slices_of_sizes

SCHEMA = pa.schema({"ts": pa.int64(), "number": pa.int64()})


@given(
    times=st.lists(st.integers(0, 9), max_size=60),
    added=st.integers(1, 9),
    run_rows=st.integers(1, 70),
    chunk_rows=st.integers(1, 5),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=3),
)
def test_external_sort_equals_a_stable_sort(
    times: list[int], added: int, run_rows: int, chunk_rows: int, sizes: list[int]
) -> None:
    rows = list(zip(times, range(len(times)), strict=True))
    with TemporaryDirectory() as folder:
        sorter = TimeSorter(SCHEMA, Path(folder) / "runs", run_rows, chunk_rows)
        for start in range(0, len(rows), added):
            part = rows[start : start + added]
            sorter.add(
                pa.table(
                    {"ts": [ts for ts, _ in part], "number": [n for _, n in part]}, schema=SCHEMA
                )
            )
        cut = list(slices_of_sizes(sorter.sorted(), itertools.cycle(sizes)))
    found = [(row["ts"], row["number"]) for table in cut for row in table.to_pylist()]
    assert found == sorted(rows, key=lambda row: row[0])
    wanted = list(itertools.islice(itertools.cycle(sizes), len(cut)))
    assert [len(table) for table in cut[:-1]] == wanted[:-1]
    assert not cut or 0 < len(cut[-1]) <= wanted[-1]


def test_rows_that_fit_in_memory_touch_no_disk(tmp_path: Path) -> None:
    sorter = TimeSorter(SCHEMA, tmp_path / "runs")
    sorter.add(pa.table({"ts": [3, 1], "number": [0, 1]}, schema=SCHEMA))
    assert [table.to_pylist() for table in sorter.sorted()] == [
        [{"ts": 1, "number": 1}, {"ts": 3, "number": 0}]
    ]
    assert not (tmp_path / "runs").exists()
