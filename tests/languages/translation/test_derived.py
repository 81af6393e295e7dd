"""Derived predicates of any number of vertices and values, and what is refused of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headrace.algebra.text import one_line
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream
from headrace.languages import QueryError, parse
from headrace.languages.translation.canonical import translate
from tests.oracles.snapshot import Edge, EdgeSnapshot
from tests.properties.algebra import rows_of

CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            dict.fromkeys(("a", "b", "pays", "suspect"), DEFAULT_STATISTICS),
            properties={"n": "integer", "r": "number", "t": "string", "amount": "number"},
        ),
        "v": Stream("v", {"Person": DEFAULT_STATISTICS}, vertices=True),
    }
)
PAGE = Path(__file__).parents[3] / "docs" / "language.md"


@pytest.mark.parametrize(
    ("query", "algebra"),
    [
        (
            "D(x, e.n as k, y) <- a(x, y) as e. Answer(k) <- D(x, k, _), k > 3.",
            "C[c2](F[c2 > 3](C[c1,c3,c2](W[9](a(n)))))",
        ),
        (
            "D(x, count(*) as k) <- a(x, y). Answer(x) <- D(x, k), k > 3.",
            "A[c0 ; ](C[src](F[trg > 3](A[c0 ; count(*) ; retracts](W[9](a(amount,n,r,t,ts))))))",
        ),
    ],
)
def test_the_algebra_of_derived_predicates(query: str, algebra: str) -> None:
    assert one_line(translate(parse(query + " WINDOW 9"), CATALOG).expression) == algebra


def _answers(query: str, *edges: Edge) -> set[tuple[object, ...]]:
    labels: dict[str, list[Edge]] = {label: [] for label in ("a", "b", "pays", "suspect")}
    for edge in edges:
        labels[edge.label].append(edge)
    expression = translate(parse(query + " WINDOW 99"), CATALOG).expression
    return rows_of(expression, EdgeSnapshot(labels))


def _edge(label: str, src: str, trg: str, ts: int = 0, **values: int | float | str) -> Edge:
    return Edge(ts, src, trg, label, tuple(values.items()))


def test_missing_values_join_with_nothing() -> None:
    edges = [_edge("a", "1", "2", n=1), _edge("b", "3", "4", n=1)]
    edges += [_edge("a", "5", "6"), _edge("b", "7", "8")]
    heads = "D(x, e.n as k) <- a(x, _) as e. E(x, e.n as k) <- b(x, _) as e. "
    assert _answers(f"{heads} Answer(x, y, k) <- D(x, k), E(y, k).", *edges) == {("1", "3", 1)}
    assert _answers(f"{heads} Answer(x, y) <- D(x, k), E(y, l), k = l.", *edges) == {("1", "3")}
    assert _answers(f"{heads} Answer(x) <- D(x, k), k = k.", *edges) == {("1",)}
    assert _answers(f"{heads} Answer(x, k) <- D(x, k).", *edges) == {("1", 1), ("5", None)}
    assert _answers("D(e.n as k, e.n as l) <- a(_, _) as e. Answer(k) <- D(k, k).", *edges) == {
        (1,)
    }


def test_a_value_joins_with_a_vertex_and_with_a_property() -> None:
    edges = [_edge("a", "1", "2", t="4"), _edge("a", "3", "4", t="x"), _edge("b", "4", "4", t="x")]
    head = "D(x, e.t as k) <- a(x, _) as e. "
    assert _answers(f"{head} Answer(x, k) <- D(x, k), b(k, _).", *edges) == {("1", "4")}
    assert _answers(f"{head} Answer(x) <- D(x, k), b(_, _) as f, f.t = k.", *edges) == {("3",)}
    assert _answers(f'{head} Answer(x) <- D(x, "x").', *edges) == {("3",)}


def test_a_head_of_one_column_is_read_with_one_term_by_other_rules() -> None:
    edges = [_edge("a", "1", "2"), _edge("b", "1", "2"), _edge("b", "3", "2")]
    found = _answers("Rich(x) <- a(x, _). Answer(x) <- Rich(x), b(x, _).", *edges)
    assert found == {("1",)}
    whole = translate(parse("Person(x) <- Person(x), a(x, _). WINDOW 9"), CATALOG)
    assert "Person" in one_line(whole.expression)


def test_negated_parts_read_heads_of_any_arity() -> None:
    edges = [_edge("a", "1", "2", n=1), _edge("a", "1", "3", n=2), _edge("b", "1", "2", n=1)]
    edges += [_edge("a", "4", "4"), _edge("b", "4", "4")]
    heads = "D(x, y, e.n as k) <- a(x, y) as e. E(x, e.n as k) <- b(x, _) as e. "
    found = _answers(f"{heads} Answer(x, y) <- D(x, y, k), not E(x, k).", *edges)
    assert found == {("1", "3"), ("4", "4")}, "a missing value matches nothing"
    assert _answers(f"{heads} Answer(x, y) <- D(x, y, _), not E(x, _).", *edges) == set()
    assert _answers(f"{heads} Answer(x) <- b(x, _), not D(x, _, 2).", *edges) == {("4",)}
    assert _answers(
        f"{heads} Answer(x, k) <- E(x, k), not {{D(x, _, l), E(x, k), l > k}}.", *edges
    ) == {("4", None)}
    same = f"{heads} Answer(y) <- D(x, y, k), E(x, l), k = l, not {{D(x, '2', k), D(x, '3', l)}}."
    assert _answers(same, *edges) == {("2",)}
    busy = "Busy(x, count(*) as k) <- a(x, _). Rich(x) <- Busy(x, k), k > 1. "
    assert _answers(f"{busy} Answer(x) <- a(x, _), not Rich(x).", *edges) == {("4",)}
    unlike = "Busy(x, count(*) as k) <- a(x, y), not b(x, y). "
    assert _answers(f"{unlike} Answer(x, k) <- Busy(x, k).", *edges) == {("1", 1)}


def test_a_negated_part_keeps_the_vertex_label_of_the_head_around_it() -> None:
    query = "Person(x) <- a(x, y), not {b(x, _), not Person(x)}. WINDOW 9"
    assert one_line(translate(parse(query), CATALOG).expression).count("Person") == 1


def test_the_example_of_the_page_means_what_it_says() -> None:
    section = PAGE.read_text("utf-8").partition("## Values in heads")[2]
    block = re.search(r"```\n(.*?)WINDOW 1h\n```", section, re.DOTALL)
    assert block is not None
    edges = [
        _edge("pays", "1", "2", 0, amount=200.0),
        _edge("pays", "2", "3", 30, amount=200.0),
        _edge("pays", "2", "4", 30, amount=200.0),
        _edge("pays", "2", "3", 40, amount=150.0),
        _edge("pays", "3", "3", 95, amount=200.0),
        _edge("suspect", "3", "3"),
    ]
    assert _answers(block[1], *edges) == {("2", "3", 200.0), ("3", "3", 200.0)}


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        (
            "D(x, e.n as k) <- a(x, _) as e. E(x, e.r as k) <- a(x, _) as e. "
            "Answer(x) <- D(x, k), E(x, k).",
            "E-TYPE",
            "k: it joins values of the type integer and of the type number",
        ),
        (
            "D(x, e.n as k) <- a(x, _) as e. Answer(x) <- D(x, k), a(k, _).",
            "E-TYPE",
            "of the type integer and of the type string",
        ),
        (
            "D(x, e.n as k) <- a(x, _) as e. D(x, e.r as k) <- a(x, _) as e. "
            "Answer(x) <- D(x, k), D(y, k).",
            "E-TYPE",
            "of several types and of several types",
        ),
        ('D(x, e.n as k) <- a(x, _) as e. Answer(x) <- D(x, "u").', "E-TYPE", "of the type intege"),
        ('D(x, e.n as k) <- a(x, _) as e. Answer(x) <- D(x, k), k = "u".', "E-TYPE", "a string"),
        ("D(x, e.t as k) <- a(x, _) as e. Answer(x) <- D(x, k), k = 5.", "E-TYPE", "a number"),
        (
            "D(x, e.t as k) <- a(x, _) as e. Answer(sum(k) as n) <- D(x, k).",
            "E-TYPE",
            "sum is for numbers",
        ),
        (
            "D(x, e.n as k) <- a(x, _) as e. E(x, e.r as k) <- a(x, _) as e. "
            "Answer(x) <- D(x, k), not E(x, k).",
            "E-TYPE",
            "k: it joins values of the type integer and of the type number",
        ),
        (
            "D(x, e.n as k) <- a(x, _) as e. Answer(x) <- D(x, k), not a(k, _).",
            "E-TYPE",
            "of the type integer and of the type string",
        ),
        (
            "Busy(x, count(*) as k) <- a(x, _). Rich(x, x, x) <- b(x, _), not Busy(x, 1). "
            "Answer(x) <- Rich[WINDOW 3](x, _, _).",
            "E-LATER",
            "windows over results are not supported with `not` yet",
        ),
        ("Person(x) <- a(x, _). Answer(x) <- Person(x).", "E-EDB", "a label of vertices"),
    ],
)
def test_queries_over_values_are_refused(query: str, code: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        translate(parse(query + " WINDOW 9"), CATALOG)
    assert caught.value.code == code
    assert message in str(caught.value)
