"""Snapshots of a partition's index, so that a restart replays what came since and no whole window.

In and out: the index (operators, codes of vertices, rows that wait) as compressed chunks of bounded
size in the store of the log. The log keeps what it keeps, all input that is still valid, so a
snapshot is a short cut and nothing depends on it: one that another version wrote, or that cannot
be read, is left aside and the window replayed.

**When.** *Work* is rows that operators took and gave, as :func:`work_between` counts them; to
replay rows of the log takes their share of the work since the last snapshot. A snapshot is due when
what came since takes :data:`TIMES` as long to replay as the index to write, and :data:`LEAST_WORK`
besides: so writing them costs a bounded share of a run. And only where to replay the whole window
takes :data:`WORTH` times as long as to read the index; else a window is replayed as ever. One is
given up when nothing of what is in it is still in the log. Rows and bytes alone decide, no clock.
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

from ....algebra.plan import PhysicalPlan
from ...counters import Counters
from .log import LARGEST_BLOB, BlobStore

FIRST_CHUNK: Final = -2
"""The number of the first chunk; the others follow downwards."""

CHUNK_BYTES: Final = LARGEST_BLOB
TIMES: Final = 1
WORTH: Final = 2
LEAST_WORK: Final = 20_000
BYTES_PER_WORK: Final = 200
"""As many bytes of an index in memory are written, or read, in the time of one unit of work.

Measured with ``bench.recovery``: 1.5 to 3 us for a unit; 10 ns for a byte, of which a half goes to
Spark's store, which takes 30 MB/s, since an index gets five to ten times smaller.
"""
GIVEN_PER_TAKEN: Final = 8
"""The number of rows that an operator gives in the time in which it takes one."""

SLOW: Final = 8
"""AGGREGATE and REPORT, which are not compiled, take as many times as long."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The latest snapshot, as the metadata of a partition describes it.

    There is none where ``chunks`` is 0. ``size`` is of the chunks, in bytes. The index has all
    rows of the log before the blob of number ``before``; ``rows`` came and ``work`` was done since.
    """

    version: str = ""
    chunks: int = 0
    size: int = 0
    before: int = 0
    rows: int = 0
    work: int = 0

    def then(self, rows: int, work: int) -> Snapshot:
        """The same after a batch of ``rows`` rows, which took ``work``."""
        return replace(self, rows=self.rows + rows, work=self.work + work)

    def is_due(self, since: int, kept: int, nbytes: int) -> bool:
        """Whether to write the next one.

        ``since``: how many of the rows since are in the log, ``kept``: of all rows; ``nbytes``: of
        the index in memory.
        """
        cost = nbytes // BYTES_PER_WORK
        tail, window = (self.work * rows // max(1, self.rows) for rows in (since, kept))
        return tail >= LEAST_WORK + TIMES * cost and window >= WORTH * cost


def work_between(
    plan: PhysicalPlan, before: Mapping[int, Counters], after: Mapping[int, Counters]
) -> int:
    """The work of the operators of a stage from one reading of their counters to another."""
    work = 0
    for node, counters in after.items():
        done = counters.since(before[node])
        slow = plan.nodes[node].operator.final
        own = done.rows_in + done.rows_out // GIVEN_PER_TAKEN
        work += SLOW * own if slow else own
    return work


def write(index: Any, blobs: BlobStore, last: Snapshot, before: int) -> Snapshot:
    """Puts an index in the place of the last snapshot."""
    chunks = _Chunks(blobs)
    with _no_collection(), pa.CompressedOutputStream(pa.PythonFile(chunks, "w"), "zstd") as out:
        pickle.Pickler(out, protocol=5).dump(index)
    chunks.end()
    for number in range(chunks.count, last.chunks):
        blobs.remove(FIRST_CHUNK - number)
    return Snapshot(version(), chunks.count, chunks.size, before)


def given_up(last: Snapshot, blobs: BlobStore) -> Snapshot:
    """Removes the last snapshot."""
    for number in range(last.chunks):
        blobs.remove(FIRST_CHUNK - number)
    return replace(last, version="", chunks=0, size=0)


def read(snapshot: Snapshot, blobs: BlobStore) -> Any | None:
    """The index of a snapshot; None if there is none that can be read here."""
    if not snapshot.chunks or snapshot.version != version():
        return None
    try:
        data = b"".join(blobs.get(FIRST_CHUNK - i) for i in range(snapshot.chunks))
        with _no_collection(), pa.CompressedInputStream(pa.BufferReader(data), "zstd") as file:
            return _Unpickler(file).load()
    except Exception:  # whatever is wrong with it, the log has all that is needed
        return None


@cache
def version() -> str:
    """Of the code whose objects these are: other code may mean something else by them."""
    from .... import algebra, executor

    text = hashlib.sha256(f"{np.__version__} {pa.__version__}".encode())
    for package in (algebra, executor):
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            text.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return text.hexdigest()[:16]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Millions of objects are made, none of them garbage: not looked at again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Chunks(io.RawIOBase):
    """A file that becomes chunks."""

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
        """Nothing more comes."""
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
    """Makes what an index is made of and nothing else, whatever a checkpoint holds."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _THEIRS:
            return super().find_class(module, name)
        found = super().find_class(module, name) if module.startswith(_OURS) else None
        if not isinstance(found, type) or not found.__module__.startswith(_OURS):
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an index")
        return found
