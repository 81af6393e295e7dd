"""Cuts a plan at its EXCHANGEs into stages.

In: a plan. Out: a chain of stages; within a stage every partition works for itself, between two
rows move. There are as few as can be: a node runs in the stage with the number of exchanges on
the longest way to it from a leaf (those directly over a leaf do not count: they are made while
its rows are packed). A sub-plan that several others share runs once.

Rows that a later stage than the next one needs travel through those between, untouched. An
exchange is put off until the stage that needs it, so that copies are made late.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from ..algebra.physical import Exchange
from ..algebra.plan import PhysicalPlan
from .checking import check, widths_of
from .scans import leaves, reached

LEAF_COLUMN = 0
"""Rows of a leaf that no exchange stands over are spread by their first column."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How rows come into a stage.

    ``source`` is the leaf, or the node of the stage before, that gives them, ``port`` the id
    by which this stage knows them: that of the exchange, or the same where the rows ``stay`` in
    their partition. ``column`` is the one that ``hash`` goes by.
    """

    source: int
    port: int
    width: int
    spread: Literal["stay", "hash", "single", "broadcast"]
    column: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a plan that runs without rows moving.

    ``nodes`` are ids in topological order; ``outputs`` ids of nodes and ports whose rows the
    next stage takes; of the last stage it is the root.
    """

    number: int
    inputs: tuple[Flow, ...]
    nodes: tuple[int, ...]
    outputs: tuple[int, ...]

    def read_by(self, plan: PhysicalPlan) -> frozenset[int]:
        """The ports that nodes of this stage read; the others only travel through."""
        read = {i for node in self.nodes for i in plan.nodes[node].inputs}
        return frozenset(flow.port for flow in self.inputs if flow.port in read)


def stages_of(plan: PhysicalPlan) -> tuple[Stage, ...]:
    """The stages of a plan in the order in which they run; at parallelism 1 there is one.

    Raises:
        PlanError: for a plan that cannot run, with the node.
    """
    check(plan)
    return _Cut(plan).stages()


class _Cut:
    """The stage of each node, and the stages that need its rows."""

    def __init__(self, plan: PhysicalPlan) -> None:
        self._plan = plan
        self._leaves = {leaf.node for leaf in leaves(plan)}
        self._above = sorted(reached(plan, self._leaves) - self._leaves)
        self._widths = widths_of(plan)
        self._starts = dict.fromkeys(self._leaves, 0)
        self._ports: dict[int, Flow] = {}
        for i in self._above:
            node = plan.nodes[i]
            depth = max((self._starts[k] for k in node.inputs), default=0)
            moves = isinstance(node.operator, Exchange) and node.inputs[0] not in self._leaves
            self._starts[i] = depth + moves
        self._needed = self._needs()

    def _needs(self) -> dict[int, set[int]]:
        """The stages in which the rows of leaves and nodes are needed.

        Sets the stage that each exchange leads into.
        """
        needed: dict[int, set[int]] = defaultdict(set)
        needed[self._plan.root].add(self._starts[self._plan.root])
        for i in reversed(self._above):
            node = self._plan.nodes[i]
            match node.operator:
                case Exchange() as exchange:
                    (source,) = node.inputs
                    if source not in self._leaves:
                        self._starts[i] = min(needed[i])
                        needed[source].add(self._starts[i] - 1)
                    self._ports[i] = self._moved(source, i, exchange)
                case _:
                    for source in node.inputs:
                        needed[source].add(self._starts[i])
        for leaf in self._leaves & set(needed):
            self._ports[leaf] = self._read(leaf)
        return needed

    def _read(self, leaf: int) -> Flow:
        width = self._widths[leaf]
        return Flow(leaf, leaf, width, "hash" if width else "single", LEAF_COLUMN)

    def _moved(self, source: int, port: int, exchange: Exchange) -> Flow:
        column = exchange.columns[0] if exchange.columns else 0
        return Flow(source, port, self._widths[port], exchange.spread, column)

    def stages(self) -> tuple[Stage, ...]:
        """The stages of the plan, in order."""
        last = self._starts[self._plan.root]
        inputs = [self._inputs(number) for number in range(last + 1)]
        run = [i for i in self._above if i not in self._ports]
        return tuple(
            Stage(
                number,
                inputs[number],
                tuple(i for i in run if self._starts[i] == number),
                (self._plan.root,)
                if number == last
                else tuple(dict.fromkeys(flow.source for flow in inputs[number + 1])),
            )
            for number in range(last + 1)
        )

    def _inputs(self, number: int) -> tuple[Flow, ...]:
        flows = []
        for i in sorted(self._needed):
            if i in self._ports and self._starts[i] == number:
                flows.append(self._ports[i])
            elif self._starts[i] < number <= max(self._needed[i], default=0):
                flows.append(Flow(i, i, self._widths[i], "stay"))
        return tuple(flows)
