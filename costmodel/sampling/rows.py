"""Rows of an evaluation, and the steps that it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .arrays import FOREVER, Floats, Ints, Versions


class OverBudgetError(Exception):
    """An evaluation needs more steps than it may take."""


@dataclass(slots=True)
class Steps:
    """The steps that evaluations may still take; a step reads an edge or a row.

    Attributes:
        left: the steps that are left.
        taken: the steps that were taken.
        overhead: those of them that do not depend on the number of rows.
    """

    left: int
    taken: int = 0
    overhead: int = 0

    def take(self, steps: int, *, overhead: bool = False) -> None:
        """Counts steps; ``overhead`` does not depend on the number of rows.

        Raises:
            OverBudgetError: if fewer are left.
        """
        if steps > self.left:
            raise OverBudgetError
        self.left -= steps
        self.taken += steps
        self.overhead += steps * overhead


class Rows(NamedTuple):
    """The versions of rows, as COALESCE passes them on, those of a row by time.

    Attributes:
        columns: the values by column.
        versions: since when and until when each is valid.
        emitted: the rows per time unit that an operator over coalesced inputs emits, of which the
            first is the version and the others repeat it.
    """

    columns: tuple[Ints, ...]
    versions: Versions
    emitted: Floats


def keys_of(columns: tuple[Ints, ...], values: int) -> Ints:
    """Numbers that are equal for equal rows and no others; the columns' values are below it."""
    keys, most = columns[0], values
    for column in columns[1:]:
        if most * values >= FOREVER:
            different, keys = np.unique(keys, return_inverse=True)
            most = len(different)
        keys = keys * values + column
        most *= values
    return keys
