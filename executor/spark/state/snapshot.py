"""Snapshots of a partition's index: a restart replays the rows since then, not the whole window.

In and out: the index (operators, codes of vertices, rows that wait) as compressed chunks of bounded
size, in the store of the log. The log still has all valid input, so a snapshot only saves time. A
restart ignores a snapshot that another version wrote, or that cannot be read, and replays the
whole window.

**When.** The *work* of a batch is the number of rows that operators took and gave
(:func:`work_between`). The work of replaying rows of the log is estimated from the mean work per
row since the last snapshot. A snapshot is due if both conditions hold:

- Replaying the rows since the last snapshot takes :data:`LEAST_WORK` more than :data:`TIMES` the
  time of writing the index. This bounds the share of a run that goes into snapshots.
- Replaying the whole window takes at least :data:`WORTH` times as long as reading the index.

A snapshot is removed when the log has none of its rows any more. Rows and bytes alone decide; no
clock is read.
"""

from __future__ import annotations

import gc
import hashlib
import io
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ...counters import Counters
from .log import LARGEST_BLOB, BlobStore

FIRST_CHUNK: Final = -2
"""The number of the first chunk; the others follow downwards."""

CHUNK_BYTES: Final = LARGEST_BLOB
TIMES: Final = 4
"""The least ratio of the work of replaying the rows since the last snapshot to that of writing.

So snapshots take at most a fifth of a run. With 1, a stage whose window is about as long as a
micro-batch wrote its whole index in nearly every batch.
"""
WORTH: Final = 2
"""The least ratio of the work of replaying the whole window to that of reading the index."""
LEAST_WORK: Final = 20_000
"""Units of work; below this a replay is so short that it needs no snapshot."""
BYTES_PER_WORK: Final = 200
"""Bytes of an index in memory that are written, or read, in the time of one unit of work.

Measured with ``bench.recovery``: a unit of work takes 1.5 to 3 us, a byte 10 ns. Half of the time
goes into Spark's store, which takes 30 MB/s; compression makes an index five to ten times smaller.
"""
GIVEN_PER_TAKEN: Final = 8
"""The number of rows that an operator gives in the time in which it takes one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The latest snapshot of a partition, as the partition's metadata describes it.

    Attributes:
        version: :func:`version` of the code that wrote it.
        chunks: the number of chunks; 0: there is no snapshot.
        size: the size of all chunks in bytes.
        before: the index has the rows of all blobs of the log with a smaller number.
        rows: the number of rows that came since.
        work: the work done since.
    """

    version: str = ""
    chunks: int = 0
    size: int = 0
    before: int = 0
    rows: int = 0
    work: int = 0

    def then(self, rows: int, work: int) -> Snapshot:
        """Adds a batch of ``rows`` rows, which took ``work``."""
        return replace(self, rows=self.rows + rows, work=self.work + work)

    def is_due(self, since: int, kept: int, nbytes: int) -> bool:
        """Whether to write the next snapshot.

        Args:
            since: the number of rows of the log that came since this snapshot.
            kept: the number of all rows of the log.
            nbytes: the memory of the index in bytes.
        """
        cost = nbytes // BYTES_PER_WORK  # of writing the index, or of reading it, in units of work
        tail, window = (self.work * rows // max(1, self.rows) for rows in (since, kept))
        return tail >= LEAST_WORK + TIMES * cost and window >= WORTH * cost


def work_between(before: Mapping[int, Counters], after: Mapping[int, Counters]) -> int:
    """The work of a stage's operators between two readings of their counters, by node id."""
    work = 0
    for node, counters in after.items():
        done = counters.since(before[node])
        work += done.rows_in + done.rows_out // GIVEN_PER_TAKEN
    return work


def write(index: Any, blobs: BlobStore, last: Snapshot, before: int) -> Snapshot:
    """Writes a snapshot of an index; it replaces the chunks of the last one.

    Args:
        index: the object to pickle.
        blobs: the store of the log.
        last: the snapshot to replace.
        before: the number of the log's next blob.
    """
    chunks = _Chunks(blobs)
    with _no_collection(), pa.CompressedOutputStream(pa.PythonFile(chunks, "w"), "zstd") as out:
        pickle.Pickler(out, protocol=5).dump(index)
    chunks.end()
    for number in range(chunks.count, last.chunks):
        blobs.remove(FIRST_CHUNK - number)
    return Snapshot(version(), chunks.count, chunks.size, before)


def removed(last: Snapshot, blobs: BlobStore) -> Snapshot:
    """Removes the chunks of the last snapshot; returns a snapshot without chunks."""
    for number in range(last.chunks):
        blobs.remove(FIRST_CHUNK - number)
    return replace(last, version="", chunks=0, size=0)


def read(snapshot: Snapshot, blobs: BlobStore) -> Any | None:
    """The index of a snapshot; None if there is none, or this version cannot read it."""
    if not snapshot.chunks or snapshot.version != version():
        return None
    try:
        data = b"".join(blobs.get(FIRST_CHUNK - i) for i in range(snapshot.chunks))
        with _no_collection(), pa.CompressedInputStream(pa.BufferReader(data), "zstd") as file:
            return _Unpickler(file).load()
    except Exception:  # the log has all rows: any failure to load only costs a longer replay
        return None


@cache
def version() -> str:
    """A hash of the code of pickled classes, NumPy and PyArrow.

    Other code may give the pickled attributes another meaning.
    """
    from .... import algebra, executor

    text = hashlib.sha256(f"{np.__version__} {pa.__version__}".encode())
    for package in (algebra, executor):
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            text.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return text.hexdigest()[:16]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pauses the garbage collector, which would scan millions of live objects again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Chunks(io.RawIOBase):
    """A file that is cut into chunks, each a blob of the store."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._open = bytearray()
        self.count = 0
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._open += data
        while len(self._open) >= CHUNK_BYTES:
            self._put(CHUNK_BYTES)
        return len(data)

    def end(self) -> None:
        """Stores the bytes after the last whole chunk."""
        if self._open:
            self._put(len(self._open))

    def _put(self, length: int) -> None:
        self._blobs.put(FIRST_CHUNK - self.count, bytes(self._open[:length]))
        del self._open[:length]
        self.count += 1
        self.size += length


_OURS: Final = (
    "headrace.algebra.",
    "headrace.executor.batch",
    "headrace.executor.counters",
    "headrace.executor.dictionary",
    "headrace.executor.reorder",
    "headrace.executor.kernels.",
    "headrace.executor.operators.",
    "headrace.executor.pipeline",
    "headrace.executor.partitions",
    "headrace.executor.schedule",
    "headrace.executor.spark.stage.partition",
)
_THEIRS: Final = frozenset(
    {
        ("builtins", "set"),
        ("builtins", "frozenset"),
        ("builtins", "bytearray"),
        ("collections", "Counter"),
        ("collections", "OrderedDict"),
        ("collections", "defaultdict"),
        ("collections", "deque"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
    }
)


class _Unpickler(pickle.Unpickler):
    """Loads the classes of an index and no others: a checkpoint may have been tampered with."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _THEIRS:
            return super().find_class(module, name)
        loaded = super().find_class(module, name) if module.startswith(_OURS) else None
        if not isinstance(loaded, type) or not loaded.__module__.startswith(_OURS):
            raise pickle.UnpicklingError(f"{module}.{name} is not a class of an index")
        return loaded
