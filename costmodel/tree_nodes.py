"""The nodes of the trees that S_PATH keeps: a vertex in a state, below a root.

A node in an accepting state is a pair that the PATH reports. The other nodes are pairs of prefixes
of its words, of which there may be many more: the trees of a*·b have the pairs of a+, whether or
not an edge b goes on from there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ..algebra.physical import AutomatonPath
from ..algebra.regex import Regex, Symbol, concat, refs
from .characteristics import LARGEST, Characteristics
from .model import CostModel, Inputs
from .reached import words_of

MOST_STATES = 6
"""The most states of an automaton whose states have estimates of their own: a regex of the words of
a state may grow exponentially with the states."""

Transitions = tuple[tuple[int, int, bool, int], ...]


class _State(NamedTuple):
    """A state of an automaton, other than the start.

    Attributes:
        before: the one state from which edges lead here, if it has estimates of its own; else 0.
        words: the words that lead from that state to this one, over the pairs of that state and
            then the inputs; None if the state accepts, or is one of many.
        inputs: the inputs that the words refer to.
        begun: the inputs whose edges lead from the start to a state that does not accept.
        labels: the number of labels that may follow.
    """

    before: int
    words: Regex | None
    inputs: tuple[int, ...]
    begun: tuple[int, ...]
    labels: int


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
    pairs_of: dict[int, Characteristics] = {}
    for number, state in enumerate(_states(path.states, path.transitions, path.accepting), start=1):
        if state.words is not None:
            edges = tuple([inputs[i] for i in state.inputs])
            over = (pairs_of[state.before], *edges) if state.before else edges
            pairs = pairs_of[number] = model.pairs(state.words, over)
            own = pairs.arrival_rate
            population += pairs.population
        else:
            first = sum([inputs[i].arrival_rate for i in state.begun])
            own = max(output.arrival_rate, first)
        rate += own
        labels += own * state.labels
    return TreeNodes(*[min(each, LARGEST) for each in (rate, labels, population)])


def new_edges(inputs: Inputs) -> float:
    """The share of the edges that repeat no valid one."""
    population = sum([edges.population for edges in inputs])
    different = sum([min(edges.most_values, edges.population) for edges in inputs])
    return different / population if population else 1.0


@lru_cache(maxsize=4096)
def _states(
    states: int, transitions: Transitions, accepting: tuple[int, ...]
) -> tuple[_State, ...]:
    """The states of an automaton but the start, in order."""
    found: list[_State] = []
    for state in range(1, states):
        labels = sum([at == state for at, *_ in transitions])
        into = [(at, ref, inverse) for at, ref, inverse, to in transitions if to == state]
        begun = tuple([ref for at, ref, _ in into if at == 0])
        if state in accepting:
            found.append(_State(0, None, (), (), labels))
        elif states > MOST_STATES:
            found.append(_State(0, None, (), begun, labels))
        elif len(into) == 1 and 0 < into[0][0] < state and into[0][0] not in accepting:
            ((before, ref, inverse),) = into
            found.append(
                _State(before, concat([Symbol(0), Symbol(1, inverse)]), (ref,), (), labels)
            )
        else:
            words = words_of(states, transitions, (state,))
            inputs = tuple(range(1 + max([int(ref) for ref in refs(words)])))
            found.append(_State(0, words, inputs, begun, labels))
    return tuple(found)
