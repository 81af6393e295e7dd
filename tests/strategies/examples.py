"""The queries of ``examples/mathoverflow`` in the oracle's form, and their data.

Written by hand beside the ``.rq`` files, which the product reads; atoms stand and rules are
cut so that joining from left to right is fast.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from tests.oracles.query import Atom, Closure, PathAtom, Query, Rule, Seq, Source, Step, Var, plus
from tests.oracles.snapshot import Edge

FOLDER = Path(__file__).parents[2] / "examples" / "mathoverflow"
LABELS = ("a2q", "c2a", "c2q")
DAY = 86_400
X, Y, Z, M, M1, M2 = map(Var, ("x", "y", "z", "m", "m1", "m2"))


def _over(days: int, *rules: Rule) -> Query:
    return Query(rules, tuple((label, Source("mathoverflow", days * DAY, DAY)) for label in LABELS))


RL = Rule("RL", ("x", "y"), (Atom("c2a", X, M), Atom("c2q", M, Y), Closure("a2q", X, Y)))

QUERIES: dict[str, Query] = {
    "triangle": _over(
        30,
        Rule("Answer", ("x", "y", "z"), (Atom("a2q", X, Y), Atom("c2a", Y, Z), Atom("c2q", Z, X))),
    ),
    "chains": _over(
        3,
        Rule("Answer", ("x", "y"), (PathAtom(plus(Seq((Step("a2q"), Step("c2a")))), X, Y),)),
    ),
    "q5": _over(
        30,
        Rule("asked", ("m1", "y"), (Atom("a2q", X, Y), Atom("c2a", M1, X))),
        Rule(
            "Answer",
            ("m1", "m2"),
            (Atom("c2q", M2, M1), Atom("c2a", M2, Y), Atom("asked", M1, Y)),
        ),
    ),
    "q6": _over(14, RL, Rule("Answer", ("x", "y"), (Atom("RL", X, Y),))),
    "q7": _over(7, RL, Rule("Answer", ("x", "m"), (Closure("RL", X, Y), Atom("c2q", M, Y)))),
}
"""By the name of the ``.rq`` file."""


def edges() -> tuple[Edge, ...]:
    """All edges of the bundled data in time order; read here once more, by csv alone."""
    found = []
    for label in LABELS:
        with gzip.open(FOLDER / f"{label}.csv.gz", "rt", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                found.append(Edge(int(row["ts"]), row["src"], row["trg"], label))
    return tuple(sorted(found, key=lambda edge: edge.ts))
