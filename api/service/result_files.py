"""The kept results of a query as one file: JSON lines, CSV or Parquet.

In: the JSON lines that a run wrote. Out: the bytes of the file, in pieces of about 64 kB of input,
so that a download of any size takes little memory. The results are those kept when the download
reaches the end; a query that runs has more later.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from ...algebra.plan import PhysicalPlan
from .results import Reader

if TYPE_CHECKING:
    import pyarrow as pa

    from ...executor.spark.results.formats import ResultShape

FileFormat = Literal["jsonl", "csv", "parquet"]

MEDIA_TYPES: dict[FileFormat, str] = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


def file_pieces(reader: Reader, plan: PhysicalPlan, file_format: FileFormat) -> Iterator[bytes]:
    """Yields the results that a reader has now, as the bytes of a file.

    Args:
        reader: the results, from the first one to write.
        plan: the plan of the query, which names and types the columns.
        file_format: the format; the columns of CSV and Parquet are those of ``headrace run``.
    """
    if file_format == "jsonl":
        while lines := reader.read().lines:
            yield b"".join(line + b"\n" for line in lines)
        return
    yield from _columnar(reader, plan, file_format)


def _columnar(
    reader: Reader, plan: PhysicalPlan, file_format: Literal["csv", "parquet"]
) -> Iterator[bytes]:
    # The service needs Arrow for this alone.
    import pyarrow.csv as pc_csv
    import pyarrow.parquet as pq

    from ...executor.spark.results.formats import ResultShape, csv_header

    shape = ResultShape.of(plan)
    file = _Pieces()
    if file_format == "csv":
        yield csv_header(shape)
        options = pc_csv.WriteOptions(include_header=False, quoting_style="needed")
        while lines := reader.read().lines:
            pc_csv.write_csv(_rows(lines, shape, shape.lists), cast(Any, file), options)
            yield file.take()
        return
    with pq.ParquetWriter(cast(BinaryIO, file), shape.schema, compression="zstd") as writer:
        while lines := reader.read().lines:
            writer.write_batch(_rows(lines, shape, frozenset()))
            yield file.take()
    yield file.take()


def _rows(lines: Sequence[bytes], shape: ResultShape, texts: frozenset[int]) -> pa.RecordBatch:
    """Reads JSON lines as rows of the flat columns; lists in the columns ``texts`` stay JSON."""
    import pyarrow as pa

    results = [json.loads(line) for line in lines]
    columns: list[Sequence[Any]] = []
    for position, name in enumerate(shape.columns):
        if position in shape.paths:
            paths = [result["paths"][name] for result in results]
            columns.append([json.dumps(path, ensure_ascii=False) for path in paths])
        elif position in texts:
            values = [result["bindings"][name] for result in results]
            columns.append([json.dumps(value, ensure_ascii=False) for value in values])
        else:
            columns.append([result["bindings"][name] for result in results])
    others = shape.schema.names[len(shape.columns) :]
    defaults = {"op": "+"}
    columns += [[result.get(name, defaults.get(name)) for result in results] for name in others]
    schema = (shape.plain if texts else shape).schema
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Pieces(io.RawIOBase):
    """A file that is written at its end alone, and taken away piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, piece: Any) -> int:
        data = bytes(piece)
        self._pieces.append(data)
        self._position += len(data)
        return len(data)

    def take(self) -> bytes:
        """Returns what was written since the last call."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken
