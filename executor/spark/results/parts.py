"""Writes the results of a partition in one batch, or of a run without Spark, to a file.

In: record batches of results, from the last stage of a plan. Out: a *part*, a file with a unique
name in a staging folder. After a successful batch the driver publishes its parts
(:mod:`headrace.executor.spark.results.delivery`).
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import pyarrow as pa

from ..host.files import errors_named
from .formats import PartFormat, ResultShape, ResultWriter, result_writer


@dataclass(frozen=True, slots=True)
class PartSpec:
    """The format of parts, and the staging folder.

    Attributes:
        format: the format of the files.
        staging: the staging folder.
        shape: the columns of results.
        header: whether files of CSV have a header.
        also: a second file for each part, with the same results for another sink.
    """

    format: PartFormat
    staging: str
    shape: ResultShape
    header: bool = True
    also: PartSpec | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A finished file of results that is not yet published.

    ``also`` is the path of its second file (:attr:`PartSpec.also`); empty without one.
    """

    path: str
    partition: int
    rows: int
    bytes: int
    also: str = ""


class PartWriter:
    """Writes one part; the file is made with the first block.

    The end of the ``with`` block removes a file that is not complete.

    Attributes:
        rows: the number of rows written so far.
    """

    def __init__(self, spec: PartSpec, partition: int) -> None:
        self.rows = 0
        self._spec = spec
        self._partition = partition
        self._path = Path(spec.staging) / f"{uuid.uuid4().hex}.part"
        self._open: tuple[BinaryIO, ResultWriter] | None = None
        self._also = None if spec.also is None else PartWriter(spec.also, partition)

    def write(self, block: pa.RecordBatch) -> None:
        """Adds the rows of a block: the answer's columns, ``ts`` and ``exp``."""
        if not block.num_rows:
            return
        with errors_named(self._path):
            if self._open is None:
                spec = self._spec
                file = self._path.open("wb", buffering=1 << 20)
                writer = result_writer(spec.format, spec.shape, file, header=spec.header)
                self._open = file, writer
            self._open[1].write(block)
        if self._also is not None:
            self._also.write(block)
        self.rows += block.num_rows

    def close(self) -> Part | None:
        """Completes the file and has the disk keep it; returns None if there are no rows."""
        if self._open is None:
            return None
        file, writer = self._open
        with errors_named(self._path), file:
            writer.close()
            file.flush()
            os.fsync(file.fileno())
        self._open = None
        also = None if self._also is None else self._also.close()
        size = self._path.stat().st_size
        second = "" if also is None else also.path
        return Part(str(self._path), self._partition, self.rows, size, second)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._also is not None:
            self._also.__exit__(kind, error, trace)
        if self._open is not None:
            with suppress(OSError):
                self._open[0].close()
            with suppress(OSError):
                self._path.unlink()
            self._open = None
