"""The interface of sinks: what takes the parts of one batch after the other."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..host.storage import translate_storage_errors
from .parts import Part, PartSpec


class Sink(ABC):
    """Takes the parts of one batch after the other."""

    @translate_storage_errors()
    def __init__(self, spec: PartSpec) -> None:
        self.spec = spec
        staging = Path(spec.staging)
        shutil.rmtree(staging, ignore_errors=True)  # parts of attempts that were killed
        staging.mkdir(parents=True)

    @abstractmethod
    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        """Publishes the results of a batch unless they are published already."""

    @translate_storage_errors()
    def finish(self) -> None:
        """Removes the staging folder when all batches are delivered."""
        shutil.rmtree(self.spec.staging, ignore_errors=True)

    def close(self) -> None:  # noqa: B027 - most sinks hold nothing open
        """Releases what the sink holds open; called at the end of a run, whatever its end is."""


class BothSinks(Sink):
    """Delivers each batch to two sinks: results of the first are in the second already."""

    def __init__(self, first: Sink, second: Sink) -> None:
        self.spec = replace(first.spec, also=second.spec)
        self._first = first
        self._second = second

    def deliver(self, batch: int, parts: Sequence[Part]) -> None:
        """Delivers a batch to the second sink, then to the first."""
        self._second.deliver(batch, [replace(part, path=part.also) for part in parts])
        self._first.deliver(batch, parts)

    def finish(self) -> None:
        """Ends both sinks."""
        self._second.finish()
        self._first.finish()

    def close(self) -> None:
        """Closes both sinks."""
        self._second.close()
        self._first.close()
