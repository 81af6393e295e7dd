"""The dead letters of a query: rejected rows, and late edges.

A place in the dead letters is the text ``<byte of the rejected>.<batch of the late>.<byte in it>``.
So each page continues the last one, even after further dead letters of either kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...executor.spark.results.dead_letters import segments
from .query_folder import QueryFolder

PLACE = r"^\d{1,18}(\.\d{1,18}\.\d{1,18})?$"
MOST_BYTES = 1_000_000
"""The maximum size of a page without its last item, in bytes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the dead letters: a byte of the rejected rows, and a byte of a late batch."""

    rejected: int = 0
    batch: int = 0
    byte: int = 0

    @staticmethod
    def of(text: str) -> Place:
        """Reads a place from its text."""
        return Place(*map(int, text.split(".")))

    def __str__(self) -> str:
        return f"{self.rejected}.{self.batch}.{self.byte}"


def page(folder: QueryFolder, after: str, limit: int) -> dict[str, Any]:
    """Returns at most ``limit`` items after the ``next`` of the last page (at first ``"0"``)."""
    place, items, size = Place.of(after), [], 0
    for item, place_after, read in _items(folder, place):
        items.append(item)
        place, size = place_after, size + read
        if len(items) == limit or size > MOST_BYTES:
            break
    return {"items": items, "next": str(place)}


def _items(folder: QueryFolder, place: Place) -> Iterator[tuple[dict[str, Any], Place, int]]:
    """Yields each item, the place after the item, and its size in bytes."""
    for line, end in _lines_of_all(folder.rejected, place.rejected):
        place = replace(place, rejected=end)
        yield {"kind": "rejected", **json.loads(line)}, place, len(line)
    for batch, path in _late(folder, place):
        for line, end in _lines_of_all(path, place.byte if batch == place.batch else 0):
            place = replace(place, batch=batch, byte=end)
            yield {"kind": "late", **json.loads(line)}, place, len(line)


def _late(folder: QueryFolder, place: Place) -> Iterator[tuple[int, Path]]:
    """Yields the files of late edges from a place on, each with its batch."""
    if folder.late_live is not None:
        yield place.batch, folder.late_live  # one file holds all batches
        return
    for path in sorted(folder.late.glob("late-*.jsonl")):
        batch = int(path.stem.split("-")[1])
        if batch >= place.batch:
            yield batch, path


def _lines_of_all(path: Path, start: int) -> Iterator[tuple[bytes, int]]:
    """Yields the complete lines of a rotated file from a byte on; the oldest lines may be gone."""
    for begin, file in segments(path):
        for line, end in _lines(file, max(0, start - begin)):
            yield line, begin + end


def _lines(path: Path, start: int) -> Iterator[tuple[bytes, int]]:
    """Yields the complete lines of a file from a byte on, each with its end."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        while (line := file.readline()).endswith(b"\n"):
            start += len(line)
            yield line, start
