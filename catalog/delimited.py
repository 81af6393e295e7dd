"""CSV and its relatives: a row is a line, so a quoted value cannot hold a line end."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.csv

from catalog.lines import Block
from catalog.raw import RawRows, Torn, shown


def fields_of(line: bytes, separator: str) -> tuple[str, ...]:
    """The fields of a single line, such as a header.

    Raises:
        ValueError: if the line cannot be read.
    """
    try:
        return tuple(_split(line, separator))
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(_why(error)) from error


def rows_of(
    blocks: Iterator[Block], fields: int, wanted: Sequence[int], separator: str
) -> Iterator[RawRows]:
    """The fields at the positions ``wanted`` of each row, as text.

    ``fields`` is the number of fields that a row must have. Blank lines are no rows.
    """
    for block in blocks:
        if block.overlong:
            yield RawRows.only_torn(
                Torn(block.first_line, "the line is too long", shown(block.data))
            )
        else:
            fast = _fast(block, fields, wanted, separator)
            yield _careful(block, fields, wanted, separator) if fast is None else fast


def _fast(block: Block, fields: int, wanted: Sequence[int], separator: str) -> RawRows | None:
    """All rows by Arrow's reader; None where a line needs a closer look."""
    data = block.data
    if b'"' in data or _has_blank_line(data):
        return None
    names = [str(i) for i in range(fields)]
    try:
        table = pa.csv.read_csv(
            io.BytesIO(data),
            pa.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            pa.csv.ParseOptions(
                delimiter=separator,
                quote_char=False,
                ignore_empty_lines=False,
            ),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=[str(i) for i in wanted],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != data.count(b"\n") + 1:
        return None
    columns = [table.column(i).combine_chunks() for i in range(len(wanted))]
    return RawRows.of_lines(columns, block)


def _careful(block: Block, fields: int, wanted: Sequence[int], separator: str) -> RawRows:
    """The same, line by line."""
    numbers: list[int] = []
    values: list[list[str]] = [[] for _ in wanted]
    torn = []
    for number, line in enumerate(block.lines(), start=block.first_line):
        if not line:
            continue
        try:
            row = _split(line, separator)
        except (csv.Error, UnicodeDecodeError) as error:
            torn.append(Torn(number, _why(error), shown(line)))
            continue
        if len(row) != fields:
            torn.append(Torn(number, f"expected {fields} fields, found {len(row)}", shown(line)))
            continue
        numbers.append(number)
        for column, position in zip(values, wanted, strict=True):
            column.append(row[position])
    columns = [pa.array(column, pa.string()) for column in values]
    return RawRows.at(columns, numbers, block, tuple(torn))


def _split(line: bytes, separator: str) -> list[str]:
    text = line.decode()
    if '"' not in text:
        return text.split(separator)
    return next(csv.reader([text], delimiter=separator, strict=True))


def _why(error: csv.Error | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "the line is not UTF-8"
    return f"the quotes of the line do not fit: {error}"


def _has_blank_line(data: bytes) -> bool:
    return (
        data.startswith((b"\n", b"\r\n"))
        or data.endswith((b"\n", b"\r"))
        or b"\n\n" in data
        or b"\n\r\n" in data
        or not data
    )
