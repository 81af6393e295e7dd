"""The values of a row stream that are valid now, as operators at the root of a plan hold them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final

from ..batch import FOREVER, Batch

Value = tuple[int, ...]
"""The codes of a row's columns."""


_SPARE: Final = 1_000
"""So many entries of values removed may be in the queue beside as many as there are values."""


class ValidValues:
    """Each value with its largest expiry, and a queue by expiry with an entry for each value.

    There may be more entries of values that were removed; they go when they come to the front.
    """

    def __init__(self) -> None:
        self.expiry: dict[Value, int] = {}
        self._queue: list[tuple[int, Value]] = []

    def add(self, value: Value, exp: int) -> bool:
        """Holds a value until ``exp``, if that is longer; whether it was not there."""
        known = self.expiry.get(value)
        if known is None:
            heapq.heappush(self._queue, (exp, value))
            self.expiry[value] = exp
            if len(self._queue) > 2 * len(self.expiry) + _SPARE:
                self._queue = [(expiry, held) for held, expiry in self.expiry.items()]
                heapq.heapify(self._queue)
            return True
        if known < exp:
            self.expiry[value] = exp
        return False

    def remove(self, value: Value) -> bool:
        """Gives a value back before it expires; whether it was there."""
        return self.expiry.pop(value, None) is not None

    def first(self) -> int:
        """The smallest expiry; FOREVER if none ends."""
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
        """Gives back what expired at or before ``now``."""
        while self.first() <= now and self._queue:
            _, value = heapq.heappop(self._queue)
            del self.expiry[value]
            yield value

    def last(self, otherwise: int) -> int:
        """The largest expiry that is one."""
        return max((exp for exp in self.expiry.values() if exp < FOREVER), default=otherwise)

    def __len__(self) -> int:
        return len(self.expiry)

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly: an entry of the table and one of the queue."""
        return len(self.expiry) * 250


def values_of(batch: Batch) -> Iterator[Value]:
    """The values of a batch's rows."""
    if not batch.width:
        return iter([()] * len(batch))
    return zip(*batch.columns.tolist(), strict=True)


def next_multiple(time: int, period: int) -> int:
    """The first multiple of ``period`` that is not before ``time``."""
    return -(-time // period) * period
