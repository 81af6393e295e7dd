"""The experiment of thesis 6.5.3 again: ``python -m bench.thesis_choices``.

The costs of Q1s to Q4s and Q1p to Q7p by both models, beside the processor time that each of
these plans takes in process on a stream with the rates of Table 6.2. Rates and the number of
vertices are divided by the same number, which leaves the mean degree of a vertex, and with it
how much every operator finds per edge, as they are. The plans come out of the memo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.queries import RATES, STAR, VERTICES, WINDOW, catalog, cost_model
from bench.running import Slides, measured
from bench.streams import Uniform, slides
from headrace.algebra import physical
from headrace.algebra.plan import PhysicalPlan
from headrace.costmodel.model import Kind
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer

RANGE = 100
"""The window in seconds."""
BATCH = 10
"""Seconds of the stream that are pushed at once."""
FILLED = RANGE // BATCH
"""The batches that fill the window."""
Shape = str | tuple[object, ...]


def join(one: Shape, other: Shape) -> Shape:
    """A join, in either order."""
    return ("join", frozenset((one, other)))


def along(regex: str, *inputs: Shape) -> Shape:
    """A PATH over numbered inputs."""
    return ("path", regex, *inputs)


AB, BC = join("a", "b"), join("b", "c")
STAR_PLANS = {
    "Q1s": join("a", join("c", join("b", "d"))),
    "Q2s": join("a", join("b", join("c", "d"))),
    "Q3s": join(join("c", join("b", "a")), "d"),
    "Q4s": join(join("b", join("c", "a")), "d"),
}
PATH_PLANS = {
    "Q1p": along("(0·1·2)+", "a", "b", "c"),
    "Q2p": along("0+", join(AB, "c")),
    "Q3p": along("0+", join("a", BC)),
    "Q4p": along("(0·1)+", AB, "c"),
    "Q5p": along("(0·1)+", "a", BC),
    "Q6p": along("0+", join(along("0·1", "a", "b"), "c")),
    "Q7p": along("0+", join("a", along("0·1", "b", "c"))),
}
EXPERIMENTS = {
    "Qs": (STAR, STAR_PLANS),
    "Qp": ("Answer(x, y) <- x (a/b/c)+ y.\n", PATH_PLANS),
}
KINDS: tuple[Kind, ...] = ("thesis", "saturating")


@dataclass(frozen=True, slots=True)
class Row:
    """A plan: its costs by model, and microseconds of processor time per edge."""

    plan: str
    costs: dict[Kind, float]
    measured: Spread
    results: int


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's correlation of estimated costs and measured times."""

    query: str
    model: Kind
    rank_correlation: float
    estimated: tuple[str, ...]
    measured: tuple[str, ...]


def shape(plan: PhysicalPlan) -> Shape:
    """A plan without the order of its joins' inputs, and without enforcers."""
    known: list[Shape] = []
    for node in plan.nodes:
        inputs = [known[i] for i in node.inputs]
        match node.operator:
            case physical.WindowScan(label=label):
                known.append(label)
            case physical.HashJoin():
                known.append(join(*inputs))
            case physical.SPath(regex=regex):
                known.append(along(regex, *inputs))
            case physical.Coalesce() | physical.ToKernel() | physical.Retract():
                known.append(inputs[0])
            case _:
                known.append((node.operator.op, *inputs))
    return known[-1]


def plans(text: str, wanted: dict[str, Shape], kind: Kind) -> dict[str, PhysicalPlan]:
    """The named plans of a query by name, of each shape the cheapest.

    Raises:
        LookupError: if one is not in the memo.
    """
    over = catalog()
    query = translate(parse(text + WINDOW, "rq"), over)
    names = {shape: name for name, shape in wanted.items()}
    found: dict[str, PhysicalPlan] = {}
    for plan in Optimizer(cost_model(kind, over)).optimize(query).plans.ranked():
        name = names.get(shape(plan))
        if name is not None:
            found.setdefault(name, plan)
        if len(found) == len(wanted):
            return found
    raise LookupError(f"not in the memo: {sorted(set(wanted) - set(found))}")


