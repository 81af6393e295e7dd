"""Result rows as bytes: JSON lines, CSV, Parquet; and Arrow, for results that stay in Python.

In: record batches of the answer's columns, then ``ts`` and ``exp`` (null: without end).
In JSON a number that is not finite is written ``1e999`` or ``-1e999``, which is read as it. In CSV
what is missing is an empty field, and a list is its JSON text.

Whole columns at a time: results are by far the largest stream of a query.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import IOBase
from typing import Any, BinaryIO, Literal, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from ....algebra.aggregates import ReportMode
from ....algebra.graph_answers import is_of_graphs
from ....algebra.physical import EventReportRows, ReportRows
from ....algebra.plan import PhysicalPlan
from ....algebra.properties import UpdatePattern
from ....algebra.values import LISTS, ListType, PropertyType
from ...json_text import Column, converted, joined, json_lists, json_values
from ...values import ARROW_TYPES
from ..exchange.names import column_names, column_types

ResultFormat = Literal["jsonl", "csv", "parquet"]
PartFormat = Literal["jsonl", "csv", "parquet", "arrow", "messages"]
MESSAGE = pa.schema({"key": pa.string(), "value": pa.string()})
"""The columns of messages for a topic."""
ITEM_TYPES: Mapping[ListType | PropertyType, PropertyType] = {of: k for k, of in LISTS.items()}
"""The type of the values of each type of lists."""
RESULT_TYPES: Mapping[ListType | PropertyType, Any] = dict(ARROW_TYPES) | {
    of: pa.list_(ARROW_TYPES[kind]) for of, kind in ITEM_TYPES.items()
}
"""The Arrow type of a column of results of each type."""
_ID_LENGTH = 32  # hexadecimal digits: 128 bits, so that ids do not collide by chance
_TIMES = ("ts", "exp")
_EVENTS = ("at", "event")
_OP = "op"
_END = -1
"""The ``exp`` of a row that ends an earlier result."""
_VALUE = "\0"  # a place in a line; no name has it, for JSON escapes it


@dataclass(frozen=True, slots=True)
class ResultShape:
    """The columns of results.

    Attributes:
        columns: the answer's variables as in the query.
        names: distinct names of the columns, for formats with flat columns.
        types: the types of the columns, for formats with typed columns. A list comes as the JSON
            text of an array.
        event: the event of the rows of a report, whose instant is in ``ts``; None where results
            have a validity.
        deletions: whether rows may end an earlier result at ``ts``. The ``exp`` of such an input
            row is negative. In flat columns it is null, and a column ``op`` has ``+`` or ``-``.
        paths: the columns that hold a path, as the JSON text of its steps.
        plan: the digest of the plan, which the ids of messages depend on.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    types: tuple[PropertyType | ListType, ...]
    event: ReportMode | None = None
    deletions: bool = False
    paths: frozenset[int] = frozenset()
    plan: str = ""

    @staticmethod
    def of(plan: PhysicalPlan) -> ResultShape:
        """The shape of a plan's results."""
        root = plan.nodes[plan.root].operator
        event = root.mode if isinstance(root, ReportRows | EventReportRows) else None
        deletions = plan.update_patterns()[plan.root] is UpdatePattern.WITH_DELETIONS
        others = (*_TIMES, _OP) if deletions else _TIMES if event is None else _EVENTS
        names = column_names(plan.columns, others)
        kinds = column_types(plan)
        types = tuple("string" if kind == "path" else kind for kind in kinds)
        paths = frozenset(i for i, kind in enumerate(kinds) if kind == "path")
        return ResultShape(plan.columns, names, types, event, deletions, paths, plan.digest)

    @property
    def schema(self) -> pa.Schema:
        """The flat columns: the answer's, ``ts`` and ``exp``; of reports ``at`` and ``event``."""
        fields = [pa.field(n, RESULT_TYPES[t]) for n, t in zip(self.names, self.types, strict=True)]
        if self.event is None:
            fields += [pa.field(name, pa.int64()) for name in _TIMES]
            return pa.schema([*fields, pa.field(_OP, pa.string())] if self.deletions else fields)
        at, event = _EVENTS
        return pa.schema([*fields, pa.field(at, pa.int64()), pa.field(event, pa.string())])

    @property
    def of_graphs(self) -> bool:
        """Whether the rows are reports of relationships, whose JSON lines are events of graphs."""
        return self.event is not None and is_of_graphs(self.columns)

    @property
    def lists(self) -> frozenset[int]:
        """The columns that hold lists."""
        return frozenset(i for i, kind in enumerate(self.types) if kind in ITEM_TYPES)

    @property
    def plain(self) -> ResultShape:
        """The shape with the JSON text of lists, for formats without lists."""
        types = tuple("string" if kind in ITEM_TYPES else kind for kind in self.types)
        return replace(self, types=cast(tuple[PropertyType, ...], types))

    def flat(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows with exactly the columns of :attr:`schema`."""
        values = rows.columns
        if self.event is not None:
            values = [*values[:-1], pa.repeat(pa.scalar(self.event), rows.num_rows)]
        elif self.deletions:
            ends = _is_end(values[-1])
            exp = pc.if_else(ends, pa.scalar(None, pa.int64()), values[-1])
            values = [*values[:-1], exp, pc.if_else(ends, "-", "+")]
        lists = self.lists
        columns = [
            column
            if column.type == field.type
            else _lists(column, field.type)
            if i in lists
            else _as(column, field.type)
            for i, (column, field) in enumerate(zip(values, self.schema, strict=True))
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def nested(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The inverse of :meth:`flat`: the answer's columns, ``ts`` and ``exp``."""
        values: list[Column] = rows.columns
        if self.event is not None:
            values = [*values[:-1], pa.nulls(rows.num_rows, pa.int64())]
        elif self.deletions:
            ends = pc.equal(values[-1], pa.scalar("-"))
            values = [*values[:-2], pc.if_else(ends, pa.scalar(_END), values[-2])]
        values = [list_texts(v) if pa.types.is_list(v.type) else v for v in values]
        return pa.RecordBatch.from_arrays(values, names=[*self.names, *_TIMES])


class ResultWriter(Protocol):
    """Writes results to one file."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Adds rows."""

    def close(self) -> None:
        """Writes what is left; the file itself stays open."""


def result_writer(
    file_format: PartFormat, shape: ResultShape, file: BinaryIO, *, header: bool = True
) -> ResultWriter:
    """A writer for a format; ``header`` is for CSV alone."""
    match file_format:
        case "jsonl":
            return _JsonLines(shape, file)
        case "csv":
            return _Csv(shape, file, header)
        case "parquet":
            return _Parquet(shape, file)
        case "arrow":
            return _Arrow(shape, file)
        case "messages":
            return _MessageFile(shape, file)


def csv_header(shape: ResultShape) -> bytes:
    """The first line of a CSV file of results."""
    quoted = ('"' + name.replace('"', '""') + '"' for name in shape.schema.names)
    return (",".join(quoted) + "\n").encode()


class _JsonLines:
    """``{"bindings": {"x": "1", "y": "7"}, "ts": 5, "exp": 35}``, and of a report
    ``{"bindings": {"x": "1", "y": "7"}, "at": 60, "event": "entering"}``; what ends:
    ``{"op": "-", "bindings": {"x": "1", "y": "7"}, "ts": 12}``; paths stand behind the bindings:
    ``{"bindings": {"x": "1"}, "paths": {"p": [["1","a","4"]]}, "ts": 5, "exp": 35}``. The line of a
    reported relationship has the members of an event that is a graph, too."""

    def __init__(self, shape: ResultShape, file: BinaryIO) -> None:
        self._file = file
        keys = [json.dumps(name, ensure_ascii=False) + ": " for name in shape.columns]
        self._keys = keys
        self._paths = sorted(shape.paths)
        self._lists = shape.lists
        self._plain = [i for i in range(len(keys)) if i not in shape.paths]
        plain = ", ".join(keys[i] + _VALUE for i in self._plain)
        paths = ", ".join(keys[i] + _VALUE for i in self._paths)
        whole = f'{{"bindings": {{{plain}}}' + (f', "paths": {{{paths}}}' if paths else "")
        self._event = shape.event
        self._of_graphs = shape.of_graphs
        self._deletions = shape.deletions
        time = "ts" if shape.event is None else "at"
        self._constants = f'{whole}, "{time}": '.split(_VALUE)

    def bindings(self, rows: pa.RecordBatch) -> list[str]:
        """The bindings of each row as JSON, without paths."""
        if not self._plain:
            return ["{}"] * rows.num_rows
        parts: list[Column] = [pa.scalar("{" + self._keys[self._plain[0]])]
        for i in self._plain:
            if i != self._plain[0]:
                parts.append(pa.scalar(", " + self._keys[i]))
            parts.append(self._json(i, rows.columns[i]))
        texts: list[str] = joined([*parts, pa.scalar("}")]).to_pylist()
        return texts

    def _json(self, position: int, column: Column) -> Column:
        """The values of a column as JSON; a list is JSON already."""
        return pc.cast(column, pa.string()) if position in self._lists else json_values(column)

    def write(self, rows: pa.RecordBatch) -> None:
        columns: list[Column] = rows.columns
        *bindings, ts, exp = columns
        values = [self._json(i, bindings[i]) for i in self._plain]
        values += [pc.cast(bindings[i], pa.string()) for i in self._paths]
        parts: list[Column] = []
        for constant, value in zip(self._constants, [*values, json_values(ts)], strict=True):
            parts += [pa.scalar(constant), value]
        if self._event is not None:
            parts.append(pa.scalar(f', "event": "{self._event}"'))
            if self._of_graphs:
                start, kind, end = values
                parts += _graph(start, kind, end, json_values(ts))
            parts.append(pa.scalar("}\n"))
        else:
            ends: Column = pc.cast(exp, pa.string())
            ends = pc.fill_null(ends, "null")
            parts += [pa.scalar(', "exp": '), ends, pa.scalar("}\n")]
        if self._deletions:
            ends_all = _is_end(exp)
            parts = [
                pc.if_else(ends_all, '{"op": "-", ', "{"),
                pa.scalar(self._constants[0][1:]),
                *parts[1:-3],
                pc.if_else(ends_all, "", joined(parts[-3:-1])),
                parts[-1],
            ]
        lines = joined(parts)
        _, offsets, data = lines.buffers()
        ends_at = np.frombuffer(offsets, np.int32)
        self._file.write(memoryview(data)[: int(ends_at[len(lines)])])

    def close(self) -> None:
        pass


def _graph(start: Column, kind: Column, end: Column, at: Column) -> list[Column]:
    """The members of the event of a relationship, whose values are JSON: ``, "timestamp": 60,
    "nodes": [{"id": "1"}, {"id": "7"}], "edges": [{"from": "1", "to": "7", "labels": ["K"]}]``."""
    return [
        *(pa.scalar(', "timestamp": '), at),
        *(pa.scalar(', "nodes": [{"id": '), start, pa.scalar('}, {"id": '), end),
        *(pa.scalar('}], "edges": [{"from": '), start, pa.scalar(', "to": '), end),
        *(pa.scalar(', "labels": ['), kind, pa.scalar("]}]")),
    ]


class _Csv:
    def __init__(self, shape: ResultShape, file: BinaryIO, header: bool) -> None:
        self._shape = shape.plain
        self._file = file
        if header:
            file.write(csv_header(shape))

    def write(self, rows: pa.RecordBatch) -> None:
        options = pc_csv.WriteOptions(include_header=False, quoting_style="needed")
        pc_csv.write_csv(self._shape.flat(rows), self._file, options)

    def close(self) -> None:
        pass


class _Parquet:
    def __init__(self, shape: ResultShape, file: BinaryIO) -> None:
        self._shape = shape
        self._writer = pq.ParquetWriter(file, shape.schema, compression="zstd")

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(self._shape.flat(rows))

    def close(self) -> None:
        self._writer.close()


class _Arrow:
    def __init__(self, shape: ResultShape, file: BinaryIO) -> None:
        self._shape = shape
        self._writer = pa.ipc.new_stream(cast(IOBase, file), shape.schema)

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(self._shape.flat(rows))

    def close(self) -> None:
        self._writer.close()


class Messages:
    """The messages of results for a topic, with the columns of :data:`MESSAGE`.

    The key is the JSON of the bindings. The value is the JSON line of the result with an ``id``,
    a digest of the plan and the line: a result that is written again has the same id.
    """

    def __init__(self, shape: ResultShape) -> None:
        self._lines = io.BytesIO()
        self._json = _JsonLines(shape, self._lines)
        self._plan = hashlib.sha256(shape.plan.encode())

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The messages of results."""
        self._lines.seek(0)
        self._lines.truncate()
        self._json.write(rows)
        lines = self._lines.getvalue().split(b"\n")[:-1]  # JSON escapes line ends in values
        values = [b'{"id": "%s", %s' % (self._id(line), line[1:]) for line in lines]
        columns = [pa.array(self._json.bindings(rows)), pa.array(values).cast(pa.string())]
        return pa.RecordBatch.from_arrays(columns, schema=MESSAGE)

    def _id(self, line: bytes) -> bytes:
        digest = self._plan.copy()
        digest.update(line)
        return digest.hexdigest()[:_ID_LENGTH].encode()


class _MessageFile:
    """A Parquet file of messages."""

    def __init__(self, shape: ResultShape, file: BinaryIO) -> None:
        self._messages = Messages(shape)
        self._writer = pq.ParquetWriter(file, MESSAGE, compression="zstd")

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(self._messages.of(rows))

    def close(self) -> None:
        self._writer.close()


def _is_end(exp: Column) -> Column:
    """A mask of the rows that end an earlier result."""
    ends: Column = pc.less(exp, pa.scalar(0))
    return pc.fill_null(ends, False)


def list_texts(lists: Column) -> Column:
    """Arrays as JSON texts."""
    texts = json_values(lists.flatten())
    return json_lists(texts, np.cumsum(lists.value_lengths().to_numpy()))


def _lists(column: Column, kind: pa.DataType) -> Column:
    """Arrays of one type from JSON texts, also where arrays mix several types."""
    values = [json.loads(text) for text in column.to_pylist()]
    assert isinstance(kind, pa.ListType)
    if pa.types.is_string(kind.value_type):
        values = [[_text(value) for value in row] for row in values]
    return pa.array(values, kind)


def _text(value: object) -> str | None:
    """A member of a list as text; None for null."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _as(column: Column, kind: pa.DataType) -> Column:
    """Values as one type, also where a column mixes several or all are missing."""
    return converted(column, lambda values: pc.cast(values, kind, safe=False))
