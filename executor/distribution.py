"""Whether a plan's rows lie where its operators need them.

In: a plan; nothing that its document says about distribution is trusted. Out: the distribution of
each node's rows over the partitions, derived from the operators alone.

Rules, for more than one partition:

* a leaf's rows lie anywhere, each on one partition;
* EXCHANGE brings its spread; copies are not exchanged again;
* FILTER, COALESCE and REWINDOW keep the distribution of their input; the last two need the rows
  of a value on one partition, so they do not stand over rows that lie anywhere;
* RETRACT keeps it too, and needs an edge and its deletion on one partition: rows hashed on an
  end, on a single partition, or copies;
* PROJECT and COMPUTE keep it, as long as the column hashed on stays;
* AGGREGATE has rows hashed by a key, or all on one partition; REPORT has the rows of a value on
  one partition;
* WITNESS has them as AGGREGATE, and all edges beside them: copies, or everything on one partition;
* UNION keeps what all inputs have in common; copies are united with copies only;
* a join has one side in copies, or both on one partition, or both hashed on a shared variable;
* a path over its own roots needs copies, and its rows lie where their root hashes to; over all
  roots it needs all rows on one partition, or copies;
* the root's rows are not copies.

With one partition there is nothing to distribute, and an EXCHANGE is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..algebra.physical import (
    AggregateRows,
    AutomatonPath,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    PhysicalOperator,
    ProjectColumns,
    ReportRows,
    Retract,
    Rewindow,
    ToKernel,
    WindowScan,
    WindowScanUnion,
    WitnessPaths,
)
from ..algebra.plan import PhysicalPlan, PlanError
from ..algebra.properties import UpdatePattern
from ..algebra.scalar import Column, parsed
from ..algebra.update_patterns import update_patterns
from .scans import leaves
from .widths import widths_of


@dataclass(frozen=True, slots=True)
class Distribution:
    """Where rows lie.

    ``columns``, of ``hash``: each holds the vertex whose partition the row is on. ``nothing``:
    there are no rows, which fits everywhere.
    """

    kind: Literal["any", "single", "hash", "broadcast", "nothing"]
    columns: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return (
            f"{self.kind}({', '.join(map(str, sorted(self.columns)))})"
            if self.columns
            else (self.kind)
        )


ANY, SINGLE, BROADCAST, NOTHING = (
    Distribution("any"),
    Distribution("single"),
    Distribution("broadcast"),
    Distribution("nothing"),
)


def check(plan: PhysicalPlan) -> None:
    """Refuses a plan that would give wrong answers on its partitions, or of deletions.

    Raises:
        PlanError: with the node and the reason.
    """
    distributions(plan)
    if update_patterns(plan)[plan.root] is UpdatePattern.MARKED:
        raise PlanError(f"node {plan.root}: nothing makes of a deletion what it takes back")


def distributions(plan: PhysicalPlan) -> dict[int, Distribution]:
    """The distribution of the rows of each leaf, and of each node above, that the root needs.

    Raises:
        PlanError: if an operator does not find its rows as it needs them.
    """
    several = plan.parallelism > 1
    found = dict.fromkeys((leaf.node for leaf in leaves(plan)), ANY if several else SINGLE)
    for i in sorted(widths_of(plan).keys() - found.keys()):
        node = plan.nodes[i]
        try:
            inputs = [found[k] for k in node.inputs]
            if several:
                found[i] = delivered(node.operator, inputs)
            elif isinstance(node.operator, Exchange):
                raise ValueError("the plan is made for one partition, and there is no other")
            else:
                found[i] = SINGLE
        except ValueError as error:
            raise PlanError(f"node {i} ({node.op}): {error}") from error
    if found[plan.root] == BROADCAST:
        op = plan.nodes[plan.root].op
        raise PlanError(f"node {plan.root} ({op}): the root would give every row several times")
    return found


def delivered(operator: PhysicalOperator, inputs: Sequence[Distribution]) -> Distribution:
    """What an operator delivers.

    Raises:
        ValueError: if that needs rows elsewhere than they are.
    """
    match operator:
        case Exchange():
            return _exchanged(operator, inputs[0])
        case FilterRows():
            return inputs[0]
        case Coalesce() | Rewindow():
            if inputs[0] == ANY:
                raise ValueError("the rows of a value may lie on several partitions")
            return inputs[0]
        case Retract():
            given = inputs[0]
            if given == ANY or (given.kind == "hash" and not given.columns & {0, 1}):
                raise ValueError("an edge and what deletes it may lie on several partitions")
            return given
        case ProjectColumns(columns=columns):
            return _moved(inputs[0], columns)
        case MergeUnion():
            return _united(inputs)
        case HashJoin():
            return _joined(operator, inputs[0], inputs[1])
        case AutomatonPath():
            return _walked(operator, inputs)
        case EmptyRelation():
            return NOTHING
        case ComputeColumns(values=values):
            read = [parsed(value, 1 << 20) for value in values]
            return _moved(inputs[0], [c.position if isinstance(c, Column) else -1 for c in read])
        case AggregateRows(keys=keys, output=output):
            return _grouped(inputs[0], keys, output)
        case WitnessPaths(keys=keys, output=output):
            return _witnessed(inputs[0], inputs[1:], keys, output)
        case ReportRows():
            if inputs[0] == ANY:
                raise ValueError("the rows of a value may lie on several partitions")
            return inputs[0]
        case WindowScan() | WindowScanUnion() | ToKernel():
            raise ValueError("it does not stand over a scan and filters alone")


def _exchanged(exchange: Exchange, given: Distribution) -> Distribution:
    if given == BROADCAST:
        raise ValueError("its input is on every partition already")
    if exchange.spread != "hash":
        if exchange.columns:
            raise ValueError(f"{exchange.spread} takes no columns")
        return SINGLE if exchange.spread == "single" else BROADCAST
    if len(exchange.columns) != 1:
        raise ValueError(f"it hashes on one column, not on {len(exchange.columns)}")
    return Distribution("hash", frozenset(exchange.columns))


def _moved(given: Distribution, columns: Sequence[int]) -> Distribution:
    """The distribution by the columns of a projection; any where the hashed one is gone."""
    if given.kind != "hash":
        return given
    kept = frozenset(i for i, column in enumerate(columns) if column in given.columns)
    return Distribution("hash", kept) if kept else ANY


def _grouped(given: Distribution, keys: Sequence[int], output: Sequence[int]) -> Distribution:
    """The rows of a key lie together where one of its columns is hashed by."""
    if given.kind != "hash":
        if given == ANY:
            raise ValueError("the rows of a key may lie on several partitions")
        return given
    hashed = [i for i, key in enumerate(keys) if key in given.columns]
    if not hashed:
        raise ValueError(f"its input lies {given}, and that is by no key")
    kept = frozenset(i for i, place in enumerate(output) if place in hashed)
    return Distribution("hash", kept) if kept else ANY


def _witnessed(
    given: Distribution, edges: Sequence[Distribution], keys: Sequence[int], output: Sequence[int]
) -> Distribution:
    """The rows of a key lie together, and all edges are where they are."""
    if given == NOTHING:
        return NOTHING
    where = {distribution for distribution in edges if distribution != NOTHING}
    if not (where <= {BROADCAST} or (given == SINGLE and where == {SINGLE})):
        raise ValueError("edges of a path may lie apart from the rows that it is for")
    if given.kind != "hash":
        if given == ANY:
            raise ValueError("the rows of a key may lie on several partitions")
        return given
    if not given.columns & set(keys):
        raise ValueError(f"its rows lie {given}, and that is by no key")
    return _moved(given, output)


def _united(inputs: Sequence[Distribution]) -> Distribution:
    given = [distribution for distribution in inputs if distribution != NOTHING]
    if not given:
        return NOTHING
    if all(distribution == given[0] for distribution in given):
        return given[0]
    if BROADCAST in given:
        raise ValueError("some inputs are on every partition, others are not")
    if any(distribution.kind != "hash" for distribution in given):
        return ANY
    common = frozenset.intersection(*(distribution.columns for distribution in given))
    return Distribution("hash", common) if common else ANY


def _joined(join: HashJoin, left: Distribution, right: Distribution) -> Distribution:
    if NOTHING in (left, right):
        return NOTHING
    if left == right and left in (SINGLE, BROADCAST):
        return left
    first, second = (
        frozenset(binding[column] for column in side.columns)
        for binding, side in zip(join.bindings, (left, right), strict=True)
    )
    if BROADCAST in (left, right):
        other = right if left == BROADCAST else left
        variables = second if left == BROADCAST else first
        if other.kind != "hash":
            return other
    else:
        variables = first & second
        if not variables:
            raise ValueError(
                f"its inputs lie {left} and {right}, so that rows to be joined may lie apart"
            )
        variables = first | second
    kept = frozenset(i for i, variable in enumerate(join.output) if variable in variables)
    return Distribution("hash", kept) if kept else ANY


def _walked(path: AutomatonPath, inputs: Sequence[Distribution]) -> Distribution:
    given = {distribution for distribution in inputs if distribution != NOTHING}
    if not given:
        return NOTHING
    if path.roots == "own":
        if given != {BROADCAST}:
            raise ValueError("each partition needs every edge to grow its trees")
        return Distribution("hash", frozenset({0}))
    if given in ({SINGLE}, {BROADCAST}):
        return given.pop()
    raise ValueError("edges of one path may lie on several partitions")
