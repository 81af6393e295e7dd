"""The Spark settings that Headrace's streaming queries depend on."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from pyspark.sql import SparkSession

_STATE = "spark.sql.streaming.stateStore"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = f"{_STATE}.providerClass"

_SESSIONS: dict[int, SparkSession] = {}
"""Sessions by number of partitions; the process has one Spark at a time."""
_LOCK = threading.Lock()


def streaming_session(spark: SparkSession, partitions: int) -> SparkSession:
    """Returns a session on the same Spark context, with the settings for a number of partitions.

    The user's session stays unchanged. All queries of one number of partitions share a session: a
    query copies its session's settings when it starts. A session for each start would cost a
    megabyte until it is collected, and Spark keeps the session's listener bus as long as the
    context lives.
    """
    with _LOCK:
        own = _SESSIONS.get(partitions)
        if own is None or own.sparkContext is not spark.sparkContext:
            own = _SESSIONS[partitions] = _session(spark, partitions)
        return own


def _session(spark: SparkSession, partitions: int) -> SparkSession:
    own = spark.newSession()
    for key, value in {
        PROVIDER: ROCKSDB,  # transformWithState takes no other
        f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.enabled": "false",
        # Keep two versions of state on disk: a restart needs the last one.
        "spark.sql.streaming.minBatchesToRetain": "2",
        # No cache of listed files: a streaming query never reads it.
        "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
        # Limit bytes as well as rows: one row may be a block of a hundred thousand results.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    }.items():
        own.conf.set(key, value)
    return own


def location(folder: Path) -> str:
    """The URL of a local folder, as Spark takes it for a checkpoint."""
    return f"file://{folder}"


def readable(folder: Path) -> str:
    """The URL of a local folder, escaped for a source of Spark, where names are patterns."""
    escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", str(folder))
    return f"file://{escaped}"
