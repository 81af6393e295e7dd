"""JSON lines: a row is a line that holds one object."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.json

from catalog.lines import Block
from catalog.raw import RawRows, Torn, shown


class _UnfitError(Exception):
    """A line that is no row; the message is the reason."""


def rows_of(blocks: Iterator[Block], wanted: Sequence[str]) -> Iterator[RawRows]:
    """The members named ``wanted`` of each object, null where there is none.

    Text and whole numbers are taken as given; blank lines are no rows.
    """
    for block in blocks:
        if block.overlong:
            yield RawRows.only_torn(
                Torn(block.first_line, "the line is too long", shown(block.data))
            )
        else:
            fast = _fast(block, wanted)
            yield _careful(block, wanted) if fast is None else fast


def _fast(block: Block, wanted: Sequence[str]) -> RawRows | None:
    """All rows by Arrow's reader; None where the lines are not all alike."""
    data = block.data.replace(b"\r\n", b"\n")
    lines = data.count(b"\n") + 1
    one_object_each = (
        data.startswith(b"{") and data.endswith(b"}") and data.count(b"}\n{") == lines - 1
    )
    if not one_object_each:
        return None
    try:
        data.decode()
        first = json.loads(data.partition(b"\n")[0])
        schema = pa.schema([(name, _TYPES[type(first[name])]) for name in wanted if name in first])
        table = pa.json.read_json(
            io.BytesIO(data),
            pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (ValueError, KeyError):  # pa.ArrowInvalid and UnicodeDecodeError are ValueErrors
        return None
    if table.num_rows != lines or len(schema) != len(wanted):
        return None
    columns = [table.column(name).combine_chunks() for name in wanted]
    return RawRows.of_lines(columns, block)


_TYPES: Mapping[type, pa.DataType] = {str: pa.string(), int: pa.int64()}


def _careful(block: Block, wanted: Sequence[str]) -> RawRows:
    """The same, line by line; everything as text."""
    numbers: list[int] = []
    values: list[list[str | None]] = [[] for _ in wanted]
    torn = []
    for number, line in enumerate(block.lines(), start=block.first_line):
        if not line.strip():
            continue
        try:
            row = _members(line, wanted)
        except _UnfitError as unfit:
            torn.append(Torn(number, str(unfit), shown(line)))
            continue
        numbers.append(number)
        for column, value in zip(values, row, strict=True):
            column.append(value)
    columns = [pa.array(column, pa.string()) for column in values]
    return RawRows.at(columns, numbers, block, tuple(torn))


def _members(line: bytes, wanted: Sequence[str]) -> list[str | None]:
    try:
        document = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _UnfitError("the line is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise _UnfitError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise _UnfitError("not a JSON object")
    return [_text(name, document.get(name)) for name in wanted]


def _text(name: str, value: object) -> str | None:
    match value:
        case None:
            return None
        case str():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise _UnfitError(f"{name} is not Unicode: it has half a surrogate pair") from error
            return value
        case bool() | float() | list() | dict():
            raise _UnfitError(
                f"{name} is {json.dumps(value)[:80]}: expected text or a whole number"
            )
        case _:
            return str(value)
