"""Live sources in a shared session: followed folders, and sources with columns."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from headrace.algebra.plan import PhysicalPlan
from headrace.catalog import Catalog, from_document
from headrace.catalog.live import LiveSource
from headrace.executor.spark import live
from headrace.executor.spark.exchange.blocks import RESULTS
from headrace.executor.spark.reading.sources import Aside, live_rows, packed_sources
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFile, ToFolder
from headrace.executor.spark.run import RunOptions
from headrace.executor.spark.session.settings import streaming_session
from headrace.executor.spark.stage.dataflow import result_blocks
from headrace.planning.errors import RunError, StoppedError, UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanRequest
from headrace.running.runs import files_alone, inputs_of_plan, run_plan
from tests.executor.spark.running import read_jsonl
from tests.waiting import PATIENCE

pytestmark = pytest.mark.spark


def planned(text: str, **streams: Any) -> tuple[PhysicalPlan, Catalog]:
    catalog = from_document({"streams": streams})
    return optimize(PlanRequest(text, catalog=catalog)).plan, catalog


def put(folder: Path, name: str, *rows: str) -> None:
    """Writes a file at once, by renaming."""
    aside = folder.with_name(name)
    aside.write_text("\n".join(["src,trg,label,ts", *rows, ""]))
    os.replace(aside, folder / name)


class Live:
    """A run in a thread of its own."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.updates: list[Progress] = []
        self.error: Exception | None = None
        self._cancelled = threading.Event()
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, args=(arguments, named))
        self._thread.start()

    def _run(self, arguments: Any, named: Any) -> None:
        try:
            run_plan(*arguments, **named, on_progress=self._tell, cancelled=self._cancelled)
        except (StoppedError, RunError, UsageError) as error:
            self.error = error
        with self._news:
            self._news.notify_all()

    def _tell(self, progress: Progress) -> None:
        with self._news:
            self.updates.append(progress)
            self._news.notify_all()

    def until(self, count: int, what: str) -> Progress:
        """Waits until a counter has reached a value."""

        def there() -> bool:
            return not self._thread.is_alive() or any(
                getattr(p, what) >= count for p in self.updates
            )

        with self._news:
            assert self._news.wait_for(there, PATIENCE), self.updates
        assert self.error is None
        return self.updates[-1]

    def stop(self) -> str:
        """Stops the run; returns its message."""
        self._cancelled.set()
        self._thread.join(PATIENCE)
        assert isinstance(self.error, StoppedError), self.error
        return str(self.error)


@pytest.mark.long
def test_a_followed_folder_is_read_beside_a_stored_graph(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder, output = tmp_path / "in", ToFolder(tmp_path / "out")
    folder.mkdir()
    (tmp_path / "k.csv").write_text("src,trg,label\n2,x,k\n3,y,k\n,z,k\n")
    one = {"rate": 1, "distinct_src": 5, "distinct_trg": 5}
    plan, catalog = planned(
        "Answer(a, c) <- e(a, b), k(b, c) WINDOW 20",
        s={
            "source": {"format": "csv", "path": str(folder), "follow": True},
            "labels": {"e": one},
            "delay": 5,
        },
        g={
            "source": {"format": "csv", "path": str(tmp_path / "k.csv")},
            "stored": True,
            "labels": {"k": {"population": 2, "distinct_src": 2, "distinct_trg": 2}},
        },
    )
    inputs = inputs_of_plan(plan, catalog, ())
    with pytest.raises(UsageError, match="is unbounded"):
        files_alone(inputs)
    with pytest.raises(UsageError, match="needs a bounded input"):
        run_plan(plan, inputs, ToFile(tmp_path / "out.jsonl"), spark=spark)
    put(folder, "1.csv", "1,2,e,10", "1,3,e,7", "1,?,e,soon", "0,0,other,16")
    run = Live(plan, inputs, output, spark=spark)
    progress = run.until(2, "results")
    assert (progress.fraction, progress.rejected) == (None, 2)
    assert "2 results" in run.stop()

    put(folder, "2.csv", "4,2,e,3", "5,2,e,12", "0,0,other,40")
    put(folder, ".hidden", "9,2,e,41")
    run = Live(plan, inputs, output, spark=spark)
    progress = run.until(3, "results")
    assert (progress.late, progress.rejected) == (1, 2)
    run.stop()
    found = {(*r.bindings, r.ts, r.exp) for r in read_jsonl(tmp_path / "out")}
    assert found == {("1", "x", 10, 30), ("1", "y", 7, 27), ("5", "x", 12, 32)}
    aside = {
        name: [json.loads(line) for line in (tmp_path / "out/_headrace" / name).open()]
        for name in ("rejected.jsonl", "late.jsonl")
    }
    assert {(r["stream"], Path(r["file"]).name, r["line"]) for r in aside["rejected.jsonl"]} == {
        ("s", "1.csv", 4),
        ("g", "k.csv", 4),
    }
    assert [r["row"]["src"] for r in aside["late.jsonl"]] == ["4"]

    elsewhere = replace(catalog.streams["s"], label="e")
    changed = replace(catalog, streams={**catalog.streams, "s": elsewhere})
    with pytest.raises(UsageError, match="was started on other sources: s"):
        run_plan(plan, inputs_of_plan(plan, changed, ()), output, spark=spark)


@pytest.mark.long
def test_a_micro_batch_of_two_live_sources_and_one_partition_is_one_task(
    spark: SparkSession, tmp_path: Path
) -> None:
    one = {"rate": 1, "distinct_src": 5, "distinct_trg": 5}
    streams = {}
    for name, label, row in (("s", "e", "1,2,e,10"), ("t", "f", "2,3,f,11")):
        (tmp_path / name).mkdir()
        put(tmp_path / name, f"{name}.csv", row, "0,0,other,40")
        source = {"format": "csv", "path": str(tmp_path / name), "follow": True}
        streams[name] = {"source": source, "labels": {label: one}}
    plan, catalog = planned("Answer(a, c) <- e(a, b), f(b, c) WINDOW 20", **streams)
    assert plan.parallelism == 1
    session = streaming_session(spark, 1)
    rows = [
        unchecked
        for name, source in inputs_of_plan(plan, catalog, ()).items()
        if isinstance(source, LiveSource)
        for unchecked in live_rows(session, source, plan, Aside(str(tmp_path), name, name))
    ]
    assert [unchecked.stream for unchecked in rows] == ["s", "t"]
    blocks = result_blocks(packed_sources(rows, plan, "live"), plan, "test-live")
    results: list[int] = []

    def collect(frame: DataFrame, _batch: int) -> None:
        results.extend(row.rows for row in frame.collect() if row.kind == RESULTS)

    writer = blocks.writeStream.foreachBatch(collect).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "ck")).start()
    query.awaitTermination()
    executed = query._jsq.explainInternal(False)
    assert "TransformWithStateIn" in executed
    assert "Exchange" not in executed
    assert results == [1]


