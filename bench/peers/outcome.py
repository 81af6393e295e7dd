"""What a run of a peer says: its costs, and its answers in one form for all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from bench.regret.answers import united
from headrace.executor.batch import IntArray


@dataclass(frozen=True, slots=True)
class Outcome:
    """The costs of a run, and the digest of its answers.

    Attributes:
        cpu_s: processor seconds, without reading the input and without starting.
        peak_bytes: the largest memory during the run, less the memory before it.
        answers: the number of maximal intervals of the answers, or of answers at all instants of a
            re-evaluation.
        digest: a hash of the answers; empty if they were not collected.
        instants: the instants of which a re-evaluation gave the answers; 0 for all.
    """

    cpu_s: float
    peak_bytes: int
    answers: int
    digest: str = ""
    instants: int = 0

    def row(self) -> dict[str, Any]:
        """JSON-able values."""
        return asdict(self)


def digest_of(rows: IntArray) -> str:
    """A hash of rows, whatever their order."""
    ordered = rows[np.lexsort(rows.T[::-1])] if len(rows) else rows
    return blake2b(np.ascontiguousarray(ordered, np.int64).tobytes(), digest_size=16).hexdigest()


def intervals_of_changes(changes: IntArray, width: int) -> IntArray:
    """The intervals between the addition and the end of each answer.

    Args:
        changes: rows of the answer, the instant, and the difference 1 or -1.
        width: the columns of the answer.

    Raises:
        ValueError: unless additions and ends of each answer take turns.
    """
    order = np.lexsort((changes[:, -2], *changes[:, :width].T[::-1]))
    ordered = changes[order]
    added, ended = ordered[::2], ordered[1::2]
    if (
        len(added) != len(ended)
        or (added[:, -1] != 1).any()
        or (ended[:, -1] != -1).any()
        or (added[:, :width] != ended[:, :width]).any()
    ):
        raise ValueError("an answer that was added twice, or ended before it was added")
    return np.column_stack((added[:, :width], added[:, -2], ended[:, -2]))


def intervals_of_rows(rows: IntArray, width: int) -> IntArray:
    """The maximal intervals of rows of the answer, from and to."""
    columns = np.ascontiguousarray(rows[:, :width].T)
    answer = united([(columns, rows[:, width].copy(), rows[:, width + 1].copy())], width)
    return np.column_stack((*answer.columns, answer.ts, answer.exp))


def at_instants(intervals: IntArray, instants: IntArray) -> IntArray:
    """The answers at each instant: the columns of the answer, and the instant."""
    parts = [
        np.column_stack((held[:, :-2], np.full(len(held), instant)))
        for instant in instants
        for held in (intervals[(intervals[:, -2] <= instant) & (intervals[:, -1] > instant)],)
    ]
    return np.concatenate(parts) if parts else np.empty((0, intervals.shape[1] - 1), np.int64)
