"""The physical operators: what a plan is made of and the executor runs.

Each is a flat value of JSON-able fields, so that the same class serves the memo, the
plan document and the executor. ``op`` is its stable name in the plan. As in the
logical algebra, columns are positions and ``variables`` only what people read. The memo hashes
operators all the time, so fields that hardly ever tell two apart are left out of the hash.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ..aggregates import Function, ReportMode

WithDeletions = Literal["with_deletions"] | None
"""Null where rows are never taken back before they expire."""


@dataclass(frozen=True, slots=True)
class WindowScan:
    """Reads one label of a stream and gives each edge its validity (Definition 30).

    ``range`` and ``slide`` are those of its window; null for a stored graph, whose edges are
    valid in ``[0, inf)``. Columns are source, target, and the edge's ``properties`` by name
    (``ts``: its own time).
    ``predicate``, SQL over columns ``c0``, ``c1``, ..., is checked while reading; null: all edges.
    Of a stream with deletions those come along, marked as such, for a RETRACT above.
    """

    stream: str
    label: str
    range: int | None
    slide: int | None
    predicate: str | None = None
    properties: tuple[str, ...] = ()
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["WSCAN"] = "WSCAN"

    @property
    def scans(self) -> tuple[WindowScan, ...]:
        """What is read, label by label."""
        return (self,)


@dataclass(frozen=True, slots=True)
class WindowScanUnion:
    """Reads several labels of a stream at once, as WSCAN does one; does not coalesce.

    ``selections`` are pairs of a label and a predicate as in :class:`WindowScan`; an edge is
    read, once, if it satisfies one of them.
    """

    stream: str
    selections: tuple[tuple[str, str | None], ...]
    range: int | None
    slide: int | None
    properties: tuple[str, ...] = ()
    op: Literal["WSCAN_UNION"] = "WSCAN_UNION"

    @property
    def update_pattern(self) -> WithDeletions:
        """A deletion is one of a single label, so there are none here."""
        return None

    @property
    def scans(self) -> tuple[WindowScan, ...]:
        """What is read, label by label."""
        return tuple(
            WindowScan(self.stream, label, self.range, self.slide, predicate, self.properties)
            for label, predicate in self.selections
        )


@dataclass(frozen=True, slots=True)
class Retract:
    """Makes of a deletion, which names an edge, a row for each that takes back an open one."""

    op: Literal["RETRACT"] = "RETRACT"


@dataclass(frozen=True, slots=True)
class FilterRows:
    """Keeps the rows that satisfy ``predicate``, SQL over columns ``c0``, ``c1``, ..."""

    predicate: str
    op: Literal["FILTER"] = "FILTER"


@dataclass(frozen=True, slots=True)
class MergeUnion:
    """Merges its inputs by ts; does not coalesce."""

    op: Literal["UNION"] = "UNION"


@dataclass(frozen=True, slots=True)
class ProjectColumns:
    """Output column ``i`` is input column ``columns[i]``; does not coalesce."""

    columns: tuple[int, ...]
    op: Literal["PROJECT"] = "PROJECT"


Horizon = tuple[int, int]
"""A column that holds a time, and how long after it the last row arrives that can be met."""


@dataclass(frozen=True, slots=True)
class HashJoin:
    """Symmetric hash join of two inputs on the variables that both bind.

    ``bindings[k][j]``: the variable of column ``j`` of input ``k``; ``output``: the
    variables kept. Without a shared variable it is the cross product. ``residual``, SQL over
    columns ``c0``, ``c1``, ... that stand for the variables, has to hold of the two rows
    joined; null: nothing has. ``horizon`` says for each input until when its rows are held: no
    row that arrives on the other side more than the bound after the time in the column meets
    such a row, so it is given back then, if it has not expired; null: until it expires. Over a
    stream with deletions it takes back what it gave, and holds all rows until they expire.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    output: tuple[int, ...]
    variables: tuple[str, ...] = field(default=(), compare=False)
    residual: str | None = field(default=None, hash=False)
    horizon: tuple[Horizon | None, Horizon | None] | None = field(default=None, hash=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["HASH_JOIN"] = "HASH_JOIN"

    def named(self, columns: tuple[str, ...]) -> HashJoin:
        """The join with the names that its variables have where its columns have these.

        A variable that is not kept has its own name, changed if another one has it.
        """
        names = {v: columns[k] for k, v in reversed(list(enumerate(self.output)))}
        for variable in range(1 + max((v for side in self.bindings for v in side), default=-1)):
            if variable not in names:
                own = self.variables[variable : variable + 1]
                wanted = name = own[0] if own else f"v{variable}"
                count = 2
                while name in names.values():
                    name, count = f"{wanted}_{count}", count + 1
                names[variable] = name
        return replace(self, variables=tuple([names[v] for v in sorted(names)]))


DEFAULT_STEPS = 1_000_000
"""Steps that SIMPLE_PATH may take for one edge, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class AutomatonPath:
    """What the operators for PATH have in common: the automaton of the words that they look for.

    It is deterministic, minimal and trimmed but for its start state 0, which
    no transition enters. ``transitions`` are ``(state, input, inverse, next state)`` with
    the input's number; ``regex`` is for people.

    ``roots``: over several partitions each can report paths from ``all`` roots that it meets,
    or only from its ``own``, those that hash to it; its inputs are then broadcast.
    """

    states: int
    transitions: tuple[tuple[int, int, bool, int], ...]
    accepting: tuple[int, ...]
    regex: str = field(default="", compare=False)
    roots: Literal["all", "own"] = "all"


@dataclass(frozen=True, slots=True)
class SPath(AutomatonPath):
    """S-PATH: widest-path spanning forest over (vertex, DFA state) (thesis appendix A).

    Over a stream with deletions it is RAPQ: what rested on an edge that ends is looked for anew,
    and taken back where it is not found (thesis 4.3, keyed on expiry).
    """

    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["S_PATH"] = "S_PATH"


@dataclass(frozen=True, slots=True)
class SimplePath(AutomatonPath):
    """Paths that repeat no vertex: a search from each new edge for the pairs that it completes.

    ``budget``: how many steps the search for one edge may take, beyond which the run ends
    with an error; it is no part of what the plan is.
    """

    budget: int = field(default=DEFAULT_STEPS, compare=False)
    op: Literal["SIMPLE_PATH"] = "SIMPLE_PATH"

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("the budget of SIMPLE_PATH is at least one step")


@dataclass(frozen=True, slots=True)
class SlidePath(AutomatonPath):
    """As S_PATH, for all edges of one ts as a set: by components of the product graph, per expiry.

    ``period``: the time between two ts, what it was costed with; it is no part of what the
    operator computes.
    """

    period: int = field(default=1, compare=False)
    op: Literal["SLIDE_PATH"] = "SLIDE_PATH"

    def __post_init__(self) -> None:
        if self.period < 1:
            raise ValueError("the period of SLIDE_PATH is at least one time unit")


@dataclass(frozen=True, slots=True)
class Coalesce:
    """Drops a row that earlier rows of its value already said; extends validity.

    Over a stream with deletions it counts rows, and takes back what holds no more.
    """

    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["COALESCE"] = "COALESCE"


@dataclass(frozen=True, slots=True)
class Rewindow:
    """Puts a window over rows that operators made: a value that begins to be valid at ``t``
    counts until ``floor(t / slide) * slide + range`` at most, however long it stays valid.

    Only when it has been invalid in between does it begin anew. The result is coalesced.
    """

    range: int
    slide: int
    op: Literal["REWINDOW"] = "REWINDOW"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Moves rows between partitions; each keeps the order of the rows of its partition.

    ``spread``: ``hash`` sends a row where the vertices of ``columns`` hash to, ``single`` to
    the first partition, ``broadcast`` a copy to each.
    """

    spread: Literal["hash", "single", "broadcast"]
    columns: tuple[int, ...] = ()
    op: Literal["EXCHANGE"] = "EXCHANGE"


@dataclass(frozen=True, slots=True)
class ToKernel:
    """Hands rows over from Spark SQL, which computed what is below, to compiled operators."""

    op: Literal["TO_KERNEL"] = "TO_KERNEL"


@dataclass(frozen=True, slots=True)
class EmptyRelation:
    """A relation of ``width`` columns that never has a row."""

    width: int
    op: Literal["EMPTY"] = "EMPTY"


@dataclass(frozen=True, slots=True)
class ComputeColumns:
    """Output column ``i`` is ``values[i]``, SQL over columns ``c0``, ``c1``, ...

    What cannot be computed is missing; does not coalesce.
    """

    values: tuple[str, ...]
    op: Literal["COMPUTE"] = "COMPUTE"


@dataclass(frozen=True, slots=True)
class AggregateRows:
    """One row for each combination of the columns ``keys`` among the different rows valid.

    ``aggregates`` are pairs of a function and a column (null: rows are counted); output columns
    are ``output``, positions in the keys followed by the aggregates. A row is given when it is
    final: it closes, or, with ``every``, an instant that is a multiple of that has passed. What
    is final is not taken back, over a stream with deletions neither.
    """

    keys: tuple[int, ...]
    aggregates: tuple[tuple[Function, int | None], ...]
    output: tuple[int, ...]
    every: int | None = None
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["AGGREGATE"] = "AGGREGATE"


@dataclass(frozen=True, slots=True)
class WitnessPaths:
    """With each row of the first input a path that says why it holds, as text: JSON of its steps.

    The path leads from the vertex of column ``source`` to that of ``target`` over valid edges of
    the other inputs, and its word is one of the automaton's, which is as in
    :class:`AutomatonPath` (its input k is the operator's input k + 1); a step over that input is
    called ``labels[k]``. It is a shortest one; with ``simple`` it repeats no vertex, and the
    search for it takes at most ``budget`` steps. Of rows that agree in ``keys`` those are left out
    that earlier ones already said. ``output`` are columns of the first input, and the number of
    those for the path.
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

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("the budget of WITNESS is at least one step")


@dataclass(frozen=True, slots=True)
class ReportRows:
    """The rows that are valid (``snapshot``), are and were not one period ago (``entering``), or
    were and are not (``exit``), at each multiple of ``every``, once that is past.

    The ts of a result is the instant of its report, which is never taken back, its exp the next.
    """

    mode: ReportMode
    every: int
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["REPORT"] = "REPORT"


PhysicalOperator = (
    WindowScan
    | WindowScanUnion
    | Retract
    | FilterRows
    | MergeUnion
    | ProjectColumns
    | HashJoin
    | SPath
    | SimplePath
    | SlidePath
    | Coalesce
    | Rewindow
    | Exchange
    | ToKernel
    | EmptyRelation
    | ComputeColumns
    | AggregateRows
    | WitnessPaths
    | ReportRows
)


def over_deletions(operator: PhysicalOperator) -> PhysicalOperator:
    """The operator that computes the same over an input with deletions."""
    if isinstance(operator, HashJoin):
        operator = replace(operator, horizon=None)
    if isinstance(operator, WindowScan | HashJoin | SPath | Coalesce | AggregateRows | ReportRows):
        return replace(operator, update_pattern="with_deletions")
    return operator
