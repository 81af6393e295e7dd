"""The queries of ``examples`` in the oracle's form, and their data.

Written by hand beside the ``.rq`` files, which the product reads; atoms stand and rules are
cut so that joining from left to right is fast.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path

from tests.oracles.conditions import Calc, Compare, Lit, Prop, Scalar, Vert
from tests.oracles.query import (
    Atom,
    Closure,
    Is,
    PathAtom,
    Query,
    Rule,
    Seq,
    Source,
    Step,
    Var,
    plus,
)
from tests.oracles.snapshot import Edge

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = EXAMPLES / "mathoverflow"
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
    """All edges of the bundled data in time order, read independently of Headrace with csv."""
    found = []
    for label in LABELS:
        with gzip.open(FOLDER / f"{label}.csv.gz", "rt", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                found.append(Edge(int(row["ts"]), row["src"], row["trg"], label))
    return tuple(sorted(found, key=lambda edge: edge.ts))


# --- with stored data -----------------------------------------------------------------

LDBC = EXAMPLES / "ldbc"
FAN, AUTHOR, POST, FORUM = map(Var, ("fan", "author", "post", "forum"))
FRIENDS = Query(
    (
        Rule(
            "Answer",
            ("fan", "author", "post", "forum"),
            (
                Atom("likes", FAN, POST),
                Atom("hasCreator", POST, AUTHOR),
                Atom("knows", FAN, AUTHOR),
                Atom("containerOf", FORUM, POST),
                Atom("hasMember", FORUM, FAN),
            ),
        ),
    ),
    (
        ("likes", Source("likes", 7 * DAY, 3600)),
        ("hasCreator", Source("posts", 30 * DAY, DAY)),
        ("containerOf", Source("posts", 30 * DAY, DAY)),
        ("knows", Source("persons", 30 * DAY, DAY)),
        ("hasMember", Source("forums", 0, stored=True)),
    ),
)


def edges_of_friends() -> tuple[Edge, ...]:
    """The edges of ``ldbc`` in time order, stored ones at time 0, read with csv."""
    found = []
    for label, _ in FRIENDS.sources:
        with gzip.open(LDBC / f"{label}.csv.gz", "rt", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                found.append(Edge(int(row.get("ts", 0)), row["src"], row["trg"], label))
    return tuple(sorted(found, key=lambda edge: edge.ts))


# --- with properties ------------------------------------------------------------------


@dataclass(frozen=True)
class WithProperties:
    """An example query over properties, and the edges of its first ``ticks`` ticks between the
    ``busiest`` vertices: the oracle joins named edges one with each."""

    text: Path
    query: Query
    data: str
    ticks: int
    busiest: int
    values: Mapping[str, Callable[[str], Scalar]]
    vertices: Mapping[str, Mapping[str, Callable[[str], Scalar]]] = field(default_factory=dict)

    def edges(self) -> tuple[Edge, ...]:
        """The edges in time order, read independently of Headrace with csv."""
        labels = [label for label, _ in self.query.sources]
        found = []
        with gzip.open(self.text.parent / self.data, "rt", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                label = row.get("label", labels[0])
                held = [(k, read(row[k])) for k, read in self.values.items() if row[k]]
                edge = Edge(int(row["ts"]), row["src"], row["trg"], label, tuple(held))
                found.append(edge)
        last = min(edge.ts for edge in found) + self.ticks
        early = [edge for edge in found if edge.ts < last and edge.label in labels]
        ends = Counter(vertex for edge in early for vertex in (edge.src, edge.trg))
        kept = {vertex for vertex, _ in ends.most_common(self.busiest)}
        chosen = [edge for edge in early if {edge.src, edge.trg} <= kept]
        return (*self._stored(kept), *chosen)

    def _stored(self, kept: Collection[object]) -> Iterator[Edge]:
        """The rows of ``kept`` vertices: edges from each to itself, of time 0."""
        for label, values in self.vertices.items():
            with gzip.open(self.text.parent / f"{label}.csv.gz", "rt", encoding="utf-8") as lines:
                for row in csv.DictReader(lines):
                    held = tuple((name, read(row[name])) for name, read in values.items())
                    if row["id"] in kept:
                        yield Edge(0, row["id"], row["id"], label, held)


def _apart(one: Prop, other: Prop) -> Calc:
    return Calc("abs", (Calc("-", (one, other)),))


A, B, C, D, HOST = map(Var, ("a", "b", "c", "d", "host"))
_CYCLE = Rule(
    "Answer",
    ("a", "b", "c", "d", "amount", "first", "last"),
    (
        Atom("transfer", A, B, "e"),
        Atom("transfer", B, C, "f"),
        Atom("transfer", C, D, "g"),
        Atom("transfer", D, A, "h"),
    ),
    (
        *(Compare(Prop(one, "ts"), "<=", Prop(next_, "ts")) for one, next_ in pairwise("efgh")),
        *(
            Compare(
                _apart(Prop(next_, "amount"), Prop(one, "amount")),
                "<=",
                Calc("*", (Lit(0.1), Prop(one, "amount"))),
            )
            for one, next_ in pairwise("efgh")
        ),
        *(Compare(Vert(one), "<>", Vert(other)) for one, other in combinations("abcd", 2)),
    ),
    (("amount", Prop("e", "amount")), ("first", Prop("e", "ts")), ("last", Prop("h", "ts"))),
)
_FANOUT = Rule(
    "Answer",
    ("host", "x", "y", "z", "port", "ts", "bot"),
    (Atom("tcp", HOST, X, "e"), Atom("tcp", HOST, Y, "f"), Atom("tcp", HOST, Z, "g")),
    (
        *(Compare(Prop(one, "port"), "=", Prop(next_, "port")) for one, next_ in pairwise("efg")),
        *(
            Compare(_apart(Prop(one, "ts"), Prop(other, "ts")), "<=", Lit(10))
            for one, other in combinations("efg", 2)
        ),
        Compare(Vert("x"), "<", Vert("y")),
        Compare(Vert("y"), "<", Vert("z")),
    ),
    (("port", Prop("e", "port")), ("ts", Prop("e", "ts")), ("bot", Prop("e", "bot"))),
)

_FLAGGED = Rule(
    "Answer",
    ("a", "b", "c", "amount", "first", "last"),
    (
        Is("account", A),
        Atom("transfer", A, B, "e"),
        Atom("transfer", B, C, "f"),
        Atom("transfer", C, A, "g"),
    ),
    (
        Compare(Prop("a", "fraud"), "=", Lit(True)),
        Compare(Prop("e", "amount"), ">", Calc("/", (Prop("a", "balance"), Lit(2)))),
        Compare(Prop("e", "ts"), "<=", Prop("f", "ts")),
        Compare(Prop("f", "ts"), "<=", Prop("g", "ts")),
    ),
    (("amount", Prop("e", "amount")), ("first", Prop("e", "ts")), ("last", Prop("g", "ts"))),
)

WITH_PROPERTIES: dict[str, WithProperties] = {
    "cycle": WithProperties(
        EXAMPLES / "amlsim" / "cycle.rq",
        Query((_CYCLE,), (("transfer", Source("amlsim", 100)),), (("amount", "number"),)),
        "transfer.csv.gz",
        56,
        100,
        {"amount": float},
    ),
    "flagged": WithProperties(
        EXAMPLES / "amlsim" / "flagged.rq",
        Query(
            (_FLAGGED,),
            (
                ("transfer", Source("amlsim", 100)),
                ("account", Source("accounts", 0, stored=True)),
            ),
            (("amount", "number"), ("fraud", "boolean"), ("balance", "number")),
            vertices=("account",),
        ),
        "transfer.csv.gz",
        150,
        120,
        {"amount": float},
        {"account": {"fraud": "true".__eq__, "balance": float}},
    ),
    "fanout": WithProperties(
        EXAMPLES / "flows" / "fanout.rq",
        Query(
            (_FANOUT,), (("tcp", Source("flows", 60)),), (("port", "integer"), ("bot", "boolean"))
        ),
        "flows.csv.gz",
        1200,
        1000,
        {"port": int, "bot": "true".__eq__},
    ),
}
"""By the name of the files with the query."""
