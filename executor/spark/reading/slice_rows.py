"""WSCAN and FILTER over slices of the spool, in Python workers.

In: the paths of slices, as Spark's source ``binaryFile`` lists them; Spark itself reads no edge.
Out: messages to the partitions of the first stage
(:mod:`headrace.executor.spark.exchange.packing`).

The first stage of a plan for one partition reads and packs the slices itself, so a micro-batch has
one task. With several partitions a stage before it does, and sends each partition its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from ....algebra.plan import PhysicalPlan
from ..exchange.packing import PACKED, PARTITION, SLICE, Message, packed, partition_keys
from ..host.errors import DamagedError
from ..session.settings import readable
from .selection import edge_sender

FILES = "path string, modificationTime timestamp, length bigint, content binary"
"""The schema of Spark's source ``binaryFile``; Headrace selects no column but the path."""


def packed_slices(spark: SparkSession, folder: Path, plan: PhysicalPlan) -> DataFrame:
    """The slices of a folder as a stream of messages to the first stage, a slice per micro-batch.

    With one partition the messages have the paths of slices
    (:data:`headrace.executor.spark.exchange.packing.SLICE`) and come in one task, which is that of
    the stage.
    """
    reader = spark.readStream.format("binaryFile").schema(FILES).option("maxFilesPerTrigger", 1)
    # Spark writes a path neither as it is nor as a URL; names of slices are plain.
    path = sf.concat(sf.lit(f"{folder}/"), sf.substring_index("path", "/", -1))
    paths = reader.load(readable(folder)).select(path.alias("path"))
    document = plan.to_json()
    partitions = plan.parallelism
    if partitions > 1:

        def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            paths = (str(path) for batch in batches for path in batch["path"].to_pylist())
            return (packed([m], partitions) for m in messages_of_slices(document, paths))

        return paths.mapInArrow(pack, PACKED)
    columns = {
        PARTITION: sf.lit(partition_keys(1)[0]),
        "kind": sf.lit(SLICE),
        "source": sf.lit(0),
        "number": sf.lit(0),
        "now": sf.lit(0).cast("bigint"),
        "payload": sf.col("path").cast("binary"),
    }
    return paths.coalesce(1).select(*(column.alias(name) for name, column in columns.items()))


def messages_of_slices(document: str, paths: Iterable[str]) -> Iterator[Message]:
    """Reads the slices of one micro-batch by their paths; yields messages to the first stage.

    Args:
        document: the plan as JSON.
        paths: the slices. Mostly there is one; after a restart there may be two.

    Raises:
        DamagedError: if a slice cannot be read.
    """
    sent = edge_sender(document, "replayed")((_slice(path), None) for path in sorted(paths))
    for messages in sent:
        yield from messages


def _slice(path: str) -> pa.Table:
    """Reads a slice.

    Raises:
        DamagedError: if it cannot be read.
    """
    try:
        with pq.ParquetFile(path) as file:
            return file.read()
    except (FileNotFoundError, pa.ArrowInvalid) as error:
        raise DamagedError(path) from error
