"""The operators that follow paths over the product of the edges and an automaton."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .. import notation, predicate_syntax
from ..automaton import MOST_STATES
from ..hashing import hashed_once
from ..limits import DEFAULT_STEPS
from ..notation import InputNames
from ..properties import (
    BROADCAST,
    NOTHING,
    SINGLE,
    Distribution,
    Spread,
    UpdatePattern,
    hashed,
)
from ..untrusted import MOST_TRANSITIONS, WIDEST, at_most, between, distinct
from ..values import PropertyType, StreamTypes, Types
from .base import (
    DeletionVariant,
    PhysicalOperator,
    Repeats,
    WithDeletions,
    moved,
    registered,
    require,
    require_columns,
    together,
)


class FollowsAutomaton(PhysicalOperator):
    """An operator with an automaton whose transitions name inputs of edges."""

    __slots__ = ()
    states: int
    transitions: tuple[tuple[int, int, bool, int], ...]
    accepting: tuple[int, ...]
    regex: str

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """A pair is emitted only when its validity begins or grows."""
        return "dropped"

    def check_automaton(self, inputs: int) -> None:
        """Checks that the automaton is deterministic, and that nothing enters its start.

        Raises:
            ValueError: with the reason.
        """
        between([self.states], 1, MOST_STATES + 2, "the number of states")
        at_most(len(self.transitions), MOST_TRANSITIONS, "transitions")
        steps = self.transitions
        between([i for _, i, _, _ in steps], 0, inputs, "the input of a transition")
        between([q for q, *_ in steps], 0, self.states, "a state")
        between([q for *_, q in steps], 1, self.states, "the state that one leads to")
        between(self.accepting, 1, self.states, "an accepting state")
        distinct(self.accepting, "accepting state")
        distinct([s[:3] for s in steps], "transition of a state, input and direction")
        require(inputs >= 1, "a path has at least one input")

    def require_known(self, inputs: int) -> None:
        """Raises ValueError if the automaton names a state or an input that does not exist."""
        in_range = all(
            0 <= q < self.states and 0 <= to < self.states and 0 <= i < inputs
            for q, i, _, to in self.transitions
        ) and all(0 < q < self.states for q in self.accepting)
        require(in_range, "the automaton names a state or an input that does not exist")


@dataclass(frozen=True, slots=True)
class AutomatonPath(FollowsAutomaton):
    """Base class of the operators for PATH, with the automaton of the words to search.

    The automaton is deterministic, trimmed, and minimal except for its start state 0, which no
    transition enters.

    Attributes:
        states: the number of states.
        transitions: ``(state, input, inverse, next state)``, with the number of the input.
        accepting: the accepting states.
        regex: the regular expression, for people.
        roots: which paths a partition reports: those from ``all`` roots, or those from its ``own``
            roots, which hash to the partition. ``own`` needs inputs that are broadcast.
        sources: the condition that the first vertex of a path satisfies, SQL over column ``c0``;
            null for paths from every vertex. Trees grow from these vertices alone.
    """

    states: int
    transitions: tuple[tuple[int, int, bool, int], ...]
    accepting: tuple[int, ...]
    regex: str = field(default="", compare=False)
    roots: Literal["all", "own"] = "all"
    sources: str | None = None

    names_inputs: ClassVar[bool] = True

    def check_bounds(self, inputs: int) -> None:
        self.check_automaton(inputs)
        if self.sources is not None:
            _ = predicate_syntax.checked(self.sources, 1)

    def output_width(self, inputs: Sequence[int]) -> int:
        require(all(width == 2 for width in inputs), "a path is made of pairs")
        self.require_known(len(inputs))
        return 2

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of the first and last vertices of paths."""
        steps = self.transitions
        starts = [inputs[i][1 if inv else 0] for s, i, inv, _ in steps if s == 0]
        ends = [inputs[i][0 if inv else 1] for _, i, inv, to in steps if to in self.accepting]
        return (frozenset().union(*starts), frozenset().union(*ends))

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        return ("src", "trg")

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return ("src", "trg")

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Own roots need copies of the edges; all roots need copies, or one partition."""
        where = {each for each in inputs if each != NOTHING}
        if not where:
            return NOTHING
        if self.roots == "own":
            require(where == {BROADCAST}, "each partition needs every edge to grow its trees")
            return hashed(0)
        together = where in ({SINGLE}, {BROADCAST})
        require(together, "edges of one path may lie on several partitions")
        return where.pop()

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Everything on one partition, or copies."""
        yield (SINGLE,) * len(widths)
        yield (BROADCAST,) * len(widths)

    def arguments(self, names: InputNames) -> str:
        """``a·b+ by root  where src = 7``."""
        by = " by root" if self.roots == "own" else ""
        return notation.path_text(self, names.inputs) + by + notation.sources(self.sources)

    def relation(self, below: Sequence[str]) -> str | None:
        """``(a·b+)``."""
        return f"({notation.path_text(self, below)})"


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class SPath(AutomatonPath, DeletionVariant):
    """S-PATH: widest-path spanning forest over (vertex, DFA state) (thesis appendix A).

    Over a stream with deletions the operator is RAPQ: it searches again for the results that used
    a deleted edge, and retracts those that have no other path (thesis 4.3, keyed on expiry).
    """

    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["S_PATH"] = "S_PATH"

    @property
    def coalesces(self) -> bool:
        """Whether a pair is given only when its validity grows, as with one accepting state."""
        return self.update_pattern is None and len(self.accepting) == 1

    def arguments(self, names: InputNames) -> str:
        """``a·b+ by RAPQ``."""
        rapq = "" if self.update_pattern is None else " by RAPQ"
        return AutomatonPath.arguments(self, names) + rapq


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class PairPath(AutomatonPath, DeletionVariant):
    """As S_PATH over all inputs but the last one, of the pairs that the last input has.

    A pair is valid while a path connects it and a row of the last input has it. Over a stream with
    deletions the operator is RAPQ, and retracts results for want of a path or of a pair.
    """

    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["PAIR_PATH"] = "PAIR_PATH"

    @property
    def coalesces(self) -> bool:
        """As S_PATH: whether a pair is given only when its validity grows."""
        return self.update_pattern is None and len(self.accepting) == 1

    def check_bounds(self, inputs: int) -> None:
        """Checks the automaton, whose transitions do not read the last input."""
        AutomatonPath.check_bounds(self, inputs - 1)

    def output_width(self, inputs: Sequence[int]) -> int:
        require(len(inputs) >= 2, "it needs an input of edges and an input of pairs")
        require(inputs[-1] == 2, "its last input has pairs")
        return AutomatonPath.output_width(self, inputs[:-1])

    def arguments(self, names: InputNames) -> str:
        """``a·b+  where (src, trg) in c by RAPQ``."""
        rapq = "" if self.update_pattern is None else " by RAPQ"
        return AutomatonPath.arguments(self, names) + notation.pairs(names.inputs[-1]) + rapq


