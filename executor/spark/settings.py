"""The Spark settings that a streaming query of ours depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

_STATE = "spark.sql.streaming.stateStore"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = f"{_STATE}.providerClass"


@contextmanager
def streaming_settings(spark: SparkSession, partitions: int) -> Iterator[None]:
    """Queries started inside this block run with our settings; the session's come back."""
    settings = {
        PROVIDER: ROCKSDB,  # the only one that transformWithState takes
        f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.enabled": "false",
        # Versions of state kept on disk: a restart needs the last one.
        "spark.sql.streaming.minBatchesToRetain": "2",
        # Rows are counted, too, where one row is a block of a hundred thousand results.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    }
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def location(folder: Path) -> str:
    """A local folder as Spark takes it for a checkpoint."""
    return f"file://{folder}"


def readable(folder: Path) -> str:
    """A local folder as Spark takes it for a source: there, names are patterns."""
    escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", str(folder))
    return f"file://{escaped}"
