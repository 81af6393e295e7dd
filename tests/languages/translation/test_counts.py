"""Aggregates count each edge of an edge atom, and each pair of ends of a path atom."""

from collections.abc import Sequence

import pytest

from headrace.algebra.plan_parts import PlanStream
from headrace.algebra.window import Window
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, PropertyType, Stream, View
from headrace.costmodel import CostModel
from headrace.executor import local
from headrace.languages import QueryError, parse
from headrace.languages.rq import printer
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options

Edge = tuple[str, str | int, str | int, int, int | None]
Said = tuple[tuple[object, ...], int, int]
PARALLEL: tuple[Edge, ...] = (("a", "v1", "v2", 1, 1), ("a", "v1", "v2", 2, 2))
AMOUNTS: dict[str, PropertyType] = {"amount": "integer"}


def catalog(
    *labels: str, views: dict[str, View] | None = None, vertex_type: str = "string"
) -> Catalog:
    stream = Stream(
        "s",
        dict.fromkeys(labels, DEFAULT_STATISTICS),
        properties=AMOUNTS,
        vertex_type="integer" if vertex_type == "integer" else "string",
    )
    return Catalog({"s": stream}, views=views or {})


AB = catalog("a", "b")


def changes(
    text: str,
    edges: Sequence[Edge] = PARALLEL,
    language: str = "rq",
    over: Catalog = AB,
) -> list[Said]:
    """What the plan of a query says, under a window of 10 unless it has its own."""
    query = translate(parse(text, language), over, Window(10))
    model = CostModel(catalog=over)
    stream = over.streams["s"]
    streams = PlanStream(
        name="s",
        labels=tuple(stream.labels),
        vertex_type=stream.vertex_type,
        properties=dict(stream.properties),
    )
    plan = Optimizer(model, Options()).optimize(query, (streams,), over.time_unit).plan
    rows: list[local.Edge] = [(s, t, label, ts, "s", {"amount": n}) for label, s, t, ts, n in edges]
    return [(r.bindings, r.ts, r.exp) for r in local.run_plan(plan, rows, 1)]


TWO = [(("v1", 1), 1, 2), (("v1", 2), 2, 11), (("v1", 1), 11, 12)]
ONE = [(("v1", 1), 1, 12)]


@pytest.mark.parametrize(
    "atom",
    [
        "a(x, y)",
        "a(x, y) as e",
        "a(x, y), 1 < 2",
        "a[amount > 0](x, y)",
        "a[amount > 0](x, y) as k",
        "a[WINDOW 10][amount > 0](x, y)",
        "a[WINDOW 10](x, y)",
        "_(x, y)",
        "_(x, y) as e",
        "_(x, y) as e, e.amount > 0",
        "_[amount > 0](x, y)",
        "s._[WINDOW 10](x, y)",
        "(a|b)(x, y)",
        "(a|b)[amount > 0](x, y)",
        "(b|^a)(y, x)",
        "(!b)(x, y)",
    ],
)
def test_an_edge_counts_once_for_each_edge(atom: str) -> None:
    assert changes(f"Answer(x, count(*) as n) <- {atom}.") == TWO


@pytest.mark.parametrize(
    "path",
    [
        "?x a ?y", "x a{1} y", "y ^a x", "x a|b y", "x _ y", "x !b y", "a+(x, y)",
        "x a y as p", "x a[amount > 0] y", "x (a) y", "x a? y",
    ],
)  # fmt: skip
def test_a_path_counts_once_for_its_ends(path: str) -> None:
    assert changes(f"Answer(x, count(*) as n) <- {path}.") == ONE


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("(x)-[:a]->(y)", TWO),
        ("(x)-[:a|b]->(y)", TWO),
        ("(x)-[]->(y)", TWO),
        ("(x)-->(y)", TWO),
        ("(y)<-[:a|b]-(x)", TWO),
        ("(x)-[:a|b]->(y) WHERE (x) <> (y)", TWO),
        ("(x)-[e:a|b]->(y) WHERE e.amount > 0", TWO),
        ("(x)-[e:a|b]->(y) WHERE e.amount > 0 OR e.amount < 2", TWO),
        ("(x)-[e]-(y) WHERE (x) = 'v1'", TWO),
        ("(x)-/<:a>/->(y)", ONE),
        ("(y)-/<:a^>/->(x)", ONE),
        ("(x)-/<_>/->(y)", ONE),
    ],
)
def test_counts_in_gcore(pattern: str, lines: list[Said]) -> None:
    assert changes(f"SELECT x, count(*) AS n MATCH {pattern}", language="gcore") == lines
    if "[e" in pattern:
        assert changes(f"SELECT x, count(e) AS n MATCH {pattern}", language="gcore") == lines


