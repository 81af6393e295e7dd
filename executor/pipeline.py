"""The in-process pipeline: the operators of a stage over batches of encoded rows.

In: the nodes of a stage (:mod:`headrace.executor.stages`) in one partition, and batches sorted by
ts for each input of the stage. Out: for each call one batch for each output.

Operators run in topological order, each over one whole batch, with its inputs merged by ts. A node
that feeds two consumers is computed once. The ``ts`` of a result is that of the row that completes
it; the ``exp`` of a result is the smallest expiry among its parts.

State follows from the valid input rows and from the starts of the runs of REWINDOW, so
:meth:`Pipeline.replay` can rebuild it. An operator at the root may need more: expired rows for a
while (:attr:`Pipeline.retention`) and a small extra state (:meth:`Pipeline.extra_state`).

An operator at the root may also give rows when time advances. ``now`` is the present application
time in ticks: rows with a ts of ``now`` may still come, and all before is final. FOREVER is the end
of the input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import MappingProxyType

import numpy as np

from ..algebra.physical import PhysicalOperator
from ..algebra.plan import PlanError
from .batch import FOREVER, Batch, merged
from .counters import ADDED_VALIDITY, DROPPED, Coalescing, Counters, Tally, counters_of
from .dictionary import Dictionary
from .operators.base import Operator, TimeDriven, WithExtraState
from .operators.build import Site, build
from .operators.path_with_deletions import PathWithDeletions
from .operators.retraction import RetractOperator
from .operators.rewindow import RewindowOperator
from .partitions import Partition

ONLY_PARTITION = Partition()
_NOTHING: Mapping[int, Batch] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StageNode:
    """An operator of a stage; ``inputs`` are the ids of earlier nodes or of the stage's inputs."""

    id: int
    operator: PhysicalOperator
    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StageInput:
    """Rows from outside the stage: a scan input of the plan, or the output of another stage."""

    id: int
    width: int


@dataclass(slots=True)
class _Node:
    """A node with its running operator; ``counters`` has no state, which the operator knows."""

    stage_node: StageNode
    operator: Operator
    width: int
    counters: Counters = field(default_factory=Counters)


