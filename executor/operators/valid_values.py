"""The valid values of a stream of rows, as held by operators at the root of a plan."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final

from ..batch import FOREVER, Batch

Value = tuple[int, ...]
"""The codes of a row's columns."""


_SPARE: Final = 1_000
"""Entries of removed values that the queue may have beyond twice the number of values."""


class ValidValues:
    """A map from each value to its largest expiry, with a queue of the values by expiry.

    The queue may also have entries of removed values; they are dropped at its front.
    """

    def __init__(self) -> None:
        self.expiry: dict[Value, int] = {}
        self._queue: list[tuple[int, Value]] = []

    def add(self, value: Value, exp: int) -> bool:
        """Holds a value until ``exp`` if it is not held longer. Returns whether it is new."""
        expiry_before = self.expiry.get(value)
        if expiry_before is None:
            heapq.heappush(self._queue, (exp, value))
            self.expiry[value] = exp
            if len(self._queue) > 2 * len(self.expiry) + _SPARE:
                self._queue = [(expiry, held) for held, expiry in self.expiry.items()]
                heapq.heapify(self._queue)
            return True
        if expiry_before < exp:
            self.expiry[value] = exp
        return False

    def remove(self, value: Value) -> bool:
        """Removes a value before it expires. Returns whether it was held."""
        return self.expiry.pop(value, None) is not None

    def first(self) -> int:
        """The smallest expiry; FOREVER if no value expires."""
        while self._queue:
            exp, value = self._queue[0]
            now = self.expiry.get(value)
            if now == exp:
                return exp
            if now is None:
                heapq.heappop(self._queue)
            else:
                heapq.heapreplace(self._queue, (now, value))
        return FOREVER

    def expired(self, now: int) -> Iterator[Value]:
        """Removes and yields the values that expired at or before ``now``."""
        while self.first() <= now and self._queue:
            _, value = heapq.heappop(self._queue)
            del self.expiry[value]
            yield value

    def last(self, otherwise: int) -> int:
        """The largest expiry below FOREVER; ``otherwise`` if there is none."""
        return max((exp for exp in self.expiry.values() if exp < FOREVER), default=otherwise)

    def __len__(self) -> int:
        return len(self.expiry)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory in bytes: an entry of the map and one of the queue."""
        return len(self.expiry) * 250


def values_of(batch: Batch) -> Iterator[Value]:
    """The values of a batch's rows."""
    if not batch.width:
        return iter([()] * len(batch))
    return zip(*batch.columns.tolist(), strict=True)


def next_multiple(time: int, period: int) -> int:
    """The first multiple of ``period`` that is not before ``time``."""
    return -(-time // period) * period
