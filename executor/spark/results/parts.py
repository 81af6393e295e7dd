"""Writes blocks of results to files, inside Spark's tasks.

In: blocks of the last stage (``kind``, ``rows``, ``payload``). Out: for each task a *part*, a file
with a unique name in a staging folder; reports and late edges are passed on. After a successful
batch the driver publishes its parts (:mod:`headrace.executor.spark.results.sinks`).
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from ..exchange.blocks import RESULTS
from ..exchange.packing import table_of
from ..host.files import errors_named
from .formats import PartFormat, ResultShape, result_writer

PART = "part"
WRITTEN = "kind string, payload string"


@dataclass(frozen=True, slots=True)
class PartSpec:
    """The format of parts, and the staging folder; ``header`` is for CSV."""

    format: PartFormat
    staging: str
    shape: ResultShape
    header: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """A finished file of results that is not yet published."""

    path: str
    partition: int
    rows: int
    bytes: int


def part_writer(
    spec: PartSpec,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns the function that Spark applies to blocks; it gives rows of :data:`WRITTEN`.

    The payload is JSON: of a part, a report, or late edges.
    """

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[str, str]] = []
        part = _write_part(spec, batches, rows)
        if part is not None:
            rows.append((PART, json.dumps(asdict(part))))
        yield pa.RecordBatch.from_pydict(
            {
                "kind": pa.array([kind for kind, _ in rows], pa.string()),
                "payload": pa.array([payload for _, payload in rows], pa.string()),
            }
        )

    return write


def _write_part(
    spec: PartSpec, batches: Iterable[pa.RecordBatch], others: list[tuple[str, str]]
) -> Part | None:
    """Writes the results of ``batches`` to one file; returns None if there are none.

    The kind and payload of every other block are added to ``others``.
    """
    path = Path(spec.staging) / f"{uuid.uuid4().hex}.part"
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    rows = 0
    try:
        with errors_named(path), path.open("wb", buffering=1 << 20) as file:
            writer = result_writer(spec.format, spec.shape, file, header=spec.header)
            for batch in batches:
                for kind, payload in zip(batch["kind"], batch["payload"], strict=True):
                    if kind.as_py() != RESULTS:
                        others.append((kind.as_py(), payload.as_py().decode()))
                        continue
                    for block in table_of(payload.as_py()).to_batches():
                        writer.write(block)
                        rows += block.num_rows
            writer.close()
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    if not rows:
        path.unlink()
        return None
    return Part(str(path), partition, rows, path.stat().st_size)
