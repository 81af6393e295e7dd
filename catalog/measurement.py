"""Statistics measured from edges: a bounded sample in, `LabelStatistics` out.

The sample is the first rows of each file, an equal share of ``rows`` for each, so that memory and
time are bounded and every file is represented.

* **rate** is edges per time unit over the time that the stream covers. The edges and the time of a
  file that was read in part are extrapolated by the share of bytes read. Files are assumed to be
  roughly sorted by time. So neither the size of the sample nor the ratio of the files' sizes
  distorts the rates.
* **distinct counts** and **skew** are those of the sample: exact up to 65,536 values, then
  estimated with a standard error of 0.4 % (:mod:`headrace.catalog.sketch`). A partial sample
  underestimates the distinct counts of the stream.
* the values of **properties** are counted in the same way; those of ``ts`` are not counted. Their
  quantiles come from a uniform sample of 4,096 rows; the standard error of a rank is at most 0.8 %.
* the shares of **frequent** sources, targets and values are exact up to 65,536 values. Beyond, they
  are too low by at most 0.1 % of the edges.
* **joint** statistics compare the vertices of the labels with the most edges
  (:mod:`headrace.catalog.joint`).
* of a stream with more than :data:`MOST_LABELS` labels, the requested labels are measured, and the
  first ones of the others.
* ``longest_path`` stays unknown: computing it is as hard as the queries themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .edges import EdgeFile, Rejected, check_not_empty, read
from .joint import MOST_JOINT, Ends
from .label_sketches import PROPERTY, LabelSketches, hashed
from .layout_hints import setting
from .lines import Progress
from .model import LabelStatistics, StreamSample
from .raw import Column
from .sample import Recent, kept_of_each, sample_of
from .timestamps import finer_unit

ROWS = 1_000_000
"""The default number of sampled rows; measuring them takes about two seconds."""
MOST_LABELS = 10_000
"""The most labels of a stream that are measured besides requested ones."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Statistics by label, and the sample that they come from.

    Attributes:
        statistics: the statistics of each label.
        rows: the number of edges in the sample.
        complete: whether the sample holds all edges.
        rejected: the first hundred rejected rows.
        rejected_count: the number of rejected rows.
        more_labels: whether some labels were not measured.
        warnings: doubts about the files, in sentences for a person.
        numeric: whether all vertices are strings that hold whole numbers.
        ends: the sketches of the vertices of the compared labels with the most edges.
        sample: a piece of the stream near the end of the rows; None without one.
        times: the smallest and the largest time of the rows, in ticks; None without times.
    """

    statistics: Mapping[str, LabelStatistics]
    rows: int
    complete: bool
    rejected: tuple[Rejected, ...] = ()
    rejected_count: int = 0
    more_labels: bool = False
    warnings: tuple[str, ...] = ()
    numeric: bool = False
    ends: Ends = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False, hash=False
    )
    sample: StreamSample | None = None
    times: tuple[int, int] | None = None


SHOWN_REJECTED = 100


def measure(
    batches: Iterable[pa.RecordBatch], *, rows: int | None = None, now: datetime | None = None
) -> Measurement:
    """Measures edges (columns src, trg, label, ts) sorted by time.

    Args:
        batches: the edges; reading ends after the batch that reaches ``rows``.
        rows: the number of edges to read; None for all.
        now: the time of measurement; the clock's by default.
    """
    labels = _Labels()
    part = _Part()
    complete = True
    for batch in batches:
        if rows is not None and part.rows >= rows:
            complete = False
            break
        part.add(batch, labels)
    statistics = _statistics(labels, [part], now)
    return Measurement(statistics, part.rows, complete, more_labels=labels.more, ends=labels.ends)


def measure_files(
    files: Sequence[EdgeFile],
    *,
    rows: int = ROWS,
    now: datetime | None = None,
    strict: bool = False,
    on_progress: Progress | None = None,
    labels: Collection[str] = (),
    enough: Callable[[], bool] | None = None,
    sample: bool = True,
) -> Measurement:
    """Measures files that together are one stream, or one stored graph.

    A declared label without edges has empty statistics. A stored graph has a ``population``,
    the number of its distinct edges, and no rate.

    Args:
        files: the files of one stream.
        rows: the number of edges to read, over all files.
        now: the time of measurement; the clock's by default.
        strict: whether a rejected row raises.
        on_progress: called with (bytes read, total bytes) of the current file.
        labels: the requested labels; all of them are measured, and joint statistics compare only
            them.
        enough: called after each batch; once it returns true, at most one more batch of each
            remaining file is read.
        sample: whether to keep a sample of the stream.

    Raises:
        EdgeFileError: if a file cannot be read or lacks a column, or all files are empty.
        RejectedRowError: in strict reading.
    """
    check_not_empty(files)
    seen = _Labels((*labels, *(f.label for f in files if f.label is not None)), compared=labels)
    for file in files:
        if file.label is not None:
            seen.of(file.label)
    parts: list[_Part] = []
    rejected: list[Rejected] = []
    rejected_count = 0
    left = rows
    for number, file in enumerate(files):
        part = _Part(recent=Recent(kept_of_each(len(files))) if sample else None)
        parts.append(part)
        share = max(1, left // (len(files) - number))

        def note(done: int, total: int, part: _Part = part) -> None:
            part.fraction = done / total if total else 1.0
            if on_progress is not None:
                on_progress(done, total)

        for batch in read(file, strict=strict, on_progress=note):
            part.add(_insertions(batch.edges), seen)
            rejected += batch.rejected[: SHOWN_REJECTED - len(rejected)]
            rejected_count += len(batch.rejected)
            if part.fraction < 1 and (part.rows >= share or (enough is not None and enough())):
                break
        else:
            part.fraction = 1.0
        left -= part.rows
    stored = bool(files) and files[0].stored
    statistics = _statistics(seen, parts, now, stored=stored)
    pieces = [p.recent.piece(p.fraction == 1) for p in parts if p.recent is not None]
    return Measurement(
        statistics,
        sum(part.rows for part in parts),
        all(part.fraction == 1 for part in parts),
        tuple(rejected),
        rejected_count,
        seen.more,
        tuple(_warnings_of_times(files, parts)),
        any(part.rows for part in parts) and all(part.numeric for part in parts),
        seen.ends,
        sample_of(pieces, tuple(seen.codes), stored=stored),
        None if stored else _times(parts),
    )


def _times(parts: Sequence[_Part]) -> tuple[int, int] | None:
    """The smallest and the largest time of all parts."""
    known = [(part.earliest, part.latest) for part in parts if part.earliest is not None]
    return (min(e for e, _ in known), max(latest for _, latest in known)) if known else None


def _warnings_of_times(files: Sequence[EdgeFile], parts: Sequence[_Part]) -> Iterator[str]:
    """Yields a warning if times are too large for their unit, as milliseconds read as seconds."""
    for file, part in zip(files, parts, strict=True):
        unit = None if part.earliest is None else finer_unit(part.earliest, file.time_unit)
        if unit is not None:
            remedy = setting(file.origin, "time_unit", unit)
            yield (
                f"{file.path}: timestamps such as {part.earliest} have "
                f"{len(str(part.earliest))} digits, and are read as {file.time_unit}s since 1970: "
                f"if they are {unit}s, say {remedy}"
            )
            return


def _insertions(edges: pa.RecordBatch) -> pa.RecordBatch:
    """The insertions among edges, without the column ``op``."""
    if "op" not in edges.schema.names:
        return edges
    return edges.filter(pc.equal(edges.column("op"), pa.scalar("+"))).drop_columns(["op"])


class _Labels:
    """The measured labels: all of ``requested``, and at most :data:`MOST_LABELS` others.

    Joint statistics compare the labels ``compared``; all if there are none.
    """

    def __init__(self, requested: Iterable[str] = (), compared: Iterable[str] = ()) -> None:
        self.measured: dict[str, LabelSketches] = {}
        self.codes: dict[str, int] = {}
        self.more = False
        self._requested = frozenset(requested)
        self._compared = frozenset(compared)

    def of(self, label: str) -> LabelSketches | None:
        """The label's entry; None if too many labels are measured already."""
        measured = self.measured.get(label)
        if measured is None:
            if len(self.measured) >= MOST_LABELS and label not in self._requested:
                self.more = True
                return None
            measured = self.measured[label] = LabelSketches()
            self.codes[label] = len(self.codes)
        return measured

    @property
    def ends(self) -> Ends:
        """The sketches of the ends of the compared labels with the most edges."""
        compared = self._compared & self.measured.keys() or self.measured.keys()
        frequent = sorted(
            ((label, self.measured[label]) for label in compared),
            key=lambda item: (-item[1].edges, item[0]),
        )
        return MappingProxyType(
            {
                (label, end): sketches.sketch(end)
                for label, sketches in frequent[:MOST_JOINT]
                for end in ("src", "trg")
            }
        )


