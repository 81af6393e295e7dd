"""The statistics of one label while its edges are read, in bounded memory.

In: the edges of a label, in batches. Out: sketches of sources, targets, pairs, vertices and values
of properties, the most frequent of them, quantiles, and the rate over time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .model import Frequency, PropertyStatistics, RateHistogram
from .raw import Column
from .sketch import Hashes, RowSample, Sketch, hashes_of, pair_hashes

PROPERTY = "property "
"""The prefix of a property's name, as a kind of value."""
MOST_COMMON = 32
"""The most values of a property whose frequencies are listed."""
MOST_FREQUENT = 16
"""The most vertices of an end whose frequencies are listed."""
QUANTILES = 32
"""The number of equal parts into which quantiles split the values of a property."""
PARTS = 32
"""The most parts of a rate histogram."""
LONGEST_TEXT = 200
"""The most characters of a listed value."""
_OFTEN = 2.0
"""A value is listed if it occurs at least this number of times as often as the mean value."""
_PENDING = 1 << 13
"""The number of edges of a label that are buffered before its sketches are updated."""

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HashedColumn:
    """A column of edges with the hashes of its values.

    Attributes:
        hashes: the hash of each row.
        there: whether each row has a value; None if all have one.
        values: the values; None if they are not listed.
    """

    hashes: Hashes
    there: NDArray[np.bool_] | None = None
    values: Column | None = None


Hashed = Mapping[str, HashedColumn]
"""The columns of edges by kind of value: ``src``, ``trg``, ``pair``, or a property."""


def hashed(edges: pa.RecordBatch) -> Hashed:
    """The hashes of the values of edges (columns src, trg, label, ts and the properties)."""
    sources, targets = edges.column("src"), edges.column("trg")
    of_sources, of_targets = hashes_of(sources), hashes_of(targets)
    columns = {
        "src": HashedColumn(of_sources, values=sources),
        "trg": HashedColumn(of_targets, values=targets),
        "pair": HashedColumn(pair_hashes(of_sources, of_targets)),
    }
    for name in edges.schema.names[4:]:
        column = edges.column(name)
        there = pc.is_valid(column).to_numpy(zero_copy_only=False)
        hashes = np.zeros(len(column), np.uint64)
        hashes[there] = hashes_of(column.drop_null())
        columns[PROPERTY + name] = HashedColumn(hashes, there, column)
    return columns


