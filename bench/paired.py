"""Compares the processor times of two checkouts: ``python -m bench.paired BEFORE AFTER``.

Each checkout is a commit of this repository or a folder. Each round runs both, each in its own
process, and alternates the first one, so that other load on the machine affects both alike. The
benchmark compares the processor time of the search and of the chosen plan's run in process, for
queries without properties, a day or a number of edges at a time. It prints the median of the
rounds' ratios, with the smallest and the largest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, mkdtemp
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import ROOT, Spread, headline, machine, save

WORKER = Path(__file__).with_name("paired_worker.py")


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of one query.

    ``before`` and ``after`` are medians over the rounds, in ms. ``ratio`` is after / before: below
    1 the later checkout is faster.
    """

    name: str
    before: float
    after: float
    ratio: Spread


Times = dict[str, float]


def measure(before: Path, after: Path, rounds: int, only: str, repeats: int) -> list[Row]:
    """Runs both checkouts in alternating order."""
    sides: tuple[tuple[Path, list[Times]], ...] = ((before, []), (after, []))
    for number in range(rounds):
        for checkout, found in sides if number % 2 == 0 else reversed(sides):
            found.append(_run(checkout, only, repeats))
    (_, first), (_, second) = sides
    rows = []
    for name in first[0]:
        pairs = [(one[name], other[name]) for one, other in zip(first, second, strict=True)]
        ratio = Spread.of([later / earlier for earlier, later in pairs])
        earlier, later = (median(side) for side in zip(*pairs, strict=True))
        rows.append(Row(name, earlier, later, ratio))
    return rows


def _run(checkout: Path, only: str, repeats: int) -> Times:
    """Runs the worker over a checkout's code; returns milliseconds by query."""
    done = subprocess.run(
        [sys.executable, "-c", _worker(checkout), only, str(repeats)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _path(checkout)))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{checkout}: {done.stderr.strip()[-2000:]}")
    times: Times = json.loads(done.stdout.splitlines()[-1])
    return times


def _is_package(checkout: Path) -> bool:
    """Whether the root of a checkout is the package: the folders were packages once."""
    return (checkout / "__init__.py").is_file()


def _worker(checkout: Path) -> str:
    """The text of the worker with the names that a checkout's modules have."""
    text = WORKER.read_text("utf-8")
    return text if _is_package(checkout) else text.replace("from headrace.", "from ")


def _path(checkout: Path) -> tuple[Path, ...]:
    """The folders from which a checkout is imported: that of its package, and its own."""
    return (checkout.parent, checkout) if checkout.name == "headrace" else (checkout,)


@contextmanager
def checked_out(what: str, below: Path) -> Iterator[Path]:
    """A folder, or the files of a commit laid out in a new folder of ``below``.

    It is called ``headrace``, which is the name of the package that its root is.
    """
    target = Path(mkdtemp(dir=below)) / "headrace"
    if Path(what).is_dir():
        target.symlink_to(Path(what).resolve())
        yield target
        return
    archive = subprocess.run(["git", "archive", what], cwd=ROOT, capture_output=True, check=True)
    target.mkdir()
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive.stdout, check=True)
    yield target


def _table(rows: list[Row], before: str, after: str) -> Table:
    table = Table(title="Processor time, milliseconds")
    table.add_column("query")
    for name in (before, after, "after / before"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(row.name, f"{row.before:,.1f}", f"{row.after:,.1f}", row.ratio.text(2))
    return table


def main(
    before: Annotated[str, typer.Argument(help="A commit, or a folder with a checkout.")],
    after: Annotated[str, typer.Argument(help="Another one.")] = str(ROOT),
    *,
    rounds: Annotated[int, typer.Option(help="How often each runs.")] = 5,
    repeats: Annotated[int, typer.Option(help="Runs of each query in a round.")] = 5,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Compares two checkouts on queries over topology alone."""
    console = Console(width=None if Console().is_terminal else 120)
    console.print(headline(machine()))
    with (
        TemporaryDirectory() as folder,
        checked_out(before, Path(folder)) as one,
        checked_out(after, Path(folder)) as other,
    ):
        rows = measure(one, other, rounds, only, repeats)
    console.print(_table(rows, before, "after" if after == str(ROOT) else after))
    for kind in ("search", "run", "push"):
        ratios = [row.ratio.median for row in rows if row.name.startswith(kind)]
        if ratios:
            text = Spread.of(ratios).text(3)
            console.print(f"{kind}: median of {len(ratios)} queries' ratios {text}")
    console.print(f"load now {machine()['load'][0]}")
    save(out, "paired", {"before": before, "after": after, "rounds": rounds}, rows)


if __name__ == "__main__":
    typer.run(main)
