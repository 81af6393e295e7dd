"""Sinks: they take the parts of each batch and publish them at the output of the run.

The tasks of a batch write parts to a staging folder (:mod:`headrace.executor.spark.results.parts`).
When all tasks of the batch are done, the driver delivers the parts here. After a crash Spark may
run a batch again that was delivered already. A folder then keeps the file that it has under the
batch's name, so a reader sees each result once.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ..host.errors import DamagedError, OutputError
from ..host.files import (
    digest_of,
    read_sealed,
    remove_aside,
    write_sealed,
    written_aside,
)
from ..host.storage import translate_storage_errors
from .formats import ResultShape, csv_header
from .parts import Part, PartSpec
from .sink import BothSinks, Sink
from .sinks import (
    NOTE,
    Output,
    ToFile,
    ToFolder,
    ToFunction,
    ToKafka,
    ToSink,
    ToStdout,
    WrittenBySpark,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STAGING = "staging"
_ALSO = "also"
"""The staging folder of a second output, inside that of the checkpoint."""
_SEALED = "-sha256-"
"""Before the digest in the name of a part; those of earlier versions have none."""


def sink_of(
    output: Output,
    shape: ResultShape,
    directory: Path,
    spark: SparkSession | None = None,
    also: WrittenBySpark | None = None,
) -> Sink:
    """The sink for an output.

    Args:
        output: the output.
        shape: the columns of results.
        directory: the checkpoint's directory; it may be on another file system than the output.
        spark: the session of the run, which writes to topics.
        also: a second output, which gets each batch before the first one.
    """
    sink = _sink_of(output, shape, directory, directory / _STAGING, spark)
    if also is None:
        return sink
    return BothSinks(sink, _sink_of(also, shape, directory, directory / _STAGING / _ALSO, spark))


def _sink_of(
    output: Output, shape: ResultShape, directory: Path, folder: Path, spark: SparkSession | None
) -> Sink:
    staging = str(folder)
    match output:
        case ToFolder(path, file_format):
            # Stage parts beside the results: a file can be moved within one file system only.
            beside = str(path.absolute() / NOTE / _STAGING)
            return _FolderSink(PartSpec(file_format, beside, shape), path)
        case ToFile(path, file_format):
            spec = PartSpec(file_format, staging, shape, header=False)
            return _FileSink(spec, path, directory)
        case ToStdout(file_format):
            return _StdoutSink(PartSpec(file_format, staging, shape, header=False))
        case ToFunction(function):
            return _FunctionSink(PartSpec("arrow", staging, shape), function)
        case ToKafka() | ToSink():
            if spark is None:
                raise OutputError("Only Spark writes to topics and named sinks.", "Run on Spark.")
            from .by_spark import sink_by_spark

            return sink_by_spark(output, shape, staging, directory / "sink", spark)


class _FolderSink(Sink):
    def __init__(self, spec: PartSpec, folder: Path) -> None:
        super().__init__(spec)
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @translate_storage_errors()
    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        for part in parts:
            name = f"part-{batch:08}-{part.partition:03}.{self.spec.format}"
            published = self._folder / name
            if published.is_symlink():
                raise OutputError(
                    f"{published} is a link, and Headrace made none there.",
                    "Remove it; then give the same command again: it goes on from there.",
                )
            if published.exists():
                os.unlink(part.path)
            else:
                os.replace(part.path, published)


class _FileSink(Sink):
    def __init__(self, spec: PartSpec, path: Path, directory: Path) -> None:
        super().__init__(spec)
        self._path = path
        self._folder = directory / "parts"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._there = {part.stem.partition(_SEALED)[0] for part in self._folder.glob("part-*")}
        self._written = WrittenFile(directory)

    @translate_storage_errors()
    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        for part in parts:
            # The digest is in the name: a part lies here for as long as the run takes.
            name = f"part-{batch:08}-{part.partition:03}"
            if name in self._there:
                os.unlink(part.path)
            else:
                sealed = f"{name}{_SEALED}{digest_of(Path(part.path))}.{self.spec.format}"
                os.replace(part.path, self._folder / sealed)
                self._there.add(name)

    @translate_storage_errors()
    def finish(self) -> None:
        super().finish()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        remove_aside(self._path)
        try:
            with written_aside(self._path, replacing=self._written.is_at(self._path)) as file:
                self._join(file)
                self._written.about_to_be(file)
        except FileExistsError as error:
            raise OutputError(
                f"{self._path} was made by something else while this ran.",
                "Move it away; then give the same command again: it goes on from there.",
            ) from error

    def _join(self, file: BinaryIO) -> None:
        if self.spec.format == "parquet":
            self._join_parquet(file)
            return
        if self.spec.format == "csv":
            file.write(csv_header(self.spec.shape))
        for part in self._published():
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file, 1 << 20)

    def _join_parquet(self, file: BinaryIO) -> None:
        with pq.ParquetWriter(file, self.spec.shape.schema, compression="zstd") as writer:
            for part in self._published():
                for rows in pq.ParquetFile(part).iter_batches():
                    writer.write_batch(rows)

    def _published(self) -> Iterator[Path]:
        """The parts in their order.

        Raises:
            DamagedError: at one that is not as it was written.
        """
        for part in sorted(self._folder.glob("part-*")):
            _, sealed, digest = part.stem.partition(_SEALED)
            if sealed and digest_of(part) != digest:
                raise DamagedError(part)
            yield part


class WrittenFile:
    """Identifies the output file of a run by a note in the checkpoint directory.

    A run may be killed after it has named the file and before it has noted its end. The next run
    then recognizes the file by the note.
    """

    def __init__(self, folder: Path) -> None:
        self._note = folder / "written.json"

    def about_to_be(self, file: BinaryIO) -> None:
        """Writes the note, before the file gets its name."""
        file.flush()
        write_sealed(self._note, _signs(os.fstat(file.fileno())))

    def is_at(self, path: Path) -> bool:
        """Whether the file at ``path`` is the one in the note."""
        try:
            return bool(read_sealed(self._note) == _signs(os.lstat(path)))
        except FileNotFoundError:
            return False


def _signs(status: os.stat_result) -> dict[str, int]:
    return {"inode": status.st_ino, "mtime_ns": status.st_mtime_ns, "bytes": status.st_size}


class _StdoutSink(Sink):
    def __init__(self, spec: PartSpec) -> None:
        super().__init__(spec)
        self._headed = spec.format != "csv"

    @translate_storage_errors("standard output")
    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        out = sys.stdout.buffer
        if not self._headed:
            out.write(csv_header(self.spec.shape))
            self._headed = True
        for part in parts:
            with open(part.path, "rb") as rows:
                shutil.copyfileobj(rows, out, 1 << 20)
            out.flush()
            os.unlink(part.path)


class _FunctionSink(Sink):
    def __init__(self, spec: PartSpec, function: Callable[[int, pa.Table], None]) -> None:
        super().__init__(spec)
        self._function = function

    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        for part in parts:
            with pa.OSFile(part.path, "rb") as file:
                rows = pa.ipc.open_stream(file).read_all()
            os.unlink(part.path)
            self._function(batch, rows)