class NotOverDeletions(PhysicalOperator):
    """An operator that has no variant for deletions."""

    __slots__ = ()
    reads_retractions: ClassVar[bool] = False

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """Nothing is ever retracted."""
        require(not self.retracted(inputs), f"{self.op} is not made for deletions")
        return UpdatePattern.APPEND_ONLY


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class SimplePath(NotOverDeletions, AutomatonPath):
    """Paths that repeat no vertex: a search from each new edge for the pairs that it completes.

    ``budget`` is the most steps of the search for one edge; a longer search ends the run with an
    error. Operators that differ only in their budgets are equal. With ``from_relation`` the first
    input has the pairs (x, x) of the sources. The first step of each path alone reads this input,
    and does not count as repeating x.
    """

    budget: int = field(default=DEFAULT_STEPS, compare=False)
    op: Literal["SIMPLE_PATH"] = "SIMPLE_PATH"
    from_relation: bool = False

    coalesces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("the budget of SIMPLE_PATH is at least one step")

    def check_bounds(self, inputs: int) -> None:
        """Checks the automaton, and that its first steps alone read a relation of sources."""
        AutomatonPath.check_bounds(self, inputs)
        reads_sources = {(s == 0, i == 0) for s, i, _, _ in self.transitions}
        forwards = not any(inverse for s, _, inverse, _ in self.transitions if s == 0)
        alone = reads_sources <= {(True, True), (False, False)} and forwards
        require(
            not self.from_relation or alone, "the first steps alone read the relation of sources"
        )


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class SlidePath(NotOverDeletions, AutomatonPath):
    """As S_PATH, for all edges of one ts as a set: by components of the product graph, per expiry.

    ``period`` is the number of time units between two ts with which the operator was costed. It
    does not affect the result.
    """

    period: int = field(default=1, compare=False)
    op: Literal["SLIDE_PATH"] = "SLIDE_PATH"

    coalesces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.period < 1:
            raise ValueError("the period of SLIDE_PATH is at least one time unit")


