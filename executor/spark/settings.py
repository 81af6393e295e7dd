"""The Spark settings that a streaming query of ours depends on."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import SparkSession

_STATE = "spark.sql.streaming.stateStore"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = f"{_STATE}.providerClass"


def streaming_session(spark: SparkSession, partitions: int) -> SparkSession:
    """A session of the same Spark for one query of ours, with our settings.

    That of the user is left as it is, and queries that run at the same time have each their own.
    """
    own = spark.newSession()
    for key, value in {
        PROVIDER: ROCKSDB,  # the only one that transformWithState takes
        f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.enabled": "false",
        # Versions of state kept on disk: a restart needs the last one.
        "spark.sql.streaming.minBatchesToRetain": "2",
        # Rows are counted, too, where one row is a block of a hundred thousand results.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    }.items():
        own.conf.set(key, value)
    return own


def location(folder: Path) -> str:
    """A local folder as Spark takes it for a checkpoint."""
    return f"file://{folder}"


def readable(folder: Path) -> str:
    """A local folder as Spark takes it for a source: there, names are patterns."""
    escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", str(folder))
    return f"file://{escaped}"
