"""The queries of a service, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from .kept_queries import KeptQuery, State
from .query_folder import QueryFolder
from .results import Kept, Results

ENDED: frozenset[State] = frozenset({"finished", "failed", "stopped"})
RUN_OPTIONS = ("speed", "interval", "largest_batch", "strict")
"""The options of a run."""


def output_of(kept: KeptQuery) -> str | None:
    """The name of the topic or sink that gets each result of a query too; None without one."""
    output: str | None = kept.request.get("output")  # earlier versions stored none
    return output


class Query:
    """A query of this service, in memory."""

    def __init__(self, kept: KeptQuery, folder: QueryFolder, limit: Kept) -> None:
        self.kept = kept
        self.folder = folder
        self.results = Results(folder.results, folder.pruned, limit)
        self.changed = asyncio.Event()
        self.at_engine = False
        self.run = 0
        """The number of the query's last run in an engine of this service."""
        self.deaths = 0
        self.due = 0.0
        """When the query may start again, by the monotonic clock."""
        self.saved_at = 0.0
        self.unsaved = False

    @property
    def runs(self) -> bool:
        """Whether the query runs or is to run."""
        return self.kept.wanted == "running" and self.kept.state not in ENDED

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """The last progress of the query."""
        return None if self.kept.account is None else self.kept.account["progress"]

    def notify(self) -> None:
        """Wakes the clients that wait for a change."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()
