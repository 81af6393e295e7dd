"""Labels for streams whose publisher gives one label, derived from the edges alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .cuts import Row

STEP = 20
"""The seconds between two reports of one contact."""


def by_past(rows: Iterable[tuple[str, str, int]]) -> Iterator[Row]:
    """``opens`` for the first edge between two vertices, ``replies`` if the latest edge between
    them had the other direction, else ``repeats``. In: edges by time."""
    latest: dict[frozenset[str], str] = {}
    for src, trg, ts in rows:
        pair = frozenset((src, trg))
        sender = latest.get(pair)
        label = "opens" if sender is None else "repeats" if sender == src else "replies"
        latest[pair] = src
        yield src, trg, label, ts, {}


def contacts(rows: Iterable[tuple[str, str, int]]) -> Iterator[Row]:
    """``meets`` for the first contact of two persons, ``stays`` for a contact that was also there
    one step before, else ``returns``. In: contacts by time."""
    latest: dict[frozenset[str], int] = {}
    for one, other, ts in rows:
        pair = frozenset((one, other))
        before = latest.get(pair)
        label = "meets" if before is None else "stays" if ts - before <= STEP else "returns"
        latest[pair] = ts
        yield one, other, label, ts, {}


def by_size(rows: Iterable[tuple[str, str, int, float]]) -> Iterator[Row]:
    """``small``, ``middle`` and ``large``, a third of the edges each, with the property
    ``amount``."""
    listed = list(rows)
    amounts = sorted(row[3] for row in listed)
    low, high = amounts[len(amounts) // 3], amounts[2 * len(amounts) // 3]
    for src, trg, ts, amount in listed:
        label = "small" if amount < low else "middle" if amount < high else "large"
        yield src, trg, label, ts, {"amount": amount}