def test_a_macro_and_a_derived_predicate_count_once_for_their_ends() -> None:
    macro = "PATH m = (x)-[:a]->(y) SELECT x, count(*) AS n MATCH (x)-/<~m>/->(y)"
    assert changes(macro, language="gcore") == ONE
    assert changes("d(x, y) <- a(x, y). Answer(x, count(*) as n) <- d(x, y).") == ONE
    assert changes("Answer(x, count(*) as n) <- d(x, y). Q(x, y) <- a(x, y) as d.") == ONE


def test_a_name_that_others_read_leaves_its_own_atom_an_edge() -> None:
    rules = "Answer(x, count(d) as n) <- a(x, y) as d. Q(x, y) <- d(x, y)."
    assert changes(rules) == TWO
    assert changes("Answer(x, count(*) as n) <- a(x, y) as d, d(x, z).") == TWO


def test_the_same_atom_twice_is_two_edges() -> None:
    lines = changes("Answer(count(*) as n) <- a(x, y), a(x, y).")
    assert lines == [((1,), 1, 2), ((4,), 2, 11), ((1,), 11, 12)]
    assert changes("Answer(count(*) as n) <- x a y, x a y.") == [((1,), 1, 12)]


def test_rules_of_one_answer_count_each_for_itself() -> None:
    rule = "Answer(x, count(*) as n) <- _(x, y). "
    assert changes(rule + rule)[1] == (("v1", 4), 2, 11)


def test_a_loop_of_either_direction_is_one_edge_and_opposite_edges_are_two() -> None:
    loop: list[Edge] = [("a", "v1", "v1", 1, 1)]
    count = "SELECT x, count(*) AS n MATCH (x)-[:a]-(y)"
    assert changes(count, loop, "gcore") == [(("v1", 1), 1, 11)]
    assert changes("Answer(count(*) as n) <- (a|^a)(x, x).", loop) == [((1,), 1, 11)]
    opposite: list[Edge] = [("a", "v1", "v2", 1, 1), ("a", "v2", "v1", 1, 1)]
    assert set(changes(count, opposite, "gcore")) == {(("v1", 2), 1, 11), (("v2", 2), 1, 11)}


def test_edges_of_either_direction_are_compared_by_their_own_ends() -> None:
    opposite: list[Edge] = [("a", "v1", "v2", 1, 1), ("a", "v2", "v1", 1, 1)]
    query = "Answer(x, y) <- (a|^a)(x, y) as e, (a|^a)(y, x) as f, e {} f, x = 'v1'."
    same = changes(query.format("="), [("a", "v1", "v2", 1, 1)])
    assert same == [(("v1", "v2"), 1, 11)]
    assert changes(query.format("<>"), [("a", "v1", "v2", 1, 1)]) == []
    assert changes(query.format("<>"), opposite) == [(("v1", "v2"), 1, 11)]


def test_any_label_includes_a_label_with_its_own_window() -> None:
    lines = changes(
        "Answer(w, e.ts as kp, max(e.ts) as g0, count(*) as g1) <-"
        " _(y, w), b[WINDOW 8 SLIDE 1](3, y) as e. WINDOW 10 SLIDE 7",
        [("b", 3, 3, 5, None), ("b", 3, 3, 6, None)],
        over=catalog("a", "b", vertex_type="integer"),
    )
    assert {row for row, ts, exp in lines if ts <= 6 < exp} == {(3, 5, 5, 2), (3, 6, 6, 2)}


