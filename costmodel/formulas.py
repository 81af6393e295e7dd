"""Cost of an operator per unit of application time: operator formulas 8-12 of thesis 6.3.2.

The unit is that of the constants per time unit of the catalog. Formulas without a number are ours.
"""

from __future__ import annotations

from .formula import Formula

SIMPLE_FACTOR = 4.0
"""The least factor by which a simple path costs more than any path."""
PROBE_WORDS = 16.0
"""The words of 64 bits that are united in the time of a probe."""

NOTHING = Formula(None, "", "cost = 0")
SCAN = Formula(8, "rO CO", "cost = rO · CO")
"""WSCAN (6.18)."""
UNION = Formula(10, "rO CO", "cost = rO · CO")
"""UNION (6.20)."""
PROJECT = Formula(None, "rO CO", "cost = rO · CO")
"""Ours: as UNION."""
FILTER = Formula(9, "ri rO Csigma CO", "cost = ri · Csigma + rO · CO")
"""FILTER (6.19); also a scan that looks at ri rows by a predicate."""

_JOIN = (
    "I1 = Uh + Upq · log(p1)",
    "I2 = Uh + Upq · log(p2)",
    "P1 = Ph",
    "P2 = Ph",
    "E1 = Uh + Upq · log(p1)",
    "E2 = Uh + Upq · log(p2)",
)
PATTERN = Formula(
    11,
    "r1 r2 p1 p2 rO Uh Upq Ph CO",
    *_JOIN,
    "cost = r1 · (I1 + P2 + E2) + r2 · (I2 + P1 + E1) + rO · CO",
    name="PATTERN",
)
"""PATTERN (6.21 to 6.24), over what each side holds: a row enters a hash table and a queue, leaves
them, and probes the other side."""
PATTERN_WITH_RESIDUAL = Formula(
    11,
    "r1 r2 p1 p2 rO Uh Upq Ph CO c Csigma",
    *_JOIN,
    "cost = r1 · (I1 + P2 + E2) + r2 · (I2 + P1 + E1) + c · Csigma + rO · CO",
    name="PATTERN",
)
"""Ours: each of the c pairs on which the residual is checked costs Csigma besides."""

_JOIN_OF_TABLES = (
    "I1 = 2 · Uh + 2 · Upq · log(p1)",
    "I2 = 2 · Uh + 2 · Upq · log(p2)",
    "P1 = Ph",
    "P2 = Ph",
    "E1 = 2 · Uh + 2 · Upq · log(p1)",
    "E2 = 2 · Uh + 2 · Upq · log(p2)",
)
JOIN = Formula(
    None,
    "r1 r2 p1 p2 rO Uh Upq Ph CO",
    *_JOIN_OF_TABLES,
    "cost = r1 · (I1 + P2 + E2) + r2 · (I2 + P1 + E1) + rO · (Ph + CO)",
    name="PATTERN",
)
"""Ours, in place of formula 11: PATTERN as HASH_JOIN runs here. A row enters two tables, the set of
the rows and the index by the join columns, and the sweeps of both move it until it expires. Each
result visits a row of the other side."""
JOIN_WITH_RESIDUAL = Formula(
    None,
    "r1 r2 p1 p2 rO Uh Upq Ph CO c Csigma",
    *_JOIN_OF_TABLES,
    "cost = r1 · (I1 + P2 + E2) + r2 · (I2 + P1 + E1) + c · Csigma + rO · (Ph + CO)",
    name="PATTERN",
)
"""The same with a residual, checked on c pairs."""

INDEX_OF_JOIN = Formula(
    None,
    "r1 r2 p1 Uh Upq Ph",
    "I1 = 2 · Uh + 2 · Upq · log(p1)",
    "E1 = 2 · Uh + 2 · Upq · log(p1)",
    "cost = r1 · I1 + r2 · E1 - r1 · Ph",
    name="index of PATTERN",
)
"""Ours: what JOIN charges for the index of its first input beyond what an index costs that another
join holds: each change of that is made again by one write."""

