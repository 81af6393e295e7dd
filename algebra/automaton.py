"""Minimal deterministic automata of path regexes (thesis 6.3, appendix A).

In: a :data:`headrace.algebra.regex.Regex` whose symbols are numbers of inputs. Out: its minimal,
trimmed DFA with a numbering that depends on the language alone: breadth first from the
start, symbols in the order (input, inverse). Two regexes of the same language therefore
have equal automata.

The construction is Thompson's automaton, then the subset construction, then Moore's partition
refinement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count

from .regex import (
    Alternation,
    Concat,
    Epsilon,
    Nothing,
    Optional,
    Plus,
    Regex,
    Star,
    Symbol,
)

MOST_STATES = 4096
"""The most states of a deterministic automaton; a plan with a larger one would be of no use."""

MOST_MOVES = 100_000
"""The most moves of an automaton, over all states; bounds the time to build the automaton."""

MOST_COMPARED = 50
"""The most states of an automaton whose states are compared pair by pair."""

Step = tuple[int, bool]
"""A letter of the alphabet: (input, inverse)."""


Transition = tuple[int, int, bool, int]
"""(state, input, inverse, next state)."""


class AutomatonError(ValueError):
    """A regex whose deterministic automaton has more than :data:`MOST_STATES` states, or
    :data:`MOST_MOVES` moves."""


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton; state 0 is the start, every state can reach acceptance.

    ``transitions`` are ``(state, input, inverse, next state)`` in sorted order. Only the
    automaton of no words at all has a state (its start) from which nothing is accepted.
    """

    states: int
    transitions: tuple[tuple[int, int, bool, int], ...]
    accepting: tuple[int, ...]

    @cached_property
    def moves(self) -> dict[tuple[int, int, bool], int]:
        """``(state, input, inverse)`` to the next state, where there is one."""
        return {(state, ref, inverse): to for state, ref, inverse, to in self.transitions}

    def accepts(self, word: tuple[Step, ...]) -> bool:
        """Whether a word of (input, inverse) steps is in the language."""
        state: int | None = 0
        for ref, inverse in word:
            if state is None:
                return False
            state = self.moves.get((state, ref, inverse))
        return state is not None and state in self.accepting

    def with_fresh_start(self) -> Automaton:
        """The form of the automaton for S-PATH: no move enters the start, which never accepts.

        The fresh automaton accepts the same words without the empty one, which no PATH reports.
        It has at most one state more than the minimal automaton.
        """
        entered = any(to == 0 for *_, to in self.transitions)
        if not entered and 0 not in self.accepting:
            return self
        if not entered:
            return Automaton(self.states, self.transitions, self.accepting[1:])
        old_start = self.states
        moves: dict[int, dict[Step, int]] = defaultdict(dict)
        for state, ref, inverse, to in self.transitions:
            moves[state or old_start][ref, inverse] = to or old_start
        moves[0] = dict(moves[old_start])
        return _numbered(moves, 0, {state or old_start for state in self.accepting})

    @cached_property
    def ignores_repeats(self) -> bool:
        """Whether simple paths connect the pairs of different vertices that any paths do.

        They do if every suffix accepted after a later state is also accepted after each earlier
        state (the suffix language containment of Mendelzon and Wood, and of thesis 4.4). Then a
        cycle of a path can be cut out. The start need not accept the empty suffix, which would
        connect a vertex with itself. The answer for an automaton of more than
        :data:`MOST_COMPARED` states is always no.
        """
        if self.states > MOST_COMPARED:
            return False
        lacking = self._lacking
        later: dict[int, set[int]] = defaultdict(set)
        for state, _, _, to in self.transitions:
            later[state].add(to)
        for start in range(self.states):
            reached: set[int] = set()
            pending = [start]
            while pending:
                fresh = later[pending.pop()] - reached
                reached |= fresh
                pending.extend(fresh)
            if start == 0 and any(self._steps_lack(0, to, lacking) for to in reached):
                return False
            if start != 0 and any((start, to) in lacking for to in reached):
                return False
        return True

    def ignores_repeated_edges(self, relations: Sequence[int]) -> bool:
        """Whether trails connect the pairs that any paths do.

        They do if each repetition of an edge can be cut out of a path, so that a shorter path with
        the same ends is left. An edge that is walked twice in one direction is walked once: the
        path goes on as after the second time, from the state after the first time, or from the
        state to which the second step leads from the state before the first. An edge that is
        walked in both directions is left out with all steps between, since the path is back at a
        vertex. In each case a word that is accepted after the second time has to be accepted in
        the place of the first. docs/semantics.md has the proof. The answer for an automaton of more
        than :data:`MOST_COMPARED` states is always no.

        Args:
            relations: for each input the number of the relation that its edges are from; inputs of
                different relations have no edge in common.
        """
        if self.states > MOST_COMPARED:
            return False
        return all(
            self._cuts(first, second)
            for first in self.transitions
            for second in self.transitions
            if relations[first[1]] == relations[second[1]] and second[0] in self._later[first[3]]
        )

    def _cuts(self, first: Transition, second: Transition) -> bool:
        """Whether an edge can be walked once that a path walks by two transitions."""
        before, _, inverse, after = first
        _, ref, other_inverse, end = second
        if inverse != other_inverse:
            return (before, end) not in self._lacking
        instead = self.moves.get((before, ref, other_inverse))
        return (after, end) not in self._lacking or (
            instead is not None and (instead, end) not in self._lacking
        )

    @cached_property
    def _later(self) -> tuple[frozenset[int], ...]:
        """For each state the states that some word leads to, itself among them."""
        following: dict[int, set[int]] = defaultdict(set)
        for state, _, _, to in self.transitions:
            following[state].add(to)
        reached: list[frozenset[int]] = []
        for start in range(self.states):
            seen, pending = {start}, [start]
            while pending:
                fresh = following[pending.pop()] - seen
                seen |= fresh
                pending.extend(fresh)
            reached.append(frozenset(seen))
        return tuple(reached)

    @cached_property
    def _lacking(self) -> set[tuple[int, int]]:
        """Pairs of states (p, q) where some word is accepted from q and not from p."""
        final = set(self.accepting)
        everything = range(self.states)
        different = {
            (p, q) for p in everything for q in everything if q in final and p not in final
        }
        while True:
            fresh = {
                (p, q)
                for p in everything
                for q in everything
                if (p, q) not in different and self._steps_lack(p, q, different)
            }
            if not fresh:
                return different
            different |= fresh

    def _steps_lack(self, p: int, q: int, lacking: set[tuple[int, int]]) -> bool:
        """Whether some word of at least one step is accepted from q and not from p."""
        for state, ref, inverse, to in self.transitions:
            if state == q:
                other = self.moves.get((p, ref, inverse))
                if other is None or (other, to) in lacking:
                    return True
        return False


