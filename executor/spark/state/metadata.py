"""The metadata of a partition: a small value in Spark's state that names all other values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ...counters import Counters
from ...watermarks import Watermark
from .log import Blob, Directory
from .open_rows import Changes, OpenRowsDirectory
from .snapshot import Snapshot

FIRST_OF_RUNS = 1 << 40
"""The first number of the blobs with runs of REWINDOW; those of valid input begin at 0."""


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """The metadata of a partition after a micro-batch.

    Attributes:
        token: the id of the attempt that processed the batch.
        worker: the address of the process that may still have the index
            (:class:`headrace.executor.spark.state.cache.StateCache`).
        now: the present application time in ticks: the watermark or, for edges in order, the
            largest ts so far.
        latest: the largest ts of an edge, also when all streams have ended.
        first: the smallest ts of an edge of a stream.
        edges: the number of rows of scans.
        results: the number of rows of the last stage.
        late: the number of late edges, by stream.
        rebuilt: how often the index was rebuilt.
        restored: how often it was rebuilt from a snapshot.
        replayed: the number of rows of the log that rebuilding has replayed.
        operators: counters by node of the plan.
        directory: the blobs of the valid input.
        runs: the blobs of the runs of REWINDOW.
        open_rows: the blobs of the open rows of AGGREGATE.
        remembers: whether an earlier version stored the open rows in one blob
            (:meth:`headrace.executor.spark.state.open_rows.OpenRows.adopt`).
        watermark: the watermark of the streams.
        snapshot: the latest snapshot.
    """

    token: str = ""
    worker: str = ""
    now: int = -1
    latest: int = -1
    first: int = -1
    edges: int = 0
    results: int = 0
    late: Mapping[str, int] = field(default_factory=dict)
    rebuilt: int = 0
    restored: int = 0
    replayed: int = 0
    operators: Mapping[int, Counters] = field(default_factory=dict)
    directory: Directory = field(default_factory=Directory)
    runs: Directory = field(default_factory=lambda: Directory((), FIRST_OF_RUNS))
    open_rows: OpenRowsDirectory = field(default_factory=OpenRowsDirectory)
    remembers: bool = False
    watermark: Watermark = field(default_factory=Watermark)
    snapshot: Snapshot = field(default_factory=Snapshot)

    def to_json(self) -> str:
        """Writes the metadata as text for Spark's state."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> PartitionMetadata:
        """Reads the text of :meth:`to_json`; fields that earlier versions lack have defaults."""
        values: dict[str, Any] = json.loads(text)
        operators = {int(k): Counters(**v) for k, v in values.pop("operators", {}).items()}
        watermark = Watermark.from_document(values.pop("watermark", {}))
        snapshot = Snapshot(**values.pop("snapshot", {}))
        logs: dict[str, Any] = {
            name: Directory(tuple(Blob(**blob) for blob in log.pop("blobs")), **log)
            for name in ("directory", "runs")
            if (log := values.pop(name, None)) is not None
        }
        open_rows = dict(values.pop("open_rows", {}))
        changes = tuple(Changes(**blob) for blob in open_rows.pop("blobs", ()))
        return PartitionMetadata(
            **values,
            operators=operators,
            watermark=watermark,
            snapshot=snapshot,
            open_rows=OpenRowsDirectory(**open_rows, blobs=changes),
            **logs,
        )


def batch_of(before: PartitionMetadata, after: PartitionMetadata) -> dict[str, Any]:
    """The metrics of one batch, as JSON-able values: the difference of two metadata."""
    work = {
        str(node): asdict(done.since(before.operators.get(node, Counters())))
        for node, done in after.operators.items()
    }
    return {
        "edges": after.edges - before.edges,
        "rebuilt": after.rebuilt - before.rebuilt,
        "restored": after.restored - before.restored,
        "replayed": after.replayed - before.replayed,
        "operators": work,
    }


def totals(
    base: Mapping[int, Counters],
    before: Mapping[int, Counters],
    after: Mapping[int, Counters],
) -> dict[int, Counters]:
    """Adds the difference of two readings of a pipeline's counters to ``base``.

    The counters of a pipeline start at 0 when it is rebuilt, so they are not totals themselves.
    """
    return {
        node: base.get(node, Counters()).then(now.since(before[node]))
        for node, now in after.items()
    }
