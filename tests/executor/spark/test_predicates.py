"""Predicates as Spark SQL select the same rows as in process."""

from __future__ import annotations

import math

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from headrace.algebra.values import PropertyType
from headrace.executor import predicates
from tests.executor.typed_predicates import KINDS, Row

TYPES: tuple[PropertyType, ...] = ("string", "integer", "integer", "number", "number", "boolean",
                                  "string")  # fmt: skip
LARGEST = 2**63 - 1
ROWS: list[Row] = [
    ("a", 1, 2, 1.5, 2.0, True, " é x\t"),
    ("1", 1, 1, 1.0, -2.0, False, ""),
    (None, None, None, None, None, None, None),
    ("", LARGEST, 1, 1e308, 1e308, True, "B"),
    ("b", -LARGEST - 1, -1, -1e308, 0.0, None, "éé"),
    ("a", 2**53 + 1, LARGEST, 2.0**53, math.nan, False, " é x\t"),
    ("é", 0, 0, -0.0, 0.0, True, "\U0001f600ab "),
    ("a", 7, None, None, 3.5, False, "ab"),
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
    "TEXT_CONTAINS(c0, 'b') = TRUE",
    "NOT TEXT_CONTAINS(c0, 'b') = TRUE",
    "TEXT_STARTS(c0, c6) = FALSE OR TEXT_ENDS(c0, '') = TRUE",
    "TEXT_SIZE(c6) = 5",
    "TEXT_TRIM(c6) = 'é x'",
    "TEXT_LTRIM(c6) > 'é x' OR TEXT_RTRIM(c6) < 'A'",
    "TEXT_LEFT(c6, c1) = ''",
    "TEXT_LEFT(c6, 1.9) = ' '",
    "TEXT_RIGHT(c6, -0.5) = ''",
    "TEXT_RIGHT(c6, c1) = c6",
    "TEXT_PART(c6, 1) = 'é x\t'",
    "TEXT_PART(c6, 1, c2) = 'é'",
    "TEXT_PART(c6, c1, c1) = ''",
    "TEXT_REVERSE(c6) = '\tx é '",
    "MODULO(c1, c2) = -1",
    "MODULO(c1, c2) = 0",
    "MODULO(c3, c4) >= 0",
    "MODULO(c1, 2.5) > 0",
    "SIGN_OF(c3) = -1 OR SIGN_OF(c1) = 1",
    "SIGN_OF(c3 / c4) >= 0",
    "FIRST_NOT_NULL(c1, c3, 0) = 0",
    "FIRST_NOT_NULL(c0, c1, 'x') = 'x'",
    "IS_NOT_NULL(c3 / c4) = FALSE",
    "CASE_WHEN(LESS(c1, c2), c3, EQUAL(c0, 'a'), c1, 0.5) > 0",
    "CASE_WHEN(c5, 'yes', LOGICAL_NOT(c5), 'no', NULL_VALUE()) = 'no'",
    "CASE_WHEN(c0, 1, 2) = 2",
    "ALL_TRUE(c5, LESS(c1, c3)) = FALSE",
    "ANY_TRUE(c5, UNEQUAL(c0, c1), AT_MOST(c3, c4)) = TRUE",
    "ANY_TRUE(c5, LESS(c0, c1)) <> TRUE",
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
