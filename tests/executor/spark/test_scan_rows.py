"""Spark selects the same rows of scan inputs as the in-process executor."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headrace.algebra.physical import FilterRows, HashJoin
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import VertexType
from headrace.executor.scans import scan_inputs
from headrace.executor.spark.reading.scan_rows import scan_input_rows
from tests.executor.spark.plans import plan_of, scan

pytestmark = [pytest.mark.spark, pytest.mark.long]

STRINGS = ["1", "01", "2", "x", "q\"uo'te", "back\\slash", "né", "%_"]


def two_filtered_scans(first: VertexType, second: VertexType) -> PhysicalPlan:
    """Scan inputs of one label and of two, over streams of two types, with and without filters."""
    same = "c0 = c1" if first == second else "c0 = c0"
    constant = "c0 = 1" if second == "integer" else "c0 = 'q\"uo\\'te' OR NOT c1 = 'back\\\\slash'"
    join = HashJoin(((0, 1), (1, 2)), (0, 2))
    return plan_of(
        (scan("a", stream="one"), ()),
        (FilterRows(same), (0,)),
        (scan("a", stream="two"), ()),
        (FilterRows(constant), (2,)),
        (scan("b", stream="two"), ()),
        (join, (0, 1)),
        (join, (5, 3)),
        (join, (6, 4)),
        vertex_types=(("one", first), ("two", second)),
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [("string", "string"), ("integer", "integer"), ("string", "integer"), ("integer", "string")],
)
def test_spark_selects_the_same_rows_of_scan_inputs(
    spark: SparkSession, first: VertexType, second: VertexType
) -> None:
    plan = two_filtered_scans(first, second)
    random = Random(0)
    types = {"one": first, "two": second}
    rows = []
    for ts in range(300):
        stream = random.choice(["one", "two"])
        pool = ["1", "2", "3"] if types[stream] == "integer" else STRINGS
        ends = (random.choice(pool), random.choice(pool))
        rows.append((stream, random.choice("abc"), *ends, ts))
    edges = spark.createDataFrame(
        rows, "stream string, label string, src string, trg string, ts long"
    )
    found = scan_input_rows(edges, scan_inputs(plan)).collect()

    expected = Counter[tuple[int, str, str, int]]()
    for number, scan_input in enumerate(scan_inputs(plan)):
        kind = pa.int64() if scan_input.vertex_type == "integer" else pa.string()
        own = [row for row in rows if row[0] == scan_input.scan.stream]
        columns = list(zip(*own, strict=True))
        vertices = [pa.array(columns[i], pa.string()).cast(kind) for i in (2, 3)]
        batch = pa.RecordBatch.from_pydict(
            {
                "label": pa.array(columns[1]),
                "src": vertices[0],
                "trg": vertices[1],
                "ts": pa.array(columns[4], pa.int64()),
            }
        )
        for row in scan_input.select(batch).to_pylist():
            expected[number, str(row["src"]), str(row["trg"]), row["ts"]] += 1
    assert Counter((r.scan_input, str(r.src), str(r.trg), r.ts) for r in found) == expected
    assert len(expected) > 50


def test_no_scan_input_selects_an_edge_with_an_invalid_vertex(spark: SparkSession) -> None:
    plan = plan_of((scan(), ()), vertex_types=(("input", "integer"),))
    edges = spark.createDataFrame(
        [("input", "a", "1", "2", 0), ("input", "a", "x", "2", 1), ("input", "a", None, "2", 2)],
        "stream string, label string, src string, trg string, ts long",
    )
    found = scan_input_rows(edges, scan_inputs(plan)).collect()
    assert [(r.scan_input, r.src, r.trg, r.ts) for r in found] == [(0, 1, 2, 0)]
