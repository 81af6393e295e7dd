"""The named queries: those of the thesis's experiments, and the examples."""

from __future__ import annotations

from tests.oracles.query import Atom, Closure, PathAtom, Regex, Rule, Seq, Step, Var, plus
from tests.strategies.queries import TABLE_4_2, path_rules

S, T, U, V, W, X, Y, Z, M = map(Var, "stuvwxyzm")
M1, M2, U1, U2, V2, V3 = (Var(name) for name in ("m1", "m2", "u1", "u2", "v2", "v3"))
A, B, C = Step("a"), Step("b"), Step("c")
ABC: Regex = plus(Seq((A, B, C)))

RL = Rule("RL", ("x", "y"), (Closure("a", X, Y), Atom("b", X, M), Atom("c", M, Y)))

TABLE_5_1: dict[str, tuple[Rule, ...]] = {
    "Q1": path_rules(TABLE_4_2["Q1"]),
    "Q2": path_rules(TABLE_4_2["Q2"]),
    "Q3": path_rules(TABLE_4_2["Q3"]),
    "Q4": path_rules(ABC),
    "Q5": (
        Rule(
            "RR",
            ("m1", "m2"),
            (Atom("a", X, Y), Atom("b", M1, X), Atom("b", M2, Y), Atom("c", M2, M1)),
        ),
        Rule("Answer", ("m1", "m2"), (Atom("RR", M1, M2),)),
    ),
    "Q6": (RL, Rule("Answer", ("x", "y"), (Atom("RL", X, Y),))),
    "Q7": (RL, Rule("Answer", ("x", "m"), (Closure("RL", X, Y, alias="RLP"), Atom("c", M, Y)))),
}
"""The queries of Table 5.1 of the thesis."""

STAR = (
    Rule(
        "Answer", ("s", "t"), (Atom("a", V, S), Atom("b", V, V2), Atom("c", V, V3), Atom("d", V, T))
    ),
)
"""Qs of thesis 6.5.3: four edges of one vertex."""

TERNARY_PATH = (
    Rule("D", ("x", "w"), (Atom("a", X, Y), Atom("b", Y, Z), Atom("c", Z, W))),
    Rule("Answer", ("x", "y"), (Closure("D", X, Y),)),
)
"""The canonical plan of Q4 in the paper: a closure over the ternary pattern."""

NOTIFY = (
    Rule(
        "RL", ("u1", "u2"), (Atom("a", U1, M1), Closure("b", U1, U2, alias="FP"), Atom("c", U2, M1))
    ),
    Rule("Notify", ("u", "m"), (Closure("RL", U, V, alias="RLP"), Atom("c", V, M))),
    Rule("Answer", ("u", "m"), (Atom("Notify", U, M),)),
)
"""Example 3 of the thesis, with a, b, c for likes, follows, posts."""

RECOMMEND = (
    Rule("ACQ", ("u1", "u2"), (Atom("a", U1, M1), Atom("b", U2, M1))),
    Rule("ACQ", ("u1", "u2"), (Atom("c", U1, U2),)),
    Rule("REC", ("u", "p"), (Atom("ACQ", U, U2), Atom("d", U2, Var("p")))),
    Rule("Answer", ("u", "p"), (Atom("REC", U, Var("p")),)),
)
"""Example 5 of the thesis, with a, b, c, d for likes, posts, follows, purchases."""

TRIANGLE = (Rule("Answer", ("x", "y", "z"), (Atom("a", X, Y), Atom("b", Y, Z), Atom("c", Z, X))),)
SQUARE = (
    Rule(
        "Answer",
        ("w", "x", "y", "z"),
        (Atom("a", W, X), Atom("b", X, Y), Atom("c", Y, Z), Atom("d", Z, W)),
    ),
)

NAMED: dict[str, tuple[Rule, ...]] = {
    **{f"Table 4.2 {name}": path_rules(regex) for name, regex in TABLE_4_2.items()},
    **{f"Table 5.1 {name}": rules for name, rules in TABLE_5_1.items()},
    "Qs": STAR,
    "Qp": path_rules(ABC),
    "Q4 of the paper": TERNARY_PATH,
    "Example 3": NOTIFY,
    "Example 5": RECOMMEND,
    "triangle": TRIANGLE,
    "square": SQUARE,
    "path over an inverse": (Rule("Answer", ("x",), (PathAtom(Seq((A, B)), X, X),)),),
}
