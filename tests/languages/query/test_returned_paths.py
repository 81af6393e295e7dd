"""Paths in the answer: their algebra, and refused queries."""

import pytest

from headrace.algebra.logical import PathSemantics
from headrace.algebra.text import one_line
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream
from headrace.languages import QueryError, parse
from headrace.languages.rq.printer import text
from headrace.languages.translation.canonical import translate

LABELS = dict.fromkeys("abc", DEFAULT_STATISTICS)
CATALOG = Catalog({"s": Stream("s", LABELS)})
DELETIONS = Catalog({"s": Stream("s", LABELS, deletions=True)})
R = "J[src1,trg2,R ; trg1=src2](W[9](a), W[9](b))"


@pytest.mark.parametrize(
    ("query", "algebra"),
    [
        ("Answer(x, y, p) <- a+(x, y) as p.", "E[src,trg;a+](P[p;a+](W[9](a)), W[9](a))"),
        (
            "Answer(p) <- x a/^b y as p.",
            "E[src,trg;a·^b](P[p;a·^b](W[9](a), W[9](b)), W[9](a), W[9](b))",
        ),
        # The ends are there below, whatever the head keeps; a derived label is one step.
        (
            "R(x, y) <- a(x, z), b(z, y). Answer(z, p as way) <- x R+ y as p, c(y, z).",
            f"E[c2,c3;R+](J[trg2,src1,Answer ; trg1=src2 ; ; trg1](P[p;R+]({R}), W[9](c)), {R})",
        ),
        # A path of one step, against its edge, from a constant.
        (
            'Answer(y, p) <- "1" ^a y as p.',
            "E[trg,src;^a](C[trg,src](F[src = '1'](C[trg,src](W[9](a)))), W[9](a))",
        ),
        (
            "Answer(q, p, x) <- a+(x, y) as p, b+(y, z) as q.",
            "E[c1,c2;a+](E[c2,c3;b+](J[src1,trg1,Answer ; trg1=src2 ; ; trg2]"
            "(P[p;a+](W[9](a)), P[q;b+](W[9](b))), W[9](b)), W[9](a))",
        ),
        ("Answer(x, x, p, p) <- a+(x, y) as p.",
         "E[c1,c3;a+](C[src,src,trg](P[p;a+](W[9](a))), W[9](a))"),
        # What is certainly empty is not part of a path, and no answer either.
        ("Answer(x, p) <- x (a|b{3,2}) y as p.", "E[src,trg;a](W[9](a), W[9](a))"),
        ("Answer(x, p) <- x a{3,2} y as p.", "∅"),
    ],
)  # fmt: skip
def test_returned_paths_translate_to_the_expected_algebra(query: str, algebra: str) -> None:
    assert one_line(translate(parse(f"{query} WINDOW 9"), CATALOG).expression) == algebra


def test_simple_paths_are_returned_under_simple_semantics() -> None:
    query = parse("Answer(x, p) <- x a+ y as p. WINDOW 9")
    simple = translate(query, CATALOG, semantics=PathSemantics.SIMPLE)
    assert one_line(simple.expression) == "E[src,trg;a+;simple](P[p;a+;simple](W[9](a)), W[9](a))"


@pytest.mark.parametrize(
    ("gcore", "rules"),
    [
        (
            "CONSTRUCT (x)-/p/->(y) MATCH (x)-/p<:a+>/->(y)",
            "Answer(x, y, p) <- `s.a`+(x, y) as p.",
        ),
        (
            "CONSTRUCT (x)<-/p/-(y) MATCH (x)<-/p<:a+>/-(y)",
            "Answer(y, x, p) <- `s.a`+(y, x) as p.",
        ),
        (
            "SELECT p AS way, x MATCH (x)-/p<:a>/->(y), (y)-[:c]->(z)",
            "Answer(p as way, x) <- x `s.a` y as p, `s.c`(y, z).",
        ),
        (
            "SELECT x, p MATCH (x)-/p<:a/:b>/-(y)",
            "Answer(x, p) <- x `s.a`·`s.b`|^`s.b`·^`s.a` y as p.",
        ),
        (
            "PATH q = (x)-/p<:b+>/->(y) SELECT x, p MATCH (x)-/p<~q+>/->(y)",
            "q(x, y) <- `s.b`+(x, y).\nAnswer(x, p) <- q+(x, y) as p.",
        ),
    ],
)
def test_gcore_means_what_rules_mean(gcore: str, rules: str) -> None:
    query = parse(f"{gcore} ON s WINDOW (9)")
    assert text(query) == f"{rules}\nON s WINDOW 9"
    assert parse(text(query)) == query


P = "<- a+(x, y) as p"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"Answer(x, p) {P}. Answer(x, p) {P}, b(x, y).", "of several rules"),
        ("SELECT x, p MATCH (x)-/p<:a+>/->(y) WHERE (x) = (y) OR (y)-[:b]->()", "of several rules"),
        (f"Answer(x, p, count(*) as n) {P}.", "aggregates in the answer are not supported with"),
        (f"Answer(x, p) {P}. EMIT SNAPSHOT EVERY 3", "reports with `EMIT` are not supported with"),
    ],
)
def test_paths_beside_rules_aggregates_and_emit_are_refused(query: str, message: str) -> None:
    written, _, emit = query.partition("EMIT")
    window = " ON s WINDOW (9)" if "SELECT" in query else " WINDOW 9"
    where = written.replace(" WHERE", f"{window} WHERE") if "WHERE" in query else written + window
    with pytest.raises(QueryError, match=message) as error:
        translate(parse(where + (f" EMIT{emit}" if emit else "")), CATALOG)
    assert error.value.code == "E-LATER"


def test_returned_paths_over_deletions_are_refused() -> None:
    with pytest.raises(QueryError, match="not supported with streams with deletions"):
        translate(parse(f"Answer(x, p) {P}. WINDOW 9"), DELETIONS)
    translate(parse(f"Answer(x, y) {P}. WINDOW 9"), DELETIONS)