SEMI_JOIN = Formula(
    None,
    "r1 r2 p1 d2 s2 rO Uh Upq Ph CO",
    "I1 = 2 · Uh + 2 · Upq · log(p1)",
    "I2 = Uh + Upq · log(d2)",
    "P = Ph",
    "E1 = 2 · Uh + 2 · Upq · log(p1)",
    "E2 = Uh + Upq · log(d2)",
    "cost = r1 · (I1 + 5 · P + E1) + r2 · (6 · P + s2 · (I2 + E2)) + rO · CO",
    name="PATTERN by semi-join",
)
"""Ours: PATTERN as SEMI_JOIN runs here. A row of the first input is held as by HASH_JOIN, looks up
its key, and is looked at once more, when its key comes or is prolonged. A row of the second input
looks up its reach, its key to hold it, and the rows of the key; only the share s2 of them holds a
new key. The numbers of look-ups are those of the measured times."""

SEMI_JOIN_WITH_DELETIONS = Formula(
    None,
    "r1 r2 p1 p2 d2 s2 c rO Uh Upq Ph CO",
    "I1 = 2 · Uh + 2 · Upq · log(p1)",
    "I2 = 2 · Uh + 2 · Upq · log(p2) + s2 · (Uh + Upq · log(d2))",
    "P = Ph",
    "E1 = 2 · Uh + 2 · Upq · log(p1)",
    "E2 = 2 · Uh + 2 · Upq · log(p2) + s2 · (Uh + Upq · log(d2))",
    "cost = r1 · (I1 + P + E1) + r2 · (2 · P + I2 + E2) + c · P + rO · CO",
    name="PATTERN by semi-join",
)
"""The same over inputs with deletions. All rows of the second input are held, and its keys besides.
A row that prolongs its key visits all rows of the first input that have it, c visits in all."""

ANTI_JOIN = Formula(
    None,
    "r1 r2 p1 d2 s2 c rO Uh Upq Ph CO",
    "I1 = 2 · Uh + 2 · Upq · log(p1)",
    "I2 = Uh + Upq · log(d2)",
    "E1 = 2 · Uh + 2 · Upq · log(p1)",
    "E2 = Uh + Upq · log(d2)",
    "P = Ph",
    "cost = r1 · (I1 + 3 · P + E1) + r2 · (2 · P + s2 · (I2 + E2)) + c · P + rO · CO",
    name="ANTIJOIN",
)
"""Ours: ANTIJOIN as ANTI_JOIN runs here. A row of the first input is held as by HASH_JOIN, and is
looked up, with its key, when its instant is over. A row of the second input looks up its key twice;
only the share s2 of them begins a key, which waits in a queue until it ends. Begin and end of a key
visit its rows, c visits in all."""

LEFT_JOIN = Formula(
    None,
    "r1 r2 p1 p2 rO Uh Upq Ph CO",
    "I1 = 2 · Uh + 3 · Upq · log(p1)",
    "I2 = 2 · Uh + 2 · Upq · log(p2)",
    "P1 = Ph",
    "P2 = Ph",
    "E1 = 2 · Uh + 3 · Upq · log(p1)",
    "E2 = 2 · Uh + 2 · Upq · log(p2)",
    "cost = r1 · (I1 + P2 + E1) + r2 · (I2 + P1 + E2) + rO · (Ph + CO)",
    name="LEFTJOIN",
)
"""Ours: LEFTJOIN as LEFT_JOIN runs here. Both sides are held and looked up as by HASH_JOIN. A row
of the first input is also in a queue by the time at which its last partner expires, where a row
without a partner begins. Each result visits a row, of the other side or of the queue."""

LEFT_JOIN_WITH_DELETIONS = Formula(
    None,
    "r1 r2 p1 p2 d2 s2 c rO Uh Upq Ph CO",
    "I1 = 4 · Uh + 4 · Upq · log(p1)",
    "I2 = 2 · Uh + 2 · Upq · log(p2) + s2 · (Uh + Upq · log(d2))",
    "E1 = 4 · Uh + 4 · Upq · log(p1)",
    "E2 = 2 · Uh + 2 · Upq · log(p2) + s2 · (Uh + Upq · log(d2))",
    "P = Ph",
    "cost = r1 · (I1 + 4 · P + E1) + r2 · (I2 + 3 · P + E2) + c · P + rO · CO",
    name="LEFTJOIN",
)
"""The same over inputs with deletions: HASH_JOIN for the pairs, and ANTI_JOIN with the keys of the
second input for the rows without one. A row of the first input is held by both. The c visits are
those of ANTI_JOIN and one for each result."""