def cost(plan: PhysicalPlan) -> float:
    """The cost of a plan's tree per second."""
    return plan.nodes[plan.root].estimate.cumulative_cost


def steady(done: Slides) -> float:
    """Microseconds of processor time per edge, after the window has filled."""
    return sum(done.cpu[FILLED:]) / sum(done.edges[FILLED:]) * 1e6


def measure(text: str, wanted: dict[str, Shape], stream: Uniform, repeats: int) -> list[Row]:
    """Costs and times of the named plans of one query; runs go round by round."""
    by_model = {kind: plans(text, wanted, kind) for kind in KINDS}
    chosen = by_model["thesis"]
    edges = list(slides(stream.edges(), BATCH))
    times: dict[str, list[float]] = {name: [] for name in wanted}
    results: dict[str, int] = {}
    for _ in range(repeats):
        for name in wanted:
            done = measured(chosen[name], edges, float("inf"))
            times[name].append(steady(done))
            results[name] = sum(done.results[FILLED:])
    return [
        Row(
            name,
            {kind: cost(by_model[kind][name]) for kind in KINDS},
            Spread.of(times[name]),
            results[name],
        )
        for name in wanted
    ]


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation of the ranks of two rows of numbers; equal numbers share their rank."""

    def ranks(values: Sequence[float]) -> list[float]:
        _, place, count = np.unique(values, return_inverse=True, return_counts=True)
        return [float(r) for r in (np.cumsum(count) - (count - 1) / 2)[place]]

    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def correlations(query: str, rows: list[Row]) -> list[Correlation]:
    """Both models against the measurement."""
    times = [row.measured.median for row in rows]
    return [
        Correlation(
            query,
            kind,
            spearman([row.costs[kind] for row in rows], times),
            _order(rows, [row.costs[kind] for row in rows]),
            _order(rows, times),
        )
        for kind in KINDS
    ]


def _order(rows: list[Row], values: Sequence[float]) -> tuple[str, ...]:
    return tuple(row.plan for _, row in sorted(zip(values, rows, strict=True), key=lambda p: p[0]))


def _table(query: str, rows: list[Row]) -> Table:
    table = Table(title=query)
    table.add_column("plan")
    for name in ("thesis", "saturating", "measured: cpu µs per edge", "results"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.plan,
            f"{row.costs['thesis']:,.6g}",
            f"{row.costs['saturating']:,.6g}",
            row.measured.text(2),
            f"{row.results:,}",
        )
    return table


def main(
    *,
    scale: Annotated[int, typer.Option(help="Divide rates and vertices by this.")] = 10,
    seconds: Annotated[int, typer.Option(help="Of stream, after the window has filled.")] = 100,
    repeats: Annotated[int, typer.Option(help="Runs of each plan.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Compares estimated costs with measured times for the thesis's named plans."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    stream = Uniform(
        rates={label: int(rate) // scale for label, rate in RATES.items()},
        vertices=int(VERTICES) // scale,
        seconds=RANGE + seconds,
    )
    rows: list[Row] = []
    found: list[Correlation] = []
    for query, (text, wanted) in EXPERIMENTS.items():
        with console.status(query):
            own = measure(text, wanted, stream, repeats)
        console.print(_table(query, own))
        rows += own
        found += correlations(query, own)
        for line in found[-len(KINDS) :]:
            console.print(f"{line.model}: rank correlation {line.rank_correlation:.2f}")
            console.print(f"  estimated {' '.join(line.estimated)}")
        console.print(f"  measured  {' '.join(found[-1].measured)}")
    save(out, "thesis_choices", {"scale": scale, "seconds": seconds}, [*rows, *found])


if __name__ == "__main__":
    typer.run(main)
