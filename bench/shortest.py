"""Compares shortest paths with networkx: ``python -m bench.shortest``.

The bundled MathOverflow runs through SHORTEST_PATH, which reports at the multiples of a slide. Each
of the last reports is measured: the edges of the slide are encoded and taken, the search gives its
rows, and the dictionary drops what has expired. The rows are the length of each pair, or all
shortest paths of each pair; the latter are measured once more with the text of each path decoded,
as a sink does. networkx walks over the graph of the same instant, one source after the other, and
drops what it finds. Both are measured in processor time, in turns, after reports that compile the
kernels: the median of the reports, with the smallest and the largest.
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
from headrace.executor.batch import Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.shortest_path import ShortestPathOperator

WARM = 3
"""Reports before those that are measured."""
KINDS = (
    ("lengths", False, False),
    ("all shortest paths", True, False),
    ("all shortest paths, as text", True, True),
)
"""What is computed, whether it is all paths, and whether their texts are decoded."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is computed, the graph and the rows of the last report, the processor seconds of both,
    and by how much ours are fewer."""

    what: str
    vertices: int
    edges: int
    rows: int
    seconds: Spread
    networkx_rows: int
    networkx_seconds: Spread
    factor: Spread


def path_of(every: int, *, all_paths: bool) -> ShortestPath:
    """The operator for the closure of any label, at the multiples of a period."""
    automaton = minimal_dfa(regex.plus(regex.Symbol(0))).with_fresh_start()
    of = (automaton.states, automaton.transitions, automaton.accepting)
    if not all_paths:
        return ShortestPath(*of, every=every)
    return ShortestPath(
        *of,
        every=every,
        values=("length", "path"),
        labels=("any",),
        all_paths=True,
        budget=10**9,
    )


class Running:
    """A running operator over the bundled edges.

    Args:
        path: the operator.
        edges: the table of all edges.
        window: how long an edge is valid, in seconds.
        decodes: whether the texts of paths are decoded.
    """

    def __init__(self, path: ShortestPath, edges: pa.Table, window: int, *, decodes: bool) -> None:
        self._dictionary = Dictionary()
        self._operator = ShortestPathOperator(path, 1, self._dictionary, None)
        self._edges, self._window, self._decodes = edges, window, decodes
        self._times = np.asarray(edges["ts"])
        self._taken = 0

    def report(self, instant: int) -> int:
        """Takes the edges up to an instant; the number of rows of its report."""
        end = int(np.searchsorted(self._times, instant, "right"))
        slide = self._edges.slice(self._taken, end - self._taken)
        times = self._times[self._taken : end].copy()
        self._taken, until = end, times + self._window
        columns = [
            self._dictionary.encode(slide[name].combine_chunks(), until) for name in ("src", "trg")
        ]
        self._operator.process([Batch(np.array(columns), times, until)], wanted=True)
        rows = self._operator.advance(instant + 1, wanted=True)
        if self._decodes:
            self._dictionary.decode(rows.columns[-1])
        self._dictionary.tick(instant)
        return int((rows.ts == instant).sum())

    def graph(self, instant: int) -> nx.DiGraph[Any]:
        """The valid edges of an instant."""
        valid = (self._times <= instant) & (self._times > instant - self._window)
        pairs = self._edges.filter(pa.array(valid))
        return nx.DiGraph(zip(pairs["src"].to_pylist(), pairs["trg"].to_pylist(), strict=True))


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


def rows_of(window: int, slide: int, reports: int) -> Iterator[Row]:
    """Measures each kind of rows at the last ``reports`` multiples of ``slide``."""
    edges = load(files(None)).select(["src", "trg", "ts"])
    last = int(np.asarray(edges["ts"]).max()) // slide * slide
    begin = last - (reports + WARM) * slide - window
    edges = edges.filter(pa.array(np.asarray(edges["ts"]) > begin))
    for what, all_paths, decodes in KINDS:
        path = path_of(slide, all_paths=all_paths)
        running = Running(path, edges, window, decodes=decodes)
        for k in reversed(range(reports, reports + WARM)):
            running.report(last - k * slide)
        theirs, runs = 0, []
        for k in reversed(range(reports)):
            instant = last - k * slide
            graph = running.graph(instant)
            rows, ours = _cpu(partial(running.report, instant))
            theirs, slow = _cpu(partial(of_networkx, graph, all_paths=all_paths))
            runs.append((ours, slow))
        yield Row(
            what, len(graph), graph.number_of_edges(), rows, Spread.of([ours for ours, _ in runs]),
            theirs, Spread.of([slow for _, slow in runs]), Spread.of([b / a for a, b in runs]),
        )  # fmt: skip


def main(
    *,
    window: Annotated[str, typer.Option(help="How long an edge is valid.")] = "7d",
    slide: Annotated[str, typer.Option(help="The time between two reports.")] = "1d",
    reports: Annotated[int, typer.Option(min=1, help="Reports that are measured.")] = 7,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures shortest paths of the bundled MathOverflow beside networkx."""
    console = Console(width=None if Console().is_terminal else 200)
    console.print(headline(machine()))
    rows = list(rows_of(ticks(window, "second"), ticks(slide, "second"), reports))
    save(out, "shortest", {"window": window, "slide": slide, "reports": reports}, rows)
    table = Table(title=f"MathOverflow, window {window}, report each {slide}")
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