class LabelSketches:
    """The sketches of one label."""

    def __init__(self) -> None:
        self.edges = 0
        self._sketches: dict[str, Sketch] = {}
        self._listed: dict[str, _Listed] = {}
        self._samples: dict[str, RowSample] = {}
        self._over_time = _OverTime()
        self._pending: dict[str, list[tuple[Hashes, Column | None]]] = {}
        self._times: list[_Rows] = []
        self._rows = 0

    def add(self, columns: Hashed, times: _Rows, rows: _Rows) -> None:
        """Adds some rows of hashed edges, with their times."""
        for kind, column in columns.items():
            mine = rows if column.there is None else rows[column.there[rows]]
            values = None if column.values is None else column.values.take(pa.array(mine))
            self._pending.setdefault(kind, []).append((column.hashes[mine], values))
        self._times.append(times[rows])
        self.edges += len(rows)
        self._rows += len(rows)
        if self._rows >= _PENDING:
            self._settle()

    def sketch(self, kind: str) -> Sketch:
        """The sketch of a kind of value: ``src``, ``trg``, ``pair``, ``vertex``, or a property."""
        self._settle()
        return self._sketches.get(kind, Sketch())

    @property
    def properties(self) -> Collection[str]:
        """The names of the properties that occurred."""
        self._settle()
        return [k.removeprefix(PROPERTY) for k in self._sketches if k.startswith(PROPERTY)]

    def rates(self) -> RateHistogram | None:
        """The rate over time; None without edges."""
        self._settle()
        return self._over_time.histogram()

    def frequent(self, end: str) -> tuple[Frequency, ...]:
        """The frequent vertices of ``src`` or ``trg`` as text, with their shares of the edges."""
        frequent = self._frequent(end)[:MOST_FREQUENT]
        return tuple((str(vertex), float(f"{share:.4g}")) for vertex, share in frequent)

    def distribution(self, name: str) -> PropertyStatistics:
        """The distribution of the values of a property."""
        kind = PROPERTY + name
        there = self.sketch(kind).total
        common = self._frequent(kind)
        whole = sum(share for _, share in common) * self.edges >= there * (1 - 1e-6)
        return PropertyStatistics(
            _share(self.edges - there, self.edges),
            common,
            () if whole else self._quantiles(kind),
        )

    def _frequent(self, kind: str) -> tuple[Frequency, ...]:
        sketch = self.sketch(kind)
        hashes, counts = sketch.most_frequent(MOST_COMMON)
        # Few different values are all listed, so that their frequencies are exact.
        least = 0.0 if sketch.distinct <= MOST_COMMON else _OFTEN * sketch.total / sketch.distinct
        listed = self._listed.get(kind, _Listed())
        return tuple(
            (listed.values[key], _share(count, self.edges))
            for key, count in zip(hashes.tolist(), counts.tolist(), strict=True)
            if count >= least and key in listed.values
        )

    def _quantiles(self, kind: str) -> tuple[str | int | float, ...]:
        sample: Column = self._samples[kind].values if kind in self._samples else None
        if sample is None:
            return ()
        values: list[Any] = sorted(
            v for v in sample.to_pylist() if not isinstance(v, float) or isfinite(v)
        )
        last = len(values) - 1
        if last < 1 or isinstance(values[0], bool):
            return ()
        chosen = [values[round(last * k / QUANTILES)] for k in range(QUANTILES + 1)]
        return tuple(v[:LONGEST_TEXT] if isinstance(v, str) else v for v in chosen)

    def _settle(self) -> None:
        if not self._rows:
            return
        ends = [*self._pending.get("src", ()), *self._pending.get("trg", ())]
        for kind, parts in (*self._pending.items(), ("vertex", [(h, None) for h, _ in ends])):
            hashes = np.concatenate([part for part, _ in parts])
            sketch = self._sketches.setdefault(kind, Sketch())
            sketch.add(hashes)
            columns = [values for _, values in parts if values is not None]
            if columns and len(hashes):
                values = pa.concat_arrays(columns)
                frequent, _ = sketch.most_frequent(2 * MOST_COMMON)
                self._listed.setdefault(kind, _Listed()).note(frequent, hashes, values)
                if kind.startswith(PROPERTY):
                    self._samples.setdefault(kind, RowSample()).add(values)
        self._over_time.add(np.concatenate(self._times))
        self._pending.clear()
        self._times.clear()
        self._rows = 0


class _Listed:
    """The values of the most frequent hashes."""

    def __init__(self) -> None:
        self.values: dict[int, str | int | float | bool] = {}

    def note(self, frequent: Hashes, hashes: Hashes, values: Column) -> None:
        """Notes the values of those ``frequent`` hashes that occur among ``hashes``."""
        known = {key: self.values[key] for key in frequent.tolist() if key in self.values}
        new = np.sort(np.array([k for k in frequent.tolist() if k not in known], np.uint64))
        self.values = known
        if not len(new):
            return
        place = np.minimum(np.searchsorted(new, hashes), len(new) - 1)
        (rows,) = np.nonzero(new[place] == hashes)
        keys, first = np.unique(hashes[rows], return_index=True)
        for key, row in zip(keys.tolist(), rows[first].tolist(), strict=True):
            value = values[row].as_py()
            too_long = isinstance(value, str) and len(value) > LONGEST_TEXT
            if not (too_long or (isinstance(value, float) and not isfinite(value))):
                known[key] = value


class _OverTime:
    """The number of edges in parts of 2**n time units, at most :data:`PARTS` of them."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._shift = 0

    def add(self, times: _Rows) -> None:
        while (int(times.max()) >> self._shift) - (int(times.min()) >> self._shift) >= PARTS:
            self._widen()
        parts, counts = np.unique(times >> self._shift, return_counts=True)
        for part, count in zip(parts.tolist(), counts.tolist(), strict=True):
            self._counts[part] = self._counts.get(part, 0) + count
        while max(self._counts) - min(self._counts) >= PARTS:
            self._widen()

    def histogram(self) -> RateHistogram | None:
        if not self._counts:
            return None
        first, part = min(self._counts), 1 << self._shift
        parts = range(first, max(self._counts) + 1)
        rates = tuple(float(f"{self._counts.get(p, 0) / part:.4g}") for p in parts)
        return RateHistogram(first << self._shift, part, rates)

    def _widen(self) -> None:
        self._shift += 1
        halves, self._counts = self._counts, {}
        for part, count in halves.items():
            self._counts[part >> 1] = self._counts.get(part >> 1, 0) + count


def _share(count: float, edges: float) -> float:
    return float(f"{count / edges:.6g}") if edges else 0.0
