"""UNION, PROJECT, FILTER and the empty relation."""

from __future__ import annotations

from collections.abc import Sequence

from ..batch import Batch, merged
from .base import Stateless


class UnionOperator(Stateless):
    """All rows of its inputs, merged by ts."""

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The rows of equal ts keep the order of the inputs."""
        return merged(inputs)


class ProjectOperator(Stateless):
    """Some columns, in some order."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self._columns = columns

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """As many rows as come in."""
        return inputs[0].project(self._columns)


class EmptyOperator(Stateless):
    """No rows, ever."""

    def __init__(self, width: int) -> None:
        self._width = width

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """None."""
        return Batch.empty(self._width)
