"""A query to measure, and how to measure it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

SHORTEST = 0.05
"""Seconds: below, a longer window is tried; shorter runs are repeated within a measurement."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure.

    Attributes:
        rounds: the rounds of the screening.
        most_rounds: the largest number of rounds of the duel.
        width: the relative width of the interval of chosen / fastest at which the duel ends.
        limit: seconds of processor time of the first run of a window; above, the window is smaller.
        answers: the most intervals of an answer; above, the window is smaller.
        query_limit: seconds of processor time for a query; then no further round begins.
    """

    rounds: int = 3
    most_rounds: int = 15
    width: float = 0.06
    limit: float = 4.0
    answers: int = 2_000_000
    query_limit: float = 120.0


@dataclass(frozen=True, slots=True)
class Job:
    """A query to measure.

    Attributes:
        folder: the folder of the cut.
        text: the query.
        windows: the windows to try.
        start: the position of the first one to try.
        time_unit: the unit of times.
        seed: of the sample of plans.
        settings: how to measure.
        killed: forms of plans that ended a process before.
    """

    folder: str
    text: str
    windows: tuple[tuple[str, str], ...]
    start: int
    time_unit: str
    seed: int
    settings: Settings
    killed: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The job as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        """The job of a JSON text."""
        fields: dict[str, Any] = json.loads(text)
        fields["settings"] = Settings(**fields["settings"])
        fields["windows"] = tuple(tuple(window) for window in fields["windows"])
        fields["killed"] = tuple(fields["killed"])
        return Job(**fields)
