"""The nodes of the trees that S_PATH keeps: a vertex in a state, below a root.

A node in an accepting state is a pair that the PATH reports. The other nodes are pairs of prefixes
of its words, of which there may be many more: the trees of a*·b have the pairs of a+, whether or
not an edge b goes on from there.
"""

from __future__ import annotations

from functools import lru_cache

from ..algebra import logical
from ..algebra.physical import AutomatonPath
from ..algebra.regex import Regex
from .characteristics import LARGEST, Characteristics
from .model import CostModel, Inputs
from .reached import words_of

MOST_STATES = 6
"""The most states of an automaton whose states have estimates of their own: a regex of the words of
a state may grow exponentially with the states."""

Transitions = tuple[tuple[int, int, bool, int], ...]


def tree_nodes(
    model: CostModel, path: AutomatonPath, output: Characteristics, inputs: Inputs
) -> tuple[float, float]:
    """The nodes that begin or last longer per time unit, and those from which edges may go on.

    The nodes of an accepting state are as many as the results. In a state that a closure leads to,
    they are the pairs of its words. In any other state they count as the results do, or as the
    edges of which they consist; so do all of an automaton of more than :data:`MOST_STATES` states.
    """
    rate, population = 0.0, output.population
    closures = _behind_closures(path.states, path.transitions, path.accepting)
    for state in range(1, path.states):
        words = closures.get(state)
        if words is not None:
            pairs = model.characteristics(logical.Path(words), inputs)
            rate += pairs.arrival_rate
            population += pairs.population
            continue
        first = 0.0
        if state not in path.accepting:
            begun = [ref for at, ref, _, to in path.transitions if (at, to) == (0, state)]
            first = sum([inputs[ref].arrival_rate for ref in begun])
        rate += max(output.arrival_rate, first)
    return min(rate, LARGEST), min(population, LARGEST)


@lru_cache(maxsize=4096)
def _behind_closures(
    states: int, transitions: Transitions, accepting: tuple[int, ...]
) -> dict[int, Regex]:
    """The words of the states that do not accept and whose words are of unbounded length."""
    if states > MOST_STATES:
        return {}
    following: dict[int, set[int]] = {state: set() for state in range(states)}
    for state, _, _, to in transitions:
        following[state].add(to)
    behind: set[int] = set()
    for state in range(1, states):
        reached = _reached(following, state)
        if state in reached:
            behind |= reached
    return {
        state: words_of(states, transitions, (state,))
        for state in sorted(behind)
        if state not in accepting
    }


def _reached(following: dict[int, set[int]], start: int) -> set[int]:
    """The states that one or more moves lead to."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        for state in following[waiting.pop()] - reached:
            reached.add(state)
            waiting.append(state)
    return reached
