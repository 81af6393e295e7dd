"""Vertex relations in both languages: their algebra, and the errors of invalid ones."""

import pytest

from headrace.algebra.logical import LogicalQuery
from headrace.algebra.text import one_line
from headrace.catalog import Catalog, loads
from headrace.languages import QueryError, parse
from headrace.languages.query.regular_query import RegularQuery
from headrace.languages.rq.printer import text
from headrace.languages.translation.canonical import translate
from headrace.languages.translation.labels_read import vertex_labels

STREAMS = """
time_unit: second
streams:
  s:
    properties: {amount: number}
    labels:
      likes: {rate: 2, distinct_src: 50, distinct_trg: 70}
      P: {rate: 1, distinct_src: 40, distinct_trg: 40}
  people:
    vertices: true
    properties: {country: string, age: integer}
    labels: {P: {rate: 1, distinct_src: 100, distinct_trg: 100}}
  firms:
    vertices: true
    properties: {country: string, size: integer}
    labels:
      Firm: {rate: 1, distinct_src: 10, distinct_trg: 10}
      Bank: {rate: 1, distinct_src: 5, distinct_trg: 5}
  places:
    vertices: true
    vertex_type: integer
    properties: {height: number}
    labels: {Place: {rate: 1, distinct_src: 10, distinct_trg: 10}}
"""
CATALOG: Catalog = loads(STREAMS)
WINDOW = " WINDOW 9"


def read(query: str) -> RegularQuery:
    return parse(query + WINDOW, "rq", "second")


def translated(query: str) -> LogicalQuery:
    return translate(read(query), CATALOG)


def error_of(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        translated(query)
    return caught.value


ALGEBRA = {
    "a vertex relation": ("Answer(x) <- P(x)", "C[src](W[9](P))"),
    "a test of one end": (
        "Answer(x, y) <- likes(x, y), P(x)",
        "J[src1,trg1,Answer ; src1=src2](W[9](s.likes), C[src](W[9](people.P)))",
    ),
    "one label of edges and of vertices": (
        "Answer(x, y) <- P(x, y), P(y)",
        "J[src1,trg1,Answer ; trg1=src2](W[9](s.P), C[src](W[9](people.P)))",
    ),
    "a condition is a filter on the scan, and what it looks at is not carried": (
        "Answer(x, y) <- likes(x, y), P(x) as p, p.age > 30",
        "J[src1,trg1,Answer ; src1=src2](W[9](s.likes), C[c1](F[c3 > 30](W[9](people.P(age)))))",
    ),
    "the property of a variable": (
        "Answer(x, y.country) <- likes(x, y), P(y), y.age > 30",
        "J[src1,trg2,Answer ; trg1=src2](W[9](s.likes), "
        "C[c1,c4](F[c3 > 30](W[9](people.P(age,country)))))",
    ),
    "the property of a vertex of which nothing is message": (
        "Answer(x) <- likes(x, y), y.age > 30",
        "J[src1,Answer ; trg1=src2](W[9](s.likes), C[c1](F[c3 > 30](W[9](people.P(age)))))",
    ),
    "a condition over vertices and edges stands above the join": (
        "Answer(x) <- likes(x, y) as e, P(x), x.age > e.amount",
        "C[c1](F[c2 > c3](J[c1_1,trg2 ; c1_1=src2 ; ; c3_1]"
        "(W[9](s.likes(amount)), C[c1,c3](W[9](people.P(age))))))",
    ),
    "a vertex written out": (
        'Answer(y) <- P("7") as p, likes("7", y), p.age = 3',
        "J[trg2,Answer](C[c1](F[c3 = 3](F[c1 = '7'](W[9](people.P(age))))), "
        "F[src = '7'](W[9](s.likes)))",
    ),
    "a vertex of a type": (
        "Answer(x) <- Place(7), Place(x)",
        "J[src2,Answer](C[src](F[src = 7](W[9](Place))), C[src](W[9](Place)))",
    ),
    "a vertex message twice": ("Answer(x) <- P(x), P(x)", "C[src](W[9](P))"),
    "and once by an equality": ("Answer(x, y) <- P(x), P(y), x = y", "C[src,src](W[9](P))"),
    "two rows of one vertex": (
        "Answer(x) <- P(x) as p, P(x) as q, p.age < q.age",
        "C[c1](F[c2 < c3](J[src1,trg1 ; src1=src2 ; ; trg2]"
        "(C[c1,c3](W[9](P(age))), C[c1,c3](W[9](P(age))))))",
    ),
    "a predicate of one vertex": (
        "Old(x, x) <- P(x), x.age > 60. Answer(x, y) <- likes(x, y), Old(x, x)",
        "J[src1,trg1,Answer ; src1=src2](W[9](s.likes), "
        "C[src](C[c1,c1](F[c3 > 60](W[9](people.P(age))))))",
    ),
}


@pytest.mark.parametrize("name", ALGEBRA)
def test_vertex_atoms_as_algebra(name: str) -> None:
    query, algebra = ALGEBRA[name]
    text = one_line(translated(query).expression)
    assert text == algebra


@pytest.mark.parametrize("name", ALGEBRA)
def test_printed_vertex_queries_read_as_the_same_query(name: str) -> None:
    query = read(ALGEBRA[name][0])
    assert parse(text(query)) == query


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Answer(x) <- P(x) Answer(x) <- P(x, y)", 2),
        ("Answer(x, y) <- x (P) y, P(x)", 1),
        ("Answer(x, y) <- P(x) as p, x (P)/likes y % P(x)\n", 1),
        ("Answer(x) <- (P(?x)), `P` (x) % a comment\n , likes(x, _).", 1),
        ("Answer(x) <- likes(x, y), P(_) ON s WINDOW 9 ON people", 1),
    ],
)
def test_an_atom_of_one_term_is_a_vertex_and_not_a_path(written: str, meant: int) -> None:
    query = read(written)
    assert vertex_labels(query) == ("P",)
    assert len(query.rules) == meant


