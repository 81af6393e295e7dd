"""Runs a plan in this process, over all its stages and partitions.

In: per leaf a batch sorted by ts. Out: a batch of results. A plan for one partition has one
stage and one pipeline, which takes the batches as they are.

All partitions use one dictionary, so that rows move between them as codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.plan import PhysicalPlan
from .accounts import of_stage
from .batch import Batch, merged
from .counters import Counters
from .dictionary import Dictionary
from .pipeline import Pipeline, StageInput, StageNode
from .placement import Place
from .stages import Flow, Stage, stages_of


def pipeline_of(plan: PhysicalPlan, stage: Stage, dictionary: Dictionary, place: Place) -> Pipeline:
    """The operators of a stage in one of its partitions, with empty state.

    Raises:
        PlanError: for an operator that cannot run, with the node's id.
    """
    nodes = [StageNode(i, plan.nodes[i].operator, plan.nodes[i].inputs) for i in stage.nodes]
    inputs = [StageInput(flow.port, flow.width) for flow in stage.inputs]
    return Pipeline(nodes, inputs, stage.outputs, dictionary, place)


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
        places = [Place(k, self._partitions) for k in range(self._partitions)]
        self.pipelines = tuple(
            tuple(pipeline_of(plan, stage, dictionary, place) for place in places)
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
            found = [pipe.process(own, now) for pipe, own in zip(pipelines, inputs, strict=True)]
            rows = {output: [each[output] for each in found] for output in stage.outputs}
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
        found: dict[int, Counters] = {}
        for stage, pipelines in zip(self.stages, self.pipelines, strict=True):
            for partition, pipeline in enumerate(pipelines):
                place = Place(partition, self._partitions)
                for node, own in of_stage(stage, place, pipeline).items():
                    found[node] = found.get(node, Counters()) + own
        return found
