"""What tests of several files need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from headrace.executor.spark.session.settings import PROVIDER, ROCKSDB


@pytest.fixture
def rocksdb(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with RocksDB as state store, as the user must configure it."""
    before = spark.conf.get(PROVIDER) or ""
    spark.conf.set(PROVIDER, ROCKSDB)
    yield spark
    spark.conf.set(PROVIDER, before)
