"""The files of a running query."""

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
        """The state for resuming the run."""
        return self.path / "checkpoint"

    @property
    def rejected(self) -> Path:
        """The file of rejected rows."""
        return self.path / "rejected.jsonl"

    @property
    def late(self) -> Path:
        """Late edges of files: a file for each micro-batch with late edges."""
        return self.checkpoint / "late"

    @property
    def late_live(self) -> Path | None:
        """The file of late edges of live sources, if the query reads live sources."""
        there = (self.late / "added.json").exists()
        return self.path / f"{self.rejected.name}.late.jsonl" if there else None

    @property
    def pruned(self) -> Path:
        """The file with the number of removed results."""
        return self.path / "pruned.json"

    @property
    def ballast(self) -> tuple[Path, ...]:
        """The files that only a resumed run would need."""
        of_checkpoint = (self.checkpoint / name for name in ("input", "spark", "sink"))
        return (*of_checkpoint, self.results / "_headrace" / "staging")