@lru_cache(maxsize=4096)
def minimal_dfa(regex: Regex) -> Automaton:
    """The minimal trimmed DFA of ``regex``, the empty word included if it accepts that.

    ``minimal_dfa(regex).states`` is the k of the cost model (thesis 6.3.2): 2 for ``q+``,
    3 for ``a·b``.

    Raises:
        AutomatonError: if the automaton would have more than :data:`MOST_STATES` states, or
            :data:`MOST_MOVES` moves.
    """
    return _minimized(*_determinized(_steps_of(regex)))


@dataclass(frozen=True)
class _Steps:
    """A nondeterministic automaton: ``moves`` of a state read a step, ``free`` ones read nothing.

    It is Thompson's, with no more states than needed: the labels of an alternation lead from one
    state to one other, so that a set of n labels has n moves, and not n ways to follow each of n
    positions. State 0 is the start, 1 the end.
    """

    moves: dict[int, list[tuple[Step, int]]]
    free: dict[int, list[int]]


def _steps_of(regex: Regex) -> _Steps:
    moves: dict[int, list[tuple[Step, int]]] = defaultdict(list)
    free: dict[int, list[int]] = defaultdict(list)
    fresh = count(2)

    def visit(r: Regex, start: int, end: int) -> None:
        """Adds the words of ``r`` between two states.

        Nothing that is added leads into ``start`` or out of ``end``.
        """
        match r:
            case Symbol(ref, inverse):
                if not isinstance(ref, int):
                    raise TypeError(f"an automaton reads numbered inputs, not {ref!r}")
                moves[start].append(((ref, inverse), end))
            case Concat(parts):
                for part in parts[:-1]:
                    following = next(fresh)
                    visit(part, start, following)
                    start = following
                visit(parts[-1], start, end)
            case Alternation(parts):
                for part in parts:
                    visit(part, start, end)
            case Star(part) | Plus(part):
                first, last = next(fresh), next(fresh)
                free[start].append(first)
                visit(part, first, last)
                free[last] += [first, end]
                if isinstance(r, Star):
                    free[start].append(end)
            case Optional(part):
                visit(part, start, end)
                free[start].append(end)
            case Epsilon():
                free[start].append(end)
            case Nothing():
                pass

    visit(regex, 0, 1)
    return _Steps(moves, free)


