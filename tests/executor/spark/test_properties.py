"""Properties of edges on Spark: from files and streams to typed results."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from headrace.catalog.edges import EdgeFile
from headrace.executor.batch import FOREVER
from headrace.executor.local import Edge, Result
from headrace.executor.scans import scan_inputs
from headrace.executor.spark.host.errors import InputError
from headrace.executor.spark.reading.scan_rows import scan_input_rows
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFile, ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.settings import PROVIDER, ROCKSDB
from headrace.executor.spark.stream import edges_of, stream
from tests.executor.property_plans import (
    FILTERED,
    JOINED,
    PLANS,
    TYPES,
    UNITED,
    meant,
    plan_of,
    random_edges,
    scan,
    typed,
)
from tests.executor.spark.running import read_jsonl, read_parquet, results_in, results_of

pytestmark = [pytest.mark.spark, pytest.mark.long]

EDGES = random_edges(70)
COLUMNS: dict[str, pa.DataType] = {
    "src": pa.string(),
    "trg": pa.string(),
    "label": pa.string(),
    "ts": pa.int64(),
    "name": pa.string(),
    "count": pa.int64(),
    "weight": pa.float64(),
    "new": pa.bool_(),
}
SCHEMA = pa.schema(COLUMNS)


def parquet_of(path: Path, edges: Sequence[Edge]) -> EdgeFile:
    rows = [
        {"src": e[0], "trg": e[1], "label": e[2], "ts": e[3], **e[5]} for e in edges if len(e) == 6
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    return EdgeFile(str(path), "parquet", properties={"name": "string"})


def agree(results: Sequence[Result], name: str, edges: Sequence[Edge]) -> None:
    _, meaning = PLANS[name]
    assert results
    for t in {edge[3] for edge in edges} | {r.exp for r in results}:
        found = {typed(r.bindings) for r in results if r.ts <= t < r.exp}
        assert found == meant(meaning, edges, t), t


@pytest.mark.parametrize("name", ["filtered", "on two partitions"])
def test_properties_of_files_reach_results(spark: SparkSession, tmp_path: Path, name: str) -> None:
    plan, _ = PLANS[name]
    inputs = {"s": [parquet_of(tmp_path / "in.parquet", EDGES)]}
    found, report = results_of(spark, plan, inputs, largest_slice=30)
    agree(found, name, EDGES)
    assert report.edges == len(EDGES)


@pytest.mark.long
def test_state_has_the_properties_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    """Rows in state have the properties that the plan reads."""
    inputs = {"s": [parquet_of(tmp_path / "in.parquet", EDGES)]}
    options = RunOptions(largest_slice=20)

    def stop(progress: Progress) -> None:
        if progress.batch == 2:
            raise KeyError("stopped")

    output = ToFolder(tmp_path / "out")
    with pytest.raises(KeyError, match="stopped"):
        run(JOINED, inputs, output, options, spark=spark, on_progress=stop)
    report = run(JOINED, inputs, output, options, spark=spark)
    assert report.resumed
    assert 0 < report.processed < report.relevant
    assert report.rebuilt
    found = [r._replace(exp=FOREVER if r.exp is None else r.exp) for r in read_jsonl(output.path)]
    agree(found, "joined", EDGES)


@pytest.mark.long
def test_files_of_results_have_typed_columns(spark: SparkSession, tmp_path: Path) -> None:
    plan = plan_of(
        (scan("weight", "new", "count", "name", "ts"), ()),
        columns=("x", "y", "weight", "new", "count", "name", "time"),
    )
    held: dict[str, Any] = {"weight": 1.0, "new": True, "count": 7, "name": "n"}
    edges: list[Edge] = [
        ("x", "y", "a", 3, "s", held),
        ("x", "y", "a", 4, "s", dict.fromkeys(held)),
    ]
    inputs = {"s": [parquet_of(tmp_path / "in.parquet", edges)]}
    run(plan, inputs, ToFile(tmp_path / "out.jsonl"), spark=spark)
    first, second = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(first)["bindings"] == {"x": "x", "y": "y", **held, "time": 3}
    assert '"new": true' in first
    assert json.loads(second)["bindings"]["weight"] is None
    run(plan, inputs, ToFile(tmp_path / "out.parquet", "parquet"), spark=spark)
    assert [typed(r.bindings) for r in read_parquet(tmp_path / "out.parquet")] == [
        typed(("x", "y", 1.0, True, 7, "n", 3)),
        typed(("x", "y", None, None, None, None, 4)),
    ]
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert schema.types[2:7] == [pa.float64(), pa.bool_(), pa.int64(), pa.string(), pa.int64()]
    run(plan, inputs, ToFile(tmp_path / "out.csv", "csv"), spark=spark)
    with (tmp_path / "out.csv").open() as rows:
        _, one, two = csv.reader(rows)
    assert (one[3:7], two[2:7]) == (["true", "7", "n", "3"], ["", "", "", "", "4"])
    assert float(one[2]) == 1.0


@pytest.fixture
def rocksdb(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get(PROVIDER) or ""
    spark.conf.set(PROVIDER, ROCKSDB)
    yield spark
    spark.conf.set(PROVIDER, before)


DDL = (
    "src string, trg string, label string, ts long, "
    "name string, `count` long, weight double, `new` boolean"
)


def pushed_filters(frame: DataFrame) -> str:
    """The filters that Spark's plan pushes to the only source."""
    longest = "spark.sql.maxMetadataStringLength"
    before = frame.sparkSession.conf.get(longest) or ""
    frame.sparkSession.conf.set(longest, "10000")
    try:
        plan = str(frame._jdf.queryExecution().executedPlan().toString())
    finally:
        frame.sparkSession.conf.set(longest, before)
    (filters,) = re.findall(r"PushedFilters: \[(.*?)\], ReadSchema", plan)
    return str(filters)


