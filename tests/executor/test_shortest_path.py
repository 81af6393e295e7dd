"""SHORTEST_PATH: lengths and paths against networkx, and its instants."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Literal

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.path_values import PathValue
from headrace.algebra.physical import ShortestPath
from headrace.algebra.regex import Regex, Symbol
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.shortest_path import ShortestPathOperator
from headrace.executor.operators.simple_path import StepBudgetError

Edge = tuple[str, str, int, int]
"""Source, target, begin and end; a retraction has the end ``~end``."""

CLOSURE = regex.plus(Symbol(0))


def path_of(pattern: Regex, every: int, **fields: object) -> ShortestPath:
    automaton = minimal_dfa(pattern).with_fresh_start()
    path = ShortestPath(automaton.states, automaton.transitions, automaton.accepting, every=every)
    return replace(path, **fields)  # type: ignore[arg-type]


class Running:
    """An operator over one input, with its dictionary."""

    def __init__(self, path: ShortestPath) -> None:
        self.dictionary = Dictionary()
        self.operator = ShortestPathOperator(path, 1, self.dictionary, None)

    def batch(self, edges: Sequence[Edge], now: int) -> list[tuple[object, ...]]:
        """The rows of a batch: decoded values, begin and end."""
        until = np.array([max(end, ~end) for *_, end in edges], np.int64)
        ends = [self.dictionary.encode(pa.array([e[k] for e in edges], pa.string()), until)
                for k in (0, 1)]  # fmt: skip
        times = np.array([begin for *_, begin, _ in edges], np.int64)
        exp = np.array([end for *_, end in edges], np.int64)
        rows = Batch(np.array(ends, np.int64).reshape(2, -1), times, exp)
        self.operator.process([rows], wanted=True)
        found = self.operator.advance(now, wanted=True)
        columns = [self.dictionary.decode(column).to_pylist() for column in found.columns]
        decoded = list(zip(*columns, found.ts.tolist(), found.exp.tolist(), strict=True))
        self.dictionary.purge(min(now, FOREVER - 1))
        return decoded


def stream(seed: int, vertices: int, edges: int, window: int) -> list[Edge]:
    random = Random(seed)
    times = sorted(random.randrange(edges) for _ in range(edges))
    return [
        (str(random.randrange(vertices)), str(random.randrange(vertices)), time, time + window)
        for time in times
    ]


def batches(edges: Sequence[Edge], size: int) -> Iterator[tuple[Sequence[Edge], int]]:
    for start in range(0, len(edges), size):
        last = start + size >= len(edges)
        part = edges[start : start + size]
        yield part, FOREVER if last else part[-1][2]


def paths_of(graph: nx.DiGraph[str]) -> dict[tuple[str, str], list[list[str]]]:
    """All shortest paths of networkx, without the empty ones; a circle is a path to a successor's
    predecessor and back."""
    found = {}
    for x in graph:
        for y in graph:
            if x != y and nx.has_path(graph, x, y):
                found[x, y] = list(nx.all_shortest_paths(graph, x, y))
        around = [
            [x, *path]
            for z in graph.successors(x)
            if nx.has_path(graph, z, x)
            for path in nx.all_shortest_paths(graph, z, x)
        ]
        if around:
            least = min(map(len, around))
            found[x, x] = [path for path in around if len(path) == least]
    return found


def jsons(nodes: Sequence[str]) -> str:
    return json.dumps([[u, "a", v] for u, v in pairwise(nodes)], separators=(",", ":"))


@pytest.mark.parametrize("which", ["length", "one", "all"])
@pytest.mark.parametrize(("seed", "size"), [(1, 1), (2, 7), (3, 1000)])
def test_the_rows_of_each_instant_are_the_paths_of_networkx(
    which: str, seed: int, size: int
) -> None:
    every, window = 5, 13
    shown = {} if which == "length" else {"values": ("path", "length"), "labels": ("a",)}
    path = path_of(CLOSURE, every, **shown, all_paths=True if which == "all" else None)
    edges = stream(seed, 9, 60, window)
    running = Running(path)
    rows = [row for part, now in batches(edges, size) for row in running.batch(part, now)]
    for instant in range(0, 60 + window + every, every):
        graph: nx.DiGraph[str] = nx.DiGraph(
            (u, v) for u, v, ts, exp in edges if ts <= instant < exp
        )
        expected: set[tuple[object, ...]] = set()
        for (x, y), paths in paths_of(graph).items():
            length = len(paths[0]) - 1
            if which == "length":
                expected.add((x, y, length))
            else:
                chosen = sorted(paths)[: 1 if which == "one" else None]
                expected |= {(x, y, jsons(nodes), length) for nodes in chosen}
        assert {row[:-2] for row in rows if row[-2] <= instant < row[-1]} == expected  # type: ignore[operator]


@pytest.mark.parametrize("values", [("node", "place", "length"), ("end", "path", "start")])
@pytest.mark.parametrize("all_paths", [None, True])
def test_each_member_of_a_path_has_a_row(
    values: tuple[PathValue, ...], all_paths: Literal[True] | None
) -> None:
    either = regex.plus(regex.alternation([Symbol(0), Symbol(0, True)]))
    against = "end" in values
    pattern = regex.plus(Symbol(0, True)) if against else either
    path = path_of(pattern, 5, values=values, labels=("a",), all_paths=all_paths)
    edges = stream(4, 9, 40, 60)
    graph: nx.DiGraph[str] = nx.DiGraph((u, v) for u, v, *_ in edges)
    walked = graph.reverse() if against else nx.DiGraph(graph.to_undirected())
    rows = Running(path).batch(edges, 55)
    found = [row[:-2] for row in rows if row[-2] <= 50 < row[-1]]  # type: ignore[operator]
    expected: list[tuple[object, ...]] = []
    for (x, y), paths in paths_of(walked).items():
        for nodes in sorted(paths)[: None if all_paths else 1]:
            if against:
                shown = jsons(nodes).replace('"a"', '"^a"')
                expected += [(x, y, u, shown, v) for u, v in pairwise(nodes)]
            else:
                expected += [(x, y, v, place, len(nodes) - 1) for place, v in enumerate(nodes)]
    if all_paths and not against:  # edges in both directions are different steps
        assert set(found) == set(expected)
    else:
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("value", ["path", "nodes"])
def test_a_list_of_a_path_has_the_code_of_its_text(value: str) -> None:
    path = path_of(CLOSURE, 5, values=(value,), labels=("a",), all_paths=True)
    running = Running(path)
    edges = [("x", "y", 0, 9), ("y", "z", 0, 9), ("x", "u", 0, 9), ("u", "z", 0, 9)]
    until = np.full(2 * len(edges), 9)
    ends = running.dictionary.encode(pa.array([e[k] for k in (0, 1) for e in edges]), until)
    rows = Batch(ends.reshape(2, -1), *np.array([edge[2:] for edge in edges], np.int64).T.copy())
    running.operator.process([rows], wanted=True)
    codes = running.operator.advance(1, wanted=True).columns[2]
    texts = running.dictionary.decode(codes)
    assert len(set(texts.to_pylist())) == 6
    again = running.dictionary.encode(texts, np.full(len(texts), 9))
    assert again.tolist() == codes.tolist()


def test_an_instant_is_searched_only_after_a_change() -> None:
    running = Running(path_of(CLOSURE, 10))
    assert running.batch([("x", "y", 3, 1000)], 3) == []
    assert running.batch([], 500) == [("x", "y", 1, 10, 500)]
    assert running.batch([("y", "z", 777, 1000)], 777) == [("x", "y", 1, 500, 780)]
    last = running.batch([], FOREVER)
    assert sorted(last) == [
        ("x", "y", 1, 780, 1000), ("x", "z", 2, 780, 1000), ("y", "z", 1, 780, 1000),
    ]  # fmt: skip
    assert running.operator.entries == 0


def test_a_retraction_ends_an_edge_at_its_time() -> None:
    path = path_of(CLOSURE, 10, update_pattern="with_deletions")
    running = Running(path)
    edges = [("x", "y", 1, 100), ("y", "z", 2, 100), ("x", "z", 12, 100), ("x", "z", 25, ~100)]
    rows = running.batch(edges, FOREVER)
    lengths = [(row[2:]) for row in rows if row[:2] == ("x", "z")]
    assert lengths == [(2, 10, 20), (1, 20, 30), (2, 30, 100)]


def test_stored_edges_hold_at_every_instant() -> None:
    running = Running(path_of(CLOSURE, 10))
    assert running.batch([("x", "y", 0, FOREVER)], 0) == []
    assert running.batch([], 95) == [("x", "y", 1, 0, 100)]
    assert running.batch([], FOREVER) == [("x", "y", 1, 100, FOREVER)]


def test_too_many_paths_end_the_run_with_an_error() -> None:
    edges = [
        (f"{k}{side}", f"{k + 1}{other}", 0, 10)
        for k in range(12) for side in "ab" for other in "ab"
    ]  # fmt: skip
    path = path_of(CLOSURE, 1, values=("path",), labels=("a",), all_paths=True, budget=5000)
    with pytest.raises(StepBudgetError, match="more than 5,000 steps"):
        Running(path).batch(edges, FOREVER)
    one = path_of(CLOSURE, 1, values=("path",), labels=("a",), budget=5000)
    assert Running(one).batch(edges, FOREVER)
