"""Where the in-memory index of a partition lives between two micro-batches.

For now in the memory of the Python worker that ran the latest one. An index is known by
the *token* of the state that it belongs to, a name made anew by every attempt and stored
with the state: if Spark did not commit an attempt, no later one asks for its token, and an
index that such an attempt changed is never used again. Taking an index removes it, so one
that is being changed when its attempt dies is gone.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Index = TypeVar("Index")


Place = tuple[str, int, int]
"""A running query, the number of one of its stages, and a partition of that."""


class IndexHome(Generic[Index]):
    """At most one index per place, all of one running query: that of the latest call."""

    def __init__(self) -> None:
        self._kept: dict[Place, tuple[str, Index]] = {}

    def take(self, place: Place, token: str) -> Index | None:
        """Removes the index of a place; gives it if it belongs to ``token``."""
        for other in [other for other in self._kept if other[0] != place[0]]:
            del self._kept[other]  # of a query that ended
        kept = self._kept.pop(place, None)
        return kept[1] if kept is not None and kept[0] == token else None

    def keep(self, place: Place, token: str, index: Index) -> None:
        """Keeps an index for whoever asks for ``token`` next, and for nobody else."""
        self._kept[place] = (token, index)