@pytest.mark.long
@pytest.mark.parametrize(
    ("condition", "pushed"),
    [
        ("c2 > 1", "GreaterThan(weight,1.0)"),
        ("c2 <= 0.5", "LessThanOrEqual(weight,0.5)"),
        ("c3 = 'x'", "EqualTo(name,x)"),
        ("c4 = TRUE", "EqualTo(new,true)"),
        ("c5 >= 2", "GreaterThanOrEqual(count,2)"),
        ("c5 IS NULL", "IsNull(count)"),
        ("c6 > 9", "GreaterThan(ts,9)"),
    ],
)
def test_predicates_on_properties_are_pushed_to_the_source(
    spark: SparkSession, tmp_path: Path, condition: str, pushed: str
) -> None:
    """Predicates on numbers are pushed too, although Spark counts NaN as a number."""
    parquet_of(tmp_path / "in.parquet", EDGES)
    given = spark.read.schema(DDL).parquet(str(tmp_path / "in.parquet"))
    plan = plan_of(
        (scan("weight", "name", "new", "count", "ts", predicate=condition), ()),
        columns=("x", "y", "weight", "name", "new", "count", "time"),
    )
    edges, _ = edges_of(plan, {"s": given})
    rows = scan_input_rows(edges, scan_inputs(plan))
    filters = pushed_filters(rows)
    assert pushed in filters
    assert "EqualTo(label,a)" in filters


def test_predicates_on_vertices_are_pushed_to_the_source(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Each row is an edge from the vertex to itself."""
    rows = [{"id": v, "label": "a", "ts": 3, "weight": w} for v, w in (("x", 1.0), ("y", 2.0))]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    given = spark.read.parquet(str(tmp_path / "in.parquet"))
    plan = plan_of(
        (scan("weight", predicate="c2 > 1 AND c0 = 'y'"), ()), columns=("x", "y", "weight")
    )
    edges, _ = edges_of(plan, {"s": given})
    assert edges.select("src", "trg").distinct().count() == 2
    assert edges.where("src <> trg").count() == 0
    filters = pushed_filters(scan_input_rows(edges, scan_inputs(plan)))
    assert "GreaterThan(weight,1.0)" in filters
    assert "EqualTo(id,y)" in filters
    lacking = spark.read.parquet(str(tmp_path / "in.parquet")).drop("ts")
    with pytest.raises(InputError, match="no column ts; it has id, label, weight"):
        edges_of(plan, {"s": lacking})


def test_properties_of_a_users_streams_reach_results(rocksdb: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    parquet_of(folder / "0.parquet", EDGES)
    given = rocksdb.readStream.schema(DDL).parquet(str(folder))
    results = stream(rocksdb, UNITED, {"s": given})
    assert results.dtypes == [
        ("number", "double"),
        ("new", "boolean"),
        ("ts", "bigint"),
        ("exp", "bigint"),
    ]
    query = (
        results.writeStream.format("memory")
        .queryName("united")
        .option("checkpointLocation", str(tmp_path / "ck"))
        .start()
    )
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    found = results_in(rocksdb.table("united").toArrow())
    rows = {(r.bindings[0], r.bindings[1]) for r in found}
    assert (None, None) in rows
    assert {type(value) for value, _ in rows} == {float, type(None)}


def test_a_column_of_another_type_is_refused(rocksdb: SparkSession, tmp_path: Path) -> None:
    other = DDL.replace("weight double", "weight string")
    given = rocksdb.readStream.schema(other).parquet(str(tmp_path))
    with pytest.raises(InputError, match="Column weight of the stream 's' is string, but"):
        stream(rocksdb, FILTERED, {"s": given})
    lacking = rocksdb.readStream.schema("src string, trg string, label string, ts long")
    with pytest.raises(InputError, match="no column name, weight; it has"):
        stream(rocksdb, FILTERED, {"s": lacking.parquet(str(tmp_path))})
    assert len(TYPES) == 4
