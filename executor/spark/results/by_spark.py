"""Outputs that Spark's own sinks write, from the parts of a micro-batch."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from ....catalog.sinks import SINK_FILES, NamedSink
from ..host.errors import OutputError, SinkError
from ..host.failures import reason_in
from ..host.files import read_sealed, write_sealed
from ..host.storage import translate_storage_errors
from ..session.settings import location, readable
from ..session.workers import own_workers
from .formats import Messages, ResultShape
from .parts import Part, PartSpec
from .sink import Sink
from .sinks import NOTE, ToKafka, ToSink, WrittenBySpark

_MESSAGES = "key string, value string"
_OF_SPARK = (PySparkException, Py4JJavaError)
"""Errors of a living JVM: Spark gives some, such as of a missing package, without its own type."""
_WAIT, _WAIT_MS = "kafka.max.block.ms", "15000"
"""How long a task waits for brokers that do not answer: Spark makes four attempts at a task."""
_LOG = "_spark_metadata"
"""The folder of the log of Spark's file sink, among its files."""
_LOOKS = "200 milliseconds"
"""The time between two looks of a sink's query at its folder: each lists the files."""


def sink_by_spark(
    output: WrittenBySpark, shape: ResultShape, staging: str, folder: Path, spark: SparkSession
) -> Sink:
    """The sink for a topic or a named sink.

    Args:
        output: the output.
        shape: the columns of results.
        staging: the folder for parts that are not delivered yet.
        folder: the folder in the checkpoint for the state of the sink.
        spark: the session of the run.
    """
    if isinstance(output, ToKafka):
        return KafkaSink(PartSpec("messages", staging, shape), output, spark)
    return StreamedSink(PartSpec("parquet", staging, shape), output.sink, folder, spark)


class KafkaSink(Sink):
    """Writes the messages of a batch by Spark's Kafka sink, and waits until they are there.

    A batch that runs again is written again: a topic cannot say which batches it has.
    """

    def __init__(self, spec: PartSpec, output: ToKafka, spark: SparkSession) -> None:
        super().__init__(spec)
        self._output = output
        self._spark = spark

    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        """Writes the results of a batch.

        Raises:
            SinkError: if the topic does not take them.
        """
        if not parts:
            return
        output = self._output
        paths = [Path(part.path).absolute().as_uri() for part in parts]
        messages = self._spark.read.schema(_MESSAGES).parquet(*paths)
        options = {_WAIT: _WAIT_MS, **output.options}
        writer = messages.write.format("kafka").options(**options)
        writer = writer.option("kafka.bootstrap.servers", output.servers)
        with sink_errors(f"the topic {output.topic} of the brokers {output.servers}"):
            writer.option("topic", output.topic).save()
        for part in parts:
            os.unlink(part.path)


