"""Stages and packers read slices of the spool, and select the rows of scan inputs from them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from headrace.algebra.physical import FilterRows, HashJoin
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import VertexType
from headrace.executor.scans import scan_inputs
from headrace.executor.spark.exchange.late import LATE_SOURCE, NO_SOURCE
from headrace.executor.spark.exchange.packing import END
from headrace.executor.spark.host.errors import DamagedError
from headrace.executor.spark.host.failures import failure_of
from headrace.executor.spark.reading import selection
from headrace.executor.spark.reading.replay import Spool, spool
from headrace.executor.spark.reading.selection import Selection
from headrace.executor.spark.reading.slice_rows import messages_of_slices, packed_slices
from headrace.executor.spark.session.settings import streaming_session
from headrace.executor.spark.stage.dataflow import result_blocks
from tests.executor.disorder import in_order
from tests.executor.spark.chain import Chain
from tests.executor.spark.plans import (
    csv_file,
    expected,
    plan_of,
    random_edges,
    reach,
    scan,
    snapshots,
)
from tests.executor.spark.test_disorder import arrivals, delayed, shuffled
from tests.executor.spark.test_scan_rows import STRINGS, two_filtered_scans
from tests.executor.spark.test_stream import OWN_ROOTS

KINDS: list[tuple[VertexType, VertexType]] = [
    ("string", "string"), ("integer", "integer"), ("string", "integer"), ("integer", "string"),
]  # fmt: skip


def slice_of(plan: PhysicalPlan, rows: list[tuple[str | None, ...]], times: list[int]) -> pa.Table:
    """A slice of rows (stream, label, src, trg), in the types of a spool."""
    kinds = {stream.vertex_type for stream in plan.streams}
    vertex = pa.int64() if kinds == {"integer"} else pa.string()
    name = pa.dictionary(pa.int32(), pa.string())
    types = {"stream": name, "label": name, "src": vertex, "trg": vertex}
    columns = {
        column: pa.array([row[i] for row in rows], pa.string()).cast(type_)
        for i, (column, type_) in enumerate(types.items())
    }
    return pa.table({**columns, "ts": pa.array(times, pa.int64())})


@pytest.mark.parametrize(("first", "second"), KINDS)
@pytest.mark.parametrize("piece", [7, 10_000])
def test_slices_select_the_rows_of_scan_inputs(
    first: VertexType, second: VertexType, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of an edge are next to each other; the first one reports the edge."""
    monkeypatch.setattr(selection, "_PIECE_ROWS", piece)
    plan, random = two_filtered_scans(first, second), Random(0)
    types = {"one": first, "two": second}
    rows: list[tuple[str | None, ...]] = []
    for _ in range(300):
        name = random.choice(["one", "two"])
        pool = ["1", "2", "3"] if types[name] == "integer" else STRINGS
        rows.append((name, random.choice("abc"), random.choice(pool), random.choice(pool)))
    inputs = scan_inputs(plan)
    right: list[tuple[int, str, str, int]] = []
    for ts, (stream, label, src, trg) in enumerate(rows):
        for number, scan_input in enumerate(inputs):
            kind = pa.int64() if scan_input.vertex_type == "integer" else pa.string()
            ends = {"src": pa.array([src]), "trg": pa.array([trg])}
            if stream == scan_input.scan.stream:
                cast = {column: end.cast(kind) for column, end in ends.items()}
                batch = pa.RecordBatch.from_pydict({**cast, "label": [label], "ts": [ts]})
                if scan_input.select(batch).num_rows:
                    right.append((number, str(src), str(trg), ts))
    assert len(right) > 50

    in_order = Selection(plan, inputs, waits=False)
    whole = slice_of(plan, [*rows, (None,) * 4], [*range(300), 299])
    found = [row for batch in in_order.rows(whole) for row in batch.to_pylist()]
    tagged = [(r["scan_input"], str(r["src"]), str(r["trg"]), r["ts"]) for r in found]
    assert tagged[:-1] == right
    assert tagged[-1] == (END, "None", "None", 299)

    waiting = Selection(plan, inputs, waits=True)
    found = [
        row for b in waiting.rows(slice_of(plan, rows, [*range(300)])) for row in b.to_pylist()
    ]
    tagged = [(r["scan_input"], str(r["src"]), str(r["trg"]), r["ts"]) for r in found]
    assert [row for row in tagged if row[0] >= 0] == right
    assert {row["ts"] for row in found} == set(range(300))
    sources = [("one", "a"), ("two", "a"), ("two", "b")]
    reports = Counter(row["ts"] for row in found if row[LATE_SOURCE] != NO_SOURCE)
    assert reports == Counter({ts for *_, ts in right})
    for row in found:
        edge = rows[row["ts"]]
        assert row["of"] == ["one", "two"].index(str(edge[0]))
        if row[LATE_SOURCE] != NO_SOURCE:
            assert sources[row[LATE_SOURCE]] == edge[:2]