_MULTIWAY = (
    "I = 2 · (1 + x) · Uh + 2 · (1 + x) · Upq · log(p)",
    "E = 2 · (1 + x) · Uh + 2 · (1 + x) · Upq · log(p)",
)
MULTIWAY = Formula(
    None,
    "ri p x t l rO Uh Upq Ph CO",
    *_MULTIWAY,
    "cost = ri · (I + E) + (2 · t + l) · Ph + rO · CO",
    name="PATTERN at once",
)
"""Ours: PATTERN as MULTIWAY_JOIN runs here. A row enters the set of rows and x indexes, at twice
the cost of HASH_JOIN: indexes hold the keys themselves, and a sweep enters all rows that remain
anew. Rows take the place of t atoms, each as dear as two look-ups, and from there l keys are looked
up and rows visited (:mod:`headrace.costmodel.multiway`)."""
MULTIWAY_WITH_RESIDUAL = Formula(
    None,
    "ri p x t l rO Uh Upq Ph CO c Csigma",
    *_MULTIWAY,
    "cost = ri · (I + E) + (2 · t + l) · Ph + c · Csigma + rO · CO",
    name="PATTERN at once",
)
"""The same with a residual, checked on c rows."""

_TREES = (
    "I = Ph · n · k · k + Upq · n · k · log(n · k) + Uh · k",
    "E = Ph · n · n · k + Ppq · n · log(n) + Upq · n · k · log(n · k) + Uh · k",
)
PATH = Formula(
    12, "ri n k rO Uh Ph Upq Ppq CO", *_TREES, "cost = ri · (I + E) + rO · CO", name="PATH"
)
"""PATH (6.25, 6.27, 6.28)."""
PATH_BY_ROOT = Formula(
    None,
    "ri n k N rO Uh Ph Upq Ppq CO",
    *_TREES,
    "cost = ri · ((I + E) / N + Uh · k) + rO · CO",
    name="PATH by root",
)
"""Ours: formula 12 on one of N partitions. All edges arrive, and each partition enters them all
and grows its part of the trees; rO is the rate of its own results. The same formula holds where one
in N vertices satisfies the condition on the sources."""


_TREES_BY_NODES = (
    "I = 2 · Ph + 6 · s · Uh + 2 · Ppq · T",
    "E = 2 · Ph + 6 · s · Uh",
    "N = 2.5 · Ph + 3 · s · Uh",
)
"""An edge is looked up in a table of edges and among the nodes, and the trees of the node are read
one after the other. A new edge enters the table and the lists of its two ends. A node that enters a
tree or lasts longer is looked up with its place, and a new one enters. The edges behind it are
looked up for each label, once for all trees that an edge improves together. What entered is copied
once more when the expired edges and nodes are left behind."""


def _path_by_nodes(trees: str) -> Formula:
    return Formula(
        None,
        "ri s rn rl rO pn n Uh Ph Ppq CO",
        f"T = {trees}",
        *_TREES_BY_NODES,
        "cost = ri · (I + E) + rn · N + rl · Ph / 2 + rO · CO",
        name="PATH",
    )


PATH_BY_NODES = _path_by_nodes("1 + pn / n")
"""Ours, in place of formula 12: PATH as S-PATH runs here.

Formula 12 pays for n trees and n² nodes with every edge. But a vertex stands in T = 1 + pn/n trees
on average, its own tree and those of the pn nodes (:mod:`headrace.costmodel.tree_nodes`).
"""
PATH_BY_NODES_OF_ONE = _path_by_nodes("1 + pn")
"""The same where there is at most one vertex."""


