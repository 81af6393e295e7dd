"""Searches that a worker process keeps, so that one search answers all requests about its plan."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from ...planning.planner import Planned

MOST_KEPT = 4
"""The maximum number of searches that a process keeps."""
MOST_EXPRESSIONS = 60_000
"""The maximum number of expressions in the memos of these searches; one search is always kept."""
KEPT_SECONDS = 600.0
"""The time after its last use when a search is dropped, in seconds."""


@dataclass(slots=True)
class _Kept:
    """A search.

    Attributes:
        planned: the query with its search.
        size: the number of expressions and merges of the memo, as the search left it.
        used: when the search was last used.
    """

    planned: Planned
    size: tuple[int, int]
    used: float


class KeptSearches:
    """The newest searches by key; the least recently used ones are dropped first."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str, *, ranks: bool = False) -> Planned | None:
        """Returns a kept search.

        A ranking explores what the search left out. If that added to the memo, the search serves
        further rankings alone (``ranks``).
        """
        self._expire()
        kept = self._kept.get(key)
        if kept is None or not (ranks or kept.size == _size(kept.planned)):
            return None
        kept.used = self._now()
        self._kept.move_to_end(key)
        return kept.planned

    def put(self, key: str, planned: Planned) -> None:
        """Keeps a search in place of an earlier one with its key."""
        self._kept.pop(key, None)
        self._kept[key] = _Kept(planned, _size(planned), self._now())
        self._expire()

    def _expire(self) -> None:
        last = self._now() - KEPT_SECONDS
        while self._kept:
            oldest = next(iter(self._kept.values()))
            total = sum(kept.planned.optimization.memo.expression_count for kept in self._all())
            crowded = len(self._kept) > MOST_KEPT or total > MOST_EXPRESSIONS
            if not (oldest.used < last or (crowded and len(self._kept) > 1)):
                return
            self._kept.popitem(last=False)

    def _all(self) -> tuple[_Kept, ...]:
        return tuple(self._kept.values())


def _size(planned: Planned) -> tuple[int, int]:
    memo = planned.optimization.memo
    return memo.expression_count, memo.merges
