"""The queries that are measured, as RQ text.

Labels a to d have the rates of Table 6.2 of the thesis; those of the shapes have rates of
their own, neither rising nor falling, so that the order in which a query is written is not
the cheapest one by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import Assumptions, CostModel
from headrace.costmodel.model import Kind

RATES = {"a": 2000.0, "b": 4000.0, "c": 6000.0, "d": 8000.0}
VERTICES = 1e6
WINDOW = "WINDOW 100s SLIDE 1s"
LARGEST = 20
"""The number of different rates of labels, and the most atoms of a star."""
LABELS = 28
"""The most atoms of a shape."""

TABLE_4_2 = {
    "Q1": "a*",
    "Q2": "a/b*",
    "Q3": "a/b*/c*",
    "Q4": "(a|b|c)*",
    "Q5": "a/b*/c",
    "Q6": "a*/b*",
    "Q7": "a/b/c*",
    "Q8": "a?/b*",
    "Q9": "(a|b|c)+",
    "Q10": "(a|b|c)/d*",
    "Q11": "a/b/c",
}
RL = "RL(x, y) <- {a}+(x, y), {b}(x, m), {c}(m, y).\n"
TABLE_5_1 = {
    "Q1": "Answer(x, y) <- x {a}* y.\n",
    "Q2": "Answer(x, y) <- x {a}/{b}* y.\n",
    "Q3": "Answer(x, y) <- x {a}/{b}*/{c}* y.\n",
    "Q4": "Answer(x, y) <- x ({a}/{b}/{c})+ y.\n",
    "Q5": "RR(m1, m2) <- {a}(x, y), {b}(m1, x), {b}(m2, y), {c}(m2, m1).\n"
    "Answer(m1, m2) <- RR(m1, m2).\n",
    "Q6": RL + "Answer(x, y) <- RL(x, y).\n",
    "Q7": RL + "Answer(x, m) <- RL+(x, y), {c}(m, y).\n",
}
STAR = "Answer(s1, t) <- a(v, s1), b(v, v2), c(v, v3), d(v, t).\n"
PAPER_Q4 = "D(x, w) <- {a}(x, y), {b}(y, z), {c}(z, w).\nAnswer(x, y) <- D+(x, y).\n"
PER_QUERY_MS = 50.0


@dataclass(frozen=True, slots=True)
class Case:
    """A query to measure, and what is aimed at.

    ``aim_ms`` is for the search, ``budget_ms`` its bound if it gets one, ``aim_ratio`` how
    much dearer than the best known plan the one found may be.
    """

    name: str
    text: str
    aim_ms: float | None = None
    budget_ms: float | None = None
    aim_ratio: float | None = None


Edges = tuple[tuple[int, int], ...]


def chain(n: int) -> Edges:
    return tuple((k, k + 1) for k in range(n))


def star(n: int) -> Edges:
    """Edges of one vertex: every two of them share it, so the join graph is a clique."""
    return tuple((0, k + 1) for k in range(n))


def cycle(n: int) -> Edges:
    return tuple((k, (k + 1) % n) for k in range(n))


def complete(n: int) -> Edges:
    """A clique."""
    return tuple((i, j) for i in range(n) for j in range(i + 1, n))


def both_ways(edges: Edges) -> Edges:
    """Each edge in both directions."""
    return tuple(pair for i, j in edges for pair in ((i, j), (j, i)))


def pattern(edges: Edges, kept: tuple[int, ...] | None = None, label: str | None = None) -> str:
    """A pattern of as many labels as edges, or of one; all variables are kept by default."""
    variables = tuple(dict.fromkeys(v for edge in edges for v in edge)) if kept is None else kept
    head = ", ".join(f"x{v}" for v in variables)
    body = ", ".join(f"{label or f'l{k}'}(x{i}, x{j})" for k, (i, j) in enumerate(edges))
    return f"Answer({head}) <- {body}.\n"


def _budgeted(name: str, text: str, budget_ms: float) -> Case:
    """A query too large for a complete search within its time."""
    budget = f"{budget_ms / 1000:g} s" if budget_ms >= 1000 else f"{budget_ms:g} ms"
    return Case(f"{name}, {budget}", text, budget_ms, budget_ms, 1.2)


def cases() -> list[Case]:
    """All queries of the benchmark of the search."""
    abc = {label: label for label in "abc"}
    found = [
        Case(f"Table 4.2 {name}", f"Answer(x, y) <- x {path} y.\n", PER_QUERY_MS)
        for name, path in TABLE_4_2.items()
    ]
    found += [
        Case(f"Table 5.1 {name}", text.format(**abc), PER_QUERY_MS)
        for name, text in TABLE_5_1.items()
    ]
    found += [
        Case("Qs", STAR, PER_QUERY_MS),
        Case("Qp", "Answer(x, y) <- x (a/b/c)+ y.\n", PER_QUERY_MS),
        Case("Q4 of the paper", PAPER_Q4.format(**abc), PER_QUERY_MS),
    ]
    for n in range(2, 13):
        aim = 150.0 if n == 12 else None
        found.append(Case(f"chain {n}, all kept", pattern(chain(n)), aim))
        found.append(Case(f"chain {n}, ends kept", pattern(chain(n), (0, n)), aim))
    found += [Case(f"cycle {n}, all kept", pattern(cycle(n))) for n in range(4, 9)]
    found += [Case(f"star {n}, two kept", pattern(star(n), (1, n))) for n in range(3, 9)]
    clique_aims = {6: 100.0, 8: 2000.0}
    found += [
        Case(f"clique {n} (star, all kept)", pattern(star(n)), clique_aims.get(n))
        for n in range(4, 9)
    ]
    found += [
        Case("star 9, all kept", pattern(star(9)), 1000.0, aim_ratio=1.05),
        Case("star 10, all kept", pattern(star(10)), 1000.0, aim_ratio=1.05),
        Case("star 10, two kept", pattern(star(10), (1, 10)), 1000.0, aim_ratio=1.05),
        Case("digraph 4, all kept", pattern(both_ways(complete(4))), 1000.0, aim_ratio=1.05),
        Case("graph clique 4, all kept", pattern(complete(4))),
        Case("graph clique 8, all kept", pattern(complete(8)), 1000.0),
        _budgeted("star 16, two kept", pattern(star(16), (1, 16)), 1000.0),
        _budgeted("star 16, all kept", pattern(star(16)), 1000.0),
        _budgeted("star 16, all kept", pattern(star(16)), 100.0),
        _budgeted("star 20, all kept", pattern(star(20)), 1000.0),
        _budgeted("star 20, all kept", pattern(star(20)), 100.0),
        _budgeted("chain 16, ends kept", pattern(chain(16), (0, 16)), 1000.0),
        _budgeted("chain 16, ends kept", pattern(chain(16), (0, 16)), 100.0),
        _budgeted("graph clique 6, all kept", pattern(complete(6)), 1000.0),
        _budgeted("graph clique 6, all kept", pattern(complete(6)), 100.0),
        Case("(a|b|c)/(a|b|c)/(a|b|c)", "Answer(x, y) <- x (a|b|c)/(a|b|c)/(a|b|c) y.\n"),
        Case("a|b, joined thrice", _UNIONS),
        Case("star 8 of one label, all kept", pattern(star(8), label="a")),
        Case("chain 5, ten conditions", _CONDITIONS, 100.0),
        Case("(!a)+ over 31 labels", "Answer(x, y) <- x (!a)+ y.\n"),
    ]
    return [replace(case, text=case.text + WINDOW + "\n") for case in found]


_CONDITIONS = """\
Answer(x0, x5) <- l0(x0, x1), l1(x1, x2), l2(x2, x3), l3(x3, x4), l4(x4, x5),
    x0 < x2, x1 < x3, x2 < x4, x3 < x5, x0 < x3, x1 < x4, x2 < x5, x0 < x4, x1 < x5, x0 != x5.
