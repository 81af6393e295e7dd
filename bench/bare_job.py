"""A bare streaming query of one Python stage, for :mod:`bench.first_result`.

``python -m bench.bare_job STAGE FOLDER`` streams the CSV files of a folder through PySpark alone,
as a user's own script would: a session in local mode with default settings, one Python stage, and
``foreachBatch``. It prints the first row of each batch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

Stage = Literal["map", "state"]
"""``map``: mapInArrow. ``state``: transformWithStateInPandas with one key."""

EDGES = "src bigint, trg bigint, ts bigint"
_STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Counting(StatefulProcessor):
    """Keeps the number of rows of a key, and returns the number."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's hook."""
        self._count = handle.getValueState("count", "count bigint")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803 - Spark's name
    ) -> Iterator[Any]:
        """Spark's hook."""
        import pandas as pd

        stored = self._count.get() if self._count.exists() else None
        count = (0 if stored is None else stored[0]) + sum(map(len, rows))
        self._count.update((count,))
        yield pd.DataFrame({"count": [count]})

    def close(self) -> None:
        """Spark's hook."""


def unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function of the stage ``map``."""
    yield from batches


def staged(edges: DataFrame, stage: Stage) -> DataFrame:
    """The edges after the one stage."""
    if stage == "map":
        return edges.mapInArrow(unchanged, EDGES)
    keyed = edges.select(sf.lit(0).alias("key"), "*").groupBy("key")
    return keyed.transformWithStateInPandas(
        Counting(), "count bigint", outputMode="Append", timeMode="None"
    )


def main(stage: Stage, folder: Path) -> None:
    """Runs the job over the files, one per batch."""
    with TemporaryDirectory(prefix="headrace-bench-") as checkpoint:
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.streaming.stateStore.providerClass", _STATE_STORE)
            .getOrCreate()
        )
        files = (
            spark.readStream.schema(EDGES).option("header", True).option("maxFilesPerTrigger", 1)
        )

        def show(frame: DataFrame, batch: int) -> None:
            rows = frame.collect()
            print(f"RESULT {rows[0] if rows else None}", flush=True)

        query = (
            staged(files.csv(str(folder)), stage)
            .writeStream.foreachBatch(show)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        spark.stop()


if __name__ == "__main__":
    main(cast(Stage, sys.argv[1]), Path(sys.argv[2]))
