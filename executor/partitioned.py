"""Runs a plan in this process, over all its stages and partitions, and counts what its nodes do.

In: per leaf a batch sorted by ts. Out: a batch of results, and counters by node. A plan for
one partition has one stage and one pipeline, which takes the batches as they are.

All partitions use one dictionary, so that rows move between them as codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..algebra.physical import FilterRows
from ..algebra.plan import PhysicalPlan
from .batch import Batch, merged
from .counters import Counters
from .dictionary import Dictionary
from .partitions import Partition
from .pipeline import Pipeline, StageInput, StageNode
from .scans import leaves
from .stages import Flow, Stage, stages_of


def pipeline_of(
    plan: PhysicalPlan, stage: Stage, dictionary: Dictionary, partition: Partition
) -> Pipeline:
    """The operators of a stage in one of its partitions, with empty state.

    Raises:
        PlanError: for an operator that cannot run, with the node's id.
    """
    nodes = [StageNode(i, plan.nodes[i].operator, plan.nodes[i].inputs) for i in stage.nodes]
    inputs = [StageInput(flow.port, flow.width) for flow in stage.inputs]
    return Pipeline(nodes, inputs, stage.outputs, dictionary, partition)


def stage_counters(stage: Stage, partition: Partition, pipeline: Pipeline) -> dict[int, Counters]:
    """The counters of a stage's operators in one partition, by node id.

    The leaves and exchanges that lead into the stage have counters, too. An EXCHANGE gives what
    arrives by it. The sum over partitions and stages counts each row once, however many copies are
    made.
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
    """The counters of all nodes of a plan, those below its leaves among them.

    A leaf is a chain of nodes, and only what comes out at the top arrives. The nodes below it gave
    as many rows, down to the first FILTER. What a FILTER dropped is known in process alone.

    Args:
        plan: the plan.
        counters: by node id, of the leaves and the nodes above them.
        passed: by leaf, what the scan gave, then what each FILTER but the last left of it.
    """
    all_nodes = dict(counters)
    for leaf in leaves(plan):
        if leaf.node not in all_nodes:
            continue
        node, rows = leaf.node, all_nodes[leaf.node]
        before = list((passed or {}).get(leaf.node, ()))
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
    """A plan at work.

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

    def process(self, leaves: Mapping[int, Batch], until: int | None = None) -> Batch:
        """Takes a batch per leaf (none where there are no rows) and gives the results.

        ``until``: time has come this far, FOREVER to the end; by default to the largest ts.

        Raises:
            ValueError: if a batch is not sorted by ts, starts before what was processed
                already, or is of an unknown leaf.
        """
        now = max((int(batch.ts[-1]) for batch in leaves.values() if len(batch)), default=None)
        now = until if until is not None else now
        rows = {leaf: [batch] for leaf, batch in leaves.items()}
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
        """The rows of a flow by the partition that they come to."""
        count = self._partitions
        if flow.spread == "stay":
            return list(sources)
        rows = merged(sources)
        if count == 1 or flow.spread == "broadcast":
            return [rows] * count
        if flow.spread == "single":
            return [rows, *[Batch.empty(flow.width)] * (count - 1)]
        target = self._dictionary.partitions(rows.columns[flow.column], count)
        return [rows.take(target == k) for k in range(count)]

    @property
    def now(self) -> int | None:
        """How far application time has come; None before the first row."""
        return self.pipelines[0][0].now

    @property
    def counters(self) -> dict[int, Counters]:
        """By node id, of all partitions together."""
        totals: dict[int, Counters] = {}
        for stage, pipelines in zip(self.stages, self.pipelines, strict=True):
            for k, pipeline in enumerate(pipelines):
                partition = Partition(k, self._partitions)
                for node, own in stage_counters(stage, partition, pipeline).items():
                    totals[node] = totals.get(node, Counters()) + own
        return totals
