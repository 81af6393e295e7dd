"""The in-process pipeline: the operators of a stage over batches of encoded rows.

In: the nodes of a stage (:mod:`headrace.executor.stages`) in one partition, and batches sorted by
ts for each input of the stage. Out: for each call one batch for each output.

Operators run in topological order, each over one whole batch, with its inputs merged by ts. A node
that feeds two consumers is computed once, and joins that read it by one key share an index
(:mod:`.operators.shared_index`). The ``ts`` of a result is that of the row that completes
it; the ``exp`` of a result is the smallest expiry among its parts.

State follows from the valid input rows and from the starts of the runs of REWINDOW, so
:meth:`Pipeline.replay` can rebuild it. An operator at the root may need more: expired rows for a
while (:attr:`Pipeline.retention`), and its open rows (:meth:`Pipeline.open_row_changes`).

An operator at the root may also give rows when time advances. ``now`` is the present application
time in ticks: rows with a ts of ``now`` may still come, and all before is final. FOREVER is the end
of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from types import MappingProxyType

import numpy as np

from ..algebra.physical import PhysicalOperator
from ..algebra.plan_parts import PlanError
from ..algebra.properties import Cells
from .batch import FOREVER, Batch, IntArray, merged
from .cells import codes_in_cells
from .counters import ADDED_VALIDITY, DROPPED, Counters, Tally, Work, tally_of
from .dictionary import Dictionary
from .kernels.compiling import seconds_compiling
from .operators.base import Operator, Store, TimeDriven, time_driven, with_open_rows
from .operators.build import Site, build
from .operators.path_with_deletions import PathWithDeletions
from .operators.retraction import RetractOperator
from .operators.rewindow import RewindowOperator
from .operators.shared_index import Sharing
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
    """Rows from outside the stage: a scan input of the plan, or the output of another stage.

    Attributes:
        id: the id of the input.
        width: the number of columns.
        cells: the cells of a hypercube in which the rows have copies; None for any other rows.
    """

    id: int
    width: int
    cells: Cells | None = None


@dataclass(slots=True)
class _Node:
    """A node with its running operator.

    Attributes:
        id: the id of the node.
        inputs: the ids of its inputs.
        operator: the operator.
        width: the number of columns of its results.
        is_read: whether a node of the stage reads the results.
        releases: the inputs that no later node reads and that are not outputs of the stage.
        work: what it did; the operator itself knows its state.
        time_driven: the operator, if it emits results when time passes.
        retract: the operator, if it counts deletions without an edge.
        tally: the tally of a coalescing operator. That of a path over deletions is not used: its
            retractions subtract validity themselves.
        needs_call: whether the operator has to be called without rows, too.
    """

    id: int
    inputs: tuple[int, ...]
    operator: Operator
    width: int
    is_read: bool
    releases: tuple[int, ...]
    work: Work = field(default_factory=Work)
    time_driven: TimeDriven | None = None
    retract: RetractOperator | None = None
    tally: Tally | None = None
    needs_call: bool = False

    def __post_init__(self) -> None:
        operator = self.operator
        self.time_driven = time_driven(operator)
        self.needs_call = self.time_driven is not None or isinstance(operator, RewindowOperator)
        if isinstance(operator, RetractOperator):
            self.retract = operator
        if not isinstance(operator, PathWithDeletions):
            self.tally = tally_of(operator)


class Pipeline:
    """A running stage; not thread-safe."""

    def __init__(
        self,
        nodes: Sequence[StageNode],
        inputs: Sequence[StageInput],
        outputs: Sequence[int],
        dictionary: Dictionary,
        partition: Partition = ONLY_PARTITION,
        *,
        renewal: int = 1,
    ) -> None:
        """Builds the operators, with empty state.

        Args:
            nodes: in topological order.
            inputs: the inputs of :meth:`process`.
            outputs: the ids of the nodes (or inputs) whose rows are the results.
            dictionary: the dictionary of the codes in rows; FILTER decodes values with it.
            partition: the partition of the rows.
            renewal: the ticks at whose multiples rows expire that are given before their end is
                known, such as the length of the longest window.

        Raises:
            PlanError: for an operator that cannot run here, with the node's id.
        """
        self._dictionary, self._partition = dictionary, partition
        self._cells = {i.id: i.cells for i in inputs if i.cells is not None}
        self._widths = {i.id: i.width for i in inputs}
        self._empties = {i.id: Batch.empty(i.width) for i in inputs}
        self._arrived = {i.id: Work() for i in inputs}
        self._nodes: list[_Node] = []
        self._retention = 0
        self._outputs = tuple(dict.fromkeys(outputs))
        self._now: int | None = None
        self._sharing = Sharing((node.id, node.operator, node.inputs) for node in nodes)
        last_reader = {i: node.id for node in nodes for i in node.inputs}
        for node in nodes:
            if node.id in self._widths or any(i not in self._widths for i in node.inputs):
                raise PlanError(f"node {node.id}: an input is missing or the id is used twice")
            widths = [self._widths[i] for i in node.inputs]
            try:
                width = node.operator.output_width(widths)
                shared = self._sharing.of(node.id, len(widths))
                site = Site(width, widths, dictionary, partition, shared, renewal)
                operator = build(node.operator, site)
            except (ValueError, PlanError) as error:
                raise PlanError(f"node {node.id} ({node.operator.op}): {error}") from error
            self._widths[node.id] = width
            releases = {
                i for i in node.inputs if last_reader[i] == node.id and i not in self._outputs
            }
            is_read = node.id in last_reader
            self._nodes.append(
                _Node(node.id, node.inputs, operator, width, is_read, tuple(sorted(releases)))
            )
            self._retention = max(self._retention, node.operator.retention())
        self._retention += sum(node.operator.lookback for node in nodes)
        open_rows = (with_open_rows(node.operator) for node in self._nodes)
        self._with_open_rows = next((each for each in open_rows if each is not None), None)
        for output in self._outputs:
            if output not in self._widths:
                raise PlanError(f"node {output}, an output, is not in the stage")

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
        - Restore the open rows that the old pipeline had at ``now``.
        """
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator):
                node_runs = runs.get(node.id, Batch.empty(node.width))
                node.operator.restore_runs(node_runs)
        self._run(inputs, now, wanted=False)

    def record(self) -> None:
        """Starts to record changes, for :meth:`runs` and :meth:`open_row_changes`."""
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator):
                node.operator.records_runs = True
        if self._with_open_rows is not None:
            self._with_open_rows.records_changes = True

    def runs(self) -> dict[int, Batch]:
        """The runs that began or grew since the last call, by node id, sorted by ts."""
        by_node = {}
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator) and node.operator.recorded_runs:
                runs = merged(node.operator.recorded_runs)
                node.operator.recorded_runs.clear()
                by_node[node.id] = runs.take(np.argsort(runs.ts, kind="stable"))
        return by_node

    @property
    def retention(self) -> int:
        """The number of ticks for which a replay needs an input row after the row's expiry."""
        return self._retention

    def open_row_changes(self) -> Batch | None:
        """The open rows that ended or began since the last call, in the order of
        :meth:`headrace.executor.operators.base.WithOpenRows.open_row_changes`.

        Codes are those of :meth:`process`: decode the rows before the next call of it.
        """
        operator = self._with_open_rows
        return None if operator is None else operator.open_row_changes()

    def restore_open_rows(self, rows: Batch, now: int) -> None:
        """Restores the open rows of ``now``, after a replay."""
        assert self._with_open_rows is not None
        self._with_open_rows.restore_open_rows(rows, now)

    def _run(
        self, inputs: Mapping[int, Batch], now: int | None, *, wanted: bool
    ) -> dict[int, Batch]:
        """Runs all operators; without ``wanted``, in a replay, counts nothing."""
        rows = self._accepted(inputs, now)
        if wanted:
            for i in inputs:
                if len(rows[i]):
                    self._arrived[i].add(self._counted(i, rows[i]))
        for node in self._nodes:
            gathered = [rows[i] for i in node.inputs]
            for i in node.releases:
                del rows[i]
            rows[node.id] = self._processed(node, gathered, wanted)
        if self._now is not None and self._now < FOREVER:
            self._sharing.tick(self._now)
        return {output: rows[output] for output in self._outputs}

    def _counted(self, number: int, rows: Batch) -> Batch:
        """The rows of an input without copies that another partition counts."""
        cells = self._cells.get(number)
        if cells is None:
            return rows
        placed = codes_in_cells(cells, rows, self._dictionary)
        return rows.take(placed.counted_on(self._partition.partition))

    def _processed(self, node: _Node, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The results of a node.

        In a replay, a node that nothing inside the stage reads only updates its state.
        """
        operator, work, now = node.operator, node.work, self._now
        rows_in = sum(map(len, inputs))
        if not rows_in and not node.needs_call:
            if now is not None and now < FOREVER:
                operator.tick(now)
            return Batch.empty(node.width)
        start = perf_counter() - seconds_compiling()
        dropped, added = (0, 0.0) if node.tally is None else _read(node.tally)
        unmatched = 0 if node.retract is None else node.retract.unmatched
        read = wanted or node.is_read
        result = operator.process(inputs, read)
        if node.time_driven is not None and now is not None:
            due = node.time_driven.advance(now, read)
            result = merged([result, due]) if len(due) else result
        if now is not None and now < FOREVER:
            operator.tick(now)
        if wanted:
            work.seconds += perf_counter() - seconds_compiling() - start
            work.rows_in += rows_in
            if node.tally is None:
                work.add(result)
            else:
                now_dropped, now_added = _read(node.tally)
                work.add(result, now_added - added)
                work.dropped += now_dropped - dropped
            if node.retract is not None:
                work.dropped += node.retract.unmatched - unmatched
        return result

    def _accepted(self, inputs: Mapping[int, Batch], now: int | None) -> dict[int, Batch]:
        """Checks the inputs and advances :attr:`now`; returns a batch for every input.

        Kernels need contiguous, writable arrays.

        Raises:
            ValueError: as :meth:`process`.
        """
        rows, widths = self._empties.copy(), self._empties
        latest = now
        for i, batch in inputs.items():
            if i not in widths:
                unknown = sorted(set(inputs) - set(widths))
                raise ValueError(f"no such input: {unknown}; there are {sorted(widths)}")
            if not len(batch):
                continue
            if batch.width != self._widths[i]:
                raise ValueError(f"input {i} has {self._widths[i]} columns, not {batch.width}")
            ts = batch.ts
            if len(ts) > 1 and (ts[1:] < ts[:-1]).any():
                raise ValueError(f"the rows of input {i} are not sorted by ts")
            if self._now is not None and ts[0] < self._now:
                raise ValueError(f"input {i} goes back in time: a row of {ts[0]} after {self._now}")
            last = int(ts[-1])
            latest = last if latest is None else max(latest, last)
            rows[i] = batch if all(map(_is_plain, batch.arrays)) else _plain(batch)
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
        self._sharing.purge(self._now)

    @property
    def now(self) -> int | None:
        """The present application time in ticks; None before the first row."""
        return self._now

    @property
    def arrived(self) -> dict[int, Counters]:
        """Counters of the rows of each input, by the id of the input."""
        return {i: work.counters() for i, work in self._arrived.items()}

    @property
    def counters(self) -> dict[int, Counters]:
        """Counters of each operator, by node id.

        An index that several operators read is state of the first of them.
        """
        counters = {}
        for node in self._nodes:
            stores: list[Store] = [node.operator, *self._sharing.owned(node.id)]
            entries = sum([store.entries for store in stores])
            counters[node.id] = node.work.counters(entries, sum([s.nbytes for s in stores]))
        return counters


def _is_plain(array: IntArray) -> bool:
    """Whether an array has the form that kernels are compiled for."""
    return array.flags.carray and array.dtype == np.int64


def _plain(batch: Batch) -> Batch:
    return Batch(*(np.require(array, np.int64, ["C", "W"]) for array in batch.arrays))


def _read(tally: Tally) -> tuple[int, float]:
    """The dropped rows and the added validity in a tally."""
    return int(tally[DROPPED]), float(tally[ADDED_VALIDITY])
