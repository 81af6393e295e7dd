"""The small value of a partition's state, and what is counted in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from executor.pipeline import Counters
from executor.spark.window_log import Blob, Directory
from executor.watermarks import Watermark


@dataclass(frozen=True, slots=True)
class OperatorTotals:
    """What an operator did since the query began, over restarts; state as it is now."""

    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0
    state_entries: int = 0
    state_bytes: int = 0

    def __add__(self, other: OperatorTotals) -> OperatorTotals:
        """The totals of two partitions together."""
        return OperatorTotals(
            self.rows_in + other.rows_in,
            self.rows_out + other.rows_out,
            self.seconds + other.seconds,
            self.state_entries + other.state_entries,
            self.state_bytes + other.state_bytes,
        )


@dataclass(frozen=True, slots=True)
class Head:
    """The small value of a partition's state.

    ``token`` names the attempt that wrote it, ``worker`` the process that may still have its
    index (:class:`executor.spark.index_home.IndexHome`). ``now`` is how far time has come: the
    watermark, or where edges come in order the largest ts seen. ``late`` counts the edges that came
    when it had passed them, by stream. ``remembers``: there is a memory
    (:meth:`executor.pipeline.Pipeline.memory`) among the blobs.
    """

    token: str = ""
    worker: str = ""
    now: int = -1
    edges: int = 0
    results: int = 0
    late: Mapping[str, int] = field(default_factory=dict)
    rebuilt: int = 0
    operators: Mapping[int, OperatorTotals] = field(default_factory=dict)
    directory: Directory = field(default_factory=Directory)
    remembers: bool = False
    watermark: Watermark = field(default_factory=Watermark)

    def to_json(self) -> str:
        """The text that is kept in Spark's state."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Head:
        """The head of a text."""
        values: dict[str, Any] = json.loads(text)
        operators = {int(k): OperatorTotals(**v) for k, v in values.pop("operators").items()}
        directory = values.pop("directory")
        watermark = Watermark.from_document(values.pop("watermark", {}))
        blobs = tuple(Blob(**blob) for blob in directory.pop("blobs"))
        return Head(
            **values,
            operators=operators,
            directory=Directory(blobs, **directory),
            watermark=watermark,
        )


def totals(
    base: Mapping[int, OperatorTotals],
    before: Mapping[int, Counters],
    after: Mapping[int, Counters],
) -> dict[int, OperatorTotals]:
    """``base`` and what happened from ``before`` to ``after``.

    A pipeline counts since it was built, which may have been a moment ago, after a restart.
    """
    added = {}
    for node, now in after.items():
        old = base.get(node, OperatorTotals())
        start = before[node]
        added[node] = OperatorTotals(
            old.rows_in + now.rows_in - start.rows_in,
            old.rows_out + now.rows_out - start.rows_out,
            old.seconds + now.seconds - start.seconds,
            now.state_entries,
            now.state_bytes,
        )
    return added
