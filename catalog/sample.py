"""A bounded sample of a stream: a contiguous piece near the end of the measured rows.

In: the hashed edges that :mod:`headrace.catalog.measurement` reads. Out: a `StreamSample`, and a
file of the samples of a catalog beside it. The piece has every edge of the stream between two
instants, so a window inside the piece is a snapshot graph of the stream. Vertices are 64-bit
hashes, equal in all streams of a catalog; the sample has no text of vertices. The values of
properties are kept, for conditions on them.
"""

from __future__ import annotations

import hashlib
import io
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .atomic import write_atomically
from .model import SampleFile, StreamSample

if TYPE_CHECKING:
    from .model import Hashes, LabelCodes, Times

MOST_EDGES = 1 << 16
"""The most edges in the sample of a stream."""
_MOST_KEPT = 16 * MOST_EDGES
"""The most edges that are held while the files of a stream are measured."""
MOST_PROPERTIES = 16
"""The most properties of a sample."""
LONGEST_TEXT = 200
"""The most characters of a text; a longer one is cut off."""
_FIELDS = ("src", "trg", "label", "ts")
Properties = Mapping[str, Any]
"""The values of properties by name, as Arrow arrays."""


class SampleFileError(ValueError):
    """A file of samples is missing or damaged; the message says why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The last edges that were read of a file.

    Attributes:
        edges: src, trg, label and ts of the edges.
        cut: whether earlier edges were dropped.
        complete: whether the file was read to its end.
        properties: the values of their properties.
    """

    edges: tuple[Hashes, Hashes, LabelCodes, Times]
    cut: bool
    complete: bool
    properties: Properties = field(default_factory=lambda: MappingProxyType({}))

    def known_from(self, instant: int) -> int | None:
        """The first instant from which all edges up to ``instant`` are in the piece.

        None if the piece may lack edges before ``instant``; the least integer if it has all.
        """
        ts = self.edges[3]
        everything = np.iinfo(np.int64).min
        if not len(ts):
            return everything if self.complete else None
        if instant > int(ts.max()) and not self.complete:
            return None
        earliest = int(ts.min())
        if not self.cut:
            return everything
        return earliest + 1 if instant > earliest else None


