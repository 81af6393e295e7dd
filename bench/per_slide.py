"""Compares eager evaluation of paths with evaluation per slide: ``python -m bench.per_slide``.

Runs three variants of each query: eager, per slide with S_PATH, and per slide with the chosen
operator. Each run is in its own process, with one call of the pipeline per day of the stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.running import Slides, labels_of, run, save_edges
from bench.streams import DAY, catalog_of, files, load
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog
from headrace.planning.planner import optimize
from headrace.planning.requests import Evaluation, PlanningOptions, PlanRequest

PATHS = ("a2q+", "a2q/c2a*", "(a2q/c2a)+", "(a2q|c2a|c2q)+")


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a path in one variant (``way``), per second of processor time."""

    path: str
    way: str
    chosen: bool
    edges: int
    results: int
    edges_per_second: Spread
    p99_ms: Spread
    state_mb: float


def plans_of(path: str, known: Catalog, window: int) -> dict[str, tuple[PhysicalPlan, bool]]:
    """The plan of each variant, and whether the optimizer chose it."""

    def found(evaluate: Evaluation, *disabled: str) -> PhysicalPlan:
        options = PlanningOptions(
            window=f"{window}d", slide="1d", evaluate=evaluate, disabled_rules=disabled
        )
        text = f"Answer(x, y) <- x {path} y"
        return optimize(PlanRequest(text, catalog=known, options=options)).plan

    chosen = found("slide")
    # The eager plan evaluated per slide: the same operators, whatever the optimizer would choose.
    eager = found("eager")
    trees = eager.model_copy(update={"evaluate_every": chosen.evaluate_every})
    return {
        "eager, S_PATH": (eager, True),
        "per slide, S_PATH": (trees, trees.digest == chosen.digest),
        "per slide, chosen": (chosen, True),
    }


def _row(path: str, way: str, runs: list[Slides], *, chosen: bool) -> Row:
    state = sum(counters["state_bytes"] for counters in runs[0].operators.values())
    return Row(
        path=path,
        way=way,
        chosen=chosen,
        edges=sum(runs[0].edges),
        results=sum(runs[0].results),
        edges_per_second=Spread.of([r.edges_per_second for r in runs]),
        p99_ms=Spread.of([r.p99() * 1000 for r in runs]),
        state_mb=state / 2**20,
    )


def main(
    *,
    mathoverflow: Annotated[
        Path | None, typer.Option(help="Folder of the three files; else the bundled slice.")
    ] = None,
    days: Annotated[int | None, typer.Option(help="The first days of the stream only.")] = None,
    only: Annotated[str, typer.Option(help="Paths with this in them.")] = "",
    repeats: Annotated[int, typer.Option(help="Runs of each way.")] = 3,
    window: Annotated[int, typer.Option(help="Days that an edge is valid.")] = 30,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures paths on MathOverflow, slide 1 day."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    source = files(mathoverflow)
    known, edges = catalog_of(source), load(source, days)
    table = Table(title=f"window {window} days, slide 1 day")
    for name in ("path", "way", "operators"):
        table.add_column(name)
    for name in ("edges", "results", "edges/s, cpu", "p99 slide ms, cpu", "state MB"):
        table.add_column(name, justify="right")
    rows: list[Row] = []
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        file = Path(folder) / "edges.arrow"
        for path in PATHS:
            if only not in path:
                continue
            plans = plans_of(path, known, window)
            labels = pa.array(labels_of(plans["eager, S_PATH"][0]), pa.string())
            save_edges(edges.filter(pc.is_in(edges["label"], labels)), file)
            runs: dict[str, list[Slides]] = {way: [] for way in plans}
            for _ in range(repeats):
                for way, (plan, _) in plans.items():
                    runs[way].append(run(plan, file, DAY, 600.0))
            for way, (plan, chosen) in plans.items():
                row = _row(path, way, runs[way], chosen=chosen)
                rows.append(row)
                operators = [n.op for n in plan.nodes if "PATH" in n.op or "JOIN" in n.op]
                table.add_row(
                    path, way, ", ".join(operators), f"{row.edges:,}", f"{row.results:,}",
                    row.edges_per_second.text(0), row.p99_ms.text(), f"{row.state_mb:.1f}",
                )  # fmt: skip
            save(out, "per_slide", {"window": window, "days": days, "repeats": repeats}, rows)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
