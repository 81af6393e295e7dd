"""The Spark settings that a streaming query of ours depends on."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from pyspark.sql import SparkSession

_STATE = "spark.sql.streaming.stateStore"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = f"{_STATE}.providerClass"

_SESSIONS: dict[int, SparkSession] = {}  # of this process, which has one Spark at a time
_LOCK = threading.Lock()


def streaming_session(spark: SparkSession, partitions: int) -> SparkSession:
    """A session of the same Spark, with our settings, for queries of ours with so many partitions.

    That of the user is left as it is. It is made once for all queries, since each that starts
    copies the settings of its session. One for each start would cost a megabyte until it is
    collected, and Spark keeps the bus of its listeners as long as the context lives.
    """
    with _LOCK:
        own = _SESSIONS.get(partitions)
        if own is None or own.sparkContext is not spark.sparkContext:
            own = _SESSIONS[partitions] = _session(spark, partitions)
        return own


def _session(spark: SparkSession, partitions: int) -> SparkSession:
    own = spark.newSession()
    for key, value in {
        PROVIDER: ROCKSDB,  # the only one that transformWithState takes
        f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.enabled": "false",
        # Versions of state kept on disk: a restart needs the last one.
        "spark.sql.streaming.minBatchesToRetain": "2",
        # No cache of what was in folders: Spark never looks there for what a query has listed.
        "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
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