def test_edges_of_a_view_are_distinguished_by_their_labels() -> None:
    text = "CONSTRUCT (x)-[:q]->(y), (x)-[:r]->(y) MATCH (x)-[:a]->(y)"
    over = catalog("a", views={"v": View(text, "gcore")})
    assert changes("Answer(x, count(*) as n) <- v._(x, y).", over=over) == [(("v1", 2), 1, 12)]
    assert changes("Answer(x, count(*) as n) <- x v._ y.", over=over) == ONE
    inside = f"SELECT x, count(*) AS n MATCH (x)-[:q|r]->(y) ON ({text})"
    assert changes(inside, language="gcore") == [(("v1", 2), 1, 12)]


# --- generated names ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language", "labels"),
    [
        ("Answer(x, y) <- a[amount > 1](x, z), e(z, y).", "rq", "abe"),
        ("Answer(x, y) <- a[amount > 1]+(x, z), e(z, y).", "rq", "abe"),
        ("Answer(x, y) <- a[amount > 1](x, e), b[amount > 1](e, y).", "rq", "ab"),
        ("Q(x, y) <- a[amount > 1]+(x, y).", "rq", ["a", "a[amount > 1]"]),
        ("D(x, y) <- a(x, y). Q(x, y) <- D[WINDOW 5](x, y).", "rq", ["a", "D[5]"]),
        ("Q(x, y) <- a[WINDOW 5](x, z), _(z, y).", "rq", ["a", "a[5]"]),
        ("?x, ?y <- a(x, y)", "rq", ["a", "Answer"]),
        ("?x, ?y <- Answer(x, y)", "rq", ["a", "Answer"]),
        ("SELECT x, y MATCH (x)-[:Answer]->(y)", "gcore", ["a", "Answer"]),
        ("SELECT x, y MATCH (x)-/<:a :b>/-(y)", "gcore", ["a", "b", "path", "Answer"]),
        ("SELECT x, y MATCH (x)-[]->(z), (z)-/<:a :a>/-(y)", "gcore", ["a", "path"]),
        ("SELECT x, p MATCH (x)-/p<:a+>/->(y)", "gcore", ["a", "p"]),
        (
            "CONSTRUCT (x)-[:l]->(y) MATCH (x)-[:a]->(z) "
            "OPTIONAL (z)-[:b]->(y) OPTIONAL (z)-[:a]->(y)",
            "gcore",
            ["a", "b", "either"],
        ),
    ],
)
def test_generated_names_differ_from_labels(
    text: str, language: str, labels: Sequence[str]
) -> None:
    query = parse(text, language)
    if language == "rq":
        assert parse(printer.text(query)) == query
    changes(text, [], language, catalog(*labels))


def test_a_label_with_a_generated_name_is_among_any_labels() -> None:
    over = catalog("a", "path", "Answer")
    edges: list[Edge] = [("path", "v1", "v2", 1, None), ("Answer", "v1", "v3", 1, None)]
    query = "SELECT x, y MATCH (x)-[]->(y) UNION SELECT x, y MATCH (x)-/<:a :a>/-(y)"
    lines = changes(query, edges, "gcore", over)
    assert {row for row, *_ in lines} == {("v1", "v2"), ("v1", "v3")}


def test_quoted_names_do_not_collide_with_column_names() -> None:
    edges: list[Edge] = [("a", "v1", "v2", 1, 1), ("a", "v1", "v2", 2, 2), ("b", "v2", "v3", 2, 2)]
    query = "Answer(count(*) as n) <- a(x, y), b(y, z) as `{}`."
    for name in ("edge 0", "e.ts", "_ 0 1"):
        assert (((2,), 2, 11)) in changes(query.format(name), edges)


def test_a_path_of_one_step_has_no_properties() -> None:
    with pytest.raises(QueryError, match="e is a path") as caught:
        changes("Answer(x) <- x a y as e, e.amount > 1.")
    assert caught.value.code == "E-PATHVAR"
