"""Late edges: how partitions report them, and the folder that keeps them.

An edge may be several rows, in several partitions. One of the rows names the edge's source, and the
partition of that row reports a late edge. The report reaches the driver at the end of the batch.
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
from ...scans import ScanInput
from ..host.files import written_aside
from .columns import carried

LATE_SOURCE = "late_source"
"""The column with the position of the edge's stream and label in :func:`sources_of`.

One row of an edge has the position; the other rows have :data:`NO_SOURCE`.
"""

NO_SOURCE = -1


def sources_of(plan: PhysicalPlan) -> tuple[tuple[str, str], ...]:
    """The streams and labels that a plan reads."""
    return tuple(sorted({(scan.stream, scan.label) for _, scan in plan.scans}))


@dataclass(frozen=True, slots=True)
class LateRows:
    """JSON lines of late edges, and their number by stream."""

    lines: bytes = b""
    of_streams: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(
        rows: pa.Table,
        scan_inputs: Sequence[ScanInput],
        sources: Sequence[tuple[str, str]],
        watermark: int,
    ) -> LateRows:
        """Builds the JSON lines of late rows of scan inputs.

        Args:
            rows: the rows, with the column :data:`LATE_SOURCE`.
            scan_inputs: the scan input of each port.
            sources: the streams and labels of :func:`sources_of`.
            watermark: the watermark that the rows came behind.
        """
        names = {
            column: name.removeprefix(".") for (name, _), column in carried(scan_inputs).items()
        }
        documents = []
        records: list[dict[str, Any]] = rows.to_pylist()
        for row in records:
            if row[LATE_SOURCE] == NO_SOURCE:
                continue
            stream, label = sources[row[LATE_SOURCE]]
            integers = scan_inputs[row["port"]].vertex_type == "integer"
            src, trg = (int(row[end]) if integers else row[end] for end in ("src", "trg"))
            values = {n: row[column] for column, n in names.items() if row[column] is not None}
            edge = {"src": src, "trg": trg, "label": label, "ts": row["ts"], **values}
            reason = f"late: the watermark was {watermark}"
            documents.append({"stream": stream, "row": edge, "reason": reason})
        lines = "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents)
        return LateRows(lines.encode(), Counter(str(d["stream"]) for d in documents))


def added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Adds two mappings of names to counts."""
    return {name: counts.get(name, 0) + more.get(name, 0) for name in sorted({*counts, *more})}


class LateFolder:
    """A folder of JSON lines, one file for each batch (and task) that has any.

    A batch that is run again writes the same file again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, batch: int | str, parts: Iterable[bytes], task: int | None = None) -> None:
        """Writes the lines of a batch to a file; a batch without lines gets no file."""
        lines = b"".join(parts)
        if not lines:
            return
        self._path.mkdir(parents=True, exist_ok=True)
        name = f"{int(batch):08}" if task is None else f"{int(batch):08}-{task:05}"
        with written_aside(self._path / f"late-{name}.jsonl") as file:
            file.write(lines)

    def write_in_task(self, parts: Iterable[bytes]) -> None:
        """Writes the lines of one task of a micro-batch to a file of the task's own."""
        context = TaskContext.get()
        if context is None:
            raise RuntimeError("write_in_task runs only inside a Spark task")
        batch = context.getLocalProperty("streaming.sql.batchId") or "0"
        self.write(batch, parts, context.partitionId())

    def lines(self) -> Iterator[bytes]:
        """The content of each file, in the order of batches."""
        for path in sorted(self._path.glob("late-*.jsonl")):
            yield path.read_bytes()

    def gathered(self, into: Path) -> bool:
        """Writes the lines of all batches to one file; returns False if there are none."""
        parts = list(self.lines())
        if not parts:
            return False
        into.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(into) as file:
            file.writelines(parts)
        return True