Moves = dict[int, dict[Step, int]]


def _determinized(steps: _Steps) -> tuple[Moves, set[int]]:
    """The subset construction; no set is dead, since no step of a normal form is.

    A set holds the states that steps lead into; what is reached from them for free is added
    when its moves are looked at.
    """
    reached: dict[int, frozenset[int]] = {}

    def closure(state: int) -> frozenset[int]:
        """The states reached without a step, of these the ones that read a step or accept."""
        targets = reached.get(state)
        if targets is None:
            closure, pending = {state}, [state]
            while pending:
                new = [to for to in steps.free.get(pending.pop(), ()) if to not in closure]
                closure.update(new)
                pending += new
            targets = reached[state] = frozenset(s for s in closure if s == 1 or s in steps.moves)
        return targets

    numbers: dict[frozenset[int], int] = {closure(0): 0}
    pending = [closure(0)]
    moves: Moves = {}
    move_count = 0
    while pending:
        subset = pending.pop()
        targets: dict[Step, set[int]] = defaultdict(set)
        for state in subset:
            for step, to in steps.moves.get(state, ()):
                targets[step].add(to)
        row = moves[numbers[subset]] = {}
        move_count += len(targets)
        if move_count > MOST_MOVES:
            raise AutomatonError(f"its deterministic automaton has more than {MOST_MOVES:,} moves")
        for step, ends in targets.items():
            target = frozenset().union(*map(closure, ends))
            if target not in numbers:
                if len(numbers) == MOST_STATES:
                    raise AutomatonError(
                        f"its deterministic automaton has more than {MOST_STATES} states"
                    )
                numbers[target] = len(numbers)
                pending.append(target)
            row[step] = numbers[target]
    return moves, {number for subset, number in numbers.items() if 1 in subset}


def _minimized(moves: Moves, accepting: set[int]) -> Automaton:
    """Moore's refinement: split the states until equal blocks have equal moves."""
    block = {state: int(state in accepting) for state in moves}
    blocks = len(set(block.values()))
    while True:
        numbers: dict[tuple[int, frozenset[tuple[Step, int]]], int] = {}
        refined = {}
        for state, row in moves.items():
            signature = block[state], frozenset((step, block[to]) for step, to in row.items())
            refined[state] = numbers.setdefault(signature, len(numbers))
        block = refined
        if len(numbers) == blocks:
            break
        blocks = len(numbers)
    merged = {
        block[state]: {step: block[to] for step, to in row.items()} for state, row in moves.items()
    }
    return _numbered(merged, block[0], {block[state] for state in accepting})


def _numbered(moves: Moves, start: int, accepting: set[int]) -> Automaton:
    """The states numbered breadth first, steps in sorted order."""
    number = {start: 0}
    order = [start]
    transitions: list[tuple[int, int, bool, int]] = []
    for state in order:
        for (ref, inverse), to in sorted(moves.get(state, {}).items()):
            if to not in number:
                number[to] = len(order)
                order.append(to)
            transitions.append((number[state], ref, inverse, number[to]))
    return Automaton(
        len(order), tuple(transitions), tuple(sorted(number[state] for state in accepting))
    )
