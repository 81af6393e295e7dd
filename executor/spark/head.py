"""The small value of a partition's state, and what is counted in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from executor.pipeline import Counters
from executor.spark.window_log import Blob, Directory


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


FIRST_OF_MEMORY = 1 << 40
"""Where the numbers of blobs begin that hold what operators remember; those of valid input begin
at 0."""


@dataclass(frozen=True, slots=True)
class Head:
    """The small value of a partition's state.

    ``token`` names the attempt that wrote it, ``worker`` the process that may still have its
    index (:class:`executor.spark.index_home.IndexHome`); ``now`` is the largest ts seen; ``late``
    counts rows left out because they came after a later one of an earlier batch. ``directory``
    is that of the input that is still valid, ``memory`` that of what operators remember besides.
    """

    token: str = ""
    worker: str = ""
    now: int = -1
    edges: int = 0
    results: int = 0
    late: int = 0
    rebuilt: int = 0
    operators: Mapping[int, OperatorTotals] = field(default_factory=dict)
    directory: Directory = field(default_factory=Directory)
    memory: Directory = field(default_factory=lambda: Directory((), FIRST_OF_MEMORY))

    def to_json(self) -> str:
        """The text that is kept in Spark's state."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Head:
        """The head of a text."""
        values: dict[str, Any] = json.loads(text)
        operators = {int(k): OperatorTotals(**v) for k, v in values.pop("operators").items()}
        logs: dict[str, Any] = {
            name: Directory(tuple(Blob(**blob) for blob in log.pop("blobs")), **log)
            for name in ("directory", "memory")
            if (log := values.pop(name, None)) is not None
        }
        return Head(**values, operators=operators, **logs)


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
