"""Predicates as Spark SQL select the same rows as in process."""

from __future__ import annotations

import math

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from headrace.algebra.values import PropertyType
from headrace.executor import predicates
from tests.executor.typed_predicates import KINDS, Row

TYPES: tuple[PropertyType, ...] = ("string", "integer", "integer", "number", "number", "boolean")
LARGEST = 2**63 - 1
ROWS: list[Row] = [
    ("a", 1, 2, 1.5, 2.0, True),
    ("1", 1, 1, 1.0, -2.0, False),
    (None, None, None, None, None, None),
    ("", LARGEST, 1, 1e308, 1e308, True),
    ("b", -LARGEST - 1, -1, -1e308, 0.0, None),
    ("a", 2**53 + 1, LARGEST, 2.0**53, math.nan, False),
    ("é", 0, 0, -0.0, 0.0, True),
    ("a", 7, None, None, 3.5, False),
]
CONDITIONS = [
    "c0 = 'a'",
    "c0 <> 'a'",
    "c0 < 'b' OR c5 = FALSE",
    "c0 = 1",
    "c0 <> 1",
    "NOT c0 <> 1",
    "c0 < 1",
    "NOT c0 < c1",
    "c1 + c2 > 0",
    "c1 - c2 < 0",
    "c1 * c2 >= 0",
    "NOT c1 * c1 > 3",
    "-c1 > 0",
    "abs(c1) >= 0",
    "abs(c1 - c2) <= 10",
    "c1 / c2 >= 1",
    "c1 / c2 < 1",
    "5000000000 + 5000000000 > c1",
    "c1 = c3",
    "c1 <> c3",
    "c1 >= c3",
    "c3 * c4 > 0",
    "c3 + c3 < 0",
    "c3 - c3 = 0",
    "c3 / c4 > 0",
    "1 / (c3 * 10) = 0",
    "c3 / (c4 / (c3 * 10)) = 0",
    "-c3 <= abs(c4)",
    "c3 > 1.5",
    "c4 = c4",
    "c4 IS NULL",
    "c3 IS NOT NULL AND c5 IS NULL",
    "c5 = TRUE",
    "c5 <> TRUE",
    "c5 < TRUE",
    "c5 = 1",
    "c5 <> c1",
    "c5 + 1 = 2",
    "NOT c0 + 1 = 2",
    "c1 IN (1, 7, 'a')",
    "c1 NOT IN (1, 7.0)",
    "c0 IN ('a', 1)",
    "NOT (c1 > c2 AND c3 > c4)",
]


def test_spark_predicates_select_the_same_rows(spark: SparkSession) -> None:
    sql = {"string": "string", "integer": "bigint", "number": "double", "boolean": "boolean"}
    schema = ", ".join(f"c{i} {sql[kind]}" for i, kind in enumerate(TYPES))
    frame = spark.createDataFrame([(*row, i) for i, row in enumerate(ROWS)], f"{schema}, row int")
    flags = [
        sf.coalesce(sf.expr(predicates.spark_sql(condition, TYPES)), sf.lit(False))
        for condition in CONDITIONS
    ]
    found = {row[0]: list(row[1:]) for row in frame.select("row", *flags).collect()}
    columns = [pa.array([row[i] for row in ROWS], KINDS[kind][0]) for i, kind in enumerate(TYPES)]
    for number, condition in enumerate(CONDITIONS):
        by_spark = [found[i][number] for i in range(len(ROWS))]
        assert by_spark == predicates.mask(condition, columns).tolist(), condition