def spooled(folder: Path, plan: PhysicalPlan, size: int = 9) -> Spool:
    """A spool of random edges, out of order if the plan allows it."""
    edges = shuffled(60) if any(stream.delay for stream in plan.streams) else random_edges(60)
    file = csv_file(folder / "edges.csv", edges)
    return spool(folder / "s p", plan, {"input": [file]}, folder / "bad", largest_slice=size)


JOIN = plan_of(
    (scan("a"), ()),
    (FilterRows("NOT c0 = c1"), (0,)),
    (scan("b"), ()),
    (HashJoin(((0, 1), (1, 2)), (0, 2)), (1, 2)),
)


@pytest.mark.parametrize("plan", [reach(), JOIN], ids=["path", "join"])
def test_a_stage_reads_slices(tmp_path: Path, plan: PhysicalPlan) -> None:
    """Spark may give two slices in one micro-batch, in any order."""
    made = spooled(tmp_path, plan)
    paths = [made.slice(number) for number in range(len(made.slice_ends))]
    chain = Chain(plan)
    chain.slices(paths[1], paths[0])
    for path in paths[2:]:
        chain.another_worker()
        chain.slices(path)
    right = snapshots(expected(plan, random_edges(60)))
    assert right
    assert snapshots(chain.results) == right


@pytest.mark.parametrize("plan", [reach(), OWN_ROOTS], ids=["one partition", "several"])
def test_slices_out_of_order_wait_for_the_watermark(tmp_path: Path, plan: PhysicalPlan) -> None:
    own, edges = delayed(plan), shuffled(60)
    made = spool(
        tmp_path / "in",
        own,
        {"input": [csv_file(tmp_path / "edges.csv", edges)]},
        tmp_path / "bad",
        largest_slice=7,
    )
    chain = Chain(own, disorder=True)
    for number in range(len(made.slice_ends)):
        chain.slices(made.slice(number))
    late = arrivals([edges], 7).late(own)
    assert late
    assert sorted((*each["row"].values(), each["stream"]) for each in chain.late) == sorted(late)
    assert snapshots(chain.results) == snapshots(expected(reach(), in_order(edges, late)))


def test_a_damaged_slice_is_named(tmp_path: Path) -> None:
    """Also where a task of Spark finds it."""
    made = spooled(tmp_path, reach())
    made.slice(1).write_bytes(b"torn")
    made.slice(2).unlink()
    for number in (1, 2):
        with pytest.raises(DamagedError, match=rf"edges-0000000{number}\.parquet is damaged"):
            list(messages_of_slices(reach().to_json(), [str(made.slice(number))]))
    raised = f"headrace.executor.spark.host.errors.{DamagedError.__name__}: "
    text = f"Job aborted\n{raised}{DamagedError(made.slice(1))}\n\tat org.apache.spark"
    found = failure_of(StreamingQueryException(text))
    assert isinstance(found, DamagedError)
    assert found.message == DamagedError(made.slice(1)).message


@pytest.mark.spark
@pytest.mark.long
def test_a_micro_batch_of_one_partition_is_one_task(spark: SparkSession, tmp_path: Path) -> None:
    """Spark neither reads edges nor moves rows between tasks."""
    made = spooled(tmp_path, reach(), 30)
    session = streaming_session(spark, 1)
    blocks = result_blocks(packed_slices(session, made.folder, reach()), reach(), "test-slices")
    batches: list[int] = []

    def note(frame: DataFrame, batch: int) -> None:
        frame.collect()
        batches.append(batch)

    writer = blocks.writeStream.foreachBatch(note).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "ck")).start()
    query.awaitTermination()
    assert batches == [*range(len(made.slice_ends))]
    executed = query._jsq.explainInternal(False)
    assert "TransformWithStateIn" in executed
    assert "Exchange" not in executed
    assert "InArrow" not in executed