@registered
@dataclass(frozen=True, slots=True)
class WitnessPaths(FollowsAutomaton):
    """Adds to each row of the first input a path as its witness, as text: JSON of its steps.

    The witness is a shortest path over valid edges of the other inputs. A row is left out if the
    validity of earlier rows with the same ``keys`` covers its validity.

    Attributes:
        keys: the columns that identify a row.
        output: the output columns, as columns of the first input; the number of columns of the
            first input stands for the path.
        source: the column of the first input with the first vertex of the path.
        target: the column of the first input with the last vertex of the path.
        states: the number of states of the automaton, which is as in :class:`AutomatonPath`.
        transitions: ``(state, input, inverse, next state)``; input k of the automaton is input
            k + 1 of the operator.
        accepting: the accepting states.
        labels: the name of a step over input k + 1, by k.
        simple: whether the path repeats no vertex.
        regex: the regular expression, for people.
        budget: the most steps of the search for one simple path.
    """

    keys: tuple[int, ...]
    output: tuple[int, ...]
    source: int
    target: int
    states: int
    transitions: tuple[tuple[int, int, bool, int], ...]
    accepting: tuple[int, ...]
    labels: tuple[str, ...]
    simple: bool = False
    regex: str = field(default="", compare=False)
    budget: int = field(default=DEFAULT_STEPS, compare=False)
    op: Literal["WITNESS"] = "WITNESS"

    coalesces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("the budget of WITNESS is at least one step")

    def check_bounds(self, inputs: int) -> None:
        """Checks the automaton, and the numbers of columns and labels."""
        self.check_automaton(inputs - 1)
        for listed in (self.keys, self.output, self.labels):
            at_most(len(listed), WIDEST, "columns or labels")

    def output_width(self, inputs: Sequence[int]) -> int:
        """The number of output columns."""
        require(len(inputs) >= 2, "it needs an input of rows and an input of edges")
        rows, pairs = inputs[0], inputs[1:]
        require(all(width == 2 for width in pairs), "a path is made of pairs")
        require(len(self.labels) == len(pairs), "each input of edges has a label")
        require_columns((*self.keys, self.source, self.target), rows)
        require_columns(self.output, rows + 1)
        self.require_known(len(pairs))
        return len(self.output)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of the chosen columns of the first input, and of the path."""
        with_path: Types = (*inputs[0], frozenset({"path"}))
        return tuple(with_path[column] for column in self.output)

    def new_types(self) -> frozenset[PropertyType]:
        return frozenset({"string"})

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        """The names of the output columns for the first input; source and target for edges."""
        if position:
            return ("src", "trg")
        kept = dict(zip(reversed(self.output), reversed(own), strict=True))
        return tuple(kept.get(k, "") for k in range(width))

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return tuple((*inputs[0], "path")[column] for column in self.output)

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The rows of a key lie on one partition, and every such partition has all edges."""
        rows, *edges = inputs
        if rows == NOTHING:
            return NOTHING
        where = {each for each in edges if each != NOTHING}
        beside = where <= {BROADCAST} or (rows == SINGLE and where == {SINGLE})
        require(beside, "edges of a path may lie apart from the rows that it is for")
        if rows.spread is not Spread.HASH:
            return together(rows, "key")
        by_key = not set(self.keys).isdisjoint(rows.columns)
        require(by_key, f"its rows are distributed by {rows}, which hashes no key")
        return moved(rows, self.output)

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Everything on one partition, or rows hashed by a key beside copies of the edges."""
        yield (SINGLE,) * len(widths)
        for column in sorted(set(self.keys)):
            yield (hashed(column), *(BROADCAST,) * (len(widths) - 1))

    def arguments(self, names: InputNames) -> str:
        """``x (a·b+) y  simple``."""
        words = notation.path_text(self, self.labels)
        ends = notation.chosen(names.columns[0], (self.source, self.target))
        return notation.witness(ends, words, simple=self.simple)
