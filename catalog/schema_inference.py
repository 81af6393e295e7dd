"""Schema inference: the properties of files without a catalog.

In: files. Out: a type for each column that fills no role, from the first rows of each file:
integer, number or boolean if all sampled values have that type, else string. A later value of
another type rejects its row when the property is read; a catalog can declare another type.

Excluded are columns whose name begins with ``_`` or occurs twice, and columns of lists, mappings or
bytes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from ..algebra.values import PropertyType
from . import delimited, graph_events, parquet
from .edges import EdgeFile
from .lines import blocks
from .model import ROLES
from .raw import Column
from .values import converted

ROWS = 10_000
"""The number of rows of a file from which types are inferred, at most."""
_NEARLY_ALL = 0.9
"""The least share of numbers for which a text property gets a warning."""
_NARROWEST: tuple[PropertyType, ...] = ("integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class _FileColumn:
    """A column of one file.

    Attributes:
        name: the name in the file.
        type: None if the column has no value.
        values: the number of its values.
        numbers: the number of values that are numbers.
        other: the first value that is not a number.
    """

    name: str
    type: PropertyType | None
    values: int = 0
    numbers: int = 0
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """The inferred schema of files that make up one stream.

    Attributes:
        properties: the types of all properties by name.
        deletions: whether a file has a column for the role ``op``.
        warnings: doubtful types, in sentences for a person.
    """

    properties: Mapping[str, PropertyType]
    deletions: bool = False
    warnings: tuple[str, ...] = ()


def inferred_schema(files: Iterable[EdgeFile]) -> Schema:
    """The common schema of files.

    Raises:
        EdgeFileError: if a file cannot be read.
    """
    columns_by_name: dict[str, list[_FileColumn]] = {}
    deletions = False
    for file in files:
        roles = {file.columns.get(role, role) for role in (*file.roles, *ROLES)}
        for column in _columns(file):
            deletions |= column.name == file.columns.get("op", "op")
            if column.name and not column.name.startswith("_") and column.name not in roles:
                columns_by_name.setdefault(column.name, []).append(column)
    properties: dict[str, PropertyType] = {}
    warnings: list[str] = []
    for name, columns in sorted(columns_by_name.items()):
        types = {column.type for column in columns if column.type is not None}
        properties[name] = _common_type(types)
        if types and properties[name] == "string":
            warnings += _warning_of_numbers(name, columns)
    return Schema(MappingProxyType(properties), deletions, tuple(warnings))


def files_with_times(files: Iterable[EdgeFile]) -> list[EdgeFile]:
    """The files that have a column for the role ``ts``; errors as :func:`inferred_schema`."""
    return [
        file
        for file in files
        if any(column.name == file.columns.get("ts", "ts") for column in _columns(file))
    ]


def has_timestamps(file: EdgeFile) -> bool:
    """Whether the column for the role ``ts`` holds timestamps instead of whole numbers."""
    role = file.columns.get("ts", "ts")
    if file.format == "parquet":
        schema = parquet.schema_of(file.path)
        return role in schema.names and pa.types.is_temporal(schema.field(role).type)
    column = next((column for column in _columns(file) if column.name == role), None)
    return column is not None and column.numbers < column.values / 2


def _warning_of_numbers(name: str, columns: Sequence[_FileColumn]) -> Iterator[str]:
    """Yields a warning if nearly all values of a text property are numbers."""
    values = sum(column.values for column in columns)
    numbers = sum(column.numbers for column in columns)
    if not numbers or numbers < _NEARLY_ALL * values:
        return
    other = next((column.other for column in columns if column.other is not None), None)
    but = "" if other is None else f", but {other!r} is none"
    yield (
        f"the property {name} is read as text: of {values:,} values {numbers:,} are numbers{but}. "
        f"A catalog can say what it is, as properties: {{{name}: number}}; rows with another value "
        "are rejected then"
    )


def _common_type(types: set[PropertyType]) -> PropertyType:
    if len(types) == 1:
        return next(iter(types))
    return "number" if types == {"integer", "number"} else "string"


def _columns(file: EdgeFile) -> Iterator[_FileColumn]:
    if file.format == "parquet":
        for name, kind in _of_parquet(file.path):
            yield _FileColumn(name, kind)
        return
    read = {"csv": _of_csv, "json": _of_json, "graph": _of_graphs}
    for name, texts in read[file.format](file).items():
        yield _column(name, pa.array(texts, pa.string()))


def _column(name: str, texts: Column) -> _FileColumn:
    values, _ = converted(texts, "string", "second")
    count = len(values) - values.null_count
    if not count:
        return _FileColumn(name, None)
    fitting = (kind for kind in _NARROWEST if not converted(texts, kind, "second")[1].any())
    kind: PropertyType = next(fitting, "string")
    if kind != "string":
        return _FileColumn(name, kind, count, count if kind != "boolean" else 0)
    no_number = converted(texts, "number", "second")[1]
    others = int(no_number.sum())
    first = texts[int(no_number.argmax())].as_py() if others else None
    return _FileColumn(name, kind, count, count - others, first)


def _of_csv(file: EdgeFile) -> dict[str, list[str]]:
    reader = delimited.Reader(file.path, blocks(file.path), file.separator)
    records = itertools.islice(iter(reader.record, None), ROWS)
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
    columns: dict[str, list[str]] = {}
    nested: set[str] = set()
    for line in itertools.islice(_lines(file), ROWS):
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(members, dict):
            _add(columns, nested, members)
    return {name: texts for name, texts in columns.items() if name not in nested}


def _add(columns: dict[str, list[str]], nested: set[str], members: Mapping[str, object]) -> None:
    """Adds the text of each member to its column; ``nested`` are those of lists and objects."""
    for name, value in members.items():
        if isinstance(value, list | dict):
            nested.add(name)
        elif value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            columns.setdefault(name, []).append(text)


def _of_graphs(file: EdgeFile) -> dict[str, list[str]]:
    """The properties of the nodes or relationships of events, and their times."""
    columns: dict[str, list[str]] = {}
    nested: set[str] = set()
    for line in itertools.islice(_lines(file), ROWS):
        try:
            elements = graph_events.elements_of(
                graph_events.event_of(line), file.layout, file.vertices, file.columns.get("ts")
            )
        except graph_events.UnfitError:
            continue
        for element in elements:
            values = {
                name: graph_events.single_value(value) for name, value in element.properties.items()
            }
            values["ts"] = element.time
            values |= {} if element.op == "+" else {"op": element.op}
            _add(columns, nested, values)
    return {name: texts for name, texts in columns.items() if name not in nested}


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