@pytest.mark.long
def test_a_stored_graph_that_changes_while_a_run_starts_is_not_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, graph, output = tmp_path / "in", tmp_path / "k.csv", ToFolder(tmp_path / "out")
    folder.mkdir()
    graph.write_text("src,trg,label\n2,x,k\n")
    one = {"rate": 1, "distinct_src": 5, "distinct_trg": 5}
    plan, catalog = planned(
        "Answer(a, c) <- e(a, b), k(b, c) WINDOW 20",
        s={
            "source": {"format": "csv", "path": str(folder), "follow": True},
            "labels": {"e": one},
        },
        g={
            "source": {"format": "csv", "path": str(graph)},
            "stored": True,
            "labels": {"k": {"population": 2, "distinct_src": 2, "distinct_trg": 2}},
        },
    )
    put(folder, "1.csv", "1,2,e,10", "1,3,e,11", "0,0,other,40")

    def changing(*arguments: Any, **named: Any) -> Any:
        with graph.open("a") as file:
            file.write("3,y,k\n")
        return result_blocks(*arguments, **named)

    monkeypatch.setattr(live, "result_blocks", changing)
    inputs = inputs_of_plan(plan, catalog, ())
    with pytest.raises(UsageError, match=r"k\.csv: the file was changed while it was read"):
        run_plan(plan, inputs, output, spark=spark)
    assert list(tmp_path.rglob("*.jsonl")) == []
    monkeypatch.undo()
    run = Live(plan, inputs, output, spark=spark)
    run.until(2, "results")
    run.stop()
    assert {r.bindings for r in read_jsonl(tmp_path / "out")} == {("1", "x"), ("1", "y")}


@pytest.mark.long
def test_a_source_with_columns_is_read(spark: SparkSession, tmp_path: Path) -> None:
    rate = {
        "format": "rate-micro-batch",
        "options": {"rowsPerBatch": 5, "startTimestamp": 0, "advanceMillisPerBatch": 1000},
    }
    query = "Answer(x, y) <- tick(x, y) WINDOW 20"
    columns = {"src": "value", "trg": "value", "ts": "timestamp"}
    plan, catalog = planned(query, s={"source": rate, "label": "tick", "columns": columns})
    inputs = inputs_of_plan(plan, catalog, ())
    run = Live(plan, inputs, ToFolder(tmp_path / "a"), RunOptions(interval="1 second"), spark=spark)
    run.until(15, "results")
    run.stop()
    rows = sorted((int(r.bindings[0]), r.bindings[1], r.ts) for r in read_jsonl(tmp_path / "a"))
    assert rows == [(i, str(i), i // 5) for i in range(len(rows))]

    _, catalog = planned(query, s={"source": rate, "label": "tick"})
    with pytest.raises(UsageError, match="has no column src, trg, ts; it has"):
        run_plan(plan, inputs_of_plan(plan, catalog, ()), ToFolder(tmp_path / "b"), spark=spark)
    assert not (tmp_path / "b").exists()
