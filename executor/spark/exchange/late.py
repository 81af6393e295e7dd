"""Late edges: how partitions report them, and the folder that keeps them.

A partition finds them, each edge by the one row that represents it. They travel with the reports to
the end of the batch.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from ....algebra.plan import PhysicalPlan
from ...scans import Leaf
from ..host.files import written_aside
from .columns import carried

TOLD = "told"
"""The column by which a row speaks for its edge: the position of the edge's stream and label among
:func:`sources_of`; :data:`SILENT` in other rows of the edge."""

SILENT = -1


def sources_of(plan: PhysicalPlan) -> tuple[tuple[str, str], ...]:
    """The streams and labels that a plan reads."""
    return tuple(sorted({(scan.stream, scan.label) for _, scan in plan.scans}))


@dataclass(frozen=True, slots=True)
class LateRows:
    """JSON lines of edges that came too late, and how many there are of each stream."""

    lines: bytes = b""
    of_streams: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(
        rows: pa.Table, leaves: Sequence[Leaf], sources: Sequence[tuple[str, str]], watermark: int
    ) -> LateRows:
        """From rows of leaves (with :data:`TOLD`), of which ``leaves`` has that of each port."""
        names = {column: name.removeprefix(".") for (name, _), column in carried(leaves).items()}
        documents = []
        given: list[dict[str, Any]] = rows.to_pylist()
        for row in given:
            if row[TOLD] == SILENT:
                continue
            stream, label = sources[row[TOLD]]
            integers = leaves[row["port"]].vertex_type == "integer"
            src, trg = (int(row[end]) if integers else row[end] for end in ("src", "trg"))
            held = {name: row[column] for column, name in names.items() if row[column] is not None}
            edge = {"src": src, "trg": trg, "label": label, "ts": row["ts"], **held}
            reason = f"late: the watermark was {watermark}"
            documents.append({"stream": stream, "row": edge, "reason": reason})
        lines = "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents)
        return LateRows(lines.encode(), Counter(str(d["stream"]) for d in documents))


def added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Counts by name, and more of them."""
    return {name: counts.get(name, 0) + more.get(name, 0) for name in sorted({*counts, *more})}


class LateFolder:
    """A folder of JSON lines, one file for each batch (and task) that has any.

    A batch that is run again writes the same file again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, batch: int | str, parts: Iterable[bytes], task: int | None = None) -> None:
        """Keeps the lines of a batch; of none no file is made."""
        lines = b"".join(parts)
        if not lines:
            return
        self._path.mkdir(parents=True, exist_ok=True)
        name = f"{int(batch):08}" if task is None else f"{int(batch):08}-{task:05}"
        with written_aside(self._path / f"late-{name}.jsonl") as file:
            file.write(lines)

    def write_in_task(self, parts: Iterable[bytes]) -> None:
        """The same inside a task of a streaming query."""
        context = TaskContext.get()
        if context is None:
            raise RuntimeError("this is no task of Spark's")
        batch = context.getLocalProperty("streaming.sql.batchId") or "0"
        self.write(batch, parts, context.partitionId())

    def lines(self) -> Iterator[bytes]:
        """The lines of all batches, in their order."""
        for path in sorted(self._path.glob("late-*.jsonl")):
            yield path.read_bytes()

    def gathered(self, into: Path) -> bool:
        """Writes all of it to one file, if there is any."""
        parts = list(self.lines())
        if not parts:
            return False
        into.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(into) as file:
            file.writelines(parts)
        return True
