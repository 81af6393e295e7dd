"""The searches of a sample: all pairs of small random graphs, against networkx."""

import networkx as nx
import numpy as np
import pytest

from headrace.executor.kernels import stops, widest

VERTICES, INSTANTS, FOREVER, SINCE = 7, 3, 2**62, 4


def found(
    edges: list[tuple[int, int, int, int]], *, left: int = 10**6, room: int = 10**4
) -> tuple[int, set[tuple[int, ...]]]:
    """The reason of the stop, and the rows of a search along ``a/b*`` over (source, target, expiry,
    expiry before), where a is an even edge and b any; from all vertices of all instants."""
    edges = sorted(edges)
    even = [edge for edge in edges if (edge[0] + edge[1]) % 2 == 0]
    every = np.arange(VERTICES * INSTANTS + 1)
    begins = np.stack(
        [
            np.searchsorted([source for source, *_ in even], every),
            np.searchsorted([source for source, *_ in edges], every) + len(even),
        ]
    )
    _, targets, *expiries = np.array([*even, *edges], np.int64).T
    sources = every[:-1]
    header = np.zeros(widest.HEADER_FIELDS, np.int64)
    header[widest.LEFT] = left
    nodes = np.zeros((widest.NODE_FIELDS, 3 * VERTICES), np.int64)
    out = np.zeros((widest.ROW_FIELDS, room), np.int64)
    rows: set[tuple[int, ...]] = set()
    stop = stops.OUT_FULL
    while stop == stops.OUT_FULL:
        header[widest.WRITTEN] = 0
        stop = widest.widest(
            header, sources, sources // VERTICES * VERTICES, 100 + sources // VERTICES, SINCE,
            FOREVER, VERTICES, np.array([(0, 1, 0), (1, 2, 1), (2, 2, 1)]), np.array([0, 1, 1]),
            begins, np.ascontiguousarray(targets), np.stack(expiries), nodes, out,
        )  # fmt: skip
        rows |= set(map(tuple, out[:, : header[widest.WRITTEN]].T.tolist()))
        assert not nodes[[widest.NOW, widest.EARLIER, widest.WAITS]].any() or stop != stops.DONE
    return stop, rows


def expected(edges: list[tuple[int, int, int, int]]) -> set[tuple[int, ...]]:
    """The same by the widths at which networkx finds a walk."""
    widths: list[dict[tuple[int, int, int], int]] = []
    for place in (2, 3):
        best: dict[tuple[int, int, int], int] = {}
        for least in sorted({edge[place] for edge in edges} - {0}):
            graph: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
            for edge in edges:
                source, target = edge[:2]
                if edge[place] >= least:
                    graph.add_edges_from([((s, source), (2, target)) for s in (1, 2)])
                    if (source + target) % 2 == 0:
                        graph.add_edge((0, source), (1, target))
            for start in [node for node in graph if node[0] == 0]:
                for state, vertex in nx.descendants(graph, start):
                    best[start[1], vertex, state] = least
        widths.append(best)
    now, before = widths
    rows: set[tuple[int, ...]] = set()
    for (source, vertex, state), expiry in now.items():
        old, moment = before.get((source, vertex, state), 0), 100 + source // VERTICES
        if old:
            replaced = moment - SINCE // 2 if expiry > old else FOREVER
            rows.add((source, vertex, moment - 2 * SINCE, old, replaced, 0))
        if expiry > old:
            rows.add((source, vertex, moment - SINCE // 2, expiry, FOREVER, int(old == 0)))
    return rows


def random_edges(seed: int) -> list[tuple[int, int, int, int]]:
    random = np.random.default_rng(seed)
    edges = {}
    for _ in range(30):
        source, target = random.integers(0, VERTICES, 2)
        first = int(random.integers(0, INSTANTS)) * VERTICES
        expiry = int(random.integers(1, 9))
        edges[first + int(source), first + int(target)] = (
            expiry,
            int(random.integers(0, expiry + 1)),
        )
    return [(*ends, *expiries) for ends, expiries in edges.items()]


@pytest.mark.parametrize("seed", range(20))
def test_searches_find_the_latest_expiry_of_a_walk_now_and_before(seed: int) -> None:
    edges = random_edges(seed)
    assert found(edges) == (stops.DONE, expected(edges))
    assert found(edges, room=6 * VERTICES) == (stops.DONE, expected(edges)), "in several calls"


def test_searches_end_when_no_edge_may_be_read_any_more() -> None:
    stop, rows = found(random_edges(0), left=10)
    assert stop == stops.OVER_BUDGET
    assert rows < expected(random_edges(0))
