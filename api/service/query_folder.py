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
        """Edges of files that came too late: a file for each batch that has any."""
        return self.checkpoint / "late"

    @property
    def late_live(self) -> Path | None:
        """The one file of edges of live sources that came too late, if the query reads such."""
        there = (self.late / "added.json").exists()
        return self.path / f"{self.rejected.name}.late.jsonl" if there else None

    @property
    def pruned(self) -> Path:
        """What is known of results that are not kept any more."""
        return self.path / "pruned.json"

    @property
    def ballast(self) -> tuple[Path, ...]:
        """What is of no use any more when the query cannot go on."""
        of_checkpoint = (self.checkpoint / name for name in ("input", "spark"))
        return (*of_checkpoint, self.results / "_headrace" / "staging")
