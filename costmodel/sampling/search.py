"""Searches over the product of a snapshot and the automaton of a path."""

from __future__ import annotations

import numpy as np

from ...algebra.automaton import Automaton
from .arrays import Graphs, Ints
from .compiled import Found, found
from .rows import OverBudgetError, Steps
from .snapshot import Snapshot

READ_PER_STEP = 10
"""The edges that a compiled search reads in the time of a step."""
CALL = 1_000
"""The steps of a search, beside the edges that it reads."""


def reached(
    snapshot: Snapshot, steps: Steps, automaton: Automaton, graphs: Graphs, values: Ints
) -> Found:
    """The vertices that an automaton reaches from each of some values.

    Args:
        snapshot: the edges.
        steps: the steps that are left.
        automaton: the automaton of a path; no move enters its start.
        graphs: the pairs that its moves follow.
        values: the vertices at which the searches begin.

    Raises:
        OverBudgetError: if the searches need too many steps.
    """
    steps.take(CALL, overhead=True)
    accepting = np.zeros(automaton.states, np.int64)
    accepting[list(automaton.accepting)] = 1
    most = steps.left * READ_PER_STEP
    rows = found(graphs, values, snapshot, accepting=accepting, left=most)
    if rows.left < 0:
        raise OverBudgetError
    steps.take((most - rows.left) // READ_PER_STEP)
    steps.take(len(rows.sources))
    return rows
