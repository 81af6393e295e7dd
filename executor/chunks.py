"""Cuts a micro-batch into chunks whose results should fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_FIRST_CHUNK = 1_024
_LARGEST_CHUNK = 65_536
_RESULTS_PER_CHUNK = 500_000


@dataclass(slots=True)
class Chunk:
    """A range of rows to process at once.

    Attributes:
        start: the position of the first row.
        rows: the number of rows; the last chunk may have fewer.
        results: the number of results, which the caller sets before the next chunk.
    """

    start: int
    rows: int
    results: int = 0


def chunks(rows: int) -> Iterator[Chunk]:
    """Cuts ``rows`` rows into chunks.

    The number of results for each row of the last chunk sets the size of the next one.
    """
    size, start = _FIRST_CHUNK, 0
    while start < rows:
        chunk = Chunk(start, size)
        yield chunk
        start += size
        fitting = size * _RESULTS_PER_CHUNK // max(1, chunk.results)
        size = max(1, min(fitting, 4 * size, _LARGEST_CHUNK))