ERRORS = [
    # query, code, place, text, a part of the message
    ("A(x) <- likes(x)", "E-UNKNOWN", "1:9", "likes", "label of edges: write likes(x, y)"),
    ("A(x) <- Firm(x, y)", "E-UNKNOWN", "1:9", "Firm", "write Firm(x), in G-CORE (x:Firm)"),
    ("A(x) <- Frim(x)", "E-UNKNOWN", "1:9", "Frim", "did you mean Firm?"),
    ("R(x, y) <- P(x, y). Ans(x) <- R(x)", "E-UNKNOWN", "1:31", "R", "relates two vertices"),
    ("R(x) <- P(x). A(x) <- R(x, x)", "E-ARITY", "1:23", "R", "write R(x)"),
    ("A(x) <- P(x), x.size = 3", "E-UNKNOWN", "1:15", "x.size", "one of Bank, Firm"),
    ("A(x) <- P(x), x.depth = 3", "E-UNKNOWN", "1:15", "x.depth", "P has no property depth"),
    ("A(x) <- P(x) as p, p.size = 3", "E-UNKNOWN", "1:20", "p.size", "the vertices of stream"),
    ("A(x) <- P(x, y), x.depth = 3", "E-UNKNOWN", "1:18", "x.depth", "no vertices have a"),
    ("A(x) <- P(x, y), x.size = 3", "E-AMBIGUOUS", "1:18", "x.size", "x is: Bank(x), in G-CORE"),
    ("A(x.country) <- P(x), Firm(x)", "E-AMBIGUOUS", "1:3", "x.country", "P(x) as v, and write"),
    ("A(x) <- P(x) as x", "E-EDB", "1:9", "x", "already that of a vertex"),
    ("A(x) <- P(x) as p, P(y) as p", "E-EDB", "1:20", "p", "already that of an edge"),
    ("A(x) <- P(x) as p, p > 3", "E-PROPERTY", "1:20", "p", "compare one of its properties"),
    ("A(x) <- P(x), x.age = 'a'", "E-TYPE", "1:15", "=", ".age is a number"),
    ("A(x) <- Place(x), Place('a')", "E-TYPE", "1:19", "'a'", "integers of 64 bits"),
    ("A(x) <- `s.Firm`(x)", "E-UNKNOWN", "1:9", "Firm", "it is in firms"),
    ("A(x) <- `s.Frim`(x)", "E-UNKNOWN", "1:9", "Frim", "did you mean Firm?"),
]


@pytest.mark.parametrize(("query", "code", "place", "offending", "message"), ERRORS)
def test_invalid_vertex_atoms_are_refused(
    query: str, code: str, place: str, offending: str, message: str
) -> None:
    error = error_of(query)
    assert (error.code, f"{error.line}:{error.column}") == (code, place), str(error)
    assert error.text == offending
    assert message in str(error)


# --- in G-CORE ------------------------------------------------------------------------

PAIRS = {
    "a label": ("SELECT x, y MATCH (x:P)-[:likes]->(y)", "Answer(x, y) <- likes(x, y), P(x)"),
    "a label of a vertex alone": ("SELECT x MATCH (x:P)", "Answer(x) <- P(x)"),
    "a vertex without a name": (
        "SELECT x MATCH (x)-[:likes]->(:P)",
        "Answer(x) <- likes(x, y), P(y)",
    ),
    "several labels": (
        "SELECT x MATCH (x:P:Firm)-[:likes]->(y), (x:P)",
        "Answer(x) <- likes(x, y), P(x), Firm(x)",
    ),
    "a choice": (
        "SELECT x, y MATCH (x)-[:likes]->(y:Firm|Bank)",
        "N(y, y) <- Firm(y). N(y, y) <- Bank(y). Answer(x, y) <- likes(x, y), N(y, y)",
    ),
    "a choice with a property": (
        "SELECT x, y MATCH (x)-[:likes]->(y:Firm|Bank {size = 3})",
        "N(y, y) <- Firm(y), y.size = 3. N(y, y) <- Bank(y), y.size = 3. "
        "Answer(x, y) <- likes(x, y), N(y, y)",
    ),
    "a property": (
        "SELECT x MATCH (x:P {age = 3, country = 'NL'})-[:likes]->(y)",
        "Answer(x) <- likes(x, y), P(x), x.age = 3, x.country = 'NL'",
    ),
    "a property of the label beside it": (
        "SELECT x MATCH (x:P {country = 'NL'}), (x:Firm {country = 'DE'})",
        "Answer(x) <- P(x) as p, Firm(x) as f, p.country = 'NL', f.country = 'DE'",
    ),
    "a property without a label": (
        "SELECT x MATCH (x {age = 3})-[:likes]->(y)",
        "Answer(x) <- likes(x, y), P(x), x.age = 3",
    ),
    "properties in conditions and columns": (
        "SELECT x, y.age AS old MATCH (x:P)-[e:likes]->(y:P) "
        "WHERE x.age > y.age AND e.amount < y.age AND x.country = 'NL'",
        "Answer(x, y.age as old) <- likes(x, y) as e, P(x), P(y), x.age > y.age, "
        "e.amount < y.age, x.country = 'NL'",
    ),
    "a property of a vertex that is called otherwise": (
        "SELECT y.age AS x, y AS age, x AS y MATCH (x)-[:likes]->(y:P)",
        "Answer(b.age as x, b, a) <- likes(a, b), P(b)",
    ),
    "of a vertex that is another one": (
        "SELECT x, y.age AS old MATCH (x:P), (y)-[:likes]->(z) WHERE (x) = (y) AND y.age > 3",
        "Answer(x, x.age as old) <- P(x), likes(x, z), x.age > 3",
    ),
    "a label in WHERE": (
        "SELECT x MATCH (x)-[:likes]->(y) WHERE (y:P) AND y.age > 3",
        "Answer(x) <- likes(x, y), P(y), y.age > 3",
    ),
    "one label or the other": (
        "SELECT x MATCH (x)-[:likes]->(y) WHERE (y:P) OR (x:Firm)",
        "Answer(x) <- likes(x, y), P(y). Answer(x) <- likes(x, y), Firm(x)",
    ),
    "a PATH": (
        "PATH older = (x:P)-[:likes]->(y) WHERE x.age > y.age "
        "CONSTRUCT (x)-[:near]->(y) MATCH (x)-/<~older+>/->(y)",
        "older(x, y) <- likes(x, y), P(x), x.age > y.age. near(x, y) <- older+(x, y)",
    ),
    "an OPTIONAL that must be there": (
        "CONSTRUCT (x)-[:near]->(y) MATCH (x:P) OPTIONAL (x)-[:likes]->(y:P) WHERE y.age > 3",
        "near(x, y) <- P(x), likes(x, y), P(y), y.age > 3",
    ),
    "what a query constructs": (
        "SELECT x MATCH (x:P)-[:near]->(y) "
        "ON (CONSTRUCT (a)-[:near]->(b) MATCH (a)-[:likes]->(b:Firm)) WHERE y.age > 3",
        "near(a, b) <- likes(a, b), Firm(b). Answer(x) <- near(x, y), P(x), P(y), y.age > 3",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_vertex_atoms_mean_the_same_in_gcore(name: str) -> None:
    gcore, rq = PAIRS[name]
    windowed = parse(f"A(x, y) <- P(x, y){WINDOW}").windows[0].window
    of_gcore = translate(parse(gcore, "gcore", "second"), CATALOG, windowed)
    of_rq = translated(rq)
    assert of_gcore.expression == of_rq.expression


def test_a_stream_of_vertices_is_matched_under_its_own_window() -> None:
    query = parse(
        "SELECT x MATCH (x:P {age = 3}) ON people WINDOW (5), (x)-[:likes]->() ON s WINDOW (7)",
        "gcore",
    )
    assert one_line(translate(query, CATALOG).expression) == (
        "J[src1,Answer ; src1=src2](C[c1](F[c3 = 3](W[5](people.P(age)))), W[7](s.likes))"
    )
    two = parse(
        "SELECT x MATCH (x:Firm) ON firms WINDOW (5), (x:Bank) ON firms WINDOW (7)", "gcore"
    )
    assert "W[5](Firm)" in one_line(translate(two, CATALOG).expression)
    assert "W[7](Bank)" in one_line(translate(two, CATALOG).expression)


def test_a_stream_of_edges_has_no_vertices() -> None:
    query = "SELECT x MATCH (x:Firm)-[:likes]->() ON s WINDOW (7)"
    with pytest.raises(QueryError) as caught:
        translate(parse(query, "gcore"), CATALOG)
    assert (caught.value.code, caught.value.text, caught.value.column) == ("E-UNKNOWN", "Firm", 19)
    assert "write (x:Firm) ON firms WINDOW (24h)" in str(caught.value)
