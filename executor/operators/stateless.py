"""UNION, PROJECT and the empty relation: operators without state."""

from __future__ import annotations

from collections.abc import Sequence

from ..batch import Batch, merged
from .base import Stateless


class UnionOperator(Stateless):
    """Merges the rows of all inputs by ts."""

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The merged rows; rows of equal ts keep the order of the inputs."""
        return merged(inputs)


class ProjectOperator(Stateless):
    """Selects columns, in a chosen order."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self._columns = columns

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The input rows with the chosen columns."""
        return inputs[0].project(self._columns)


class EmptyOperator(Stateless):
    """A relation without rows."""

    def __init__(self, width: int) -> None:
        self._width = width

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """An empty batch."""
        return Batch.empty(self._width)
