"""Live sources, which never end: topics, sockets, followed folders.

In: a stream of a catalog. Out: the layout of its rows, and the edges in text messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pyarrow as pa

from .edges import EdgeFile, EdgeFileError, read_messages, roles_in
from .inputs import layout_of
from .model import FILE_FORMATS, Source, Stream
from .rows import Expectation, checked_rows

_OF_TEXT = ("kafka", "socket", "text")
"""Formats whose rows are text messages or lines by default."""
_BLANK = "the message is empty"


@dataclass(frozen=True, slots=True)
class LiveSource:
    """A live source, and the layout of its rows.

    Attributes:
        name: the name of the stream.
        source: the source as declared in the catalog.
        layouts: the layout of the files of each followed folder, by folder; for text messages, one
            layout under the name ``""``; empty if rows arrive as columns.
        columns: the source's names of roles and properties.
        expectation: the requirements on the rows.
    """

    name: str
    source: Source
    layouts: Mapping[str, EdgeFile]
    columns: Mapping[str, str]
    expectation: Expectation

    @property
    def followed(self) -> bool:
        """Whether the source is a folder that is followed for new files."""
        return self.source.follow

    @property
    def message(self) -> EdgeFile | None:
        """The layout of text messages; None if rows arrive as columns or files."""
        return self.layouts.get("")

    @property
    def description(self) -> str:
        """The format and the place of the source, for people."""
        place = ", ".join(self.source.path) or next(
            (self.source.options[o] for o in _NAMING if o in self.source.options), ""
        )
        return f"{self.source.format} {place}".strip()


_NAMING = ("subscribe", "subscribePattern", "assign", "port")


@dataclass(frozen=True, slots=True)
class Received:
    """The edges of messages, and (position, reason) of each rejected message."""

    edges: pa.RecordBatch
    bad: tuple[tuple[int, str], ...] = ()


def live_source(stream: Stream, time_unit: str) -> LiveSource:
    """The source of a live stream.

    Raises:
        EdgeFileError: if the source is not live, or its entries are inconsistent.
    """
    source = stream.source
    if source is None or not source.live:
        raise EdgeFileError(f"stream {stream.name}: its source is not live")
    if stream.stored:
        raise EdgeFileError(
            f"stream {stream.name}: a stored graph is read once, and {source.format!r} is live; "
            "give it files, and leave follow out"
        )
    layouts: dict[str, EdgeFile] = {}
    if source.follow:
        if source.format not in FILE_FORMATS or not source.path:
            raise EdgeFileError(
                f"stream {stream.name}: follow is for a folder of files "
                f"({', '.join(FILE_FORMATS)}): give its path"
            )
        layouts = {path: layout_of(stream, path, time_unit) for path in source.path}
    elif source.value is not None or source.format in _OF_TEXT:
        layouts = {"": _message_layout(stream, source, time_unit)}
    return LiveSource(
        stream.name,
        source,
        MappingProxyType(layouts),
        stream.columns,
        layout_of(stream, "", time_unit).expectation,
    )


def _message_layout(stream: Stream, source: Source, time_unit: str) -> EdgeFile:
    layout = layout_of(stream, "", time_unit)
    if source.value == "csv":
        if not source.fields:
            raise EdgeFileError(
                f"stream {stream.name}: messages of CSV have no header: name their fields "
                "in order, as fields: [src, trg, ts]"
            )
        layout = replace(layout, path=stream.name, format="csv", header=False, names=source.fields)
        roles_in(layout, source.fields)
        return layout
    layout = replace(layout, path=stream.name, format="json", separator=",")
    return replace(layout, format="graph") if source.of_graphs else layout


def edges_of_messages(layout: EdgeFile, messages: Sequence[bytes | None]) -> Received:
    """The edges of messages; each message is one row, or the rows of one event.

    A JSON object may span several lines, and a quoted value of CSV may hold line ends.
    """
    texts = [b"" if message is None or message.isspace() else message for message in messages]
    blank = [(position, _BLANK) for position, message in enumerate(texts) if not message]
    if len(blank) == len(texts):
        return Received(_none(layout.schema), tuple(blank))
    bad = blank
    batches = []
    for roles, raw in read_messages(layout, texts):
        bad += [(row.line, row.reason) for row in raw.malformed]
        if raw.lines:
            columns = dict(zip(roles, raw.columns, strict=True))
            verdict = checked_rows(columns, len(raw.lines), layout.expectation)
            batches.append(verdict.edges)
            bad += [(raw.lines[row], reason) for row, reason in verdict.bad]
    edges = pa.Table.from_batches(batches, layout.schema).combine_chunks().to_batches()
    return Received(edges[0] if edges else _none(layout.schema), tuple(sorted(bad)))


def _none(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema)
