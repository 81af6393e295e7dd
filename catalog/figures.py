"""Figures that runs measured of relations, and the names of the relations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..algebra.digests import digest

Kind = Literal["distinct", "derived"]
"""Rows as a coalescing operator emits them, or the derivations that any other operator emits."""
Scanned = tuple[str, str, int | None, int | None]
"""Stream, label, range and slide of a scan; the last two are None for a stored graph."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a run measured of a relation.

    Attributes:
        identity: the identity of the relation.
        source: the digest of its scans and their streams.
        kind: which rows were counted.
        rate: rows per time unit.
        population: rows valid at an instant; None if it is not comparable.
        work: the time of the operator, in microseconds per time unit.
        op: the name of the operator.
    """

    identity: str
    source: str
    kind: Kind
    rate: float
    population: float | None
    work: float
    op: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The mean of several observations of a relation.

    Attributes:
        rate: rows per time unit.
        population: rows valid at an instant; None if no run measured it.
        work: the time of the operator in the newest run, in microseconds per time unit.
        op: the name of the operator in the newest run.
        runs: the number of runs.
        at: the time of the newest run, in seconds since 1970.
    """

    rate: float
    population: float | None
    work: float
    op: str
    runs: int
    at: float


@dataclass(frozen=True, slots=True)
class RelationFigures:
    """The figures of a relation; at least one of the two is there.

    Attributes:
        distinct: the rows that coalescing operators emitted.
        derived: the rows that other operators emitted over inputs without repeats.
        age: the time since the newest run, in seconds.
    """

    distinct: Figures | None
    derived: Figures | None
    age: float


Measured = Mapping[tuple[str, str], RelationFigures]
"""Figures by the identity and the source of their relation."""


@dataclass(frozen=True, slots=True)
class FeedbackFile:
    """The file of measured figures of a catalog.

    Attributes:
        path: the file; it may not exist yet.
        declared: a digest of the declaration of each stream.
    """

    path: Path
    declared: Mapping[str, str]
    _sources: dict[frozenset[Scanned], str | None] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def source_of(self, scans: frozenset[Scanned]) -> str | None:
        """The source of a relation over these scans; None for a stream that is not declared."""
        if scans not in self._sources:
            streams = {stream for stream, *_ in scans}
            known = scans and streams <= self.declared.keys()
            texts = [repr((*scan, self.declared[scan[0]])) for scan in scans] if known else []
            self._sources[scans] = digest(*sorted(texts)) if known else None
        return self._sources[scans]

    def over(self, inputs: Sequence[str]) -> FeedbackFile:
        """The same file for runs over other inputs than the catalog names."""
        if not inputs:
            return self
        named = [name.rpartition("=") for name in inputs]
        read = digest(*sorted(f"{label}={os.path.abspath(file)}" for label, _, file in named))
        return replace(self, declared={n: digest(d, read) for n, d in self.declared.items()})