class Recent:
    """The last edges of a file while it is read; at most ``most`` and those of one batch."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._chunks: deque[tuple[Hashes, Hashes, LabelCodes, Times]] = deque()
        self._properties: deque[Properties] = deque()
        self._kept = 0
        self._cut = False

    def add(
        self,
        edges: tuple[Hashes, Hashes, LabelCodes, Times],
        properties: Properties = MappingProxyType({}),
    ) -> None:
        """Adds the edges of a batch, and drops the earliest batches that are no longer needed.

        Args:
            edges: src, trg, label and ts of the edges.
            properties: the values of their properties.
        """
        self._chunks.append(edges)
        self._properties.append(properties)
        self._kept += len(edges[3])
        while self._kept - len(self._chunks[0][3]) >= self._most:
            self._kept -= len(self._chunks.popleft()[3])
            self._properties.popleft()
            self._cut = True

    def piece(self, complete: bool) -> Piece:
        """The edges kept; ``complete`` says whether the file was read to its end."""
        empty = (np.empty(0, np.uint64),) * 2 + (np.empty(0, np.int32), np.empty(0, np.int64))
        src, trg, label, ts = (
            np.concatenate(column) for column in zip(empty, *self._chunks, strict=True)
        )
        properties = _joined(list(self._properties), [len(c[3]) for c in self._chunks])
        return Piece((src, trg, label, ts), self._cut, complete, properties)


def _joined(parts: Sequence[Properties], lengths: Sequence[int]) -> Properties:
    """The properties of several rows of edges; null where a part lacks a property."""
    types = {name: column.type for part in parts for name, column in part.items()}
    return MappingProxyType(
        {
            name: pa.concat_arrays(
                [
                    part[name].cast(kind) if name in part else pa.nulls(length, kind)
                    for part, length in zip(parts, lengths, strict=True)
                ]
            )
            for name, kind in list(types.items())[:MOST_PROPERTIES]
        }
    )


def kept_of_each(files: int) -> int:
    """The number of edges to keep of each of several files."""
    return max(1, min(MOST_EDGES, _MOST_KEPT // max(files, 1)))


def sample_of(
    pieces: Sequence[Piece], labels: Sequence[str], *, stored: bool = False
) -> StreamSample | None:
    """The sample of a stream from the last edges of each of its files.

    Args:
        pieces: the last edges of each file.
        labels: the names of the label codes.
        stored: whether the files are a stored graph; its sample is the whole graph or nothing.

    Returns:
        The piece of the stream with the most edges; None if no instant is in the pieces of all
        files, or a stored graph is larger than :data:`MOST_EDGES`.
    """
    columns = [np.concatenate(column) for column in zip(*(p.edges for p in pieces), strict=True)]
    properties = _joined([p.properties for p in pieces], [len(p.edges[3]) for p in pieces])
    if not columns or not len(columns[3]):
        return None
    ts = columns[3]
    if stored:
        whole = all(piece.complete and not piece.cut for piece in pieces)
        if not whole or len(ts) > MOST_EDGES:
            return None
        return _cut(columns, properties, labels, np.arange(len(ts)), stored=True)
    best: tuple[int, int, int] | None = None
    for instant in sorted({int(piece.edges[3].max()) for piece in pieces if len(piece.edges[3])}):
        starts = [piece.known_from(instant) for piece in pieces]
        known = [start for start in starts if start is not None]
        if len(known) == len(pieces):
            begin = max([*known, int(ts.min())])
            edges = int(np.count_nonzero((ts >= begin) & (ts <= instant)))
            best = max(best or (0, 0, 0), (edges, begin, instant))
    if best is None or not best[0]:
        return None
    _, begin, end = best
    rows = np.flatnonzero((ts >= begin) & (ts <= end))
    rows = rows[np.argsort(ts[rows], kind="stable")]
    if len(rows) > MOST_EDGES:
        begin = int(ts[rows[-MOST_EDGES - 1]]) + 1
        rows = rows[ts[rows] >= begin]
    return _cut(columns, properties, labels, rows, between=(begin, end)) if len(rows) else None


def _cut(
    columns: Sequence[NDArray[np.generic]],
    properties: Properties,
    labels: Sequence[str],
    rows: NDArray[np.intp],
    *,
    between: tuple[int, int] = (0, 0),
    stored: bool = False,
) -> StreamSample:
    src, trg, label, ts = (column[rows] for column in columns)
    used, codes = np.unique(label, return_inverse=True)
    names = tuple(labels[int(code)] for code in used)
    kept = {name: _short(column.take(pa.array(rows))) for name, column in properties.items()}
    return StreamSample(
        names,
        src.astype(np.uint64),
        trg.astype(np.uint64),
        codes.astype(np.int32),
        ts.astype(np.int64),
        *between,
        stored,
        MappingProxyType(kept),
    )


def _short(column: Any) -> Any:
    if not pa.types.is_string(column.type):
        return column
    return pc.utf8_slice_codeunits(column, 0, LONGEST_TEXT)


def write(samples: Mapping[str, StreamSample], path: Path) -> SampleFile:
    """Writes the samples of a catalog's streams atomically; returns the file's name and digest.

    Raises:
        OSError: if the file cannot be written.
    """
    arrays: dict[str, NDArray[np.generic]] = {"streams": np.array(list(samples), np.str_)}
    for number, sample in enumerate(samples.values()):
        for name in _FIELDS:
            arrays[f"{number}.{name}"] = getattr(sample, name)
        arrays[f"{number}.labels"] = np.array(sample.labels, np.str_)
        arrays[f"{number}.bounds"] = np.array(
            [sample.begin, sample.end, sample.stored], dtype=np.int64
        )
        arrays[f"{number}.properties"] = _serialized(sample.properties)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    write_atomically(path, content)
    return SampleFile(str(path), hashlib.sha256(content).hexdigest())


@lru_cache(maxsize=4)
def read(file: SampleFile) -> Mapping[str, StreamSample]:
    """Reads the samples of a catalog by stream; the last files that were read are kept.

    Raises:
        SampleFileError: if the file cannot be read, or is not the one that the catalog names.
    """
    try:
        content = Path(file.path).read_bytes()
    except OSError as error:
        raise SampleFileError(
            f"{file.path}: the sample of the catalog cannot be read: {error.strerror or error}"
        ) from error
    if hashlib.sha256(content).hexdigest() != file.digest:
        raise SampleFileError(f"{file.path}: the sample is not the one that the catalog names")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            samples = {}
            for number, name in enumerate(arrays["streams"].tolist()):
                src, trg, label, ts = (arrays[f"{number}.{field}"] for field in _FIELDS)
                begin, end, stored = arrays[f"{number}.bounds"].tolist()
                labels = tuple(arrays[f"{number}.labels"].tolist())
                # Samples of versions up to 0.1 have no properties.
                kept = f"{number}.properties"
                properties = _deserialized(arrays[kept]) if kept in arrays.files else {}
                samples[name] = StreamSample(
                    labels, src, trg, label, ts, begin, end, bool(stored), properties
                )
    except (ValueError, KeyError, EOFError, pa.ArrowException) as error:
        raise SampleFileError(f"{file.path}: not a file of samples: {error}") from error
    return MappingProxyType(samples)


def _serialized(properties: Properties) -> NDArray[np.uint8]:
    """The properties as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    batch = pa.table(dict(properties))
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_table(batch)
    return np.frombuffer(sink.getvalue().to_pybytes(), np.uint8)


def _deserialized(content: NDArray[np.uint8]) -> Properties:
    table = pa.ipc.open_stream(pa.py_buffer(content.tobytes())).read_all().combine_chunks()
    return MappingProxyType(
        {
            name: column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )
