"""The meaning of G-CORE: the printed examples, and equal queries in RQ."""

import pytest

from headrace.algebra.logical import LogicalQuery
from headrace.algebra.text import one_line
from headrace.algebra.window import Window
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream
from headrace.languages import QueryError, parse
from headrace.languages.translation.canonical import translate
from tests.languages.gcore.examples import EXAMPLES, STREAMS


def catalog(streams: dict[str, str]) -> Catalog:
    return Catalog(
        {
            name: Stream(name, dict.fromkeys(labels.split(), DEFAULT_STATISTICS))
            for name, labels in streams.items()
        }
    )


PRINTED = catalog(STREAMS)
ONE = catalog({"s": "a b c d"})
PROPERTIES = Catalog(
    {
        "s": Stream(
            "s",
            dict.fromkeys("abcd", DEFAULT_STATISTICS),
            properties={"n": "integer", "r": "number", "note": "string", "flag": "boolean"},
        )
    }
)
TWO = catalog({"s": "a b x", "t": "c d x"})


def translated(text: str, language: str, of: Catalog) -> LogicalQuery:
    return translate(parse(text, language, of.time_unit), of)


def same(gcore: str, rq: str, of: Catalog = ONE) -> None:
    assert translated(gcore, "gcore", of) == translated(rq, "rq", of)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_printed_examples(name: str) -> None:
    gcore, algebra, rq = EXAMPLES[name]
    expression = translated(gcore, "gcore", PRINTED).expression
    unit = "second" if "1d" in algebra else ""
    assert one_line(expression, unit) == algebra
    same(gcore, rq, PRINTED)


ON = "ON s WINDOW (9) SLIDE (3)"
WINDOW = "WINDOW 9 SLIDE 3"

