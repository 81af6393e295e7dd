"""Compares anti-joins and left joins with inner joins: ``python -m bench.anti_joins``.

The operators read the same two inputs, on the same key, in one process and in turns, with one call
of the pipeline per slide. The ratios are of processor times, over that of the inner join: the
median over the rounds, with the smallest and the largest. The first lines are edges of
MathOverflow, the last ones generated rows that have on average the given number of matches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.streams import DAY, files, load, slides
from headrace.algebra.physical import AntiJoin, HashJoin, LeftJoin
from headrace.executor.batch import FOREVER, Batch, IntArray
from headrace.executor.dictionary import Dictionary
from headrace.executor.pipeline import Pipeline, StageInput, StageNode

BINDINGS = ((0, 1), (1,))
"""The second column of the first input is the key, the only column of the second input."""
OPERATORS = (HashJoin(BINDINGS, (0, 1)), AntiJoin(BINDINGS), LeftJoin(BINDINGS))
KEYS = {
    "answers to users without a comment on an answer": ("a2q", "c2a", "src"),
    "answers to users without a question commented on": ("a2q", "c2q", "trg"),
    "comments on users without an answer": ("c2a", "a2q", "src"),
}
"""The label of the first input, and the label and the column of the keys."""
MATCHES = (0.02, 1.0, 10.0)

Calls = Sequence[Mapping[int, Batch]]


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of one pair of inputs; times are processor seconds.

    Attributes:
        inputs: what the inputs are.
        rows: the rows of both inputs.
        joined: the rows of the join.
        unmatched: the rows of the anti-join, with retractions.
        left_joined: the rows of the left join, with retractions.
        join_seconds: the least time of the join.
        anti_join_seconds: the least time of the anti-join.
        left_join_seconds: the least time of the left join.
        of_anti_join: the time of the anti-join over that of the join.
        of_left_join: the time of the left join over that of the join.
    """

    inputs: str
    rows: int
    joined: int
    unmatched: int
    left_joined: int
    join_seconds: float
    anti_join_seconds: float
    left_join_seconds: float
    of_anti_join: Spread
    of_left_join: Spread


def of_labels(
    edges: pa.Table, label: str, other: str, column: str, valid: int
) -> Iterator[Mapping[int, Batch]]:
    """The edges of a label, and the keys that another label's edges have, slide by slide."""
    ends = np.concatenate([np.asarray(edges["src"]), np.asarray(edges["trg"])])
    vertices = np.unique(ends)
    for slide in slides(edges, DAY):
        names = np.asarray(slide["label"].to_pylist())
        yield {
            0: _batch(slide, names == label, ("src", "trg"), vertices, valid),
            1: _batch(slide, names == other, (column,), vertices, valid),
        }


def _batch(
    edges: pa.RecordBatch,
    chosen: NDArray[np.bool_],
    columns: Sequence[str],
    vertices: IntArray,
    valid: int,
) -> Batch:
    """The chosen edges as rows with codes for vertices."""
    codes = [np.searchsorted(vertices, np.asarray(edges[name])[chosen]) for name in columns]
    ts = np.asarray(edges["ts"])[chosen].astype(np.int64)
    return Batch(np.stack(codes).astype(np.int64), ts, ts + valid)


def generated(matches: float, rows: int = 5_000, calls: int = 40) -> Iterator[Mapping[int, Batch]]:
    """Rows and keys in equal numbers, valid for ten calls, with so many matches for a row."""
    random = np.random.default_rng(1)
    keys = max(int(10 * rows / matches), 1)
    for call in range(calls):
        ts = np.sort(random.integers(call * DAY, (call + 1) * DAY, rows))
        first = np.stack([random.integers(0, 10_000, rows), random.integers(0, keys, rows)])
        second = random.integers(0, keys, (1, rows))
        yield {0: Batch(first, ts, ts + 10 * DAY), 1: Batch(second, ts, ts + 10 * DAY)}


def run(operator: HashJoin | AntiJoin | LeftJoin, calls: Calls) -> tuple[float, int]:
    """The processor seconds and the number of results of an operator over its inputs."""
    inputs = [StageInput(number, len(columns)) for number, columns in enumerate(BINDINGS)]
    running = Pipeline([StageNode(2, operator, (0, 1))], inputs, [2], Dictionary())
    results, start = 0, time.process_time()
    for call in calls:
        results += sum(map(len, running.process(call).values()))
    results += sum(map(len, running.process({}, FOREVER).values()))
    return time.process_time() - start, results


def measure(name: str, calls: Calls, rounds: int) -> Row:
    """Runs the operators over the inputs, in turns."""
    times: tuple[list[float], ...] = tuple([] for _ in OPERATORS)
    counts = [0 for _ in OPERATORS]
    for operator in OPERATORS:
        run(operator, calls[:2])  # compiles the kernels
    for turn in range(rounds):
        for side in sorted(range(len(OPERATORS)), reverse=turn % 2 == 1):
            seconds, counts[side] = run(OPERATORS[side], calls)
            times[side].append(seconds)
    join, *others = times
    of_anti_join, of_left_join = (
        Spread.of([other / inner for inner, other in zip(join, further, strict=True)])
        for further in others
    )
    rows = sum(len(batch) for call in calls for batch in call.values())
    return Row(
        name,
        rows,
        *(counts[0], counts[1], counts[2]),
        *(min(times[0]), min(times[1]), min(times[2])),
        of_anti_join,
        of_left_join,
    )


def main(
    *,
    folder: Annotated[Path | None, typer.Option(help="Folder of MathOverflow.")] = None,
    days: Annotated[int | None, typer.Option(help="Days of the stream.")] = None,
    window: Annotated[int, typer.Option(min=1, help="Days that an edge is valid.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each operator.")] = 7,
    only: Annotated[str, typer.Option(help="Run inputs whose name contains this text.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Runs joins of each kind over equal inputs; without a folder over the bundled stream."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    options = {"days": days, "window": window, "rounds": rounds}
    edges = load(files(folder), days)
    rows: list[Row] = []
    for name, (label, other, column) in KEYS.items():
        if only in name:
            calls = list(of_labels(edges, label, other, column, window * DAY))
            rows.append(measure(name, calls, rounds))
            save(out, "anti_joins", options, rows)
    for matches in MATCHES:
        name = f"generated, {matches:g} matches"
        if only in name:
            rows.append(measure(name, list(generated(matches)), rounds))
            save(out, "anti_joins", options, rows)
    table = Table(
        "inputs", "rows", "joined", "unmatched", "join, s", "anti-join, s", "left join, s",
        "anti-join / join", "left join / join",
    )  # fmt: skip
    for row in rows:
        counts = (f"{count:,}" for count in (row.rows, row.joined, row.unmatched))
        seconds = (row.join_seconds, row.anti_join_seconds, row.left_join_seconds)
        ratios = (ratio.text(2) for ratio in (row.of_anti_join, row.of_left_join))
        table.add_row(row.inputs, *counts, *(f"{each:.3f}" for each in seconds), *ratios)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
