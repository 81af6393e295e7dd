"""Shortest paths as derived predicates with values, and what they are refused with."""

from __future__ import annotations

import pytest

from headrace.algebra.lengths import longest, of_length, up_to
from headrace.algebra.logical import Aggregate, PathSemantics, Shortest
from headrace.algebra.regex import Symbol, alternation, concat, plus, star, text
from headrace.languages.query.errors import QueryError
from headrace.languages.rq.parser import parse
from headrace.languages.rq.printer import text as printed
from headrace.languages.translation.canonical import translate
from headrace.languages.translation.reports import operators_in
from tests.languages.translation.test_counts import AB as CATALOG

EMIT = "WINDOW 10 EMIT SNAPSHOT EVERY 5"


def operators(query: str) -> list[object]:
    return list(operators_in(translate(parse(query), CATALOG).expression))


def shortest(query: str) -> Shortest:
    (found,) = (o for o in operators(query) if isinstance(o, Shortest))
    return found


def refused(query: str, semantics: PathSemantics = PathSemantics.ARBITRARY) -> QueryError:
    with pytest.raises(QueryError) as caught:
        translate(parse(query), CATALOG, semantics=semantics)
    return caught.value


@pytest.mark.parametrize(
    "query",
    [
        "Answer(x, y, length(p) as n, p) <- shortest a+(x, y) as p.",
        "Answer(x, y, length(p), nodes(p)) <- all shortest x a/b+ y as p, length(p) < 4, b(y, z).",
        "Answer(x, y) <- a(x, y), not {shortest x a+ y as p, length(p) > 1}.",
        "Answer(shortest, all) <- shortest(all, shortest), all shortest all+(all, shortest) as p, "
        "length(p) > 1.",
        "Answer(length) <- length(length), nodes a+ length.",
        "Answer(x, n, place(p) as i) <- shortest a+(x, y) as p over n, b(n, 'c').",
        "Answer(over, v) <- all shortest x over+ over over over -> v, over(v, over), x over y",
        "d(x, y) <- place(x), shortest x b y over z over(x, y) <- d(x, y) Answer(x) <- over(x, y)",
        "Answer(x) <- shortest a+(x, y) over 'n', shortest x a y over _.",
    ],
)
def test_the_text_of_a_query_reads_as_the_query(query: str) -> None:
    parsed = parse(f"{query} WINDOW 10")
    assert parse(printed(parsed)) == parsed


def test_the_values_that_are_read_are_the_columns_of_the_operator() -> None:
    found = shortest(f"Answer(x, y) <- shortest x a+ y as p, length(p) < 3. {EMIT}")
    assert (found.values, found.labels, found.all_paths, found.every) == (("length",), (), False, 5)
    found = shortest(f"Answer(x, y, p, nodes(p)) <- all shortest x (a|^b)+ y as p. {EMIT}")
    assert (found.values, found.labels, found.all_paths) == (("path", "nodes"), ("a", "b"), True)
    found = shortest(f"Answer(x, count(*) as n) <- all shortest x a+ y. {EMIT}")
    assert (found.values, found.all_paths) == (("path",), True)
    least = f"Answer(x, min(length(p)) as least) <- all shortest x a+ y as p. {EMIT}"
    assert shortest(least).values == ("length",)


def test_the_vertices_or_steps_that_an_atom_binds_are_columns_of_the_operator() -> None:
    found = shortest(f"Answer(n, length(p), place(p)) <- shortest a+(x, y) as p over n. {EMIT}")
    assert (found.values, found.labels) == (("node", "length", "place"), ("a",))
    found = shortest(f"Answer(u, v) <- all shortest a+(x, y) over u -> v. {EMIT}")
    assert (found.values, found.all_paths) == (("start", "end"), True)
    found = shortest(f"Answer(n, count(*) as c) <- shortest a+(x, y) over n. {EMIT}")
    assert found.values == ("node", "place")
    found = shortest(f"Answer(n, max(length(p)) as c) <- shortest a+(x, y) as p over n. {EMIT}")
    assert found.values == ("node", "length")


def test_a_path_of_which_nothing_is_read_is_any_path() -> None:
    for which in ("shortest", "all shortest"):
        found = operators(f"Answer(x, y) <- {which} x a+ y as p, b(y, z). WINDOW 10")
        assert found == operators("Answer(x, y) <- x a+ y, b(y, z). WINDOW 10")


def test_bounded_lengths_are_kept_at_every_instant() -> None:
    for bound in ("a{1,3}(x, y)", "x a{1,3} y", "x a+ y"):
        query = f"Answer(x, y, length(p)) <- shortest {bound.replace('a{1,3}(x, y)', 'x a{1,3} y')}"
        found = operators(f"{query} as p, length(p) <= 3. WINDOW 10")
        assert not any(isinstance(operator, Shortest) for operator in found)
        assert any(isinstance(operator, Aggregate) and operator.retracts for operator in found)


@pytest.mark.parametrize(
    ("query", "code", "says"),
    [
        ("Answer(x, y, length(p)) <- shortest x a+ y as p. WINDOW 10", "E-SHORTEST", "16 steps"),
        ("Answer(x, y, p) <- shortest x a{1,3} y as p. WINDOW 10", "E-SHORTEST", "the steps"),
        (
            "Answer(x, count(*) as n) <- all shortest x a{1,3} y. WINDOW 10",
            "E-SHORTEST", "the steps",
        ),
        ("Answer(x, n) <- shortest x a{1,3} y over n. WINDOW 10", "E-SHORTEST", "the steps"),
        (
            "Answer(x, n, length(p)) <- shortest x a{1,3} y as p over n. WINDOW 10",
            "E-SHORTEST", "the steps",
        ),
        (
            "d(x, y) <- shortest x a+ y as p, length(p) > 1. Answer(x, y) <- d[WINDOW 3](x, y). "
            f"{EMIT}",
            "E-LATER", "windows over results are not supported with shortest paths",
        ),
    ],
)  # fmt: skip
def test_refused(query: str, code: str, says: str) -> None:
    error = refused(query)
    assert (error.code, says in error.message) == (code, True)


@pytest.mark.parametrize("semantics", [PathSemantics.SIMPLE, PathSemantics.TRAIL])
def test_simple_paths_and_trails_are_refused(semantics: PathSemantics) -> None:
    error = refused(f"Answer(x, y, length(p)) <- shortest x a+ y as p. {EMIT}", semantics)
    assert (error.code, str(semantics) in error.message) == ("E-LATER", True)


def test_the_words_of_a_length() -> None:
    a, b = Symbol("a"), Symbol("b")
    words = concat([a, star(alternation([b, concat([a, a])]))])
    assert longest(words) is None
    assert longest(up_to(words, 4)) == 4
    assert text(of_length(words, 2)) == "a·b"
    assert text(of_length(words, 3)) == "a·(a·a|b·b)"
    assert text(of_length(plus(a), 2)) == "a·a"