PAIRS = {
    "edges in a chain": (
        f"SELECT x, z MATCH (x)-[:a]->(y)<-[:b]-(z) {ON}",
        f"Answer(x, z) <- a(x, y), b(z, y) {WINDOW}",
    ),
    "anonymous vertices are different": (
        f"SELECT x MATCH (x)-[:a]->(), (x)-[:a]->()-[:b]->() {ON}",
        f"Answer(x) <- a(x, _), a(x, m), b(m, _) {WINDOW}",
    ),
    "a choice of labels": (
        f"CONSTRUCT (x)-[:r]->(y) MATCH (x)-[:a|b]->(y) {ON}",
        f"N(x, y) <- a(x, y). N(x, y) <- b(x, y). r(x, y) <- N(x, y) {WINDOW}",
    ),
    "an edge of either direction": (
        f"SELECT x, y MATCH (x)-[:a]-(y)<-[:b]->(y) {ON}",
        f"Answer(x, y) <- (a|^a)(x, y), (^b|b)(y, y) {WINDOW}",
    ),
    "an edge of any label": (
        f"SELECT x, z MATCH (x)-->(y)<-[]-(z) {ON}",
        f"Answer(x, z) <- _(x, y), _(z, y) {WINDOW}",
    ),
    "an edge of any label, either way": (
        f"SELECT x, y MATCH (x)--(y) {ON}",
        f"Answer(x, y) <- (_|^_)(x, y) {WINDOW}",
    ),
    "a path over any label": (
        f"SELECT x, y MATCH (x)-/<:a _+ :b!* (:a | :b^)!^>/->(y) {ON}",
        f"Answer(x, y) <- x a/_+/!b*/^!(a|^b) y {WINDOW}",
    ),
    "any label in a bare expression": (
        f"SELECT x, y MATCH (x)-/<:(a (_ | c!)+)>/->(y) {ON}",
        f"Answer(x, y) <- x a/(_|!c)+ y {WINDOW}",
    ),
    "any label of what a query constructs": (
        f"SELECT x, z MATCH (x)-/<_+>/->(y), (x)-[]->(z) ON ("
        f"CONSTRUCT (x)-[:q]->(y), (y)-[:r]->(x) MATCH (x)-[:a]->(y) {ON})",
        f"q(x, y) <- a(x, y). r(y, x) <- a(x, y). e(x, y) <- q(x, y). e(x, y) <- r(x, y)."
        f"Answer(x, z) <- x (q|r)+ y, e(x, z) {WINDOW}",
    ),
    "a window over what a query constructs": (
        f"SELECT x, z MATCH (x)-/<:q+>/->(z) ON ("
        f"CONSTRUCT (x)-[:q]->(z) MATCH (x)-[:a]->(y)-[:b]->(z) {ON}) WINDOW (20) SLIDE (2)",
        f"q(x, z) <- a(x, y), b(y, z). Answer(x, z) <- q[WINDOW 20 SLIDE 2]+(x, z) {WINDOW}",
    ),
    "views over views": (
        f"GRAPH VIEW v AS (CONSTRUCT (x)-[:q]->(z) MATCH (x)-[:a]->(y)-[:b]->(z) {ON}) "
        "GRAPH VIEW w AS (CONSTRUCT (x)-[:r]->(y), (y)-[:s]->(x) MATCH (x)-/<:q+>/->(y) ON v) "
        "SELECT x MATCH (x)-[:r]->(y) ON w WINDOW (5), (y)-[:s]->(x) ON w, (x)-[:q]->(y) ON v",
        "q(x, z) <- a(x, y), b(y, z). r(x, y) <- q+(x, y). s(y, x) <- q+(x, y)."
        f"Answer(x) <- r[WINDOW 5](x, y), s(y, x), q(x, y) {WINDOW}",
    ),
    "a view in a union": (
        f"GRAPH VIEW v AS (CONSTRUCT (x)-[:q]->(y) MATCH (x)-[:a]->(y) {ON}) "
        f"CONSTRUCT (x)-[:q]->(y) MATCH (x)-[:b]->(y) {ON} UNION v",
        f"e(x, y) <- a(x, y). q(x, y) <- b(x, y). q(x, y) <- e(x, y) {WINDOW}",
    ),
    "one label under two windows": (
        f"SELECT x MATCH (x)-[:a]->(y) ON s WINDOW (5), (y)-[e:a]->(z) {ON}, (x)-/<_+>/->(y) {ON}",
        "Answer(x) <- a(x, y), a[WINDOW 9 SLIDE 3](y, z), x s._[WINDOW 9 SLIDE 3]+ y WINDOW 5",
    ),
    "edges of several labels": (
        f"CONSTRUCT (x)-[:r]->(y), (y)-[:q]->(x) MATCH (x)-[:a]->(y) {ON} "
        f"UNION CONSTRUCT (x)-[:q]->(y) MATCH (x)-[:b]->(y) {ON}",
        "r(x, y) <- a(x, y). q(y, x) <- a(x, y). q(x, y) <- b(x, y)."
        'Answer(src, "r" as label, trg) <- r(src, trg).'
        f'Answer(src, "q" as label, trg) <- q(src, trg) {WINDOW}',
    ),
    "a path to the left": (
        f"SELECT x, y MATCH (x)<-/<:a* :b^>/-(y) {ON}",
        f"Answer(x, y) <- y a*/^b x {WINDOW}",
    ),
    "a path of either direction": (
        f"SELECT x, y MATCH (x)-/<:a/:b>/-(y) {ON}",
        f"p(x, y) <- x a/b y. p(x, y) <- y a/b x. Answer(x, y) <- p(x, y) {WINDOW}",
    ),
    "a path of one step": (
        f"SELECT x, y MATCH (x)-/<:a^>/->(y)-/<:b>/->(x) {ON}",
        f"Answer(x, y) <- x ^a y, y b x {WINDOW}",
    ),
    "all that a path expression has": (
        f"SELECT x, y MATCH (x)-/<:a|b*{{2..3}} . (:c? + :(a|b c))+ "
        f"| :d*{{..2}}/:a*{{2..}} :b*{{2}}>/->(y) {ON}",
        f"Answer(x, y) <- x (a|b){{2,3}}/(c?|(a|b/c))+|d{{,2}}/a{{2,}}/b{{2}} y {WINDOW}",
    ),
    "a choice of labels is repeated as a whole, in brackets the last": (
        f"SELECT x, y MATCH (x)-/<:a|b* :(c|d*)>/->(y) {ON}",
        f"Answer(x, y) <- x (a|b)*/(c|d*) y {WINDOW}",
    ),
    "macros in macros": (
        "PATH D = (x)-[:a]->(y)-[:b]->(z) PATH E = (x)-/<~D+|:c>/->(y), (y)-[:d]->() "
        f"CONSTRUCT (x)-[:r]->(y) MATCH (x)-/<~E :a>/->(y) {ON}",
        f"D(x, z) <- a(x, y), b(y, z). E(x, y) <- x D+|c y, d(y, _).r(x, y) <- x E/a y {WINDOW}",
    ),
    "a macro with a condition": (
        "PATH D = (x)-[:a]->(y) WHERE (x)-[:b]->() OR (y)-[:b]->(z) AND (z) = (x) "
        f"SELECT x, y MATCH (x)-/<~D+>/->(y) {ON}",
        f"D(x, y) <- a(x, y), b(x, _). D(x, y) <- a(x, y), b(y, x)."
        f"Answer(x, y) <- D+(x, y) {WINDOW}",
    ),
    "equal vertices": (
        f"SELECT y, u MATCH (x)-[:a]->(y), (z)-[:b]->(u) {ON} WHERE (z) = (x)",
        f"Answer(y, u) <- a(x, y), b(x, u) {WINDOW}",
    ),
    "a chain of equalities, and the vertex of the answer stands for all": (
        f"SELECT u MATCH (x)-[:a]->(y), (z)-[:b]->(u) {ON} "
        "WHERE (x) = (y) AND (z) = (y) AND (u)=(z)",
        f"Answer(u) <- a(u, u), b(u, u) {WINDOW}",
    ),
    "two negations": (
        f"SELECT x, y MATCH (x)-[:a]->(y) {ON} WHERE NOT NOT (x)-[:b]->(y)",
        f"Answer(x, y) <- a(x, y), b(x, y) {WINDOW}",
    ),
    "OR is a union": (
        f"CONSTRUCT (x)-[:r]->(y) MATCH (x)-[:a]->(y) {ON} "
        "WHERE ((x)-[:b]->(y) OR (x)-[:c]->(y)) AND ((y)-[:d]->() OR (x)=(y))",
        "r(x, y) <- a(x, y), b(x, y), d(y, _). r(x, x) <- a(x, x), b(x, x)."
        f"r(x, y) <- a(x, y), c(x, y), d(y, _). r(x, x) <- a(x, x), c(x, x) {WINDOW}",
    ),
    "UNION, and two edges of one label": (
        f"CONSTRUCT (x)-[:r]->(y), (x)<-[:r]-(y) MATCH (x)-[:a]->(y) {ON} "
        f"UNION CONSTRUCT (x)-[:r]->(z) MATCH (x)-[:b]->()-[:c]->(z) {ON}",
        f"r(x, y) <- a(x, y). r(y, x) <- a(x, y). r(x, z) <- b(x, y), c(y, z) {WINDOW}",
    ),
    "a chain is constructed edge by edge": (
        f"CONSTRUCT (x)-[:r]->(y)<-[:r]-(z) MATCH (x)-[:a]->(y)-[:b]->(z) {ON}",
        f"r(x, y) <- a(x, y), b(y, z). r(z, y) <- a(x, y), b(y, z) {WINDOW}",
    ),
    "columns with other names": (
        f"SELECT y AS x, x AS y, z AS u MATCH (x)-[:a]->(y), (y)-[:b]->(z)-[:c]->(u) {ON}",
        f"Answer(x, y, u) <- a(y, x), b(x, u), c(u, v) {WINDOW}",
    ),
    "a column twice": (
        f"SELECT x, y, x MATCH (x)-[:a]->(y) {ON}",
        f"Answer(x, y, x) <- a(x, y) {WINDOW}",
    ),
    "what ON constructs": (
        "SELECT x, z MATCH (x)-[:near|far]->(y) ON (CONSTRUCT (p)-[:near]->(q), (p)-[:far]->(r) "
        f"MATCH (p)-[:a]->(q)-[:b]->(r) {ON}), (y)-[:c]->(z) {ON}",
        "near(p, q) <- a(p, q), b(q, r). far(p, r) <- a(p, q), b(q, r). "
        "N(x, y) <- near(x, y). N(x, y) <- far(x, y)."
        f"Answer(x, z) <- N(x, y), c(y, z) {WINDOW}",
    ),
    "keywords as labels, names in backquotes, comments": (
        "construct (`match`)-[:`r`]->(y) // to the end\nmatch (`match`)-[:a]->(y) /* and *\n*/"
        " on s window (9) slide (3)",
        f"r(match, y) <- a(match, y) {WINDOW}",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_query_means_the_same_in_rq(name: str) -> None:
    same(*PAIRS[name])


# --- conditions and properties --------------------------------------------------------

CONDITIONS = {
    "edges that differ": (
        f"SELECT x MATCH (x)-[e:a]->(y)-[f:a]->(z), (x)-[g:b]->(z) {ON} WHERE e <> f AND NOT e = g",
        f"Answer(x) <- a(x, y) as e, a(y, z) as f, b(x, z) as g, e <> f, e <> g {WINDOW}",
    ),
    "an edge in two places": (
        f"SELECT x, e.n MATCH (x)-[e:a]->(y), (z)-[e:a]->(y) {ON} WHERE e.r > 3",
        f"Answer(x, e.n) <- a(x, y) as e, a(z, y) as f, e = f, e.r > 3 {WINDOW}",
    ),
    "properties of an edge of several labels": (
        f"SELECT x, e.n MATCH (x)-[e:a|b {{note = 'u'}}]->(y) {ON} WHERE e.r > 3",
        f'Answer(x, e.n) <- (a|b)[note = "u"](x, y) as e, e.r > 3 {WINDOW}',
    ),
    "properties of an edge of either direction": (
        f"CONSTRUCT (x)-[:r]->(y) MATCH (x)-[e:a]-(y) {ON} WHERE e.r > 3",
        f"r(x, y) <- (a|^a)(x, y) as e, e.r > 3 {WINDOW}",
    ),
    "properties of an edge of any label": (
        f"SELECT x, e.n MATCH (x)-[e]->(y) {ON} WHERE e.r > 3",
        f"Answer(x, e.n) <- s._(x, y) as e, e.r > 3 {WINDOW}",
    ),
    "a path over edges chosen by their properties": (
        "PATH big = (u)-[e:a]->(v) WHERE e.n > 100 "
        f"SELECT x, y MATCH (x)-/<~big+ ~big^>/->(y) {ON}",
        f"Answer(x, y) <- x a[n > 100]+/^a[n > 100] y {WINDOW}",
    ),
    "comparisons, and properties in the answer": (
        f"SELECT x, z, e.n, f.n, f.ts AS last MATCH (x)-[e:a]->(y)<-[f:b]-(z) {ON} "
        "WHERE abs(e.ts - f.ts) <= 10 AND e.n < f.n * (1 + 0.5) AND e.note = 'u' AND (x) <> (z)",
        "Answer(x, z, e.n, f.n, f.ts as last) <- a(x, y) as e, b(z, y) as f, "
        f"abs(e.ts - f.ts) <= 10, e.n < f.n * (1 + 0.5), e.note = 'u', x <> z {WINDOW}",
    ),
    "a map of properties": (
        "SELECT x MATCH (x)-[e:a {note = 'u', n = -1}]->(y)-[:b {flag = TRUE}]->() "
        f"{ON} WHERE e.r > 1e3",
        "Answer(x) <- a(x, y) as e, b(y, _) as f, e.note = 'u', e.n = -1, f.flag = true, "
        f"e.r > 1000.0 {WINDOW}",
    ),
    "a map of properties on a choice of labels": (
        "SELECT x, y MATCH (x)-[:a|b {n = 3}]->(y), (x)-[:a|b]->(y), (x)-[:c {n = 1}]-(y) "
        f"{ON}",
        "M(x, y) <- a(x, y) as e, e.n = 3. M(x, y) <- b(x, y) as e, e.n = 3. "
        "N(x, y) <- a(x, y). N(x, y) <- b(x, y). "
        "O(x, y) <- c(x, y) as e, e.n = 1. O(x, y) <- c(y, x) as e, e.n = 1. "
        f"Answer(x, y) <- M(x, y), N(x, y), O(x, y) {WINDOW}",
    ),
    "NOT": (
        f"CONSTRUCT (x)-[:r]->(y) MATCH (x)-[e:a]->(y) {ON} "
        "WHERE NOT ((x) = (y) OR e.n < 3 OR NOT e.r <= 2 OR NOT (x) < (y)) AND NOT (x) <> (y)",
        f"r(x, x) <- a(x, x) as e, x <> x, e.n >= 3, e.r <= 2, x < x {WINDOW}",
    ),
    "vertices compared with constants": (
        f"SELECT x, y MATCH (x)-[:a]->(y) {ON} WHERE (x) <> 'bank' AND 7 = (y)",
        f"Answer(x, y) <- a(x, y), x <> 'bank', 7 = y {WINDOW}",
    ),
    "equal vertices in conditions are one": (
        f"SELECT x, z MATCH (x)-[e:a]->(y), (u)-[f:b]->(z) {ON} "
        "WHERE (u) = (y) AND (u) <> (z) AND (y) < (x)",
        f"Answer(x, z) <- a(x, y), b(y, z), y <> z, y < x {WINDOW}",
    ),
    "a pattern or a comparison": (
        f"SELECT x, y MATCH (x)-[e:a]->(y) {ON} "
        "WHERE e.n = 1 AND e.n < 0 OR (x)-[f:b]->() AND f.n = e.n",
        "Answer(x, y) <- a(x, y) as e, e.n = 1, e.n < 0. "
        f"Answer(x, y) <- a(x, y) as e, b(x, _) as f, f.n = e.n {WINDOW}",
    ),
    "a macro": (
        "PATH D = (x)-[e:a]->(y)-[f:a]->(z) WHERE e.n < f.n AND (x) <> (z) "
        f"SELECT x, y MATCH (x)-/<~D+>/->(y)-[e:b]->(x) {ON} WHERE e.n = 1",
        "D(x, z) <- a(x, y) as e, a(y, z) as f, e.n < f.n, x <> z. "
        f"Answer(x, y) <- D+(x, y), b(y, x) as e, e.n = 1 {WINDOW}",
    ),
    "columns with the names of other variables": (
        "SELECT e.n AS y, y AS e, x MATCH (x)-[e:a]->(y)-[f:b]->(x) "
        f"{ON} WHERE (y) <> (x) AND e.n > f.n",
        f"Answer(g.n as y, e, x) <- a(x, e) as g, b(e, x) as f, e <> x, g.n > f.n {WINDOW}",
    ),
    "a property twice": (
        f"SELECT e.n, e.n AS m, e.n MATCH (x)-[e:a]->(y) {ON}",
        f"Answer(e.n, e.n as m, e.n as e_n) <- a(x, y) as e {WINDOW}",
    ),
    "an edge that has a name and nothing asked": (
        f"SELECT x, y MATCH (x)-[e:a]->(y), (x)-[f:b|c]-(y) {ON}",
        "N(x, y) <- b(x, y). N(x, y) <- c(x, y). N(x, y) <- b(y, x). N(x, y) <- c(y, x). "
        f"Answer(x, y) <- a(x, y), N(x, y) {WINDOW}",
    ),
    "an OPTIONAL that a comparison needs": (
        "CONSTRUCT (x)-[:r]->(y) MATCH (x)-[e:a]->(y) OPTIONAL (y)-[f:b]->(z) WHERE f.n > 1 "
        f"MATCH (x)-[g:c]->() {ON} WHERE g.n < f.n",
        "r(x, y) <- a(x, y), b(y, z) as f, f.n > 1, c(x, _) as g, g.n < f.n "
        "ON s (a, b) WINDOW 9 SLIDE 3 ON s (c) WINDOW 9 SLIDE 3",
    ),
    "alternatives in OPTIONAL": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x)-[:a]->(y) OPTIONAL (y)-[e:b]->(z) WHERE e.n > 1 "
        f"OPTIONAL (y)-[f:c]->(z) {ON} WHERE f.n > 2",
        "N(y, z) <- b(y, z) as e, e.n > 1. N(y, z) <- c(y, z) as f, f.n > 2. "
        f"r(x, z) <- a(x, y), N(y, z) {WINDOW}",
    ),
    "alternatives in OPTIONAL that compare with an edge of the MATCH": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x)-[g:a]->(y) OPTIONAL (y)-[e:b]->(z) WHERE e.n > g.n "
        f"OPTIONAL (y)-[f:c]->(z) {ON} WHERE f.n > g.n",
        "r(x, z) <- a(x, y) as g, b(y, z) as e, e.n > g.n. "
        f"r(x, z) <- a(x, y) as g, c(y, z) as f, f.n > g.n {WINDOW}",
    ),
    "alternatives in OPTIONAL that are tied to the MATCH by equality": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x)-[:a]->(y) OPTIONAL ()-[:b]->(z) WHERE (z) = (y) "
        f"OPTIONAL ()-[:c]->(z) {ON} WHERE (z) = (y)",
        f"r(x, z) <- a(x, z), b(_, z). r(x, z) <- a(x, z), c(_, z) {WINDOW}",
    ),
}
"""The same in both languages, over edges with properties."""


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_mean_the_same_in_rq(name: str) -> None:
    same(*CONDITIONS[name], PROPERTIES)


def test_comparisons_joined_by_or_are_one_condition() -> None:
    query = (
        f"SELECT x, y MATCH (x)-[e:a]->(y) {ON} "
        "WHERE e.n = 1 OR (x) < (y) OR NOT (e.n < 5 OR e.flag = true)"
    )
    parsed = parse(query, "gcore")
    assert len(parsed.rules) == 1
    expression = one_line(translated(query, "gcore", PROPERTIES).expression)
    assert expression == (
        "C[c1,c2](F[c1 < c2 OR (c3 <> TRUE AND c4 >= 5) OR c4 = 1](W[9,3](a(flag,n))))"
    )


@pytest.mark.parametrize(
    ("test", "code", "place", "text", "message"),
    [
        ("e.m > 1", "E-UNKNOWN", 48, "e.m", "the properties are flag, n, note, r, ts"),
        ("1 < e.note", "E-TYPE", 48, "<", "1 is a number and e.note is a string"),
        ("e.flag = e.n", "E-TYPE", 48, "=", "e.flag is a truth value"),
        ("(x) > 3", "E-TYPE", 49, ">", "declare vertex_type: integer in the catalog"),
        ("(x) = 1.5", "E-TYPE", 49, "=", "x is a string and 1.5 is a number"),
        ("3 > -e.note * 2", "E-TYPE", 48, "-(e.note)", "arithmetic is for numbers"),
    ],
)
def test_conditions_that_contradict_the_catalog_are_refused(
    test: str, code: str, place: int, text: str, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        translated(
            f"SELECT x MATCH (x)-[e:a]->(y) ON s WINDOW (9) WHERE\n{test}", "gcore", PROPERTIES
        )
    error = caught.value
    assert (error.code, error.text) == (code, text), str(error)
    assert (error.line, error.column) == (2, place - 47)
    assert message in str(error)


# --- streams and windows --------------------------------------------------------------


def test_a_pattern_takes_the_first_on_at_or_after_it() -> None:
    same(
        "SELECT x, y, z MATCH (x)-[:a]->(y), (x)-[:b]->(y) ON s WINDOW (1m), (y)-[:c]->(z) "
        "OPTIONAL (y)-[:d]->(w) ON t WINDOW (1h) SLIDE (1m) WHERE (x) = (x)",
        "Answer(x, y, z) <- a(x, y), b(x, y), c(y, z)ON s WINDOW 1m  ON t WINDOW 1h SLIDE 1m",
        TWO,
    )


def test_a_label_is_read_from_the_stream_that_on_names() -> None:
    same(
        "SELECT x, z MATCH (x)-[:x]->(y) ON s WINDOW (5), (y)-[:x]->(z) ON t WINDOW (7)",
        "Answer(x, z) <- `s.x`(x, y), `t.x`(y, z)  ON s WINDOW 5 ON t WINDOW 7",
        TWO,
    )


def test_labels_of_one_stream_may_have_windows_of_their_own() -> None:
    query = (
        "SELECT x, z MATCH (x)-[:a]->(y) ON s WINDOW (5), (y)-[:b]->(z) ON s WINDOW (7) SLIDE (7)"
    )
    same(query, "Answer(x, z) <- a(x, y), b(y, z) ON s (a) WINDOW 5 ON s (b) WINDOW 7 SLIDE 7", TWO)


def test_a_macro_reads_the_source_of_its_pattern() -> None:
    same(
        "PATH D = (p)-[:x]->(q)-[:x]->(r) "
        "SELECT x, z MATCH (x)-/<~D+>/->(y) ON s WINDOW (5), (y)-/<~D+>/->(z) ON t WINDOW (7)",
        "D(x, z) <- `s.x`(x, y), `s.x`(y, z). E(x, z) <- `t.x`(x, y), `t.x`(y, z)."
        "Answer(x, z) <- D+(x, y), E+(y, z)  ON s WINDOW 5 ON t WINDOW 7",
        TWO,
    )


def test_without_on_the_stream_that_has_the_label_is_read_and_the_window_is_the_default() -> None:
    logical = translate(parse("SELECT x, y MATCH (x)-[:a]->(y)", "gcore"), ONE, Window(4, 2))
    assert logical == translated("Answer(x, y) <- a(x, y) WINDOW 4 SLIDE 2", "rq", ONE)


def test_a_stream_without_a_window_is_refused() -> None:
    with pytest.raises(QueryError) as caught:
        translated("SELECT x, y MATCH (x)-[:a]->(y) ON s", "gcore", ONE)
    assert caught.value.code == "E-NOWIN"


def test_windows_are_counted_in_the_time_unit_of_the_catalog() -> None:
    query = parse("SELECT x, y MATCH (x)-[:a]->(y) ON s WINDOW (PT1H)", "gcore", "minute")
    assert (query.windows[0].window, query.time_unit) == (Window(60), "minute")
    assert parse("SELECT x, y MATCH (x)-[:a]->(y) ON s WINDOW (60)", "gcore").time_unit is None


# --- OPTIONAL -------------------------------------------------------------------------

OPTIONAL = {
    "dropped where nothing uses it": (
        "CONSTRUCT (x)-[:r]->(y) MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) WHERE (z) = (x)",
        "r(x, y) <- a(x, y)",
    ),
    "joined where an edge is constructed": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) WHERE (z)-[:c]->()",
        "r(x, z) <- a(x, y), b(y, z), c(z, _)",
    ),
    "joined for one edge, dropped for the other": (
        "CONSTRUCT (x)-[:r]->(z), (x)-[:r]->(y) MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z)",
        "r(x, z) <- a(x, y), b(y, z). r(x, y) <- a(x, y)",
    ),
    "joined where a condition uses it": (
        "SELECT x, z MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) MATCH (u)-[:c]->() WHERE (u) = (z)",
        "Answer(x, z) <- a(x, y), b(y, z), c(z, _)",
    ),
    "joined where another MATCH uses it": (
        "SELECT x, z MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) MATCH (z)-[:c]->()",
        "Answer(x, z) <- a(x, y), b(y, z), c(z, _)",
    ),
    "one that another is joined for": (
        "CONSTRUCT (x)-[:r]->(u) MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) OPTIONAL (z)-[:c]->(u)",
        "r(x, u) <- a(x, y), b(y, z), c(z, u)",
    ),
    "one behind a joined one is dropped": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) OPTIONAL (z)-[:c]->(u)",
        "r(x, z) <- a(x, y), b(y, z)",
    ),
    "alternatives over two vertices are a predicate": (
        "CONSTRUCT (y)-[:r]->(z) MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) "
        "OPTIONAL ((y)-[:c]->(m)-[:d]->(z) WHERE (m)-[:a]->() OR (m) = (z))",
        "N(y, z) <- b(y, z). N(y, z) <- c(y, m), d(m, z), a(m, _). N(y, z) <- c(y, z), d(z, z)."
        "r(y, z) <- a(x, y), N(y, z)",
    ),
    "alternatives over three are a rule each": (
        "CONSTRUCT (y)-[:r]->(z) MATCH (x)-[:a]->(y) OPTIONAL (x)-[:b]->(z)<-[:c]-(y) "
        "OPTIONAL (x)-[:d]->(z)-[:a]->(y)",
        "r(y, z) <- a(x, y), b(x, z), c(y, z). r(y, z) <- a(x, y), d(x, z), a(z, y)",
    ),
    "a vertex by itself, which all alternatives have": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x) OPTIONAL (x)-[:a]->(z) OPTIONAL (x)<-[:b]-(z)",
        "N(x, z) <- a(x, z). N(x, z) <- b(z, x). r(x, z) <- N(x, z)",
    ),
}


