"""The oracle against examples of the thesis and against brute force over assignments."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given

from tests.oracles.conditions import Calc, Compare, Lit, Prop, Vert
from tests.oracles.paths import path_pairs
from tests.oracles.query import (
    Atom,
    BodyAtom,
    Closure,
    Const,
    PathAtom,
    Query,
    Regex,
    Rule,
    Source,
    Step,
    Term,
    Var,
    Vertex,
    plus,
    steps,
    text,
)
from tests.oracles.roots import First
from tests.oracles.snapshot import Edge, Row, Snapshot, Truth, answer, answer_at, expiry
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

EXAMPLE_3 = (
    Rule(
        "RL",
        ("u1", "u2"),
        (
            Atom("likes", Var("u1"), Var("m1")),
            Closure("follows", Var("u1"), Var("u2"), alias="FP"),
            Atom("posts", Var("u2"), Var("m1")),
        ),
    ),
    Rule(
        "Notify",
        ("u", "m"),
        (Closure("RL", Var("u"), Var("v"), alias="RLP"), Atom("posts", Var("v"), Var("m"))),
    ),
)
DAY = Source("social", 24)
STREAM = (
    Edge(7, "u", "v", "follows"),
    Edge(10, "v", "b", "posts"),
    Edge(13, "y", "u", "follows"),
    Edge(17, "v", "c", "posts"),
    Edge(22, "u", "a", "posts"),
    Edge(28, "y", "a", "likes"),
    Edge(29, "u", "b", "likes"),
    Edge(30, "u", "c", "likes"),
)
"""A stream that has the validity intervals of Examples 11 and 12 of the thesis."""


def _intervals(rules: tuple[Rule, ...], head: str) -> dict[Row, list[int]]:
    columns = next(rule.variables for rule in rules if rule.head == head)
    answer = Rule("Answer", columns, (Atom(head, Var(columns[0]), Var(columns[1])),))
    query = Query((*rules, answer), (("likes", DAY), ("follows", DAY), ("posts", DAY)))
    found: dict[Row, list[int]] = {}
    for instant in range(60):
        for row in answer_at(query, STREAM, instant):
            found.setdefault(row, []).append(instant)
    return found


def test_recent_likers_of_thesis_example_11() -> None:
    assert _intervals(EXAMPLE_3, "RL") == {
        ("y", "u"): list(range(28, 37)),
        ("u", "v"): list(range(29, 31)),
    }


def test_recent_liker_paths_of_thesis_example_12() -> None:
    paths = Rule("RLP", ("x", "y"), (Closure("RL", Var("x"), Var("y")),))
    assert _intervals((*EXAMPLE_3, paths), "RLP") == {
        ("y", "u"): list(range(28, 37)),
        ("u", "v"): list(range(29, 31)),
        ("y", "v"): list(range(29, 31)),
    }


def test_notifications_of_thesis_example_13() -> None:
    found = _intervals(EXAMPLE_3, "Notify")
    assert found == {
        ("y", "a"): list(range(28, 37)),
        ("u", "b"): [29, 30],
        ("u", "c"): [29, 30],
        ("y", "b"): [29, 30],
        ("y", "c"): [29, 30],
    }


@pytest.mark.parametrize(
    ("ts", "length", "slide", "end"),
    [(0, 5, 1, 5), (7, 5, 1, 12), (0, 10, 3, 10), (2, 10, 3, 10), (3, 10, 3, 13), (8, 4, 4, 12)],
)
def test_validity_of_definition_30(ts: int, length: int, slide: int, end: int) -> None:
    source = Source("s", length, slide)
    assert expiry(Edge(ts, "x", "y", "a"), source) == end
    query = Query((Rule("Answer", ("x",), (Atom("a", Var("x"), Var("_")),)),), (("a", source),))
    valid = [t for t in range(30) if answer_at(query, [Edge(ts, 1, 2, "a")], t)]
    assert valid == list(range(ts, end))


def test_an_order_names_columns_as_its_own_rule_does() -> None:
    """A head with other names in its first rule, by which the oracle once read the order."""
    x, y = Var("x"), Var("y")
    by_y = First((("y", True),), 1)
    rules = (
        Rule("Answer", ("x", "y"), (Atom("a", x, y),)),
        Rule("Answer", ("y", "x"), (Atom("b", x, y),), first=by_y),
    )
    pairs: Snapshot = {"a": frozenset({("0", "9"), ("7", "1")}), "b": frozenset({("2", "5")})}
    assert answer(rules, pairs) == {("7", "1")}
    last = (rules[0], replace(rules[1], first=First((("x", True),), 1)))
    assert answer(last, pairs) == {("0", "9")}


def test_cyclic_predicates_are_refused() -> None:
    rule = Rule("Answer", ("x", "y"), (Atom("Answer", Var("x"), Var("y")),))
    with pytest.raises(ValueError, match="Answer"):
        answer_at(Query((rule,), ()), [], 0)


def _pairs(atom: BodyAtom, known: dict[str, set[Row]]) -> set[Row]:
    match atom:
        case Atom(label):
            return known[label]
        case Closure(label):
            regex: Regex = plus(Step(label))
        case PathAtom():
            regex = atom.regex
    binary = {label: {(row[0], row[1]) for row in known[label]} for label in steps(regex)}
    return set(path_pairs(regex, binary))


def _by_assignments(query: Query, snapshot: dict[str, set[Row]]) -> set[Row]:
    """All assignments of vertices to variables are tried, rule by rule in their order."""
    known = dict(snapshot)
    vertices = sorted({v for rows in snapshot.values() for row in rows for v in row}, key=str)
    for rule in query.rules:
        atoms = [(atom.terms[0], atom.terms[1], _pairs(atom, known)) for atom in rule.body]
        for atom in rule.body:
            if isinstance(atom, Closure) and atom.alias:
                known[atom.alias] = _pairs(atom, known)
        terms = {term for source, target, _ in atoms for term in (source, target)}
        names = [term.name for term in terms if isinstance(term, Var)]
        rows = known.setdefault(rule.head, set())
        for chosen in product(vertices, repeat=len(names)):
            value: dict[Term, Vertex] = {
                term: term.value for term in terms if isinstance(term, Const)
            }
            value |= {Var(name): vertex for name, vertex in zip(names, chosen, strict=True)}
            if all((value[source], value[target]) in pairs for source, target, pairs in atoms):
                rows.add(tuple(value[Var(name)] for name in rule.variables))
    return known["Answer"]


@given(case=cases(longest=8))
@examples(40)
def test_answers_equal_brute_force_over_assignments(case: Case) -> None:
    truth = Truth(case.query, case.edges)
    for instant in truth.changes[:4]:
        snapshot: dict[str, set[Row]] = {
            label: {
                (edge.src, edge.trg)
                for edge in case.edges
                if edge.label == label and edge.ts <= instant < expiry(edge, source)
            }
            for label, source in case.query.sources
        }
        assert truth.at(instant) == _by_assignments(case.query, snapshot), text(case.query)


@given(case=cases())
@examples(50)
def test_answers_change_only_when_the_input_changes(case: Case) -> None:
    truth = Truth(case.query, case.edges)
    known = truth.at(-1)
    assert known == frozenset()
    last = truth.changes[-1] if truth.changes else 0
    for instant in range(last + 3):
        now = answer_at(case.query, case.edges, instant)
        assert now == known or instant in truth.changes
        known = now
    assert known == frozenset()


# --- properties -----------------------------------------------------------------------

PAID = [
    Edge(0, "u", "v", "a", (("n", 5), ("r", 2.0))),
    Edge(1, "u", "v", "a", (("n", 7),)),
    Edge(2, "v", "w", "a", (("n", 2), ("s", "u"))),
]
E, F = (Atom("a", Var("x"), Var("y"), "e"), Atom("a", Var("y"), Var("z"), "f"))


def paid(*conditions: Compare, body: tuple[Atom, ...] = (E,), **columns: Prop) -> set[Row]:
    """The answer with the edges of ``PAID`` all valid."""
    head = ("x", *columns)
    rule = Rule("Answer", head, body, conditions, tuple(columns.items()))
    return set(answer_at(Query((rule,), (("a", Source("s", 9)),)), PAID, 3))


def test_parallel_edges_have_their_own_properties() -> None:
    assert paid(m=Prop("e", "n")) == {("u", 5), ("u", 7), ("v", 2)}
    assert paid(m=Prop("e", "ts")) == {("u", 0), ("u", 1), ("v", 2)}
    assert paid(m=Prop("e", "r")) == {("u", 2.0), ("u", None), ("v", None)}


def test_conditions_select_edges_by_their_properties() -> None:
    n, r, s = Prop("e", "n"), Prop("e", "r"), Prop("e", "s")
    assert paid(Compare(n, ">=", Lit(5)), m=n) == {("u", 5), ("u", 7)}
    assert paid(Compare(Calc("/", (n, r)), "=", Lit(2.5)), m=n) == {("u", 5)}
    assert paid(Compare(s, "=", Lit("u"))) == {("v",)}
    # A missing value satisfies no condition, and neither does a string beside a number.
    assert paid(Compare(r, "<>", Lit(9))) == {("u",)}
    assert paid(Compare(s, "<", Lit(1))) == set()
    assert paid(Compare(Calc("/", (n, Lit(0))), "<>", Lit(1))) == set()
    assert paid(Compare(Calc("*", (n, Lit(2**62))), ">", Lit(0))) == set()


def test_conditions_compare_properties_of_two_edges() -> None:
    n, m = Prop("e", "n"), Prop("f", "n")
    apart = Calc("abs", (Calc("-", (Prop("e", "ts"), Prop("f", "ts"))),))
    assert paid(Compare(n, ">", m), body=(E, F), p=n) == {("u", 5), ("u", 7)}
    assert paid(Compare(apart, "<=", Lit(1)), body=(E, F), p=n) == {("u", 7)}
    twice = (E, Atom("a", Var("x"), Var("y"), "g"))
    different = Compare(Vert("e"), "<>", Vert("g"))
    assert paid(different, body=twice, p=n, q=Prop("g", "n")) == {("u", 5, 7), ("u", 7, 5)}


def test_conditions_are_printed_as_text() -> None:
    rule = Rule(
        "Answer",
        ("x", "m"),
        (E,),
        (Compare(Calc("abs", (Calc("-", (Prop("e", "n"), Lit(1.5))),)), "<", Lit(True)),),
        (("m", Prop("e", "n")),),
    )
    assert text(Query((rule,), (("a", Source("s", 9)),))) == (
        "Answer(x, e.n as m) <- a(x, y) as e, abs((e.n - 1.5)) < true.\nWINDOW 9"
    )