"""
_UNIONS = """\
U(x, y) <- a(x, y).
U(x, y) <- b(x, y).
Answer(x, w) <- U(x, y), U(y, z), U(z, w).
"""


def catalog() -> Catalog:
    """One stream with the statistics of the thesis's labels and of the shapes'."""
    rates = RATES | {f"l{k}": 1000.0 * (1 + (7 * k + 3) % LARGEST) for k in range(LABELS)}
    return uniform_catalog(rates, VERTICES, longest_path=3)


def uniform_catalog(
    rates: Mapping[str, float], vertices: float, longest_path: int | None = None
) -> Catalog:
    """One stream of labels with rates per second, each over the same vertices."""
    labels = {
        label: LabelStatistics(
            rate=rate,
            distinct_src=vertices,
            distinct_trg=vertices,
            vertices=vertices,
            longest_path=longest_path,
        )
        for label, rate in rates.items()
    }
    return Catalog({"s": Stream("s", labels, vertex_type="integer")})


def cost_model(kind: Kind, over: Catalog | None = None) -> CostModel:
    """A cost model with the parameters that reproduce the thesis's choices."""
    vertices = max(s.vertices for s in (over or catalog()).streams["s"].labels.values())
    assumptions = Assumptions(cap_distinct=kind == "saturating", vertices=vertices)
    return CostModel(kind, over or catalog(), assumptions=assumptions)
