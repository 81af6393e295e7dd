"""The in-process pipeline: the operators of a plan over batches of encoded rows.

In: the nodes of a stage (:mod:`headrace.executor.stages`) in one of its partitions and, for each
of the stage's inputs, batches sorted by ts. Out: per batch one of each output.

Operators run one whole batch at a time in topological order, each with its inputs merged
by ts; a node that feeds two consumers is computed once. A result's ``ts`` is that of the
row that caused it, its ``exp`` the smallest expiry among its parts. State holds what is
valid now and is a function of the still valid input rows, and of where the runs of REWINDOW
began, so it can be rebuilt by :meth:`Pipeline.replay`; what else an operator at the root needs is
small and explicit (:attr:`Pipeline.retention`, :meth:`Pipeline.extra_state`).

Operators at the root also give rows when time passes. ``now`` is how far it has come: rows of
``now`` may still come, and what lies before it is final. FOREVER is the end of the input.
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
from .counters import ADDED_VALIDITY, DROPPED, Coalescing, Counters, Tally, given
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
    """An operator of a stage; ``inputs`` are ids of earlier nodes or of the stage's inputs."""

    id: int
    operator: PhysicalOperator
    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StageInput:
    """Rows that come from outside the stage: a leaf of the plan, or another stage's result."""

    id: int
    width: int


@dataclass(slots=True)
class _Node:
    """A node at work."""

    stage_node: StageNode
    operator: Operator
    width: int
    done: Counters = field(default_factory=Counters)


class Pipeline:
    """A running stage; not safe for use by several threads at once."""

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
            inputs: what :meth:`process` is fed with.
            outputs: the ids of the nodes (or inputs) whose rows are the results.
            dictionary: what gave the codes; FILTER looks values up in it.
            partition: the one whose rows these are.

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
        """Takes one batch per input (none where there are no rows) and gives those of outputs.

        Args:
            inputs: by id of the leaf or other input.
            now: application time has come this far, although no row may say so; state
                that expired by then is given back. Default: the largest ts in ``inputs``.
                FOREVER: the input is at its end, and all that is held is given.

        Raises:
            ValueError: if a batch is not sorted by ts, starts before what was processed
                already, or is of an unknown input.
        """
        return self._run(inputs, now, wanted=True)

    def replay(
        self,
        inputs: Mapping[int, Batch],
        now: int | None = None,
        runs: Mapping[int, Batch] = _NOTHING,
    ) -> None:
        """Like :meth:`process`, but gives no results and counts nothing.

        A fresh pipeline that has replayed the input rows that expire after ``now -``
        :attr:`retention`, is given such :meth:`runs` of the old one, and takes up its
        :meth:`extra_state` of then, goes on as the one that had processed them all.
        """
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator):
                known = runs.get(node.stage_node.id, Batch.empty(node.width))
                node.operator.restore_runs(known)
        self._run(inputs, now, wanted=False)

    def record_runs(self) -> None:
        """Records from now on where runs of REWINDOW begin, for :meth:`runs`."""
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator):
                node.operator.records_runs = True

    def runs(self) -> dict[int, Batch]:
        """The runs that began or grew since the last call, by node id, sorted by ts."""
        found = {}
        for node in self._nodes:
            if isinstance(node.operator, RewindowOperator) and node.operator.recorded_runs:
                runs = merged(node.operator.recorded_runs)
                node.operator.recorded_runs.clear()
                found[node.stage_node.id] = runs.take(np.argsort(runs.ts, kind="stable"))
        return found

    @property
    def retention(self) -> int:
        """The number of ticks for which an input row is needed after its expiry."""
        return max([node.stage_node.operator.retention() for node in self._nodes], default=0)

    def extra_state(self) -> bytes | None:
        """State to keep beside the input, as of :attr:`now`; None if there is none."""
        for node in self._nodes:
            if isinstance(node.operator, WithExtraState):
                return node.operator.extra_state()
        return None

    def restore(self, state: bytes, now: int) -> None:
        """Restores an :meth:`extra_state` of ``now``, after a replay."""
        for node in self._nodes:
            if isinstance(node.operator, WithExtraState):
                node.operator.restore(state, now)

    def _run(
        self, inputs: Mapping[int, Batch], now: int | None, *, wanted: bool
    ) -> dict[int, Batch]:
        rows = self._accepted(inputs, now)
        if wanted:
            for i, batch in rows.items():
                self._arrived[i] = self._arrived[i].then(given(batch))
        pending = self._read_inside + Counter(self._outputs)
        for node in self._nodes:
            stage_node = node.stage_node
            gathered = []
            for i in stage_node.inputs:
                gathered.append(rows[i])
                pending[i] -= 1
            for i in stage_node.inputs:
                if not pending[i]:  # what everybody has read need not stay in memory
                    rows.pop(i, None)
            start = perf_counter()
            before, unmatched = _tally(node.operator), _unmatched(node.operator)
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
                node.done = node.done.then(replace(work, dropped=dropped))
            if pending[stage_node.id]:
                rows[stage_node.id] = result
        return {output: rows[output] for output in self._outputs}

    def _accepted(self, inputs: Mapping[int, Batch], now: int | None) -> dict[int, Batch]:
        """The batch of every input, checked, in arrays as the kernels want them."""
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
        """Gives back all state that expired at or before ``now``, at once.

        :meth:`process` does so by itself now and then; this is for an exact account.
        """
        self._now = now if self._now is None else max(self._now, now)
        for node in self._nodes:
            node.operator.purge(self._now)

    @property
    def now(self) -> int | None:
        """How far application time has come; None before the first row."""
        return self._now

    @property
    def arrived(self) -> dict[int, Counters]:
        """Counters of the rows that came in, by the id of the input."""
        return dict(self._arrived)

    @property
    def counters(self) -> dict[int, Counters]:
        """By node id."""
        return {
            node.stage_node.id: replace(
                node.done, state_entries=node.operator.entries, state_bytes=node.operator.nbytes
            )
            for node in self._nodes
        }


def _tally(operator: Operator) -> Tally | None:
    """The tally of a coalescing operator; with deletions, retractions tell as much."""
    if isinstance(operator, PathWithDeletions) or not isinstance(operator, Coalescing):
        return None
    return operator.tally.copy()


def _unmatched(operator: Operator) -> int:
    """The number of deletions that matched no row."""
    return operator.unmatched if isinstance(operator, RetractOperator) else 0


def _work(
    operator: Operator, gathered: Sequence[Batch], result: Batch, start: float, before: Tally | None
) -> Counters:
    """The counters of an operator for the rows that it took since ``start``."""
    done = replace(given(result), rows_in=sum(map(len, gathered)), seconds=perf_counter() - start)
    after = _tally(operator)
    if before is None or after is None:
        return done
    tally = after - before
    return replace(done, dropped=int(tally[DROPPED]), validity=float(tally[ADDED_VALIDITY]))
