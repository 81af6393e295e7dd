"""Cost of an operator per unit of application time: operator formulas 8-12 of thesis 6.3.2.

Pure functions of rates, populations and constants; logarithms are of base 2, and that of a
population below 1 counts as 0. The unit is that of the constants per time
unit of the catalog.
"""

from __future__ import annotations

from functools import lru_cache
from math import log2

from ..algebra.physical import AutomatonPath, WitnessPaths
from .constants import Constants

HEADER_BYTES = 16
"""ts and exp of a row on the wire."""
COLUMN_BYTES = 8
"""One encoded vertex of a row on the wire."""


def log(population: float) -> float:
    """The binary logarithm; 0 below 1."""
    return log2(population) if population > 1 else 0.0


def push(rate: float, c: Constants) -> float:
    """Formulas 8 (WSCAN, 6.18) and 10 (UNION, 6.20): rO·CO; also PROJECT."""
    return rate * c.push


def evaluate(input_rate: float, rate: float, c: Constants) -> float:
    """Formula 9 (FILTER): ri·Csigma + rO·CO (6.19)."""
    return input_rate * c.evaluate + rate * c.push


def keep(population: float, c: Constants) -> float:
    """I = E = Uh + Upq·log(r·v): a row enters or leaves a hash table and queue (6.22, 6.24)."""
    return c.hash_update + c.queue_update * log(population)


def pattern(
    rates: tuple[float, float],
    populations: tuple[float, float],
    rate: float,
    c: Constants,
    pairs: float = 0.0,
) -> float:
    """Formula 11: r1·(I1 + P2 + E2) + r2·(I2 + P1 + E1) + rO·CO (6.21), P = Ph (6.23).

    Ours: of the ``pairs`` per time unit on which a residual is checked, each costs Csigma.
    """
    r1, r2 = rates
    kept1, kept2 = keep(populations[0], c), keep(populations[1], c)
    per_row = kept1 + kept2 + c.hash_probe
    return r1 * per_row + r2 * per_row + pairs * c.evaluate + rate * c.push


def path(input_rate: float, vertices: float, states: int, rate: float, c: Constants) -> float:
    """Formula 12: ri·(I + E) + rO·CO (6.25)."""
    return (
        input_rate * (path_insertion(vertices, states, c) + path_expiration(vertices, states, c))
        + rate * c.push
    )


def path_insertion(n: float, k: int, c: Constants) -> float:
    """I = Ph·n·k² + Upq·n·k·log(n·k) + Uh·k (6.27)."""
    return c.hash_probe * n * k * k + c.queue_update * n * k * log(n * k) + c.hash_update * k


def path_expiration(n: float, k: int, c: Constants) -> float:
    """E = Ph·n²·k + Ppq·n·log n + Upq·n·k·log(n·k) + Uh·k (6.28)."""
    return (
        c.hash_probe * n * n * k
        + c.queue_probe * n * log(n)
        + c.queue_update * n * k * log(n * k)
        + c.hash_update * k
    )


def path_by_results(
    input_rate: float, n: float, k: int, rate: float, c: Constants, *, population: float
) -> float:
    """PATH as S-PATH runs here: ri·(I + E) + rO·(2·N + CO). Ours, in place of formula 12.

    Formula 12 pays for n trees and n² nodes with every edge. But a vertex stands in T = 1 + p/n
    trees on average, where p is the ``population`` of results, and a node is touched when it
    enters (N), when it is found again, and when it expires (N). So an edge costs
    I = Ph·k·T + Uh·k and E = Uh·k, and the rest is paid by the result: N = Ph·k + Uh·k +
    Upq·log(n·k). No set of paths has more results than pairs, so neither does this.
    """
    touched = c.hash_probe * k * trees(population, n) + 2 * c.hash_update * k
    return input_rate * touched + rate * (2 * path_node(n, k, c) + c.push)


def trees(population: float, n: float) -> float:
    """T = 1 + p/n: in how many trees a vertex stands, its own one and those of valid pairs."""
    return 1 + population / max(n, 1.0)


def path_node(n: float, k: int, c: Constants) -> float:
    """N = Ph·k + Uh·k + Upq·log(n·k): a node enters a tree, or leaves it."""
    return (c.hash_probe + c.hash_update) * k + c.queue_update * log(n * k)


SIMPLE_FACTOR = 4.0
"""How many times as much a simple path costs as any path, at least."""


def simple_path(
    any_path: float, input_rate: float, k: int, per_vertex: float, c: Constants
) -> float:
    """PATH of simple paths as SIMPLE_PATH runs here: 4·A + ri·k·Ph·T². Ours.

    A is the cost of any paths: no tree says what an edge leaves as it is, so its surroundings
    are searched each time, and the pairs of the T roots before it and the T ends behind it are
    looked up. What branch and bound takes where walks repeat vertices is not foreseen.
    """
    return SIMPLE_FACTOR * any_path + input_rate * k * c.hash_probe * per_vertex * per_vertex


