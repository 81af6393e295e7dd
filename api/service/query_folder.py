"""Where the files of a running query are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class QueryFolder:
    """The folder of one query."""

    path: Path

    @property
    def results(self) -> Path:
        """Files of results, one for each batch and partition."""
        return self.path / "results"

    @property
    def checkpoint(self) -> Path:
        """What its run needs to go on."""
        return self.path / "checkpoint"

    @property
    def rejected(self) -> Path:
        """The file of rows that are no edges."""
        return self.path / "rejected.jsonl"

    @property
    def late(self) -> Path:
        """The files of edges that came too late, one for each batch that has any."""
        return self.checkpoint / "late"

    @property
    def pruned(self) -> Path:
        """What is known of results that are not kept any more."""
        return self.path / "pruned.json"

    @property
    def ballast(self) -> tuple[Path, ...]:
        """What is of no use any more when the query cannot go on."""
        return tuple(self.checkpoint / name for name in ("input", "spark", "staging"))
