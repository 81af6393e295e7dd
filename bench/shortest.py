"""Compares shortest paths with networkx: ``python -m bench.shortest``.

The edges are those of the bundled MathOverflow, valid in a window that ends at the last edge. One
row is the length of each pair, the other all shortest paths of each pair. SHORTEST_PATH takes the
edges and gives its rows, texts of the paths among them; networkx walks over the same graph, one
source after the other, and drops what it finds. Both are measured in processor time, in turns after
a first run: the median of the rounds, with the smallest and the largest.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import networkx as nx
import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.streams import files, load
from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.durations import ticks
from headrace.algebra.physical import ShortestPath
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.shortest_path import ShortestPathOperator


@dataclass(frozen=True, slots=True)
class Row:
    """What is computed, its rows, the processor seconds of both, and by how much ours are fewer."""

    what: str
    vertices: int
    edges: int
    rows: int
    seconds: Spread
    networkx_rows: int
    networkx_seconds: Spread
    factor: Spread


def path_of(*, all_paths: bool) -> ShortestPath:
    """The operator for the closure of any label, at instant 0."""
    automaton = minimal_dfa(regex.plus(regex.Symbol(0))).with_fresh_start()
    of = (automaton.states, automaton.transitions, automaton.accepting)
    if not all_paths:
        return ShortestPath(*of)
    return ShortestPath(
        *of, values=("length", "path"), labels=("any",), all_paths=True, budget=10**9
    )


def evaluated(path: ShortestPath, pairs: pa.Table) -> int:
    """The rows of one instant, over edges that are all valid then."""
    dictionary = Dictionary()
    until = np.ones(len(pairs), np.int64)
    columns = [dictionary.encode(pairs[name].combine_chunks(), until) for name in ("src", "trg")]
    operator = ShortestPathOperator(path, 1, dictionary, None)
    operator.process([Batch(np.array(columns), np.zeros(len(pairs), np.int64), until)], wanted=True)
    return len(operator.advance(FOREVER, wanted=True))


def of_networkx(graph: nx.DiGraph[Any], *, all_paths: bool) -> int:
    """The rows of networkx, without those from a vertex to itself."""
    if all_paths:
        return sum(
            len(paths)
            for x in graph
            for y, paths in nx.single_source_all_shortest_paths(graph, x)
            if x != y
        )
    return sum(len(near) - 1 for _, near in nx.all_pairs_shortest_path_length(graph))


def _cpu(action: Callable[[], int]) -> tuple[int, float]:
    gc.collect()
    start = process_time()
    outcome = action()
    return outcome, process_time() - start


def rows_of(window: int, rounds: int) -> Iterator[Row]:
    """Measures both rows over the edges of the last ``window`` seconds."""
    edges = load(files(None))
    times = np.asarray(edges["ts"])
    pairs = edges.filter(pa.array(times > times.max() - window)).select(["src", "trg"])
    pairs = pairs.group_by(["src", "trg"]).aggregate([])
    graph: nx.DiGraph[Any] = nx.DiGraph(
        zip(pairs["src"].to_pylist(), pairs["trg"].to_pylist(), strict=True)
    )
    for what, all_paths in (("lengths", False), ("all shortest paths", True)):
        path = path_of(all_paths=all_paths)
        rows = evaluated(path, pairs)  # compiles the kernels
        theirs, runs = 0, []
        for _ in range(rounds):
            _, ours = _cpu(partial(evaluated, path, pairs))
            theirs, slow = _cpu(partial(of_networkx, graph, all_paths=all_paths))
            runs.append((ours, slow))
        yield Row(
            what, len(graph), len(pairs), rows, Spread.of([ours for ours, _ in runs]), theirs,
            Spread.of([slow for _, slow in runs]), Spread.of([b / a for a, b in runs]),
        )  # fmt: skip


def main(
    *,
    window: Annotated[str, typer.Option(help="How long an edge is valid.")] = "7d",
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures shortest paths of the bundled MathOverflow beside networkx."""
    console = Console(width=None if Console().is_terminal else 200)
    console.print(headline(machine()))
    rows = list(rows_of(ticks(window, "second"), rounds))
    save(out, "shortest", {"window": window, "rounds": rounds}, rows)
    table = Table(title=f"MathOverflow, the last {window}")
    for column in ("what", "vertices", "edges", "rows", "s", "networkx, rows", "s", "factor"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        table.add_row(
            row.what, f"{row.vertices:,}", f"{row.edges:,}", f"{row.rows:,}",
            row.seconds.text(4), f"{row.networkx_rows:,}", row.networkx_seconds.text(3),
            row.factor.text(1),
        )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