@dataclass(slots=True)
class _Part:
    """The part of a file that was read.

    Attributes:
        rows: the number of edges.
        counts: the number of edges by label.
        earliest: the smallest ``ts``, in ticks; None without edges.
        latest: the largest ``ts``, in ticks.
        fraction: the share of the file's bytes that was read.
        numeric: whether all vertices so far hold whole numbers.
        recent: the last edges, for a sample; None without one.
    """

    rows: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    earliest: int | None = None
    latest: int = 0
    fraction: float = 1.0
    numeric: bool = True
    recent: Recent | None = None

    def add(self, edges: pa.RecordBatch, labels: _Labels) -> None:
        if not edges.num_rows:
            return
        self.rows += edges.num_rows
        times = edges.column("ts").to_numpy(zero_copy_only=False)
        earliest = int(times.min())
        self.earliest = earliest if self.earliest is None else min(earliest, self.earliest)
        self.latest = max(self.latest, int(times.max()))
        self.numeric = self.numeric and all(_whole(edges.column(end)) for end in ("src", "trg"))
        encoded = edges.column("label").dictionary_encode()
        codes: NDArray[np.int32] = encoded.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        names = [str(name) for name in encoded.dictionary.to_pylist()]
        bounds = np.searchsorted(codes[order], np.arange(len(names) + 1))
        columns = hashed(edges)
        for code, label in enumerate(names):
            measured = labels.of(label)
            if measured is not None:
                rows = order[bounds[code] : bounds[code + 1]]
                self.counts[label] = self.counts.get(label, 0) + len(rows)
                measured.add(columns, times, rows)
        if self.recent is not None:
            known = np.array([labels.codes.get(name, -1) for name in names], np.int32)[codes]
            kept = np.flatnonzero(known >= 0)
            sources, targets = columns["src"].hashes, columns["trg"].hashes
            properties = {name: edges.column(name) for name in edges.schema.names[4:]}
            if len(kept) < len(known):
                chosen = pa.array(kept, pa.int64())
                properties = {n: c.take(chosen) for n, c in properties.items()}
            self.recent.add((sources[kept], targets[kept], known[kept], times[kept]), properties)

    @property
    def span(self) -> tuple[float, float] | None:
        """The time that the whole file covers, extrapolated from the part read."""
        if self.earliest is None:
            return None
        length = (self.latest - self.earliest + 1) / self.fraction
        return float(self.earliest), self.earliest + length