@pytest.mark.parametrize("name", OPTIONAL)
def test_optional_translates_to_the_expected_rules(name: str) -> None:
    gcore, rq = OPTIONAL[name]
    window = Window(9)
    expected = parse(rq, "rq")
    assert translate(parse(gcore, "gcore"), ONE, window) == translate(expected, ONE, window)


NO_OPTIONAL = {
    "selected only": "SELECT x, z MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z)",
    "a second source of what another binds": (
        "CONSTRUCT (x)-[:r]->(z) MATCH (x)-[:a]->(y)-[:c]->(v) OPTIONAL (y)-[:b]->(z) "
        "OPTIONAL (y)-[:c]->(z)<-[:b]-(v)"
    ),
    "a condition that may hold without it": (
        "SELECT x, z MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z) MATCH (u)-[:c]->() "
        "WHERE (u) = (z) OR (u) = (x)"
    ),
}


@pytest.mark.parametrize("name", NO_OPTIONAL)
def test_optional_whose_absence_shows_is_refused(name: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(NO_OPTIONAL[name], "gcore")
    assert caught.value.code == "E-OPT"


# --- warnings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT x, y MATCH (x)-/<:a^*>/->(y)", "W-CARET"),
        ("SELECT x, y MATCH (x)-/<:a^+>/->(y)", "W-CARET"),
        ("SELECT x, y MATCH (x)-/<:a^*{2}>/->(y)", "W-CARET"),
        ("SELECT x, y MATCH (x)-/<:a*{3..2}>/->(y)", "W-EMPTY"),
        ("SELECT x, u MATCH (x)-[:a]->(y), (z)-[:a]->(u)", "W-CROSS"),
        ("PATH D = (x)-[:a]->(y) SELECT x, y MATCH (x)-[:a]->(y)", "W-UNUSED"),
        ("SELECT x, y MATCH (x)-[:a]->(y) ON s WINDOW (5) SLIDE (3)", "W-SLIDE"),
        ("SELECT x, y MATCH (x)-[:a]->(y) OPTIONAL (y)-[:b]->(z)", "W-UNUSED"),
    ],
)
def test_warnings(text: str, code: str) -> None:
    (warning,) = parse(text, "gcore").warnings
    assert warning.startswith(f"{code} 1:")


def test_a_reversed_step_without_a_repeat_gets_no_warning() -> None:
    assert parse("SELECT x, y MATCH (x)-/<(:a^ :b)*>/->(y)", "gcore").warnings == ()


def test_generated_names_are_not_names_of_the_query() -> None:
    same(
        "PATH `a|b` = (p)-[:c]->(q) CONSTRUCT (_1)-[:r]->(y) "
        "MATCH (_1)-[:a|b]->()<-[:d]-(y), (y)-/<~`a|b`>/->() ON s WINDOW (9)",
        "N(x, y) <- a(x, y). N(x, y) <- b(x, y). M(p, q) <- c(p, q)."
        "r(_1, y) <- N(_1, z), d(y, z), M(y, _) WINDOW 9",
    )
