"""JSON lines: each line holds one object, which is a row."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.json

from .lines import Block
from .raw import Malformed, RawRows, as_text


class _UnfitError(Exception):
    """A line that cannot be read as a row; the message is the reason."""


def rows_of(
    blocks: Iterator[Block], members: Sequence[str], properties: Sequence[str] = ()
) -> Iterator[RawRows]:
    """The values of ``members``, then of ``properties``, of each object; null if absent.

    A member is text or a whole number; a property may also be any number, true or false. Blank
    lines are skipped.
    """
    for block in blocks:
        if block.overlong:
            yield RawRows.of_overlong(block)
        else:
            fast = _fast(block, members, properties)
            yield _careful(block, members, properties) if fast is None else fast


def _fast(block: Block, members: Sequence[str], properties: Sequence[str] = ()) -> RawRows | None:
    """All rows, by Arrow's reader; None if the types of the lines differ."""
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
        types = {name: _PROPERTY_TYPES[type(first[name])] for name in properties if name in first}
        types |= {name: _TYPES[type(first[name])] for name in members if name in first}
        schema = pa.schema(types)
        table = pa.json.read_json(
            io.BytesIO(data),
            pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (ValueError, KeyError):  # pa.ArrowInvalid and UnicodeDecodeError are ValueErrors
        return None
    if table.num_rows != lines or not types.keys() >= {*members, *properties}:
        return None
    columns = [table.column(name).combine_chunks() for name in (*members, *properties)]
    return RawRows.of_block(columns, block)


_TYPES: Mapping[type, pa.DataType] = {str: pa.string(), int: pa.int64()}
_PROPERTY_TYPES = {**_TYPES, bool: pa.bool_()}


def _careful(block: Block, members: Sequence[str], properties: Sequence[str] = ()) -> RawRows:
    """The rows line by line, each value as text."""
    numbers: list[int] = []
    values: list[list[str | None]] = [[] for _ in (*members, *properties)]
    texts: list[bytes] = []
    malformed: list[Malformed] = []
    for number, line in enumerate(block.lines(), start=block.first_line):
        if not line.strip():
            continue
        try:
            row = _members(line, members, properties)
        except _UnfitError as unfit:
            malformed.append(Malformed(number, str(unfit), as_text(line)))
            continue
        numbers.append(number)
        texts.append(line)
        for column, value in zip(values, row, strict=True):
            column.append(value)
    columns = [pa.array(column, pa.string()) for column in values]
    return RawRows.of_records(columns, numbers, texts, malformed)


def _members(line: bytes, members: Sequence[str], properties: Sequence[str]) -> list[str | None]:
    try:
        document = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _UnfitError("the line is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise _UnfitError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise _UnfitError("not a JSON object")
    return [
        *(_text(name, document.get(name)) for name in members),
        *(_text(name, document.get(name), scalar=True) for name in properties),
    ]


def _text(name: str, value: object, *, scalar: bool = False) -> str | None:
    """A member as text; ``scalar`` also allows true, false and any number."""
    match value:
        case bool() | float() if scalar:
            return json.dumps(value)
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
                f"{name} is {json.dumps(value)[:80]}: expected text or "
                + ("a single value" if scalar else "a whole number")
            )
        case _:
            return str(value)
