"""Compares shortest paths with networkx: ``python -m bench.shortest``.

The edges are those of the bundled MathOverflow, valid in a window that ends at the last edge. One
row is the length of each pair, the other all shortest paths of each pair. SHORTEST_PATH takes the
edges and gives its rows, texts of the paths among them; networkx walks over the same graph, one
source after the other, and drops what it finds. Both are measured in processor time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import networkx as nx
import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save
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
    """What is computed, its rows, and the processor seconds of both."""

    what: str
    vertices: int
    edges: int
    rows: int
    seconds: float
    networkx_rows: int
    networkx_seconds: float

    @property
    def factor(self) -> float:
        """How many times as long networkx takes."""
        return self.networkx_seconds / self.seconds


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


def rows_of(window: int) -> Iterator[Row]:
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
        evaluated(path, pairs.slice(0, 5))  # compiles the kernels
        rows, seconds = _cpu(lambda path=path: evaluated(path, pairs))  # type: ignore[misc]
        theirs, slow = _cpu(
            lambda all_paths=all_paths: of_networkx(graph, all_paths=all_paths)  # type: ignore[misc]
        )
        yield Row(what, len(graph), len(pairs), rows, seconds, theirs, slow)


def main(
    *,
    window: Annotated[str, typer.Option(help="How long an edge is valid.")] = "7d",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures shortest paths of the bundled MathOverflow beside networkx."""
    console = Console(width=None if Console().is_terminal else 200)
    console.print(headline(machine()))
    rows = list(rows_of(ticks(window, "second")))
    save(out, "shortest", {"window": window}, rows)
    table = Table(title=f"MathOverflow, the last {window}")
    for column in ("what", "vertices", "edges", "rows", "s", "networkx, rows", "s", "factor"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        table.add_row(
            row.what, f"{row.vertices:,}", f"{row.edges:,}", f"{row.rows:,}",
            f"{row.seconds:.4f}", f"{row.networkx_rows:,}", f"{row.networkx_seconds:.3f}",
            f"{row.factor:,.0f}",
        )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
