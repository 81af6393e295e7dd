"""The one reader of edge files.

In: files of CSV with or without a header, JSON lines, events that are graphs, or Parquet, plain or
gzip, and the names of their columns. Out: record batches with columns src, trg, label, ts in the
order of the file, and every rejected row with its place, reason and text. The size of a block
bounds the memory, not the size of the file.

Properties follow as further columns of their declared types. A missing or empty value is null. A
value of another type rejects its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import pyarrow as pa

from . import delimited, graph_events, json_lines, parquet
from .layout_hints import Origin, setting
from .lines import Block, EdgeFileError, Progress, blocks, has_blank_lines_alone
from .model import ROLES, Layout, PropertyType, VertexType, roles_of
from .raw import RawRows
from .rows import Expectation, checked_rows

__all__ = [
    "EdgeBatch",
    "EdgeFile",
    "EdgeFileError",
    "Format",
    "Rejected",
    "RejectedRowError",
    "check_not_empty",
    "format_of",
    "read",
    "read_all",
    "read_messages",
    "roles_in",
]

Format = Literal["csv", "json", "graph", "parquet"]

_ENDINGS: Mapping[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


def format_of(path: str) -> Format:
    """The format that a file name implies, without ``.gz``; CSV for an unknown ending."""
    name = path.lower().removesuffix(".gz")
    return next((f for ending, f in _ENDINGS.items() if name.endswith(ending)), "csv")


@dataclass(frozen=True, slots=True)
class EdgeFile:
    """A file of edges and its layout.

    Attributes:
        path: the file.
        format: csv, json, graph or parquet.
        layout: the layout of events that are graphs.
        label: the label of every row; None if a column holds it.
        columns: the file's names of roles (``src``, ``trg``, ``label``, ``ts``, ``op``, or ``id``)
            and properties. A role or property that is absent here has a column of its own name;
            a property without a column is null.
        header: whether the first record of CSV has the names of the fields.
        names: the fields of CSV without a header; None: ``_c0``, ``_c1``, ..., as in Spark.
        separator: the character between fields of CSV.
        time_unit: the unit of ``ts``.
        vertex_type: the type of its vertices.
        deletions: whether rows may delete edges.
        stored: whether the file is of a stored graph; ``ts`` is then not read, and is 0.
        vertices: whether the rows are vertices; ``id`` then becomes both ends.
        properties: the types of properties by name.
        origin: what describes the layout, so that messages name its settings.

    Raises:
        EdgeFileError: if the separator is invalid, names are given to a file with a header, or a
            property has the name of a role.
    """

    path: str
    format: Format = "csv"
    label: str | None = None
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    header: bool = True
    names: tuple[str, ...] | None = None
    separator: str = ","
    time_unit: str = "second"
    vertex_type: VertexType = "string"
    deletions: bool = False
    stored: bool = False
    vertices: bool = False
    properties: Mapping[str, PropertyType] = field(default_factory=lambda: MappingProxyType({}))
    layout: Layout = "seraph"
    origin: Origin = field(default="arguments", compare=False)

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n':
            raise EdgeFileError(
                f"{self.path}: a separator is one ASCII character, not {self.separator!r}"
            )
        if self.header and self.names is not None:
            raise EdgeFileError(f"{self.path}: only a file without a header can be given names")
        for name in self.properties:
            if name in (*self.roles, *ROLES):
                every = "vertex" if self.vertices else "edge"
                raise EdgeFileError(f"{self.path}: {name} is not a property: every {every} has it")

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that columns of the file fill, without properties."""
        return roles_of(self.vertices)

    @property
    def expectation(self) -> Expectation:
        """The requirements on the rows of the file."""
        return Expectation(
            self.vertex_type,
            self.time_unit,
            self.label,
            self.deletions,
            self.properties,
            self.vertices,
        )

    @property
    def schema(self) -> pa.Schema:
        """The columns of the batches read from the file."""
        return self.expectation.schema


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejected row.

    ``line`` is the first line of the row, from 1 (for Parquet, the number of the row). ``text`` is
    the unchanged text of all lines of the row.
    """

    file: str
    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        text = self.text.replace("\r", "\\r").replace("\n", "\\n")
        return f"{self.file}:{self.line}: {self.reason}: {text}"


class RejectedRowError(Exception):
    """A rejected row in strict reading."""

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(str(rejected))
        self.rejected = rejected


@dataclass(frozen=True, slots=True)
class EdgeBatch:
    """Consecutive rows of a file: the edges (src, trg, label, ts, and properties), and the rejected
    rows."""

    edges: pa.RecordBatch
    rejected: tuple[Rejected, ...] = ()


def read(
    file: EdgeFile, *, strict: bool = False, on_progress: Progress | None = None
) -> Iterator[EdgeBatch]:
    """The edges of a file in its order.

    Args:
        file: the file and its layout.
        strict: whether a rejected row raises.
        on_progress: called with (bytes read, total bytes) of the file as stored.

    Raises:
        EdgeFileError: if the file cannot be read, or lacks a column.
        RejectedRowError: in strict reading, at the first rejected row.
    """
    expectation = file.expectation
    for roles, raw in _raw(file, on_progress):
        rejected = [Rejected(file.path, row.line, row.reason, row.text) for row in raw.malformed]
        batch = pa.RecordBatch.from_pylist([], schema=expectation.schema)
        if raw.lines:
            verdict = checked_rows(
                dict(zip(roles, raw.columns, strict=True)), len(raw.lines), expectation
            )
            batch = verdict.edges
            rejected += [
                Rejected(file.path, raw.lines[row], reason, raw.text(row))
                for row, reason in verdict.bad
            ]
        rejected.sort(key=lambda r: r.line)
        if strict and rejected:
            raise RejectedRowError(rejected[0])
        yield EdgeBatch(batch, tuple(rejected))


def read_all(
    files: Iterable[EdgeFile], *, strict: bool = False, on_progress: Progress | None = None
) -> Iterator[EdgeBatch]:
    """The edges of several files, one file after the other; errors as :func:`read`."""
    for file in files:
        yield from read(file, strict=strict, on_progress=on_progress)


def read_messages(file: EdgeFile, messages: Sequence[bytes]) -> Iterator[tuple[list[str], RawRows]]:
    """The raw rows of messages in the layout of a text file, with the role of each column.

    Each message is one row, or the rows of one event, and its position is their line number; an
    empty message is not a row. The fields of CSV are ``file.names``.

    Raises:
        EdgeFileError: if a required column is missing.
    """
    if file.format != "csv":
        lines = [message.strip().replace(b"\n", b" ") for message in messages]
        yield from _raw_text(file, iter([Block(0, b"\n".join(lines))]))
        return
    names = file.names or ()
    roles = roles_in(file, names)
    positions = [names.index(_name(file, role)) for role in roles]
    yield roles, delimited.rows_of_messages(messages, len(names), positions, file.separator)


def _raw(file: EdgeFile, on_progress: Progress | None) -> Iterator[tuple[list[str], RawRows]]:
    if file.format == "parquet":
        return _raw_parquet(file, on_progress)
    return _raw_text(file, blocks(file.path, on_progress))


def _raw_text(file: EdgeFile, lines: Iterator[Block]) -> Iterator[tuple[list[str], RawRows]]:
    if file.format == "graph":
        return _raw_graphs(file, lines)
    return _raw_csv(file, lines) if file.format == "csv" else _raw_json(file, lines)


def _raw_csv(file: EdgeFile, source: Iterator[Block]) -> Iterator[tuple[list[str], RawRows]]:
    names = file.names
    reader = delimited.Reader(file.path, source, file.separator)
    if file.header or names is None:
        first = reader.record()
        if first is None:
            return
        names = _fields(file, first)
        if not file.header:
            reader.put_back()
            names = tuple(f"_c{i}" for i in range(len(names)))
    roles = roles_in(file, names)
    positions = [names.index(_name(file, role)) for role in roles]
    for raw in reader.rows(len(names), positions):
        yield roles, raw


def _fields(file: EdgeFile, first: delimited.Record) -> tuple[str, ...]:
    if first.fault:
        raise EdgeFileError(f"{file.path}: its first line cannot be read: {first.fault}")
    return first.fields


def _raw_json(file: EdgeFile, source: Iterator[Block]) -> Iterator[tuple[list[str], RawRows]]:
    # Lines may have different members, so request every role.
    roles = [*_ends(file), "op"]
    roles += ["label"] if file.label is None else []
    roles += ["ts"] if not file.stored else []
    column_names = [_name(file, role) for role in roles]
    properties = [_name(file, name) for name in file.properties]
    roles += file.properties
    for raw in json_lines.rows_of(source, column_names, properties):
        yield roles, raw


def _raw_graphs(file: EdgeFile, source: Iterator[Block]) -> Iterator[tuple[list[str], RawRows]]:
    roles = [*_ends(file), "label", "op", *([] if file.stored else ["ts"])]
    properties = [_name(file, name) for name in file.properties]
    for raw in graph_events.rows_of(
        source,
        file.layout,
        roles,
        properties,
        vertices=file.vertices,
        time=file.columns.get("ts"),
    ):
        yield [*roles, *file.properties], raw


def _raw_parquet(
    file: EdgeFile, on_progress: Progress | None
) -> Iterator[tuple[list[str], RawRows]]:
    roles = roles_in(file, parquet.schema_of(file.path).names)
    column_names = [_name(file, role) for role in roles if role in file.roles]
    properties = [_name(file, role) for role in roles if role not in file.roles]
    for raw in parquet.rows_of(file.path, column_names, on_progress, properties):
        yield roles, raw


def _name(file: EdgeFile, role: str) -> str:
    return file.columns.get(role, role)


def _ends(file: EdgeFile) -> list[str]:
    return ["id"] if file.vertices else ["src", "trg"]


def roles_in(file: EdgeFile, names: Sequence[str]) -> list[str]:
    """The roles that the file's columns fill.

    Raises:
        EdgeFileError: if the column of a required role is missing, or occurs twice.
    """
    needed = _ends(file)
    needed += [] if file.stored else ["ts"]
    needed += ["label"] if file.label is None else []
    declared = [role for role in file.properties if role in file.columns]
    filled = [r for r in (*needed, "op", *file.properties) if _name(file, r) in names]
    for role in (*needed, *declared):
        if role not in filled:
            raise EdgeFileError(_missing_column(file, role, names))
    for role in filled:
        if names.count(_name(file, role)) > 1:
            raise EdgeFileError(f"{file.path}: two columns are called {_name(file, role)!r}")
    return filled


def check_not_empty(files: Sequence[EdgeFile]) -> None:
    """Raises if all files of a stream are empty.

    A file without rows is not empty if it has a header (CSV) or a blank line (JSON).

    Raises:
        EdgeFileError: if all files are empty, or a file cannot be read.
    """
    if files and all(map(_is_empty, files)):
        others = f", and so are {len(files) - 1} more" if len(files) > 1 else ""
        least = "header" if files[0].format == "csv" else "blank line"
        raise EdgeFileError(
            f"{files[0].path}: the file is empty{others}: there is nothing to read, not even a "
            f"{least}"
        )


def _is_empty(file: EdgeFile) -> bool:
    match file.format:
        case "csv":
            return has_blank_lines_alone(file.path)
        case "json" | "graph":
            return next(blocks(file.path), None) is None
        case _:
            return False


def _missing_column(file: EdgeFile, role: str, names: Sequence[str]) -> str:
    """The message about a file without the column of a role, with advice; it has ``names``."""
    name = _name(file, role)
    missing = f"no column {name!r}" + (f" for {role}" if name != role else "")
    columns = ", ".join(map(repr, names))
    return f"{file.path}: {missing}; it has {columns}: {_remedy(file, role, names)}"


def _remedy(file: EdgeFile, role: str, names: Sequence[str]) -> str:
    separator = _likely_separator(file, names)
    if separator is not None:
        return _with_separator(
            file, separator, named=_name(file, role) in names[0].split(separator)
        )
    if role in file.properties:
        return "say in columns which one it is"
    if file.origin == "catalog":
        if role == "label":
            return "say label: NAME of all rows, or columns: {label: ...}"
        headless = "options: {header: false} if it has no header (columns are _c0, _c1, ... then)"
        return f"say columns: {{{role}: ...}}" + (
            f", and {headless}" if file.format == "csv" else ""
        )
    if role == "label":
        return (
            f"give the file one label, as {setting(file.origin, 'label', 'LABEL')}, or say which "
            f"column is label, as {setting(file.origin, 'columns', 'label=NAME')}"
        )
    if file.stored:
        return f"say in a catalog which column is {role}: columns: {{{role}: ...}}"
    in_order = f"name its fields in order, as {setting(file.origin, 'columns', 'src,trg,ts')}"
    if not file.header:
        return in_order
    absent = [one for one in ("src", "trg", "ts") if _name(file, one) not in names]
    pairs = ",".join(f"{one}=NAME" for one in absent)
    which = f"say which columns these are, as {setting(file.origin, 'columns', pairs)}"
    if file.format != "csv" or file.columns:
        return which
    return f"if the file has a header, {which}; if it has none, {in_order}"


def _with_separator(file: EdgeFile, separator: str, *, named: bool) -> str:
    """The advice to give a separator; ``named``: the file has a header with the wanted name."""
    sign = repr(separator)[1:-1]
    if file.origin == "catalog":
        header = "" if named else ", header: false"
        return f"if {separator!r} separates its fields, say options: {{sep: '{sign}'{header}}}"
    in_order = setting(file.origin, "columns", "src,trg,ts")
    header = "" if named else f" (and {in_order} or the like, without a header)"
    return (
        f"if {separator!r} separates its fields, say "
        f"{setting(file.origin, 'separator', sign)}{header}"
    )


def _likely_separator(file: EdgeFile, names: Sequence[str]) -> str | None:
    """The probable separator of a file whose lines have one field under its declared separator."""
    if file.format != "csv" or len(names) != 1:
        return None
    others = [sign for sign in "\t;,| " if sign != file.separator and sign in names[0]]
    return max(others, key=names[0].count, default=None)
