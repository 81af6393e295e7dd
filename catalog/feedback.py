"""Figures that runs measured of relations, in an SQLite file beside the catalog.

In: the observations of a run. Out: for each relation the mean over its runs, in which newer runs
weigh more. A relation is named by its identity (:mod:`headrace.algebra.identity`) and by its
source: the scans below it with the declarations of their streams, without statistics. So figures
of another declaration are never read.

A write is one transaction, so that processes may write at once, and a killed one leaves no trace.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..algebra.digests import digest
from .figures import FeedbackFile, Figures, Measured, Observation, RelationFigures

if TYPE_CHECKING:
    import sqlite3

    from .model import Catalog, Stream

T = TypeVar("T")
SUFFIX = ".measured.sqlite"
"""The end of the name of the file, in place of the catalog's ``.yaml``."""
DAY = 86_400.0
HALF_LIFE = 1 * DAY
"""A run weighs half as much as a run that is newer by this time, in seconds."""
LONGEST_AGE = 30 * DAY
"""Older runs are not used, and the next write drops them, in seconds."""
MOST_RUNS = 8
"""The most runs that are kept of a relation; the oldest go."""
MOST_ROWS = 4_000
"""The most rows of the file; the oldest go. Planning reads all, which takes some milliseconds."""
LOCK_SECONDS = 5.0
"""The longest wait for another process, in seconds."""
_VERSION = 1
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_TABLE = """
CREATE TABLE figures (
    identity TEXT NOT NULL, source TEXT NOT NULL, kind TEXT NOT NULL, run TEXT NOT NULL,
    at REAL NOT NULL, rate REAL NOT NULL, population REAL, work REAL NOT NULL,
    op TEXT NOT NULL, PRIMARY KEY (identity, source, kind, run)
) WITHOUT ROWID
"""


class FeedbackFileError(ValueError):
    """The file of measured figures cannot be used; the message says why."""


def feedback_file(catalog: Catalog, path: Path) -> FeedbackFile:
    """The file at ``path`` for the streams of a catalog."""
    declared = {
        name: _declaration(stream, catalog.time_unit, path.parent)
        for name, stream in catalog.streams.items()
    }
    return FeedbackFile(path, declared)


def beside(catalog: Catalog, path: Path) -> FeedbackFile | None:
    """The file beside a catalog's file; None for the bundled catalogs, which do not change."""
    if path.resolve().is_relative_to(EXAMPLES):
        return None
    return feedback_file(catalog, path.with_suffix(SUFFIX))


def _declaration(stream: Stream, time_unit: str, folder: Path) -> str:
    """A digest of what decides the rows of a stream, without its statistics.

    Paths count relative to the ``folder``, so that a folder of data and catalog can be moved.
    """
    source = stream.source

    def relative(path: str) -> str:
        return path if "://" in path else os.path.relpath(path, folder)

    origin = source and (
        (source.format, source.follow, source.value, source.fields),
        [*map(relative, source.path)],
        sorted(source.options.items()),
        sorted((relative(path), label) for path, label in source.path_labels.items()),
    )
    kind = (stream.stored, stream.vertices, stream.deletions, stream.vertex_type)
    columns = (sorted(stream.columns.items()), sorted(stream.properties.items()), stream.label)
    return digest(repr((time_unit, stream.name, origin, kind, columns)))