def _whole(vertices: Column) -> bool:
    """Whether all strings hold whole numbers."""
    if not pa.types.is_string(vertices.type):
        return False
    return bool(pc.all(pc.match_substring_regex(vertices, "^-?[0-9]+$")).as_py())


def _statistics(
    labels: _Labels,
    parts: Sequence[_Part],
    now: datetime | None,
    *,
    stored: bool = False,
) -> dict[str, LabelStatistics]:
    measured_at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    covered = _covered([part.span for part in parts if part.span is not None])
    statistics = {}
    for label, seen in sorted(labels.measured.items()):
        edges = sum(part.counts.get(label, 0) / part.fraction for part in parts)
        skew = seen.sketch("vertex").skew
        statistics[label] = LabelStatistics(
            rate=0.0 if stored or not covered else edges / covered,
            distinct_src=_distinct(seen, "src"),
            distinct_trg=_distinct(seen, "trg"),
            vertices=_distinct(seen, "vertex"),
            distinct_pairs=_distinct(seen, "pair"),
            degree_skew=None if skew is None else round(skew, 3),
            population=_population(seen, parts, label) if stored else None,
            measured_at=measured_at,
            distinct_properties=MappingProxyType(
                {name: _distinct(seen, PROPERTY + name) for name in seen.properties}
            ),
            rates=None if stored else seen.rates(),
            frequent_src=seen.frequent("src"),
            frequent_trg=seen.frequent("trg"),
            properties=MappingProxyType(
                {name: seen.distribution(name) for name in seen.properties}
            ),
        )
    return statistics


def _population(seen: LabelSketches, parts: Sequence[_Part], label: str) -> float:
    """The number of distinct edges of a stored label, extrapolated from the parts read."""
    read = sum(part.counts.get(label, 0) for part in parts)
    edges = sum(part.counts.get(label, 0) / part.fraction for part in parts)
    return _rounded(seen.sketch("pair").distinct * edges / read) if read else 0.0


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of the union of intervals."""
    length, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        length += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return length


def _distinct(seen: LabelSketches, kind: str) -> float:
    return _rounded(seen.sketch(kind).distinct)


def _rounded(count: float) -> float:
    return float(round(count))
