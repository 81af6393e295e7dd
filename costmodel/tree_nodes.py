"""The nodes of the trees that S_PATH keeps: a vertex in a state, below a root.

A node in an accepting state is a pair that the PATH reports. The other nodes are pairs of prefixes
of its words, of which there may be many more: the trees of a*·b have the pairs of a+, whether or
not an edge b goes on from there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

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


class TreeNodes(NamedTuple):
    """The nodes of the trees of a path.

    Attributes:
        rate: the nodes that begin or last longer per time unit.
        labels: the labels whose edges may follow such a node, of all such nodes per time unit.
        population: the nodes valid at an instant from which edges may go on.
    """

    rate: float
    labels: float
    population: float


def tree_nodes(
    model: CostModel, path: AutomatonPath, output: Characteristics, inputs: Inputs
) -> TreeNodes:
    """The nodes of the trees of a path over its inputs of edges, whose results are ``output``.

    The nodes of an accepting state are as many as the results. In any other state they are the
    pairs of its words; in an automaton of more than :data:`MOST_STATES` states they count as the
    results do, or as the edges of which they consist.
    """
    rate, labels, population = 0.0, 0.0, output.population
    words_of_states = _words_of_states(path.states, path.transitions, path.accepting)
    for state, words in enumerate(words_of_states, start=1):
        if words is not None:
            pairs = model.characteristics(logical.Path(words), inputs)
            own = pairs.arrival_rate
            population += pairs.population
        else:
            first = 0.0
            if state not in path.accepting:
                begun = [ref for at, ref, _, to in path.transitions if (at, to) == (0, state)]
                first = sum([inputs[ref].arrival_rate for ref in begun])
            own = max(output.arrival_rate, first)
        rate += own
        labels += own * sum([at == state for at, *_ in path.transitions])
    return TreeNodes(*[min(each, LARGEST) for each in (rate, labels, population)])


def new_edges(inputs: Inputs) -> float:
    """The share of the edges that repeat no valid one."""
    population = sum([edges.population for edges in inputs])
    different = sum([min(edges.most_values, edges.population) for edges in inputs])
    return different / population if population else 1.0


@lru_cache(maxsize=4096)
def _words_of_states(
    states: int, transitions: Transitions, accepting: tuple[int, ...]
) -> tuple[Regex | None, ...]:
    """The words of each state but the start; None of a state that accepts, or of many."""
    return tuple(
        [
            None
            if states > MOST_STATES or state in accepting
            else words_of(states, transitions, (state,))
            for state in range(1, states)
        ]
    )