class Pipeline:
    """A running stage; not thread-safe."""

    def __init__(
        self,
        nodes: Sequence[StageNode],
        inputs: Sequence[StageInput],
        outputs: Sequence[int],
        dictionary: Dictionary,
        partition: Partition = ONLY_PARTITION,
    ) -> None:
        """Builds the operators, with empty state.

        Args:
            nodes: in topological order.
            inputs: the inputs of :meth:`process`.
            outputs: the ids of the nodes (or inputs) whose rows are the results.
            dictionary: the dictionary of the codes in rows; FILTER decodes values with it.
            partition: the partition of the rows.

        Raises:
            PlanError: for an operator that cannot run here, with the node's id.
        """
        self._widths = {i.id: i.width for i in inputs}
        self._inputs = frozenset(self._widths)
        self._arrived = dict.fromkeys(self._widths, Counters())
        self._nodes: list[_Node] = []
        self._outputs = tuple(dict.fromkeys(outputs))
        self._now: int | None = None
        for node in nodes:
            if node.id in self._widths or any(i not in self._widths for i in node.inputs):
                raise PlanError(f"node {node.id}: an input is missing or the id is used twice")
            widths = [self._widths[i] for i in node.inputs]
            try:
                width = node.operator.output_width(widths)
                operator = build(node.operator, Site(width, widths, dictionary, partition))
            except (ValueError, PlanError) as error:
                raise PlanError(f"node {node.id} ({node.operator.op}): {error}") from error
            self._widths[node.id] = width
            self._nodes.append(_Node(node, operator, width))
        for output in self._outputs:
            if output not in self._widths:
                raise PlanError(f"node {output}, an output, is not in the stage")
        self._read_inside = Counter(i for node in nodes for i in node.inputs)

    def process(self, inputs: Mapping[int, Batch], now: int | None = None) -> dict[int, Batch]:
        """Processes at most one batch for each input; returns one batch for each output.

        Args:
            inputs: batches by the id of the input.
            now: the application time to advance to, in ticks, even if no row has it as ts; state
                that has expired by then is released. Default: the largest ts in ``inputs``.
                FOREVER: the input is at its end, and operators give all rows that they hold.

        Raises:
            ValueError: if a batch is not sorted by ts, has a row before the present time, or is of
                an unknown input.
        """
        return self._run(inputs, now, wanted=True)

    def replay(
        self,
        inputs: Mapping[int, Batch],
        now: int | None = None,
        runs: Mapping[int, Batch] = _NOTHING,
    ) -> None:
        """Like :meth:`process`, but gives no results and counts nothing.

        A new pipeline continues as the old one would after three steps:

        - Replay the input rows that expire after ``now -`` :attr:`retention`.
        - In the same call pass the :meth:`runs` of the old pipeline that expire after that time.
        - Restore the :meth:`extra_state` that the old pipeline had at ``now``.
        """
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator):
                node_runs = runs.get(node.stage_node.id, Batch.empty(node.width))
                node.operator.restore_runs(node_runs)
        self._run(inputs, now, wanted=False)

    def record_runs(self) -> None:
        """Starts to record the runs of REWINDOW, for :meth:`runs`."""
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator):
                node.operator.records_runs = True

    def runs(self) -> dict[int, Batch]:
        """The runs that began or grew since the last call, by node id, sorted by ts."""
        by_node = {}
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator) and node.operator.recorded_runs:
                runs = merged(node.operator.recorded_runs)
                node.operator.recorded_runs.clear()
                by_node[node.stage_node.id] = runs.take(np.argsort(runs.ts, kind="stable"))
        return by_node

    @property
    def retention(self) -> int:
        """The number of ticks for which a replay needs an input row after the row's expiry."""
        return max([node.stage_node.operator.retention() for node in self._nodes], default=0)

    def extra_state(self) -> bytes | None:
        """State at :attr:`now` that a replay cannot rebuild; None if there is none."""
        for node in self._nodes:
            if isinstance(node.operator, WithExtraState):
                return node.operator.extra_state()
        return None

    def restore(self, state: bytes, now: int) -> None:
        """Restores the :meth:`extra_state` of ``now``, after a replay."""
        for node in self._nodes:
            if isinstance(node.operator, WithExtraState):
                node.operator.restore(state, now)

    def _run(
        self, inputs: Mapping[int, Batch], now: int | None, *, wanted: bool
    ) -> dict[int, Batch]:
        """Runs all operators; without ``wanted``, in a replay, counts nothing."""
        rows = self._accepted(inputs, now)
        if wanted:
            for i, batch in rows.items():
                self._arrived[i] = self._arrived[i].then(counters_of(batch))
        pending = self._read_inside + Counter(self._outputs)  # readers left, by node or input
        for node in self._nodes:
            stage_node = node.stage_node
            gathered = []
            for i in stage_node.inputs:
                gathered.append(rows[i])
                pending[i] -= 1
            for i in stage_node.inputs:
                if not pending[i]:  # release a batch after its last reader
                    rows.pop(i, None)
            start = perf_counter()
            before, unmatched = _tally(node.operator), _unmatched(node.operator)
            # In a replay, a node that nothing inside the stage reads only updates its state.
            read = wanted or self._read_inside[stage_node.id] > 0
            result = node.operator.process(gathered, read)
            if isinstance(node.operator, TimeDriven) and self._now is not None:
                due = node.operator.advance(self._now, read)
                result = merged([result, due]) if len(due) else result
            if self._now is not None and self._now < FOREVER:
                node.operator.tick(self._now)
            if wanted:
                work = _work(node.operator, gathered, result, start, before)
                dropped = work.dropped + _unmatched(node.operator) - unmatched
                node.counters = node.counters.then(replace(work, dropped=dropped))
            if pending[stage_node.id]:
                rows[stage_node.id] = result
        return {output: rows[output] for output in self._outputs}

    def _accepted(self, inputs: Mapping[int, Batch], now: int | None) -> dict[int, Batch]:
        """Checks the inputs and advances :attr:`now`; returns a batch for every input.

        Kernels need contiguous, writable arrays.

        Raises:
            ValueError: as :meth:`process`.
        """
        unknown = set(inputs) - self._inputs
        if unknown:
            raise ValueError(f"no such input: {sorted(unknown)}; there are {sorted(self._inputs)}")
        rows = {i: Batch.empty(self._widths[i]) for i in self._inputs}
        latest = now
        for i, batch in inputs.items():
            if not len(batch):
                continue
            if batch.width != self._widths[i]:
                raise ValueError(f"input {i} has {self._widths[i]} columns, not {batch.width}")
            if np.any(batch.ts[1:] < batch.ts[:-1]):
                raise ValueError(f"the rows of input {i} are not sorted by ts")
            if self._now is not None and batch.ts[0] < self._now:
                raise ValueError(
                    f"input {i} goes back in time: a row of {batch.ts[0]} after {self._now}"
                )
            last = int(batch.ts[-1])
            latest = last if latest is None else max(latest, last)
            rows[i] = Batch(*(np.require(a, np.int64, ["C", "W"]) for a in batch.arrays))
        if latest is not None:
            self._now = latest if self._now is None else max(self._now, latest)
        return rows

    def purge(self, now: int) -> None:
        """Releases all state that expired at or before ``now``.

        :meth:`process` releases expired state now and then; call this for exact metrics.
        """
        self._now = now if self._now is None else max(self._now, now)
        for node in self._nodes:
            node.operator.purge(self._now)

    @property
    def now(self) -> int | None:
        """The present application time in ticks; None before the first row."""
        return self._now

    @property
    def arrived(self) -> dict[int, Counters]:
        """Counters of the rows of each input, by the id of the input."""
        return dict(self._arrived)

    @property
    def counters(self) -> dict[int, Counters]:
        """Counters of each operator, by node id."""
        return {
            node.stage_node.id: replace(
                node.counters, state_entries=node.operator.entries, state_bytes=node.operator.nbytes
            )
            for node in self._nodes
        }


def _tally(operator: Operator) -> Tally | None:
    """A copy of the tally of a coalescing operator; None for other operators.

    The tally of a path over deletions is not used: its retractions subtract validity themselves.
    """
    if isinstance(operator, PathWithDeletions) or not isinstance(operator, Coalescing):
        return None
    return operator.tally.copy()


def _unmatched(operator: Operator) -> int:
    """The number of deletions that matched no row."""
    return operator.unmatched if isinstance(operator, RetractOperator) else 0


def _work(
    operator: Operator, gathered: Sequence[Batch], result: Batch, start: float, before: Tally | None
) -> Counters:
    """The counters of an operator for one batch.

    Args:
        operator: the operator, after the batch.
        gathered: its inputs.
        result: its output.
        start: when it began, by ``perf_counter``.
        before: the operator's tally before the batch.
    """
    elapsed = perf_counter() - start
    work = replace(counters_of(result), rows_in=sum(map(len, gathered)), seconds=elapsed)
    after = _tally(operator)
    if before is None or after is None:
        return work
    tally = after - before
    return replace(work, dropped=int(tally[DROPPED]), validity=float(tally[ADDED_VALIDITY]))
