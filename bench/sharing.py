"""Shared costs of chosen plans against all plans: ``python -m bench.sharing``.

Random patterns and paths over few labels, so that scans and joins repeat, with random rates. For
each query the shared cost of every plan is counted, and compared with those of the plan that the
search for the least shared cost chooses, and of the plan with the cheapest tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options

LABELS = "ab"
MOST_PLANS = 5_000
"""The most plans of a query that are all counted; queries with more plans are left out."""
ABOVE = 1.001
"""The multiple of the least shared cost from which a plan counts as dearer."""


@dataclass(frozen=True, slots=True)
class Row:
    """A query, its number of plans, and shared costs as multiples of the least one."""

    query: str
    parallelism: int
    plans: int
    tree: float
    shared: float


def patterns(count: int, seed: int) -> Iterator[tuple[str, Catalog]]:
    """Random queries of two to five connected atoms, each with its catalog."""
    random = Random(seed)
    for _ in range(count):
        atoms, variables = [], ["x0"]
        for k in range(random.randint(2, 5)):
            closing = random.random() < 0.2
            other = random.choice(variables) if closing else f"x{k + 1}"
            ends = [random.choice(variables), other]
            if other not in variables:
                variables.append(other)
            random.shuffle(ends)
            plus = "+" if random.random() < 0.15 else ""
            atoms.append(f"{random.choice(LABELS)}{plus}({ends[0]}, {ends[1]})")
        kept = random.sample(variables, min(2, len(variables)))
        text = f"Answer({', '.join(kept)}) <- {', '.join(atoms)}.\nWINDOW 100s SLIDE 1s\n"
        labels = {
            label: LabelStatistics(
                rate=10 ** random.uniform(0, 2),
                distinct_src=10 ** random.uniform(2, 4),
                distinct_trg=10 ** random.uniform(2, 4),
                vertices=1e4,
            )
            for label in LABELS
        }
        yield text, Catalog({"s": Stream("s", labels, vertex_type="integer")})


def measure(text: str, catalog: Catalog, parallelism: int) -> Row | None:
    """Compares the plans of one query; None if there are too many, or only one."""
    query = translate(parse(text, "rq"), catalog)
    model = CostModel("saturating", catalog, parallelism=parallelism)
    tree, shared = (
        Optimizer(model, Options(parallelism=parallelism, shared_costs=costs)).optimize(query)
        for costs in (False, True)
    )
    count = shared.plans.count
    if not 1 < count <= MOST_PLANS:
        return None
    least = min(plan.shared_cost for plan in shared.plans.ranked())
    return Row(text, parallelism, count, tree.shared_cost / least, shared.shared_cost / least)


def main(
    *,
    queries: Annotated[int, typer.Option(help="The number of queries.")] = 300,
    seed: Annotated[int, typer.Option(help="The seed of the queries.")] = 1,
    parallelism: Annotated[int, typer.Option(help="The number of partitions.")] = 1,
    out: Annotated[Path | None, typer.Option(help="A JSON file for all numbers.")] = None,
) -> None:
    """Compare the shared costs of chosen plans with the least ones."""
    measured = [measure(*query, parallelism) for query in patterns(queries, seed)]
    rows = [row for row in measured if row is not None]
    console = Console()
    console.print(headline(machine()))
    table = Table("plan", "queries", "above the least", "mean of these", "worst", box=None)
    for name in ("tree", "shared"):
        above = [r for row in rows if (r := getattr(row, name)) > ABOVE]
        table.add_row(
            f"least {name} cost",
            str(len(rows)),
            str(len(above)),
            f"{mean(above):.3f}" if above else "-",
            f"{max(above, default=1.0):.3f}",
        )
    console.print(table)
    options = {"queries": queries, "seed": seed, "parallelism": parallelism}
    save(out, "sharing", options, rows)


if __name__ == "__main__":
    typer.run(main)
