"""Properties that files offer which no catalog describes: their further columns.

In: files. Out: a type for each column that is no role, from the start of each file: integer,
number or boolean if all of its values there are, else string. A later value that is not of the
type makes its row no edge where the property is read; a catalog can say another type.

A name that begins with ``_``, or that two columns have, offers nothing; nor does a column of
lists, mappings or bytes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from ..algebra.values import PropertyType
from . import delimited, parquet
from .edges import EdgeFile
from .lines import blocks
from .model import ROLES
from .raw import Column
from .values import converted

LINES = 10_000
"""So many of a file are looked at."""
_NEARLY_ALL = 0.9
"""The share of numbers from which on it is doubtful that a property is text."""
_NARROWEST: tuple[PropertyType, ...] = ("integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a file: its type, None without a value; how many of its ``values`` are
    ``numbers``, and an ``other`` one."""

    name: str
    kind: PropertyType | None
    values: int = 0
    numbers: int = 0
    other: str | None = None


Columns = Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class Offered:
    """The properties of edges with their types, and warnings about these, for a person."""

    properties: Mapping[str, PropertyType]
    doubts: tuple[str, ...] = ()


def offered_properties(files: Iterable[EdgeFile]) -> Offered:
    """The properties of edges that files have together.

    Raises:
        EdgeFileError: if a file cannot be read.
    """
    found: dict[str, set[PropertyType]] = {}
    numeric: dict[str, list[_Column]] = {}
    for file in files:
        roles = (*file.roles, *ROLES)
        taken = {file.columns.get(role, role) for role in roles}
        for column in _offered(file):
            name = column.name
            if name and not name.startswith("_") and name not in taken:
                found.setdefault(name, set())
                if column.kind is not None:
                    found[name].add(column.kind)
                    numeric.setdefault(name, []).append(column)
    types = {name: _one(kinds) for name, kinds in sorted(found.items())}
    doubts = (
        _doubt(name, numeric[name])
        for name, kind in types.items()
        if kind == "string" and found[name]
    )
    return Offered(MappingProxyType(types), tuple(doubt for doubt in doubts if doubt is not None))


def _doubt(name: str, columns: Sequence[_Column]) -> str | None:
    """That nearly all values of a property that is text are numbers."""
    values = sum(column.values for column in columns)
    numbers = sum(column.numbers for column in columns)
    if not numbers or numbers < _NEARLY_ALL * values:
        return None
    other = next((column.other for column in columns if column.other is not None), None)
    but = "" if other is None else f", but {other!r} is none"
    return (
        f"the property {name} is read as text: of {values:,} values {numbers:,} are numbers{but}. "
        f"A catalog can say what it is, as properties: {{{name}: number}}; rows with another value "
        "are rejected then"
    )


def files_with_times(files: Iterable[EdgeFile]) -> list[EdgeFile]:
    """Those that have a column for the role ``ts``; errors as :func:`offered_properties`."""
    return [
        file
        for file in files
        if any(column.name == file.columns.get("ts", "ts") for column in _offered(file))
    ]


def have_deletions(files: Iterable[EdgeFile]) -> bool:
    """Whether one has a column for the role ``op``; errors as :func:`offered_properties`."""
    return any(
        column.name == file.columns.get("op", "op") for file in files for column in _offered(file)
    )


def _one(kinds: set[PropertyType]) -> PropertyType:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "number" if kinds == {"integer", "number"} else "string"


def _offered(file: EdgeFile) -> Iterator[_Column]:
    if file.format == "parquet":
        for name, kind in _of_parquet(file.path):
            yield _Column(name, kind)
        return
    columns = _of_csv(file) if file.format == "csv" else _of_json(file)
    for name, texts in columns.items():
        yield _column(name, pa.array(texts, pa.string()))


def _column(name: str, texts: Column) -> _Column:
    values, _ = converted(texts, "string", "second")
    count = len(values) - values.null_count
    if not count:
        return _Column(name, None)
    fitting = (kind for kind in _NARROWEST if not converted(texts, kind, "second")[1].any())
    kind: PropertyType = next(fitting, "string")
    if kind != "string":
        return _Column(name, kind, count, count if kind != "boolean" else 0)
    no_number = converted(texts, "number", "second")[1]
    others = int(no_number.sum())
    first = texts[int(no_number.argmax())].as_py() if others else None
    return _Column(name, kind, count, count - others, first)


def _of_csv(file: EdgeFile) -> dict[str, list[str]]:
    reader = delimited.Reader(file.path, blocks(file.path), file.separator)
    records = itertools.islice(iter(reader.record, None), LINES)
    rows = [record.fields for record in records if record is not None and not record.fault]
    if file.header:
        names, rows = (rows[0], rows[1:]) if rows else ((), [])
    else:
        names = file.names or ()
    whole = [row for row in rows if len(row) == len(names)]
    return {
        name: [row[i] for row in whole] for i, name in enumerate(names) if names.count(name) == 1
    }


def _of_json(file: EdgeFile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    nested: set[str] = set()
    for line in itertools.islice(_lines(file), LINES):
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for name, value in members.items() if isinstance(members, dict) else ():
            if isinstance(value, list | dict):
                nested.add(name)
            elif value is not None:
                text = value if isinstance(value, str) else json.dumps(value)
                found.setdefault(name, []).append(text)
    return {name: texts for name, texts in found.items() if name not in nested}


def _lines(file: EdgeFile) -> Iterator[bytes]:
    for block in blocks(file.path):
        if not block.overlong:
            yield from (line for line in block.lines() if line.strip())


def _of_parquet(path: str) -> Iterator[tuple[str, PropertyType | None]]:
    schema = parquet.schema_of(path)
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if schema.names.count(field.name) > 1 or pa.types.is_nested(kind):
            continue
        if pa.types.is_binary(kind) or pa.types.is_time(kind):
            continue
        if pa.types.is_boolean(kind):
            yield field.name, "boolean"
        elif pa.types.is_integer(kind) or pa.types.is_temporal(kind):
            yield field.name, "integer"
        elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            yield field.name, "number"
        else:
            yield field.name, None if pa.types.is_null(kind) else "string"