def read(path: Path, now: float) -> Measured:
    """Reads the figures that are not too old. Without a file there are none.

    Args:
        path: the file.
        now: the current time, in seconds since 1970.

    Raises:
        FeedbackFileError: if the file cannot be read.
    """

    def rows(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
        if not _version(connection, path):
            return []
        return connection.execute(
            "SELECT identity, source, kind, at, rate, work, population, op FROM figures"
            " WHERE at > ? ORDER BY at DESC, run",
            (now - LONGEST_AGE,),
        ).fetchall()

    if not path.exists():
        return {}
    by_relation: dict[tuple[str, str], dict[Any, list[tuple[Any, ...]]]] = {}
    for identity, source, kind, *figures in _transaction(path, "ro", rows):
        *numbers, population, _ = figures
        if all(map(_valid, numbers)) and (population is None or _valid(population)):
            kinds = by_relation.setdefault((identity, source), {})
            kinds.setdefault(kind, []).append(tuple(figures))
    measured = {}
    for relation, kinds in by_relation.items():
        means = {kind: _mean(runs) for kind, runs in kinds.items()}
        age = max(now - max(figures.at for figures in means.values()), 0.0)
        one = RelationFigures(means.get("distinct"), means.get("derived"), age)
        if one.distinct or one.derived:
            measured[relation] = one
    return measured


def write(path: Path, run: str, observations: Iterable[Observation], now: float) -> None:
    """Keeps the observations of a run, in place of earlier ones of the same run.

    Args:
        path: the file; it is created if necessary.
        run: the name of the run.
        observations: what the run measured.
        now: the current time, in seconds since 1970.

    Raises:
        FeedbackFileError: if the file cannot be written.
    """
    rows = [
        (o.identity, o.source, o.kind, run, now, o.rate, o.population, o.work, o.op)
        for o in observations
    ]

    def change(connection: sqlite3.Connection) -> None:
        if not _version(connection, path):
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        values = ", ".join("?" * 9)
        connection.executemany(f"INSERT OR REPLACE INTO figures VALUES ({values})", rows)
        connection.execute("DELETE FROM figures WHERE at <= ?", (now - LONGEST_AGE,))
        for over, most in (("PARTITION BY identity, source, kind", MOST_RUNS), ("", MOST_ROWS)):
            connection.execute(
                "DELETE FROM figures WHERE (identity, source, kind, run) IN (SELECT identity,"
                " source, kind, run FROM (SELECT *, row_number() OVER"
                f" ({over} ORDER BY at DESC, run) AS place FROM figures) WHERE place > ?)",
                (most,),
            )

    if rows:
        _transaction(path, "rwc", change)


def newest(path: Path) -> float:
    """The time of the newest run in the file, in seconds since 1970; 0 without a readable one."""

    def latest(connection: sqlite3.Connection) -> float:
        if not _version(connection, path):
            return 0.0
        return float(connection.execute("SELECT max(at) FROM figures").fetchone()[0] or 0.0)

    try:
        return _transaction(path, "ro", latest) if path.exists() else 0.0
    except FeedbackFileError:
        return 0.0


def _mean(runs: Sequence[tuple[Any, ...]]) -> Figures:
    """The mean of the runs of a relation, the newest first."""
    at, _, work, _, op = runs[0]

    def mean(column: int) -> float | None:
        weighted = [
            (2.0 ** -((at - run[0]) / HALF_LIFE), run[column])
            for run in runs
            if run[column] is not None
        ]
        if not weighted:
            return None
        total: float = sum(w * value for w, value in weighted)
        weight: float = sum(w for w, _ in weighted)
        return total / weight

    return Figures(mean(1) or 0.0, mean(3), work, str(op), len(runs), at)


def _valid(figure: object) -> bool:
    return isinstance(figure, float) and 0 <= figure < math.inf


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the table; 0 for a new file."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, _VERSION):
        raise FeedbackFileError(f"{path}: another version of Headrace wrote the measured figures")
    return version


def _transaction(path: Path, mode: str, work: Callable[[sqlite3.Connection], T]) -> T:
    import sqlite3  # most plans need no file of figures

    try:
        address = f"{path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            address, timeout=LOCK_SECONDS, isolation_level=None, uri=True, check_same_thread=False
        )
        with closing(connection):
            connection.execute("BEGIN" if mode == "ro" else "BEGIN IMMEDIATE")
            result = work(connection)
            connection.execute("COMMIT")
            return result
    except (sqlite3.Error, OverflowError, ValueError) as error:
        if isinstance(error, FeedbackFileError):
            raise
        raise FeedbackFileError(f"{path}: the measured figures cannot be used: {error}") from error