PROBE_WORDS = 16.0
"""How many words of 64 bits are united in the time of a probe."""


def slide_path(
    edges: float, n: float, k: int, rate: float, c: Constants, *, validity: float, period: float
) -> float:
    """PATH as SLIDE_PATH runs here: L/b·(2·e·k + n)·(1 + n/64)·Ph/16 + rO·CO. Ours.

    Per slide of b time units and for each of the L expiries the e valid edges are walked in k
    states twice, with the new edges and without; each unites the sets of n targets, 64 at a time.
    """
    walked = (2 * edges * k + n) * (1 + n / 64)
    return levels(validity, period) / period * walked * c.hash_probe / PROBE_WORDS + rate * c.push


def levels(validity: float, period: float) -> float:
    """L = 1 + v/b: how many expiries of edges there are at an instant."""
    return 1 + validity / period


def coalesce(input_rate: float, population: float, rate: float, c: Constants) -> float:
    """r·(I + P + E) + rO·CO: formula 11 with one input that is probed with itself."""
    return input_rate * (2 * keep(population, c) + c.hash_probe) + rate * c.push


def compute(rate: float, values: int, c: Constants) -> float:
    """COMPUTE: rO·(m·Csigma + CO), as formula 9 for each of m values."""
    return rate * (values * c.evaluate + c.push)


def group_update(aggregates: int, c: Constants) -> float:
    """G = Ph + a·Uh: a row of the result is found, and each of its aggregates changed."""
    return c.hash_probe + aggregates * c.hash_update


def aggregate(
    input_rate: float, population: float, aggregates: int, rate: float, c: Constants
) -> float:
    """AGGREGATE: ri·(I + E + 2·G) + rO·CO: a row is kept as by COALESCE, and changes the row of
    its keys when it comes and when it goes."""
    per_row = 2 * keep(population, c) + 2 * group_update(aggregates, c)
    return input_rate * per_row + rate * c.push


def witness(
    rows: tuple[float, float],
    edges: tuple[float, float],
    rate: float,
    c: Constants,
    *,
    n: float,
    k: int,
) -> float:
    """WITNESS: ri·(I + P + E) + re·(Ie + Ee) + rO·(S + CO), S = k·n·Ph: rows are kept as by
    COALESCE, edges while they are valid, and the search of a path may look at all n vertices.

    ``rows`` and ``edges`` are a rate and a population each.
    """
    kept = rows[0] * (2 * keep(rows[1], c) + c.hash_probe) + edges[0] * 2 * keep(edges[1], c)
    return kept + rate * (k * n * c.hash_probe + c.push)


def report(input_rate: float, population: float, rate: float, c: Constants) -> float:
    """REPORT: ri·(I + E) + rO·CO: a row is kept while it is valid."""
    return input_rate * 2 * keep(population, c) + rate * c.push


def row_width(columns: int) -> int:
    """Bytes of a row on the wire: its encoded vertices, ts and exp."""
    return HEADER_BYTES + COLUMN_BYTES * columns


def exchange(rate: float, columns: int, c: Constants) -> float:
    """Moving rows between partitions: rate · row width · network constant.

    ``rate`` is that of the partition that sends or receives most: one in n of the rows when
    they are hashed to n partitions, all of them when they are broadcast to each.
    """
    return rate * row_width(columns) * c.network


def convert(rate: float, columns: int, c: Constants) -> float:
    """Handing rows from Spark SQL to compiled operators: rate · row width · constant."""
    return rate * row_width(columns) * c.convert


def path_of_own_roots(
    input_rate: float, n: float, k: int, rate: float, c: Constants, *, partitions: int
) -> float:
    """Formula 12 on one of several partitions: all edges arrive, the trees are divided.

    ri·((I + E) / partitions + Uh·k) + rO·CO: each partition enters every edge, and grows its
    part of the trees; ``rate`` is that of its own results.
    """
    grown = path_insertion(n, k, c) + path_expiration(n, k, c)
    return input_rate * (grown / partitions + c.hash_update * k) + rate * c.push


@lru_cache(maxsize=4096)
def minimal_states(operator: AutomatonPath | WitnessPaths) -> int:
    """k: the states of the trimmed minimal DFA of the words that the PATH reports.

    The automaton that is run is minimal but for its start, which nothing enters. So
    it has one state more than k exactly if another state accepts and moves alike.
    """
    moves: dict[int, set[tuple[int, bool, int]]] = {
        state: set() for state in range(operator.states)
    }
    for state, ref, inverse, to in operator.transitions:
        moves[state].add((ref, inverse, to))
    doubled = any(
        moves[state] == moves[0] and state not in operator.accepting
        for state in range(1, operator.states)
    )
    return operator.states - doubled
