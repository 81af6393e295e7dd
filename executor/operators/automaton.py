"""Converts the automaton of a path to arrays for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...algebra.physical import AutomatonPath
from ..batch import IntArray
from ..kernels.path import MOVE_STATE, Automaton
from ..kernels.region import Steps

Transitions = Iterable[tuple[int, int, bool, int]]


def automaton_of(path: AutomatonPath, inputs: int) -> Automaton:
    """The automaton of a path over a number of inputs.

    Raises:
        ValueError: if a transition enters the start state.
    """
    return arrays_of(path.transitions, path.states, path.accepting, range(inputs))


def arrays_of(
    of: Transitions, states: int, accepting: Sequence[int], begins: Iterable[int | None]
) -> Automaton:
    """An automaton as arrays.

    Args:
        of: the transitions.
        states: the number of states.
        accepting: the accepting states.
        begins: for each input, the input whose moves its new edges make: itself, or None if its
            edges alone complete no path.

    Raises:
        ValueError: if a transition enters the start state.
    """
    transitions = sorted(of)
    check_start(transitions)
    by_input = [[k for k, move in enumerate(transitions) if move[1] == i] for i in begins]
    moves = np.array(transitions, np.int64).reshape(-1, 4)
    of_state = np.searchsorted(moves[:, MOVE_STATE], np.arange(states + 1))
    return Automaton(
        moves,
        of_state.astype(np.int64),
        np.array([k for ks in by_input for k in ks], np.int64),
        np.cumsum([0, *map(len, by_input)], dtype=np.int64),
        accepting_flags(states, accepting),
        np.array(accepting, np.int64),
    )


def check_start(transitions: Transitions) -> None:
    """Checks that no transition returns to the start state, as kernels assume.

    Raises:
        ValueError: if a transition enters the start state.
    """
    if any(to == 0 for *_, to in transitions):
        raise ValueError("a transition of the path's automaton enters its start state")


def accepting_flags(states: int, accepting: Iterable[int]) -> IntArray:
    """For each state, 1 if it accepts."""
    flags: IntArray = np.zeros(states, np.int64)
    flags[list(accepting)] = 1
    return flags


def steps_by_state(steps: Iterable[tuple[int, int, int]], states: int) -> Steps:
    """Steps (state, 2 · input + inverse, next state), sorted by their first state."""
    ordered = sorted(steps)
    starts = np.searchsorted([state for state, *_ in ordered], np.arange(states + 1))
    return Steps(np.array(ordered, np.int64).reshape(-1, 3), starts.astype(np.int64))
