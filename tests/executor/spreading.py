"""Plans for one partition made into plans for several, with exchanges at random places."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from headrace.algebra.physical import (
    AggregateRows,
    AntiJoin,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    LeftJoin,
    MergeUnion,
    MultiwayJoin,
    PairPath,
    PhysicalOperator,
    ProjectColumns,
    SemiJoin,
    ShortestPath,
    SlidePath,
    SPath,
    ToKernel,
    TopRows,
    TrailPath,
    WindowScan,
    WindowScanUnion,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanNode
from headrace.algebra.properties import ANY, BROADCAST, SINGLE, Distribution

Spread = tuple[int, Distribution]
"""A node of the new plan, and where its rows lie."""


def spread(plan: PhysicalPlan, partitions: int, seed: int) -> PhysicalPlan:
    """The same query over several partitions; each seed gives another plan."""
    return _Spreading(plan, Random(seed)).plan(partitions)


class _Spreading:
    def __init__(self, plan: PhysicalPlan, random: Random) -> None:
        self._old = plan
        self._random = random
        self._nodes: list[PlanNode] = []
        self._homes: dict[int, Spread] = {}
        self._exchanged: dict[tuple[int, Exchange], int] = {}
        self._copied: dict[int, int] = {}

    def plan(self, partitions: int) -> PhysicalPlan:
        root, lies = self._home(self._old.root)
        if lies == ANY and self._old.nodes[self._old.root].inputs:
            # Its rows may be right, but a value would be said by several partitions.
            moved, _ = self._gathered(self._old.root)
            root = self._add(Coalesce(), (moved,), self._old.columns)
        # What was made last is the root: all else was made for a node that reads it.
        assert root == len(self._nodes) - 1
        return PhysicalPlan(
            parallelism=partitions,
            nodes=tuple(self._nodes),
            root=root,
            streams=self._old.streams,
            windows=self._old.windows,
            evaluate_every=self._old.evaluate_every,
        )

    def _add(
        self, operator: PhysicalOperator, inputs: tuple[int, ...], columns: tuple[str, ...]
    ) -> int:
        number = len(self._nodes)
        node = self._old.nodes[0].model_copy(
            update={"id": number, "operator": operator, "inputs": inputs, "columns": columns}
        )
        self._nodes.append(node)
        return number

    def _handed_over(self, node: int) -> int:
        """The scan or filter below a TO_KERNEL: where rows are handed over is drawn anew."""
        while isinstance(self._old.nodes[node].operator, ToKernel):
            (node,) = self._old.nodes[node].inputs
        return node

    def _width(self, node: int) -> int:
        return len(self._old.nodes[node].columns)

    def _home(self, node: int) -> Spread:
        """The rows of an old node, each on one partition."""
        node = self._handed_over(node)
        if node not in self._homes:
            self._homes[node] = self._made(node)
        return self._homes[node]

    def _made(self, node: int) -> Spread:
        old = self._old.nodes[node]
        operator: PhysicalOperator = old.operator
        match operator:
            case WindowScan() | WindowScanUnion():
                scan = self._add(operator, (), old.columns)
                if self._random.random() < 0.3:  # then filters above it belong to the scan input
                    return scan, ANY
                return self._add(ToKernel(), (scan,), old.columns), ANY
            case EmptyRelation():
                inputs: list[Spread] = []
            case FilterRows() | ProjectColumns() | ComputeColumns():
                inputs = [self._home(old.inputs[0])]
            case Coalesce():
                inputs = [self._gathered(old.inputs[0])]
            case TopRows():
                operator, below = self._for_first(operator, old.inputs[0])
                inputs = [below]
            case MergeUnion():
                inputs = self._for_union(old.inputs)
            case AggregateRows():
                inputs = [self._by_a_key(operator, old.inputs[0])]
            case HashJoin():
                inputs = self._for_join(operator, old.inputs)
            case AntiJoin() | LeftJoin() | SemiJoin():
                inputs = self._for_semi_join(operator, old.inputs)
            case MultiwayJoin():
                inputs = self._for_multiway(operator, old.inputs)
            case SPath() | PairPath() | ShortestPath() | SlidePath() | TrailPath():
                if self._random.random() < 0.7:
                    operator = replace(operator, roots="own")
                    inputs = [self._everywhere(i) for i in old.inputs]
                else:
                    inputs = [self._exchange(i, Exchange("single")) for i in old.inputs]
            case _:
                raise AssertionError(operator)
        lies = operator.distribution([where for _, where in inputs])
        return self._add(operator, tuple(number for number, _ in inputs), old.columns), lies

    def _for_first(self, top: TopRows, node: int) -> tuple[TopRows, Spread]:
        """All rows on one partition, or the first rows of each, each value once."""
        if self._random.random() < 0.4:
            return top, self._exchange(node, Exchange("single"))
        below, lies = self._home(node)
        columns = self._old.nodes[node].columns
        each = replace(top, partial=True, limit=top.kept, offset=None)
        for operator in (each, Exchange("single"), Coalesce().over_deletions()):
            lies = operator.distribution([lies])
            below = self._add(operator, (below,), columns)
        return top.over_deletions(), (below, lies)

    def _for_union(self, nodes: tuple[int, ...]) -> list[Spread]:
        match self._random.choice(["home", "home", "hash", "single"]):
            case "hash" if self._width(nodes[0]):
                column = self._random.randrange(self._width(nodes[0]))
                return [self._exchange(i, Exchange("hash", (column,))) for i in nodes]
            case "single":
                return [self._exchange(i, Exchange("single")) for i in nodes]
            case _:
                return [self._home(i) for i in nodes]

    def _for_join(self, join: HashJoin, nodes: tuple[int, ...]) -> list[Spread]:
        left, right = nodes
        shared = sorted(set(join.bindings[0]) & set(join.bindings[1]))
        match self._random.choice(["hash"] * 3 + ["left", "right", "single"]):
            case "hash" if shared:
                variable = self._random.choice(shared)
                columns = [binding.index(variable) for binding in join.bindings]
                return [
                    self._exchange(i, Exchange("hash", (column,)))
                    for i, column in zip(nodes, columns, strict=True)
                ]
            case "left":
                return [self._everywhere(left), self._home(right)]
            case "single":
                return [self._exchange(i, Exchange("single")) for i in nodes]
            case _:
                return [self._home(left), self._everywhere(right)]

    def _for_semi_join(
        self, join: AntiJoin | LeftJoin | SemiJoin, nodes: tuple[int, ...]
    ) -> list[Spread]:
        """One of the distributions that the law allows over exchanges."""
        widths = [self._width(node) for node in nodes]
        wanted = [lies for lies in join.input_distributions(widths) if lies[0] != BROADCAST]
        return [
            self._everywhere(node)
            if lies == BROADCAST
            else self._exchange(node, _exchange_to(lies))
            for node, lies in zip(nodes, self._random.choice(wanted), strict=True)
        ]

    def _by_a_key(self, aggregate: AggregateRows, node: int) -> Spread:
        """One of the distributions that the law allows over exchanges."""
        wanted = [lies for (lies,) in aggregate.input_distributions([self._width(node)])]
        return self._exchange(node, _exchange_to(self._random.choice(wanted)))

    def _for_multiway(self, join: MultiwayJoin, nodes: tuple[int, ...]) -> list[Spread]:
        """One of the distributions that the law allows over exchanges."""
        widths = [self._width(node) for node in nodes]
        wanted = [lies for lies in join.input_distributions(widths) if set(lies) != {BROADCAST}]
        return [
            self._everywhere(node)
            if lies == BROADCAST
            else self._home(node)
            if lies == ANY
            else self._exchange(node, _exchange_to(lies))
            for node, lies in zip(nodes, self._random.choice(wanted), strict=True)
        ]

    def _gathered(self, node: int) -> Spread:
        """The rows of each value on one partition."""
        if self._width(node) and self._random.random() < 0.7:
            column = self._random.randrange(self._width(node))
            return self._exchange(node, Exchange("hash", (column,)))
        return self._exchange(node, Exchange("single"))

    def _exchange(self, node: int, exchange: Exchange) -> Spread:
        home, lies = self._home(node)
        wanted = exchange.distribution([ANY])
        if lies == wanted or set(wanted.columns) & set(lies.columns):
            return home, lies
        if (home, exchange) not in self._exchanged:
            columns = self._old.nodes[node].columns
            self._exchanged[home, exchange] = self._add(exchange, (home,), columns)
        return self._exchanged[home, exchange], wanted

    def _everywhere(self, node: int) -> Spread:
        """A copy of the rows on each partition: exchanged, or made there of copies."""
        node = self._handed_over(node)
        if node not in self._copied:
            old = self._old.nodes[node]
            if old.inputs and self._random.random() < 0.3:
                inputs = tuple(self._everywhere(i)[0] for i in old.inputs)
                self._copied[node] = self._add(old.operator, inputs, old.columns)
            else:
                self._copied[node] = self._exchange(node, Exchange("broadcast"))[0]
        return self._copied[node], BROADCAST


def _exchange_to(lies: Distribution) -> Exchange:
    return Exchange("single") if lies == SINGLE else Exchange("hash", lies.columns)