def _path_of_pairs(trees: str) -> Formula:
    return Formula(
        None,
        "ri s rn rl rq rw p pq n rO Uh Ph Upq Ppq CO",
        f"T = {trees}",
        *_TREES_BY_NODES,
        "Iq = Uh + Upq · log(pq)",
        "Eq = Uh + Upq · log(pq)",
        "cost = ri · (I + E) + rn · N + rl · Ph / 2 + rq · (Iq + 2 · Ph + Eq) + rw · Ph + rO · CO",
        name="PATH of pairs",
    )


PATH_OF_PAIRS = _path_of_pairs("1 + p / n")
"""Ours: PATH as PAIR_PATH runs here.

The trees are those of the p pairs that the path connects, which begin or last longer rw times per
time unit. Each time the pair is looked up among the pq pairs to report, so that only rO rows leave.
A pair to report enters a table, and it and its path are looked up.
"""
PATH_OF_PAIRS_OF_ONE = _path_of_pairs("1 + p")
"""The same where there is at most one vertex."""


def _simple_path(trees: str) -> Formula:
    return Formula(
        None,
        "ri A p n k Ph",
        f"T = {trees}",
        f"cost = {SIMPLE_FACTOR:g} · A + ri · k · Ph · T · T",
        name="PATH simple",
    )


SIMPLE_PATH = _simple_path("1 + p / n")
"""Ours: PATH of simple paths as SIMPLE_PATH runs here.

A is the cost of any paths. No tree records which pairs an edge leaves unchanged, so each edge costs
a search of its surroundings, and a lookup of the pairs of the T roots before it and the T ends
behind it. The formula leaves out the cost of branch and bound where walks repeat vertices.
"""
SIMPLE_PATH_OF_ONE = _simple_path("1 + p")
"""The same where there is at most one vertex."""

TRAIL_PATH = Formula(
    None,
    "ri A q Ph",
    "cost = 2 · A + ri · q · Ph",
    name="PATH trail",
)
"""Ours: PATH of trails as TRAIL_PATH runs here.

A is the cost of any paths. The graph that is searched has twice the edges, each of which is a
vertex, so that a search takes two steps in place of one. Each edge looks up the q pairs of a root
before it and an end behind it. The formula leaves out the cost of branch and bound where walks
repeat edges.
"""

SLIDE_PATH = Formula(
    None,
    "e v b n k Ph rO CO",
    "L = 1 + v / b",
    f"cost = L / b · (2 · e · k + n) · (1 + n / 64) · Ph / {PROBE_WORDS:g} + rO · CO",
    name="PATH per slide",
)
"""Ours: PATH as SLIDE_PATH runs here.

Per slide of b time units and for each of the L expiries of edges at an instant the e valid
edges are walked in k states twice, with the new edges and without; each unites the sets of n
targets, 64 at a time.
"""

SHORTEST_PATH = Formula(
    None,
    "ri e p n k b rO Uh Upq Ph CO",
    "I = Uh + Upq · log(e)",
    "P = Ph",
    "E = Uh + Upq · log(e)",
    "S = e · k + p · k · (1 + e / n)",
    "cost = ri · (I + P + E) + S · Ph / b + rO · CO",
    name="PATH shortest",
)
"""Ours: PATH of shortest paths as SHORTEST_PATH runs here.

An edge enters the set of edges and the queue of expiries. Once in b time units the e valid edges
become arcs, and each of the n vertices searches the product with k states: each of the p pairs
stands for a node that is reached, and e / n arcs are walked from it.
"""

