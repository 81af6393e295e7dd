"""AGGREGATE and REPORT in this process: ``python -m bench.aggregates [CHECKOUT...]``.

Each checkout is a commit of this repository or a folder. Each round runs all of them, each in its
own process and in turn, so that other load on the machine affects them alike. The rows come from a
seeded generator: one row a tick, each valid for a fixed number of ticks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import ROOT, Spread, headline, machine, save
from bench.paired import checked_out

WORKER = Path(__file__).with_name("aggregates_worker.py")


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of one operator in one checkout.

    Attributes:
        name: the operator and the number of keys.
        checkout: the commit or folder.
        us: processor time per input row in microseconds.
        checkpoint_bytes: the bytes of open rows that a checkpoint stores in each batch.
    """

    name: str
    checkout: str
    us: Spread
    checkpoint_bytes: float


def measure(
    checkouts: dict[str, Path], rounds: int, rows: int, only: str, batch_rows: int
) -> list[Row]:
    """Runs all checkouts in turn; those of later rounds start with another one."""
    runs: dict[str, list[dict[str, list[float]]]] = {name: [] for name in checkouts}
    names = list(checkouts)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            runs[name].append(_run(checkouts[name], rows, only, batch_rows))
    return [
        Row(
            case,
            name,
            Spread.of([run[case][0] for run in runs[name]]),
            runs[name][0][case][1],
        )
        for case in runs[names[0]][0]
        for name in names
    ]


def _run(checkout: Path, rows: int, only: str, batch_rows: int) -> dict[str, list[float]]:
    """Runs the worker over a checkout's code."""
    done = subprocess.run(
        [sys.executable, "-c", WORKER.read_text("utf-8"), str(rows), only, str(batch_rows)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout.parent), str(checkout)])},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{checkout}: {done.stderr.strip()[-2000:]}")
    measured: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main(
    checkouts: Annotated[list[str] | None, typer.Argument(help="Commits or folders.")] = None,
    *,
    rounds: Annotated[int, typer.Option(help="Runs of each checkout.")] = 5,
    rows: Annotated[int, typer.Option(help="Input rows of a run.")] = 100_000,
    batch_rows: Annotated[int, typer.Option(help="Rows of a batch.")] = 4_096,
    only: Annotated[str, typer.Option(help="Operators with this in their name.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the processor time of AGGREGATE and REPORT per input row."""
    console = Console(width=None if Console().is_terminal else 140)
    console.print(headline(machine()))
    with TemporaryDirectory() as folder, ExitStack() as stack:
        places = {
            name: stack.enter_context(checked_out(name, Path(folder)))
            for name in [*(checkouts or []), str(ROOT)]
        }
        measured = measure(places, rounds, rows, only, batch_rows)
    table = Table(title="Processor time per input row")
    table.add_column("operator")
    table.add_column("checkout")
    for heading in ("us", "open rows stored per batch, bytes"):
        table.add_column(heading, justify="right")
    for row in measured:
        name = "this one" if row.checkout == str(ROOT) else row.checkout
        table.add_row(row.name, name, row.us.text(2), f"{row.checkpoint_bytes:,.0f}")
    console.print(table)
    console.print(f"load now {machine()['load'][0]}")
    save(out, "aggregates", {"rounds": rounds, "rows": rows, "batch_rows": batch_rows}, measured)


if __name__ == "__main__":
    typer.run(main)
