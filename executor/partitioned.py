"""Runs all stages and partitions of a plan in this process, and counts the work of its nodes.

In: a batch sorted by ts for each scan input. Out: a batch of results, and counters by node. A plan
for one partition has one stage and one pipeline, which reads the batches directly.

All partitions use one dictionary, so that rows move between them as codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..algebra.physical import FilterRows
from ..algebra.plan import PhysicalPlan
from .batch import Batch, merged
from .cells import codes_in_cells
from .counters import Counters
from .dictionary import Dictionary
from .partitions import Partition
from .pipeline import Pipeline, StageInput, StageNode
from .scans import scan_inputs
from .stages import Flow, Stage, stages_of


def pipeline_of(
    plan: PhysicalPlan, stage: Stage, dictionary: Dictionary, partition: Partition
) -> Pipeline:
    """The operators of a stage in one of its partitions, with empty state.

    Raises:
        PlanError: for an operator that cannot run, with the node's id.
    """
    nodes = [StageNode(i, plan.nodes[i].operator, plan.nodes[i].inputs) for i in stage.nodes]
    inputs = [StageInput(flow.port, flow.width, flow.cells) for flow in stage.inputs]
    ranges = [scan.range for _, scan in plan.scans if scan.range is not None]
    renewal = max(ranges, default=1)
    return Pipeline(nodes, inputs, stage.outputs, dictionary, partition, renewal=renewal)


def stage_counters(stage: Stage, partition: Partition, pipeline: Pipeline) -> dict[int, Counters]:
    """The counters of a stage's operators in one partition, by node id.

    The scan inputs and exchanges that lead into the stage have counters, too. The rows of an
    EXCHANGE are the rows that arrive through it. The sum over partitions and stages counts a row
    with several copies once.
    """
    counters: dict[int, Counters] = {}
    for flow in stage.inputs:
        own = pipeline.arrived[flow.port]
        if flow.spread == "broadcast" and partition.partition:
            own = Counters()  # a copy
        if flow.port != flow.source:
            counters[flow.port] = replace(own, rows_in=own.rows_out)
        if not stage.number:
            counters.setdefault(flow.source, own)
    return {**counters, **pipeline.counters}


def plan_counters(
    plan: PhysicalPlan,
    counters: Mapping[int, Counters],
    passed: Mapping[int, Sequence[Counters]] | None = None,
) -> dict[int, Counters]:
    """The counters of all nodes of a plan, also of the nodes within its scan inputs.

    A scan input is a chain of nodes, and a pipeline counts only the rows of the topmost one. The
    nodes below returned as many rows, down to the topmost FILTER. The rows that a FILTER dropped
    are counted only by a run in this process.

    Args:
        plan: the plan.
        counters: by node id, of the scan inputs and the nodes above them.
        passed: by scan input, the counters of the scan, then those of each FILTER but the last.
    """
    all_nodes = dict(counters)
    for scan_input in scan_inputs(plan):
        if scan_input.node not in all_nodes:
            continue
        node, rows = scan_input.node, all_nodes[scan_input.node]
        before = list((passed or {}).get(scan_input.node, ()))
        while plan.nodes[node].inputs:
            below = rows
            if isinstance(plan.nodes[node].operator, FilterRows):
                if not before:
                    break
                below = before.pop()
            all_nodes[node] = replace(all_nodes.get(node, rows), rows_in=below.rows_out)
            (node,), rows = plan.nodes[node].inputs, below
            all_nodes.setdefault(node, rows)
    return all_nodes


class Partitioned:
    """A running plan: a pipeline for each stage and partition.

    Raises:
        PlanError: for a plan that cannot run.
    """

    def __init__(self, plan: PhysicalPlan, dictionary: Dictionary) -> None:
        self._root = plan.root
        self._partitions = plan.parallelism
        self._dictionary = dictionary
        self.stages = stages_of(plan)
        each = [Partition(k, self._partitions) for k in range(self._partitions)]
        self.pipelines = tuple(
            tuple(pipeline_of(plan, stage, dictionary, partition) for partition in each)
            for stage in self.stages
        )

    def process(self, batches: Mapping[int, Batch], until: int | None = None) -> Batch:
        """Processes a batch for each scan input and returns the results.

        Args:
            batches: batches by the node id of the scan input; one without rows may be absent.
            until: the application time after this call, FOREVER at the end of the input; by
                default the largest ts.

        Raises:
            ValueError: if a batch is not sorted by ts, starts before rows processed earlier, or
                has an unknown node id.
        """
        now = max((int(batch.ts[-1]) for batch in batches.values() if len(batch)), default=None)
        now = until if until is not None else now
        rows = {node: [batch] for node, batch in batches.items()}
        for stage, pipelines in zip(self.stages, self.pipelines, strict=True):
            inputs: list[dict[int, Batch]] = [{} for _ in pipelines]
            for flow in stage.inputs:
                if flow.source in rows:
                    for own, batch in zip(
                        inputs, self._arrived(flow, rows[flow.source]), strict=True
                    ):
                        own[flow.port] = batch
            results = [pipe.process(own, now) for pipe, own in zip(pipelines, inputs, strict=True)]
            rows = {output: [each[output] for each in results] for output in stage.outputs}
        return merged(rows[self._root])

    def _arrived(self, flow: Flow, sources: Sequence[Batch]) -> list[Batch]:
        """The rows of a flow by their target partition."""
        count = self._partitions
        if flow.spread == "stay":
            return list(sources)
        rows = merged(sources)
        if count == 1 or flow.spread == "broadcast":
            return [rows] * count
        if flow.spread == "single":
            return [rows, *[Batch.empty(flow.width)] * (count - 1)]
        if flow.cells is not None:
            placed = codes_in_cells(flow.cells, rows, self._dictionary)
            return [rows.take(placed.on(k)) for k in range(count)]
        target = self._dictionary.partitions(rows.columns[flow.column], count)
        return [rows.take(target == k) for k in range(count)]

    @property
    def now(self) -> int | None:
        """The current application time; None before the first row."""
        return self.pipelines[0][0].now

    @property
    def counters(self) -> dict[int, Counters]:
        """The counters by node id, summed over partitions."""
        totals: dict[int, Counters] = {}
        for stage, pipelines in zip(self.stages, self.pipelines, strict=True):
            for k, pipeline in enumerate(pipelines):
                partition = Partition(k, self._partitions)
                for node, own in stage_counters(stage, partition, pipeline).items():
                    totals[node] = totals.get(node, Counters()) + own
        return totals
