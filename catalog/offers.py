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

import pyarrow as pa

from algebra.values import PropertyType
from catalog import delimited, parquet
from catalog.edges import EdgeFile
from catalog.lines import blocks
from catalog.model import ROLES
from catalog.raw import Column
from catalog.values import converted

LINES = 10_000
"""So many of a file are looked at."""
_NARROWEST: tuple[PropertyType, ...] = ("integer", "number", "boolean")

Columns = Mapping[str, Sequence[object]]


def offered_properties(files: Iterable[EdgeFile]) -> dict[str, PropertyType]:
    """The properties of edges that files have together, with their types.

    Raises:
        EdgeFileError: if a file cannot be read.
    """
    found: dict[str, set[PropertyType]] = {}
    for file in files:
        roles = (*file.roles, *ROLES)
        taken = {file.columns.get(role, role) for role in roles}
        for name, kind in _offered(file):
            if name and not name.startswith("_") and name not in taken:
                found.setdefault(name, set())
                if kind is not None:
                    found[name].add(kind)
    return {name: _one(kinds) for name, kinds in sorted(found.items())}


def files_with_times(files: Iterable[EdgeFile]) -> list[EdgeFile]:
    """Those that have a column for the role ``ts``; errors as :func:`offered_properties`."""
    return [
        file
        for file in files
        if any(name == file.columns.get("ts", "ts") for name, _ in _offered(file))
    ]


def have_deletions(files: Iterable[EdgeFile]) -> bool:
    """Whether one has a column for the role ``op``; errors as :func:`offered_properties`."""
    return any(name == file.columns.get("op", "op") for file in files for name, _ in _offered(file))


def _one(kinds: set[PropertyType]) -> PropertyType:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "number" if kinds == {"integer", "number"} else "string"


def _offered(file: EdgeFile) -> Iterator[tuple[str, PropertyType | None]]:
    """Columns with their types, None for one without a value."""
    if file.format == "parquet":
        yield from _of_parquet(file.path)
        return
    columns = _of_csv(file) if file.format == "csv" else _of_json(file)
    for name, texts in columns.items():
        yield name, _type_of(pa.array(texts, pa.string()))


def _type_of(texts: Column) -> PropertyType | None:
    values, _ = converted(texts, "string", "second")
    if values.null_count == len(values):
        return None
    fitting = (kind for kind in _NARROWEST if not converted(texts, kind, "second")[1].any())
    return next(fitting, "string")


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
