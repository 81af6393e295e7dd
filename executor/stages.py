"""Cuts a plan at its EXCHANGEs into stages.

In: a plan. Out: a chain of stages. Within a stage each partition runs independently; rows move
between partitions only between two stages.

The number of stages is minimal. The stage of a node is the largest number of exchanges on a path
from a scan input to the node. An exchange directly above a scan input does not count: its rows are
distributed while they are packed. A shared sub-plan runs once.

Rows that only a later stage reads pass unchanged through the stages between. An exchange happens as
late as possible, right before the stage that reads its rows, so that broadcast copies are made
late.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from ..algebra.physical import Exchange
from ..algebra.plan import PhysicalPlan
from ..algebra.properties import Cells
from .checking import check, widths_of
from .scans import reached, scan_inputs

LEAF_COLUMN = 0
"""The column that distributes the rows of a scan input without an exchange above it."""


@dataclass(frozen=True, slots=True)
class Flow:
    """An input of a stage, and how its rows are distributed.

    Attributes:
        source: the id of the scan input, or of the node of the stage before, that returns the rows.
        port: the id of the input in this stage: that of the exchange, or ``source`` if there is
            none.
        width: the number of columns.
        spread: ``stay`` keeps each row in its partition; the others are those of an EXCHANGE.
        column: the column that ``hash`` uses.
        cells: the cells that ``hypercube`` uses.
    """

    source: int
    port: int
    width: int
    spread: Literal["stay", "hash", "single", "broadcast", "hypercube"]
    column: int = 0
    cells: Cells | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a plan that runs without an exchange.

    Attributes:
        number: the position in the chain of stages, from 0.
        inputs: the inputs.
        nodes: the ids of the operators that run here, in topological order.
        outputs: the ids of nodes and ports whose rows the next stage reads; the root in the last
            stage.
    """

    number: int
    inputs: tuple[Flow, ...]
    nodes: tuple[int, ...]
    outputs: tuple[int, ...]

    def read_by(self, plan: PhysicalPlan) -> frozenset[int]:
        """The ports that nodes of this stage read; other ports pass rows on to later stages."""
        read = {i for node in self.nodes for i in plan.nodes[node].inputs}
        return frozenset(flow.port for flow in self.inputs if flow.port in read)


def stages_of(plan: PhysicalPlan) -> tuple[Stage, ...]:
    """The stages of a plan in the order in which they run; a single one at parallelism 1.

    Raises:
        PlanError: for a plan that cannot run, with the node.
    """
    check(plan)
    return _Cut(plan).stages()


class _Cut:
    """Computes the stage of each node and the stages that read its rows."""

    def __init__(self, plan: PhysicalPlan) -> None:
        self._plan = plan
        self._scan_inputs = {scan_input.node for scan_input in scan_inputs(plan)}
        self._above = sorted(reached(plan, self._scan_inputs) - self._scan_inputs)
        self._widths = widths_of(plan)
        self._starts = dict.fromkeys(self._scan_inputs, 0)
        self._ports: dict[int, Flow] = {}
        for i in self._above:
            node = plan.nodes[i]
            depth = max((self._starts[k] for k in node.inputs), default=0)
            moves = isinstance(node.operator, Exchange) and node.inputs[0] not in self._scan_inputs
            self._starts[i] = depth + moves
        self._read_in = self._reading_stages()

    def _reading_stages(self) -> dict[int, set[int]]:
        """The stages that read the rows of each scan input and node.

        Sets the stage of each exchange to the first one that reads it, and adds the ports.
        """
        read_in: dict[int, set[int]] = defaultdict(set)
        read_in[self._plan.root].add(self._starts[self._plan.root])
        for i in reversed(self._above):
            node = self._plan.nodes[i]
            match node.operator:
                case Exchange() as exchange:
                    (source,) = node.inputs
                    if source not in self._scan_inputs:
                        self._starts[i] = min(read_in[i])
                        read_in[source].add(self._starts[i] - 1)
                    self._ports[i] = self._moved(source, i, exchange)
                case _:
                    for source in node.inputs:
                        read_in[source].add(self._starts[i])
        for scan_input in self._scan_inputs & set(read_in):
            self._ports[scan_input] = self._read(scan_input)
        return read_in

    def _read(self, scan_input: int) -> Flow:
        width = self._widths[scan_input]
        return Flow(scan_input, scan_input, width, "hash" if width else "single", LEAF_COLUMN)

    def _moved(self, source: int, port: int, exchange: Exchange) -> Flow:
        column = exchange.columns[0] if exchange.columns else 0
        return Flow(source, port, self._widths[port], exchange.spread, column, exchange.cells)

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
        for i in sorted(self._read_in):
            if i in self._ports and self._starts[i] == number:
                flows.append(self._ports[i])
            elif self._starts[i] < number <= max(self._read_in[i], default=0):
                flows.append(Flow(i, i, self._widths[i], "stay"))
        return tuple(flows)
