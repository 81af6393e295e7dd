"""The pairs that a path reaches, of which PAIR_PATH reports some."""

from __future__ import annotations

from functools import lru_cache

from ..algebra import logical, regex
from ..algebra.physical import AutomatonPath
from ..algebra.regex import Regex, Symbol
from .characteristics import Characteristics
from .model import CostModel, Inputs


def reached(model: CostModel, path: AutomatonPath, inputs: Inputs) -> Characteristics:
    """The estimate of all pairs that an automaton connects over its inputs of edges."""
    words = words_of(path.states, path.transitions, path.accepting)
    pairs = model.characteristics(logical.BoundPath(words), inputs)
    return pairs.share(model.parallelism) if path.roots == "own" else pairs


def ends_of(model: CostModel, inputs: Inputs) -> Inputs:
    """The estimates of the pairs of ends of edges with further columns."""
    ends = logical.Project((0, 1))
    return tuple(
        each if len(each.distinct) == 2 else model.characteristics(ends, (each,)) for each in inputs
    )


@lru_cache(maxsize=4096)
def words_of(
    states: int, transitions: tuple[tuple[int, int, bool, int], ...], accepting: tuple[int, ...]
) -> Regex:
    """A regex of the words of an automaton, by state elimination.

    A further state follows the accepting ones. A word into a state, its loop, and a word out of it
    make one step; where the word in equals the loop, both are one closure. States where they are
    equal go first, then those with the most words in, so that closures come back as such.
    """
    end = states
    steps: dict[tuple[int, int], Regex] = {}

    def add(state: int, to: int, words: Regex) -> None:
        steps[state, to] = regex.alternation([steps.get((state, to), regex.Nothing()), words])

    def order(state: int) -> tuple[bool, int, int]:
        loop = steps.get((state, state))
        into = [r for (q, to), r in steps.items() if to == state and q != state]
        return any(word != loop for word in into), -len(into), state

    for state, number, inverse, to in transitions:
        add(state, to, Symbol(number, inverse))
    for state in accepting:
        add(state, end, regex.Epsilon())
    waiting = set(range(1, states))
    while waiting:
        state = min(waiting, key=order)
        waiting.remove(state)
        loop = steps.pop((state, state), None)
        into = [(q, r) for (q, to), r in steps.items() if to == state]
        out = [(to, r) for (q, to), r in steps.items() if q == state]
        for ends in [*((q, state) for q, _ in into), *((state, to) for to, _ in out)]:
            del steps[ends]
        for before, word in into:
            turned = [word] if loop is None else [word, regex.star(loop)]
            behind = regex.plus(word) if word == loop else regex.concat(turned)
            for after, rest in out:
                add(before, after, regex.concat([behind, rest]))
    return steps[0, end]
