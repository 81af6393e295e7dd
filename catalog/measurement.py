"""Statistics measured from edges: a bounded sample in, `LabelStatistics` out.

What is sampled: the first rows of each file, an equal share of ``rows`` for each, so that
memory and time are bounded and no file is missed. What follows from it:

* **rate** is edges per time unit over the time that the stream covers. A part of a file
  that was read to the end counts as it is; of a longer file the part read (by bytes) is
  taken to be like the rest, edges and time alike. Files are taken to be sorted by time,
  roughly. So the size of the sample does not distort the rates, nor does the ratio of the
  files' sizes.
* **distinct counts** and **skew** are those of the sample: exact up to 65,536 values, then
  estimated with a standard error of 0.4 % (:mod:`catalog.sketch`). A sample that is not
  all of a stream has fewer values than the stream.
* the values of **properties** are counted likewise; those of ``ts`` are not.
* ``longest_path`` is left unknown: finding it is as hard as the queries themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from catalog.edges import EdgeFile, Rejected, read
from catalog.lines import Progress
from catalog.model import LabelStatistics
from catalog.sketch import Sketch, hashes_of, pair_hashes

ROWS = 1_000_000
"""How many rows are looked at unless said otherwise; a second or two."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Statistics by label, and what they rest on.

    ``rows`` is the number of edges seen, ``complete`` whether that was all of them,
    ``rejected`` the rows that are no edges (the first hundred) and ``rejected_count`` how
    many they were.
    """

    statistics: Mapping[str, LabelStatistics]
    rows: int
    complete: bool
    rejected: tuple[Rejected, ...] = ()
    rejected_count: int = 0


SHOWN_REJECTED = 100


def measure(
    batches: Iterable[pa.RecordBatch], *, rows: int | None = None, now: datetime | None = None
) -> Measurement:
    """Measures edges (columns src, trg, label, ts) that come in one order of time.

    Args:
        batches: the edges; reading ends after the batch that reaches ``rows``.
        rows: how many edges are enough; None for all.
        now: the time of measurement; the clock's by default.
    """
    labels: dict[str, _Label] = {}
    part = _Part()
    complete = True
    for batch in batches:
        if rows is not None and part.rows >= rows:
            complete = False
            break
        part.add(batch, labels)
    return Measurement(_statistics(labels, [part], now), part.rows, complete)


def measure_files(
    files: Sequence[EdgeFile],
    *,
    rows: int = ROWS,
    now: datetime | None = None,
    strict: bool = False,
    on_progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Measurement:
    """Measures files that together are one stream, or one stored graph.

    A label that a file is given and never occurs has statistics of nothing. Of a stored
    graph ``population`` is the number of its different edges, and there is no rate.

    Args:
        files: all of the same stream.
        rows: how many edges are looked at, over all files.
        now: the time of measurement; the clock's by default.
        strict: whether a row that is no edge is an error.
        on_progress: called with (bytes read, bytes in all) of the file at hand.
        stopped: once it says so, what was looked at until then has to do; of each file one batch
            is looked at in any case.

    Raises:
        EdgeFileError: if a file cannot be read, or lacks a column.
        RejectedRowError: in strict reading.
    """
    labels: dict[str, _Label] = {f.label: _Label() for f in files if f.label is not None}
    parts: list[_Part] = []
    rejected: list[Rejected] = []
    rejected_count = 0
    left = rows
    for number, file in enumerate(files):
        part = _Part()
        parts.append(part)
        share = max(1, left // (len(files) - number))

        def note(done: int, total: int, part: _Part = part) -> None:
            part.fraction = done / total if total else 1.0
            if on_progress is not None:
                on_progress(done, total)

        for batch in read(file, strict=strict, on_progress=note):
            part.add(_insertions(batch.edges), labels)
            rejected += batch.rejected[: SHOWN_REJECTED - len(rejected)]
            rejected_count += len(batch.rejected)
            if part.fraction < 1 and (part.rows >= share or stopped()):
                break
        else:
            part.fraction = 1.0
        left -= part.rows
    stored = bool(files) and files[0].stored
    statistics = _statistics(labels, parts, now, stored=stored)
    return Measurement(
        statistics,
        sum(part.rows for part in parts),
        all(part.fraction == 1 for part in parts),
        tuple(rejected),
        rejected_count,
    )


def _insertions(edges: pa.RecordBatch) -> pa.RecordBatch:
    """The edges without deletions, and without the column that tells."""
    if "op" not in edges.schema.names:
        return edges
    return edges.filter(pc.equal(edges.column("op"), pa.scalar("+"))).drop_columns(["op"])


@dataclass(slots=True)
class _Label:
    sources: Sketch = field(default_factory=Sketch)
    targets: Sketch = field(default_factory=Sketch)
    pairs: Sketch = field(default_factory=Sketch)
    vertices: Sketch = field(default_factory=Sketch)
    properties: dict[str, Sketch] = field(default_factory=dict)

    def add(self, edges: pa.RecordBatch) -> None:
        sources, targets = hashes_of(edges.column("src")), hashes_of(edges.column("trg"))
        self.sources.add(sources)
        self.targets.add(targets)
        self.pairs.add(pair_hashes(sources, targets))
        self.vertices.add(np.concatenate([sources, targets]))
        for name in edges.schema.names[4:]:
            values = edges.column(name).drop_null()
            self.properties.setdefault(name, Sketch()).add(hashes_of(values))


@dataclass(slots=True)
class _Part:
    """What was read of one file: how many edges of which labels, and when they were."""

    rows: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    earliest: int | None = None
    latest: int = 0
    fraction: float = 1.0

    def add(self, edges: pa.RecordBatch, labels: dict[str, _Label]) -> None:
        if not edges.num_rows:
            return
        self.rows += edges.num_rows
        times = edges.column("ts").to_numpy()
        earliest = int(times.min())
        self.earliest = earliest if self.earliest is None else min(earliest, self.earliest)
        self.latest = max(self.latest, int(times.max()))
        column = edges.column("label")
        for label in sorted({str(name) for name in pc.unique(column).to_pylist()}):
            mine = edges.filter(pc.equal(column, pa.scalar(label)))
            self.counts[label] = self.counts.get(label, 0) + mine.num_rows
            labels.setdefault(label, _Label()).add(mine)

    @property
    def span(self) -> tuple[float, float] | None:
        """The time that the whole file covers, as far as the part read tells."""
        if self.earliest is None:
            return None
        length = (self.latest - self.earliest + 1) / self.fraction
        return float(self.earliest), self.earliest + length


def _statistics(
    labels: Mapping[str, _Label],
    parts: Sequence[_Part],
    now: datetime | None,
    *,
    stored: bool = False,
) -> dict[str, LabelStatistics]:
    measured_at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    covered = _covered([part.span for part in parts if part.span is not None])
    statistics = {}
    for label, seen in sorted(labels.items()):
        edges = sum(part.counts.get(label, 0) / part.fraction for part in parts)
        skew = seen.vertices.skew
        statistics[label] = LabelStatistics(
            rate=0.0 if stored or not covered else edges / covered,
            distinct_src=_rounded(seen.sources.distinct),
            distinct_trg=_rounded(seen.targets.distinct),
            vertices=_rounded(seen.vertices.distinct),
            distinct_pairs=_rounded(seen.pairs.distinct),
            degree_skew=None if skew is None else round(skew, 3),
            population=_population(seen, parts, label) if stored else None,
            measured_at=measured_at,
            distinct_properties=MappingProxyType(
                {name: _rounded(values.distinct) for name, values in seen.properties.items()}
            ),
        )
    return statistics


def _population(seen: _Label, parts: Sequence[_Part], label: str) -> float:
    """The different edges of a stored label; of a sample as many to the rest as to its part."""
    read = sum(part.counts.get(label, 0) for part in parts)
    edges = sum(part.counts.get(label, 0) / part.fraction for part in parts)
    return _rounded(seen.pairs.distinct * edges / read) if read else 0.0


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of the union of intervals."""
    length, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        length += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return length


def _rounded(count: float) -> float:
    return float(round(count))