COALESCE = Formula(
    None,
    "ri p rO Uh Upq Ph CO",
    "I = Uh + Upq · log(p)",
    "P = Ph",
    "E = Uh + Upq · log(p)",
    "cost = ri · (I + P + E) + rO · CO",
)
"""Ours: formula 11 with one input that is probed with itself."""
COALESCE_BY_VALUES = Formula(
    None,
    "ri s rO Uh Ph CO",
    "I = 2 · Uh",
    "P = Ph",
    "E = 2 · Uh",
    "cost = ri · (P + s · (I + E)) + rO · CO",
    name="COALESCE",
)
"""Ours: COALESCE as it runs here. It holds the d distinct values, so that of the arriving rows only
the share s enters: a further row of a value is only looked up."""
COMPUTE = Formula(None, "rO m Csigma CO", "cost = rO · (m · Csigma + CO)")
"""Ours: formula 9 for each of m values."""
_GROUPS = (
    "I = 2 · Uh + 2 · Upq · log(p)",
    "E = 2 · Uh + 2 · Upq · log(p)",
    "G = Ph + a · (Ph + Uh) + o · Ph · log(p)",
)
AGGREGATE = Formula(
    None,
    "ri p a o rO Uh Upq Ph Csigma CO",
    *_GROUPS,
    "W = a · (Csigma + Ph)",
    "cost = ri · (I + E + 2 · G) + rO · (W + CO)",
)
"""Ours: a row enters the set of the rows and the queue of expiries. When it comes and when it goes
the row of its keys is found, and each of its aggregates looked up and changed; aggregates that
compare values keep them in a tree. The values of a result are computed and encoded."""
AGGREGATE_OF_LONG_VALUES = Formula(
    None,
    "ri p a o l m u rO Uh Upq Ph Csigma CO",
    *_GROUPS,
    "W = a · (Csigma + Ph) + (l · m + 20 · u) · Csigma",
    "cost = ri · (I + E + 2 · G) + rO · (W + CO)",
    name="AGGREGATE",
)
"""Ours: each of the l lists of a result is written anew, with the m values of its group, and each
of the u deviations computed from sums of many limbs, in about the time of 20 evaluations."""
TOP = Formula(
    None,
    "ri p h x rO Uh Upq Ph CO",
    "I = Uh + Upq · log(p)",
    "E = Uh + Upq · log(p)",
    "F = 2 · x · Upq · log(h) + Ph",
    "cost = ri · (I + Ph + E) + rO · (F + CO)",
)
"""Ours: a row is compared with the last of the first rows when it comes. It enters the set of the
rows, the queue of expiries and the heap of the rows that are not among the first, and leaves them
again. Most rows stay near the bottom of both heaps, so that these cost as one queue. A row that is
emitted enters or leaves the heap of the h first rows, in exchange for another row. With an offset
the first rows lie in two heaps more, on both sides of the offset (x = 2), else x = 1."""
WITNESS = Formula(
    None,
    "ri p re pe n k rO Uh Upq Ph CO",
    "I = Uh + Upq · log(p)",
    "P = Ph",
    "E = Uh + Upq · log(p)",
    "Ie = Uh + Upq · log(pe)",
    "Ee = Uh + Upq · log(pe)",
    "S = k · n · Ph",
    "cost = ri · (I + P + E) + re · (Ie + Ee) + rO · (S + CO)",
)
"""Ours: rows are kept as by COALESCE, edges while they are valid, and the search of a path may
look at all n vertices."""
REPORT = Formula(
    None,
    "ri p rO Uh Upq Ph Csigma CO",
    "I = Uh + Upq · log(p)",
    "E = Uh + Upq · log(p)",
    "cost = ri · (I + E + 2 · Ph) + rO · (Csigma + CO)",
)
"""Ours: a row is kept while it is valid, and looked up when it comes and when it goes. A value that
is reported is checked: whether it is valid, and was at the last report."""
EVENT_REPORT = Formula(
    None,
    "ri re p rO Uh Upq Ph Csigma CO",
    "I = Uh + Upq · log(p)",
    "E = Uh + Upq · log(p)",
    "cost = ri · (I + E + 2 · Ph) + re · Csigma + rO · (Csigma + CO)",
)
"""Ours: as REPORT, and the time of each row of an event is looked at."""
EXCHANGE = Formula(None, "ri w net", "cost = ri · w · net")
"""Ours: rows that cross the network at the partition that sends or receives most. That is one in N
of the rows when they are hashed to N partitions, all of them when they are broadcast to each."""
TO_KERNEL = Formula(None, "ri w conv", "cost = ri · w · conv")
"""Ours: rows are handed from Spark SQL to compiled operators."""
