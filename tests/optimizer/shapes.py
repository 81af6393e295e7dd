"""Queries by their shape, and cost models that tests can reason about."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Self

from headrace.algebra import logical, regex
from headrace.algebra.logical import (
    LogicalExpression,
    LogicalOperator,
    LogicalQuery,
    Path,
    Pattern,
    WScan,
)
from headrace.algebra.physical import (
    HashJoin,
    MultiwayJoin,
    PhysicalOperator,
    SemiJoin,
    SPath,
    ToKernel,
    WindowScan,
)
from headrace.algebra.regex import Regex, Symbol
from headrace.algebra.window import Window
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.costmodel.constants import Assumptions
from headrace.optimizer import Optimizer, Options, SearchResult

Edges = tuple[tuple[int, int], ...]


def scan(label: str, window: int = 100) -> LogicalExpression:
    """The edges of a label of the one stream ``s``."""
    return LogicalExpression(WScan("s", label, Window(window)))


def chain(n: int) -> Edges:
    return tuple((k, k + 1) for k in range(n))


def star(n: int) -> Edges:
    return tuple((0, k + 1) for k in range(n))


def cycle(n: int) -> Edges:
    return tuple((k, (k + 1) % n) for k in range(n))


CLIQUE_4: Edges = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
"""Edges among four vertices: its join graph is an octahedron, neither cycle nor clique."""


def variables(edges: Edges) -> tuple[int, ...]:
    return tuple(dict.fromkeys(v for edge in edges for v in edge))


def pattern(
    edges: Edges, output: tuple[int, ...] | None = None, labels: str = ""
) -> LogicalExpression:
    """A pattern of different labels, or of ``labels``, which keeps all variables by default."""
    names = [labels[k] if labels else f"l{k}" for k in range(len(edges))]
    kept = variables(edges) if output is None else output
    return LogicalExpression(Pattern(edges, kept), tuple(scan(name) for name in names))


def query(expression: LogicalExpression) -> LogicalQuery:
    return LogicalQuery(expression, tuple(f"x{k}" for k in range(expression.width)))


def path(r: Regex, *inputs: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Path(r), inputs)


A, B, C, D = (Symbol(k) for k in range(4))

TABLE_4_2: dict[str, LogicalExpression] = {
    "Q1": path(regex.plus(A), scan("a")),
    "Q2": path(regex.concat([A, regex.star(B)]), scan("a"), scan("b")),
    "Q3": path(regex.concat([A, regex.star(B), regex.star(C)]), scan("a"), scan("b"), scan("c")),
    "Q4": path(regex.plus(regex.alternation([A, B, C])), scan("a"), scan("b"), scan("c")),
    "Q5": path(regex.concat([A, regex.star(B), C]), scan("a"), scan("b"), scan("c")),
    "Q6": path(regex.concat([regex.star(A), regex.star(B)]), scan("a"), scan("b")),
    "Q7": path(regex.concat([A, B, regex.star(C)]), scan("a"), scan("b"), scan("c")),
    "Q8": path(regex.concat([regex.optional(A), regex.star(B)]), scan("a"), scan("b")),
    "Q10": path(
        regex.concat([regex.alternation([A, B, C]), regex.star(D)]),
        *(scan(label) for label in "abcd"),
    ),
    "Q11": path(regex.concat([A, B, C]), scan("a"), scan("b"), scan("c")),
}
"""Thesis Table 4.2 with k = 3 (Q9 is Q4)."""

CONCAT_PLUS = path(regex.plus(regex.concat([A, B, C])), scan("a"), scan("b"), scan("c"))
"""(a·b·c)+, the thesis's Qp and Q4 of Table 5.1."""

TERNARY_PLUS = path(regex.plus(A), pattern(((0, 1), (1, 2), (2, 3)), output=(0, 3), labels="abc"))
"""D+ over a(x,y), b(y,z), c(z,w): the canonical Q4 of the paper."""

QS = pattern(((0, 1), (0, 2), (0, 3), (0, 4)), output=(1, 4), labels="abcd")
"""R(s1,t) <- a(v,s1), b(v,v2), c(v,v3), d(v,t)."""

RATES = {"a": 2000.0, "b": 4000.0, "c": 6000.0, "d": 8000.0}


def catalog() -> Catalog:
    """The parameters of thesis 6.5 for labels a to d; other labels have rates of their own."""
    rates = RATES | {f"l{k}": 1000.0 * (k + 1) for k in range(16)}
    labels = {
        label: LabelStatistics(rate=rate, distinct_src=1e6, distinct_trg=1e6, vertices=1e6)
        for label, rate in rates.items()
    }
    return Catalog({"s": Stream("s", labels)})


def thesis_model() -> CostModel:
    """The thesis's model with the parameters of thesis 6.5."""
    assumptions = Assumptions(cap_distinct=False, vertices=1e6, longest_path=3)
    return CostModel("thesis", catalog(), assumptions=assumptions)


def optimize(expression: LogicalExpression, model: Any = None, **options: Any) -> SearchResult:
    """The outcome for an expression; the memo is checked."""
    chosen = Options(check=True, **options)
    return Optimizer(model or thesis_model(), chosen).optimize(query(expression))


@dataclass(frozen=True)
class SetCosts:
    """A model whose estimates depend on the set of leaves alone, and are exact.

    The rate of leaf number k is 2^k, and the rate of any other expression is the sum over its
    different leaves, so a rate identifies the set of leaves. TO_KERNEL is free. Other costs are
    drawn at random from the operator and the rates around it, or are the rate of the result if
    ``seed`` is None. A semi-join costs more than all else, so that theory can count joins.
    """

    seed: int | None = None
    semi_join: float = 1e9
    leaves: dict[object, int] = field(default_factory=dict)

    def for_search(self) -> Self:
        return self

    def characteristics(
        self, operator: LogicalOperator, inputs: tuple[Characteristics, ...]
    ) -> Characteristics:
        width = operator.width([len(i.distinct) for i in inputs])
        if isinstance(operator, logical.WScan):
            rate = float(2 ** self.leaves.setdefault(operator.label, len(self.leaves)))
        else:
            leaves = 0
            for i in inputs:
                leaves |= int(i.arrival_rate)
            rate = float(leaves)
        return Characteristics(rate, 1.0, rate, (1.0,) * width)

    def cost(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> float:
        if isinstance(operator, ToKernel):
            return 0.0
        if isinstance(operator, SemiJoin):
            return self.semi_join
        if self.seed is None:
            return output.arrival_rate
        what: str = operator.op
        rates = [i.arrival_rate for i in inputs]
        if isinstance(operator, SPath):
            # A path costs the same backwards: its inverse may stand in the memo for it.
            what += f"{operator.states} {len(operator.transitions)}"
            rates.sort()
        if isinstance(operator, MultiwayJoin):
            rates.sort()
        if isinstance(operator, WindowScan | HashJoin | MultiwayJoin | SPath):
            return Random(f"{self.seed} {what} {rates}").uniform(1.0, 100.0)
        return 1.0

    def saved(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> tuple[float, ...]:
        """A part of the cost of a join for each of its indexes."""
        if not isinstance(operator, HashJoin):
            return ()
        cost = self.cost(operator, output, inputs)
        return tuple([cost * 0.2 * i.arrival_rate / (1 + i.arrival_rate) for i in inputs])

    def least_cost(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> float:
        return self.cost(operator, output, inputs)

    def arranged(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> PhysicalOperator:
        return operator
