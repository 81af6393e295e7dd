"""The paths whose pairs one search has estimated.

The paths that a search compares have many prefixes in common, over the same groups.
"""

from __future__ import annotations

from ..algebra.regex import Regex
from .characteristics import Characteristics

_Inputs = tuple[Characteristics, ...]


class KnownPaths:
    """Estimates of the pairs of words over inputs.

    Inputs are compared by their ``id``, and kept alive: relations of equal characteristics may
    differ on a sample of the stream, or in what earlier runs measured. It is also quicker.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Regex, tuple[int, ...]], tuple[_Inputs, Characteristics]] = {}

    def get(self, words: Regex, inputs: _Inputs) -> Characteristics | None:
        """The estimate of the pairs of some words; None if it was not added."""
        known = self._known.get((words, tuple(map(id, inputs))))
        return None if known is None else known[1]

    def add(self, words: Regex, inputs: _Inputs, pairs: Characteristics) -> None:
        """Enters an estimate."""
        self._known[words, tuple(map(id, inputs))] = inputs, pairs