class StreamedSink(Sink):
    """Writes results by a streaming query of Spark's, which has its own checkpoint.

    The parts of a batch appear in a folder, and the query reads the folder as a stream of files.
    Names of parts repeat if a batch runs again, and the query reads a name once. So the sink gets
    what Structured Streaming promises for it: Spark's file sink has each result once.
    """

    def __init__(self, spec: PartSpec, sink: NamedSink, folder: Path, spark: SparkSession) -> None:
        """Starts the query.

        Raises:
            OutputError: if Spark cannot write the format, or another run wrote to the folder.
        """
        super().__init__(spec)
        path = sink.path if sink.path is None or "://" in sink.path else os.path.abspath(sink.path)
        sink = replace(sink, path=path)
        self._place = f"the sink {sink.name} ({sink.format})"
        self._parts = folder / "parts"
        with translate_storage_errors():
            self._parts.mkdir(parents=True, exist_ok=True)
        try:
            if sink.format in SINK_FILES:
                _claim(sink, folder, spark)
            self._query = self._started(sink, folder / "spark", spark)
        except _OF_SPARK as error:
            raise OutputError(
                f"Spark cannot write to {self._place}: {reason_in(str(error))}",
                "Check its format, path, options and packages in the catalog.",
            ) from error

    def _started(self, sink: NamedSink, checkpoint: Path, spark: SparkSession) -> StreamingQuery:
        schema = from_arrow_schema(self.spec.shape.schema)
        rows = spark.readStream.schema(schema).parquet(readable(self._parts))
        writer = rows.writeStream.format(sink.format).options(**sink.options)
        writer = writer.option("checkpointLocation", location(checkpoint))
        return writer.trigger(processingTime=_LOOKS).start(sink.path)

    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        """Adds the parts of a batch to the folder, and waits until they are in the sink.

        Raises:
            SinkError: if the sink does not take them.
        """
        if not parts:
            return
        with translate_storage_errors():
            names = {f"part-{batch:08}-{part.partition:03}.parquet": part for part in parts}
            for name, part in names.items():
                if (self._parts / name).exists():
                    os.unlink(part.path)
                else:
                    os.replace(part.path, self._parts / name)
        with sink_errors(self._place):
            self._query.processAllAvailable()
        with translate_storage_errors():
            # The files of this batch stay: Spark may read them again after a crash.
            for file in self._parts.glob("part-*"):
                if file.name not in names:
                    file.unlink()

    def finish(self) -> None:
        """Waits until all parts are in the sink.

        Raises:
            SinkError: if the sink does not take them.
        """
        with sink_errors(self._place):
            self._query.processAllAvailable()
        super().finish()

    def close(self) -> None:
        """Stops the query."""
        with suppress(PySparkException, Py4JError, OSError):
            self._query.stop()


def stream_writer(
    results: DataFrame, shape: ResultShape, output: WrittenBySpark
) -> DataStreamWriter:
    """The writer of a streaming DataFrame of results to a topic or a named sink.

    Args:
        results: rows with the flat columns of ``shape``.
        shape: the columns of results.
        output: the output.
    """
    if isinstance(output, ToSink):
        sink = output.sink
        writer = results.writeStream.format(sink.format).options(**sink.options)
        return writer if sink.path is None else writer.option("path", sink.path)

    def messages(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = Messages(shape)
        for batch in batches:
            yield made.of(shape.nested(batch))

    with own_workers(results.sparkSession, None):
        frame = results.mapInArrow(messages, _MESSAGES)
    writer = frame.writeStream.format("kafka").options(**output.options)
    writer = writer.option("kafka.bootstrap.servers", output.servers)
    return writer.option("topic", output.topic)


def _claim(sink: NamedSink, folder: Path, spark: SparkSession) -> None:
    """Claims the folder of a file sink for the run with a checkpoint.

    Spark's log in the folder has the numbers of its batches. Spark would take the first batches of
    another query for repeats of those, and drop them without a word.

    Args:
        sink: the sink.
        folder: the folder in the checkpoint for the state of the sink.
        spark: the session of the run, which may reach folders that this process does not.

    Raises:
        OutputError: if another run has the folder, or Spark's log is there already.
    """
    other = OutputError(
        f"{sink.path} holds the results of another run.",
        "Give the checkpoint of that run to go on with it, or another path in the catalog.",
    )
    context, path = spark.sparkContext, str(sink.path)
    log = context._jvm.org.apache.hadoop.fs.Path(path, _LOG)  # type: ignore[union-attr]
    there = log.getFileSystem(context._jsc.hadoopConfiguration()).exists(log)
    if there and not (folder / "spark" / "offsets").exists():
        raise other
    if "://" in path:
        return
    with translate_storage_errors():
        own, note = folder / "owner.json", Path(path, NOTE, "sink.json")
        with suppress(FileExistsError):
            write_sealed(own, {"id": uuid.uuid4().hex}, replacing=False)
        note.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            write_sealed(note, read_sealed(own), replacing=False)
        if read_sealed(note) != read_sealed(own):
            raise other


@contextmanager
def sink_errors(place: str) -> Iterator[None]:
    """Raises an error of Spark inside this block as a `SinkError` that names the sink."""
    try:
        yield
    except _OF_SPARK as error:
        raise SinkError(place, reason_in(str(error))) from error
