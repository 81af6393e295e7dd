"""Parquet: columns keep their types, and the number of a row is its line number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .lines import EdgeFileError, Progress, opened
from .raw import Column, RawRows

ROWS = 1 << 16


def schema_of(path: str) -> pa.Schema:
    """The columns of a file, with their types.

    Raises:
        EdgeFileError: if the file cannot be read as Parquet.
    """
    with _opened(path) as file:
        return file.schema_arrow


def rows_of(
    path: str,
    names: Sequence[str],
    on_progress: Progress | None,
    properties: Sequence[str] = (),
) -> Iterator[RawRows]:
    """The columns ``names``, then ``properties``, of each row.

    A column is text, int64 or timestamps; a property may also be float64 or boolean.

    Raises:
        EdgeFileError: if the file cannot be read, or a column is of another type.
    """
    line = 1
    with _opened(path) as file:
        total = Path(path).stat().st_size
        count = file.metadata.num_rows
        try:
            for batch in file.iter_batches(
                ROWS, columns=list(dict.fromkeys((*names, *properties)))
            ):
                columns = [
                    *(_plain(path, name, batch.column(name)) for name in names),
                    *(_value(path, name, batch.column(name)) for name in properties),
                ]
                yield _rows(columns, batch, line)
                line += batch.num_rows
                if on_progress is not None:
                    on_progress(total * (line - 1) // count, total)
        except (pa.ArrowException, OSError) as error:
            raise EdgeFileError(f"{path}: the Parquet file is damaged: {error}") from error


def _rows(columns: Sequence[Column], batch: pa.RecordBatch, first: int) -> RawRows:
    def text(row: int) -> str:
        (values,) = batch.slice(row, 1).to_pylist()
        return json.dumps(values, ensure_ascii=False, default=str)

    return RawRows(columns, range(first, first + batch.num_rows), text)


def _opened(path: str) -> pq.ParquetFile:
    opened(path).close()  # refuses a pipe, for which Arrow would wait
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise EdgeFileError(f"{path}: cannot be read as Parquet: {error}") from error


def _value(path: str, name: str, column: Column) -> Column:
    """A property's column."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _value(path, name, column.dictionary_decode())
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column
    if pa.types.is_floating(kind):
        return pc.cast(column, pa.float64())
    if pa.types.is_decimal(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_time(kind):
        raise EdgeFileError(f"{path}: column {name!r} is {kind}: a property is a single value")
    return _plain(path, name, column)


def _plain(path: str, name: str, column: Column) -> Column:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(path, name, column.dictionary_decode())
    if pa.types.is_uint64(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_integer(kind):
        return pc.cast(column, pa.int64())
    if pa.types.is_string(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return column
    raise EdgeFileError(
        f"{path}: column {name!r} is {kind}: expected text, whole numbers or (for ts) timestamps"
    )
