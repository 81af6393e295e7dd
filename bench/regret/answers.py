"""The normalized answer of a plan: for each binding the disjoint intervals of its validity.

In: the batches of a run, as they leave the plan. Out: an :class:`Answer`, which two plans of one
query share whatever rows they emit, since overlapping and adjacent intervals of one binding are one
interval. Values are represented by 64-bit hashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.executor.batch import Batch, IntArray
from headrace.executor.dictionary import Dictionary

_COMPACTED = 1_000_000
"""The rows after which a collection merges intervals."""


class TooManyAnswersError(RuntimeError):
    """An answer with more intervals than the limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Bindings and their intervals, sorted; ``columns`` has a row of hashes for each column."""

    columns: IntArray
    ts: IntArray
    exp: IntArray

    def __len__(self) -> int:
        return len(self.ts)

    def before(self, instant: int) -> Answer:
        """The answer at the instants before ``instant``."""
        kept = self.ts < instant
        ends = np.minimum(self.exp[kept], instant)
        return Answer(self.columns[:, kept], self.ts[kept], ends)

    @property
    def digest(self) -> str:
        """A hash of the answer."""
        state = blake2b(digest_size=16)
        for part in (self.columns, self.ts, self.exp):
            state.update(np.ascontiguousarray(part).tobytes())
        return state.hexdigest()


class Collector:
    """Collects the results of one run.

    Args:
        width: the number of columns of the answer.
        most: the largest number of intervals.
    """

    def __init__(self, width: int, most: int) -> None:
        self._width = width
        self._most = most
        self._parts: list[tuple[IntArray, IntArray, IntArray]] = []
        self._held = 0
        self._merged = 0
        self._hashes: dict[object, int] = {}

    def add(self, batch: Batch, dictionary: Dictionary) -> None:
        """Adds the results of a call, before the next call frees codes.

        Raises:
            TooManyAnswersError: above the limit.
            ValueError: for a retraction; the streams of experiments have no deletions.
        """
        if not len(batch):
            return
        if (batch.exp < 0).any():
            raise ValueError("a stream with deletions")
        columns = np.empty((self._width, len(batch)), np.int64)
        for position, codes in enumerate(batch.columns):
            distinct, inverse = np.unique(codes, return_inverse=True)
            hashes = self._hashes_of(dictionary.decode(distinct).to_pylist())
            columns[position] = hashes[inverse]
        self._parts.append((columns, batch.ts.copy(), batch.exp.copy()))
        self._held += len(batch)
        if self._held > self._merged + _COMPACTED:
            self.answer()

    def answer(self) -> Answer:
        """The answer so far.

        Raises:
            TooManyAnswersError: above the limit.
        """
        answer = united(self._parts, self._width)
        self._parts = [(answer.columns, answer.ts, answer.exp)]
        self._held = self._merged = len(answer)
        if self._merged > self._most:
            raise TooManyAnswersError(f"{self._merged:,} intervals")
        return answer

    def _hashes_of(self, values: list[Any]) -> IntArray:
        known = self._hashes
        return np.array(
            [
                known[v] if v in known else known.setdefault(v, _hash(v))
                for v in map(_typed, values)
            ],
            np.int64,
        )


def _typed(value: object) -> tuple[str, object]:
    """A value that differs from equal values of other types."""
    return type(value).__name__, value


def _hash(value: tuple[str, object]) -> int:
    digest = blake2b(repr(value).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def united(parts: list[tuple[IntArray, IntArray, IntArray]], width: int) -> Answer:
    """Unites the intervals of each binding."""
    if not parts:
        none = np.empty(0, np.int64)
        return Answer(np.empty((width, 0), np.int64), none, none)
    columns = np.concatenate([part[0] for part in parts], axis=1)
    ts = np.concatenate([part[1] for part in parts])
    exp = np.concatenate([part[2] for part in parts])
    order = np.lexsort((ts, *columns[::-1]))
    columns, ts, exp = columns[:, order], ts[order], exp[order]
    changes: NDArray[np.bool_] = np.ones(len(ts), np.bool_)
    changes[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    reach = _largest_so_far(exp, changes)
    begins = changes.copy()
    begins[1:] |= ts[1:] > reach[:-1]
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(ts)) - 1
    return Answer(np.ascontiguousarray(columns[:, starts]), ts[starts], reach[ends])


def _largest_so_far(exp: IntArray, changes: NDArray[np.bool_]) -> IntArray:
    """The largest expiry of a binding up to each row."""
    values, ranks = np.unique(exp, return_inverse=True)
    group = np.cumsum(changes) - 1
    lifted = np.maximum.accumulate(ranks + group * len(values))
    return np.asarray(values[lifted - group * len(values)], np.int64)
