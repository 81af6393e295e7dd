"""The canonical translation: the printed examples, streams and windows, constants, meaning."""

from collections.abc import Mapping

import pytest
from hypothesis import given

from headrace.algebra.logical import (
    Empty,
    Filter,
    LogicalExpression,
    LogicalQuery,
    Path,
    Pattern,
    Project,
    Union,
    WScan,
)
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Symbol, concat, plus
from headrace.algebra.text import one_line
from headrace.algebra.window import Window
from headrace.catalog.defaults import DEFAULT_STATISTICS, default_catalog
from headrace.catalog.model import Catalog, Stream, VertexType
from headrace.languages import QueryError, parse
from headrace.languages.translation.canonical import translate
from headrace.languages.translation.labels_read import input_labels
from tests.languages.examples import EXAMPLES
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.algebra import rows_of
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

WINDOW = Window(100)


def stream(
    name: str,
    labels: str,
    vertex_type: VertexType = "string",
    open_labels: bool = False,
    stored: bool = False,
) -> Stream:
    return Stream(
        name,
        dict.fromkeys(labels.split(), DEFAULT_STATISTICS),
        vertex_type=vertex_type,
        open_labels=open_labels,
        stored=stored,
    )


def catalog(*streams: Stream, time_unit: str = "second") -> Catalog:
    return Catalog({s.name: s for s in streams}, time_unit)


LETTERS = catalog(stream("s", "a b c d"))
WITH_GRAPH = catalog(stream("s", "a b"), stream("g", "b k l", stored=True))
TWO = catalog(stream("s", "a b x"), stream("t", "c d x"))


def translated(query: str, of: Catalog = LETTERS, window: Window | None = WINDOW) -> LogicalQuery:
    return translate(parse(query, "rq", of.time_unit), of, window)


def algebra(query: str, of: Catalog = LETTERS) -> str:
    return one_line(translated(query, of).expression)


def error_of(query: str, of: Catalog = LETTERS, window: Window | None = WINDOW) -> QueryError:
    with pytest.raises(QueryError) as caught:
        translated(query, of, window)
    return caught.value


# --- the printed examples -------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_printed_examples(name: str) -> None:
    query, expected = EXAMPLES[name]
    parsed = parse(query)
    of = default_catalog(input_labels(parsed))
    if name == "Example 5":
        of = catalog(stream("social_stream", "l p f"), stream("tx_stream", "pur"))
    result = translate(parsed, of, WINDOW)
    shown = one_line(result.expression, "second" if "@" not in expected else "")
    assert shown == expected.replace("@", "W[100]")
    assert result.columns == parsed.rules[-1].variables
    assert result.warnings == ()


def test_example_3_as_values() -> None:
    day = Window(86_400)
    scan = {label: LogicalExpression(WScan("input", label, day)) for label in "lpf"}
    follows = LogicalExpression(Path(plus(Symbol(0))), (scan["f"],))
    likes = LogicalExpression(
        Pattern(((0, 1), (2, 1), (0, 2)), (0, 2)), (scan["l"], scan["p"], follows)
    )
    chain = LogicalExpression(Path(plus(Symbol(0))), (likes,))
    notify = LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 2)), (chain, scan["p"]))
    result = translate(parse(EXAMPLES["Example 3"][0]), default_catalog("lpf"))
    assert result == LogicalQuery(notify, ("u", "m"))
    assert isinstance(result.expression.operator, Pattern)
    assert result.expression.operator.names == ("u", "v", "m")
    assert result.expression.name == "Notify"


def test_the_order_of_atoms_is_that_of_the_text() -> None:
    assert (
        algebra("A(x, y) <- a(x, z), b(z, y)") == "J[src1,trg2,A ; trg1=src2](W[100](a), W[100](b))"
    )
    assert (
        algebra("A(x, y) <- b(z, y), a(x, z)") == "J[src2,trg1,A ; src1=trg2](W[100](b), W[100](a))"
    )


# --- rules ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # a rule of one atom
        ("A(x, y) <- a(x, y)", "W[100](a)"),
        ("A(y, x) <- a(x, y)", "C[trg,src](W[100](a))"),
        ("A(x, y) <- x ^a y", "C[trg,src](W[100](a))"),
        ("A(y, x) <- x ^a y", "W[100](a)"),
        ("A(x) <- a(x, y)", "C[src](W[100](a))"),
        ("A(y, y) <- a(_, y)", "C[trg,trg](W[100](a))"),
        ("A(x, y) <- a+(x, y)", "P[A;a+](W[100](a))"),
        ("A(x, y) <- a+(x, y) as D", "P[D;a+](W[100](a))"),
        (
            "A(y, x) <- a+(x, y) as D",
            "C[trg,src](P[D;a+](W[100](a)))",
        ),
        ("A(x, y) <- a(x, y) as D", "W[100](a)"),
        ("A(x, y) <- x ^a y as D", "C[trg,src](W[100](a))"),
        ("A(x, y) <- x a? y", "W[100](a)"),
        ("A(x, y) <- x (^a)? y", "C[trg,src](W[100](a))"),
        # several atoms
        (
            "A(x, x, z) <- a(x, y), b(y, z)",
            "J[src1,src1,A ; trg1=src2 ; ; trg2](W[100](a), W[100](b))",
        ),
        ("A(x) <- a(x, y), a(y, x)", "J[src1,A ; trg1=src2 & src1=trg2](W[100](a), W[100](a))"),
        ("A(x, y) <- a(x, z), b(w, y)", "J[src1,trg2,A](W[100](a), W[100](b))"),
        ("A(x, z, w) <- a(x, z), b(w, y)", "J[src1,trg1,A ; ; ; src2](W[100](a), W[100](b))"),
        # a variable twice in an atom
        ("A(x) <- a(x, x)", "C[src](F[src = trg](W[100](a)))"),
        ("A(x, x) <- a(x, x)", "C[src,src](F[src = trg](W[100](a)))"),
        (
            "A(x, y) <- a(x, x), b(x, y)",
            "J[src1,trg2,A ; src1=src2](F[src = trg](W[100](a)), W[100](b))",
        ),
        ("A(x) <- a+(x, x)", "C[src](F[src = trg](P[a+](W[100](a))))"),
        # constants
        ("A(x) <- a(x, 'u')", "C[src](F[trg = 'u'](W[100](a)))"),
        ("A(x) <- a(5, x)", "C[trg](F[src = '5'](W[100](a)))"),
        ("A(x) <- a+('u', x)", "C[trg](F[src = 'u'](P[a+](W[100](a))))"),
        (
            "A(x, y) <- a(x, 'u'), b('v', y)",
            "J[src1,trg2,A](F[trg = 'u'](W[100](a)), F[src = 'v'](W[100](b)))",
        ),
        (
            "A(x, y) <- a(x, y), b('v', 'w')",
            "J[src1,trg1,A](W[100](a), F[trg = 'w'](F[src = 'v'](W[100](b))))",
        ),
        # several rules of one head
        ("A(x, y) <- a(x, y). A(x, y) <- b(y, x).", "U[A](W[100](a), C[trg,src](W[100](b)))"),
        (
            "A(x, y) <- a(x, y). A(x, y) <- b(x, y). A(u, v) <- c(u, v).",
            "U[A](U(W[100](a), W[100](b)), W[100](c))",
        ),
        ("A(x, y) <- a(x, y). A(x, y) <- a(x, y).", "W[100](a)"),
        # derived predicates
        (
            "D(x, y) <- a(y, x). A(x, y) <- D(x, z), D(z, y)",
            "J[src1,trg2,A ; trg1=src2](C[trg,src](W[100](a)), C[trg,src](W[100](a)))",
        ),
        ("D(x, y) <- a(x, y). A(x, y) <- x D+/b y", "P[A;a+·b](W[100](a), W[100](b))"),
        ("D(x, y) <- a(x, y). A(x, y) <- x D/a y", "P[A;a·a](W[100](a))"),
        (
            "D(x, y) <- a(x, z), b(z, y). A(x, y) <- x ^D/c y",
            "P[A;^D·c](J[src1,trg2,D ; trg1=src2](W[100](a), W[100](b)), W[100](c))",
        ),
        (
            "A(x, y) <- a+(x, z) as D, D(z, y)",
            "J[src1,trg2,A ; trg1=src2](P[D;a+](W[100](a)), P[D;a+](W[100](a)))",
        ),
        (
            "A(x, y) <- a+(x, z) as D, z D/b y",
            "J[src1,trg2,A ; trg1=src2](P[D;a+](W[100](a)), P[D·b](P[D;a+](W[100](a)), W[100](b)))",
        ),
        # paths are kept in the order of their labels
        ("A(x, y) <- x (b|a)/c+ y", "P[A;(a|b)·c+](W[100](a), W[100](b), W[100](c))"),
        ("A(x, y) <- x b/(a|b)* y", "P[A;b·(b|a)*](W[100](b), W[100](a))"),
    ],
)
def test_rules_translate_to_the_expected_algebra(query: str, expected: str) -> None:
    assert algebra(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("A(x, y) <- x a{3,2} y", "∅"),
        ("A(x, y, x) <- a(x, z), z b{0} y", "∅"),
        ("A(x) <- x a{3,2} 'u'", "∅"),
        ("A(x, y) <- x a{3,2} y. A(x, y) <- b(x, y)", "W[100](b)"),
        ("A(x, y) <- a(x, y). A(x, y) <- x b{3,2} y", "W[100](a)"),
        ("D(x, y) <- x a{3,2} y. A(x, y) <- x (b/D)|c+ y", "P[A;c+](W[100](c))"),
        ("D(x, y) <- x a{3,2} y. A(x, y) <- x b/D* y", "W[100](b)"),
        ("D(x, y) <- x a{3,2} y. A(x, y) <- D+(x, y)", "∅"),
    ],
)
def test_empty_inputs_are_removed(query: str, expected: str) -> None:
    result = translated(query)
    assert one_line(result.expression) == expected
    if expected == "∅":
        assert result.expression.operator == Empty(len(result.columns))


def test_the_values_of_filters_projections_and_unions() -> None:
    scan = LogicalExpression(WScan("s", "a", WINDOW))
    filtered = LogicalExpression(Filter(Predicate.column_equals(1, "u")), (scan,))
    assert translated("A(x) <- a(x, 'u')").expression == LogicalExpression(
        Project((0,)), (filtered,)
    )
    assert translated("A(x, y) <- a(x, y). A(y, x) <- a(x, y)").expression == LogicalExpression(
        Union(), (scan, LogicalExpression(Project((1, 0)), (scan,)))
    )
    path = translated("A(x, y) <- x a/b y").expression.operator
    assert path == Path(concat([Symbol(0), Symbol(1)]))


def test_every_column_of_an_atom_has_a_variable() -> None:
    pattern = translated("A(x, y) <- a(x, 5), b(6, 7), c(x, x), d(x, y)").expression.operator
    assert isinstance(pattern, Pattern)
    assert pattern.bindings == ((0, 1), (2, 3), (0, 4), (0, 5))
    assert pattern.output == (0, 5)
    assert pattern.names == ("x", "_", "_", "_", "_", "y")


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        ("x, y", ("x", "y")),
        ("y", ("y",)),
        ("x, y, x", ("x", "y", "x_2")),
        ("x, x, x", ("x", "x_2", "x_3")),
        ("x, x_2, x", ("x", "x_2", "x_3")),
        ("x, x, x_2", ("x", "x_3", "x_2")),
    ],
)
def test_repeated_columns_of_the_answer_get_distinct_names(
    head: str, columns: tuple[str, ...]
) -> None:
    assert translated(f"A({head}) <- a(x, y), b(x, x_2)").columns == columns


def test_the_columns_are_called_as_in_the_first_rule() -> None:
    assert translated("A(u, v) <- a(u, v). A(x, y) <- b(x, y).").columns == ("u", "v")


# --- streams and windows --------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("A(x, z) <- a(x, y), k(y, z)", "J[src1,trg2,A ; trg1=src2](W[5](s.a), K(g.k))"),
        ("A(x, y) <- x a/k+ y", "P[A;s.a·g.k+](W[5](s.a), K(g.k))"),
        ("A(x, y) <- x k/l y", "P[A;k·l](K(k), K(l))"),
        ("A(x, y) <- k(x, y), x = 'u'", "F[src = 'u'](K(k))"),
        # Two edges of a stored graph are one if ends and properties agree.
        ("A(x, y) <- k(x, y) as e, k(x, y) as f, e = f", "J[src1,trg1,A ; src1=src2 & trg1=trg2]"),
    ],
)
def test_a_stored_graph_has_no_window(query: str, expected: str) -> None:
    logical = translated(query, WITH_GRAPH, Window(5))
    assert one_line(logical.expression).startswith(expected)
    assert translated(f"{query} WINDOW 5", WITH_GRAPH, None) == logical


def test_a_window_for_all_streams_excludes_stored_graphs() -> None:
    logical = translated("A(x, y) <- k(x, y) WINDOW 7", WITH_GRAPH, None)
    assert one_line(logical.expression) == "K(k)"
    assert [warning[:6] for warning in logical.warnings] == ["W-UNUS"]


def test_a_window_clause_of_a_stream_resolves_an_ambiguous_label() -> None:
    logical = translated("A(x, y) <- b(x, y) ON s (b) WINDOW 7", WITH_GRAPH, None)
    assert _scans(logical.expression) == {"b": ("s", Window(7))}
    logical = translated("A(x, y) <- `g.b`(x, y)", WITH_GRAPH, None)
    assert _scans(logical.expression) == {"b": ("g", None)}


def _scans(e: LogicalExpression) -> dict[str, tuple[str, Window | None]]:
    windows = dict[str, tuple[str, Window | None]]()
    if isinstance(e.operator, WScan):
        windows[e.operator.label] = (e.operator.stream, e.operator.window)
    for child in e.inputs:
        windows |= _scans(child)
    return windows


def test_the_most_specific_window_clause_wins() -> None:
    result = translated(
        "A(x, y) <- x a/b/c/d y "
        "WINDOW 10 ON t WINDOW 20 ON s (a) WINDOW 30 SLIDE 3 ON t (d) WINDOW 40",
        TWO,
    )
    assert _scans(result.expression) == {
        "a": ("s", Window(30, 3)),
        "b": ("s", Window(10)),
        "c": ("t", Window(20)),
        "d": ("t", Window(40)),
    }
    assert result.warnings == ()


def test_the_default_window_applies_to_streams_without_one() -> None:
    expression = translated("A(x, y) <- x a/c y ON t WINDOW 20", TWO).expression
    assert _scans(expression) == {"a": ("s", WINDOW), "c": ("t", Window(20))}
    error = error_of("A(x, y) <- x a/c y ON t WINDOW 20", TWO, None)
    assert (error.code, error.line, error.column) == ("E-NOWIN", 1, 12)
    assert str(error) == (
        "E-NOWIN 1:12: a: the stream s has no window, so its edges would never expire; "
        "add WINDOW 24h at its end, in G-CORE ON s WINDOW (24h), or give a default window"
    )


def test_an_unused_window_gets_a_warning() -> None:
    query = "A(x, y) <- a(x, y)\nON s (a) WINDOW 5\nON s WINDOW 6\nON t WINDOW 7\nWINDOW 8"
    warnings = translated(query, TWO).warnings
    assert [warning.split(": ")[:2] for warning in warnings] == [
        ["W-UNUSED 3:4", "ON s"],
        ["W-UNUSED 4:4", "ON t"],
        ["W-UNUSED 5:8", "WINDOW"],
    ]


def test_windows_are_counted_in_the_unit_of_the_catalog() -> None:
    minutes = catalog(stream("s", "a"), time_unit="minute")
    assert algebra("A(x, y) <- a(x, y) WINDOW 24h", minutes) == "W[1440](a)"
    with pytest.raises(ValueError, match="in seconds and the catalog's time unit is minute"):
        translate(parse("A(x, y) <- a(x, y) WINDOW 24h"), minutes)
    assert translate(parse("A(x, y) <- a(x, y) WINDOW 24"), minutes).columns == ("x", "y")


def test_a_label_of_two_streams_must_be_qualified() -> None:
    error = error_of("A(x, y) <- a(x, z), x(z, y)", TWO)
    assert (error.code, error.text, error.column) == ("E-AMBIGUOUS", "x", 21)
    assert "in the streams s, t" in error.message
    assert "`s.x`" in error.hint
    assert _scans(translated("A(x, y) <- x(x, y) ON t (x) WINDOW 5", TWO).expression) == {
        "x": ("t", Window(5))
    }
    assert algebra("A(x, y) <- `s.x`(x, z), `t.x`(z, y)", TWO) == (
        "J[src1,trg2,A ; trg1=src2](W[100](s.x), W[100](t.x))"
    )
    both = error_of("A(x, y) <- x(x, y) ON t (x) WINDOW 5 ON s (x) WINDOW 6", TWO)
    assert both.code == "E-AMBIGUOUS"


def test_a_qualified_label_takes_the_window_of_its_stream() -> None:
    query = "A(x, y) <- `s.x`(x, z), `t.x`(z, y) ON s WINDOW 5 ON t (x) WINDOW 6"
    assert one_line(translated(query, TWO).expression) == (
        "J[src1,trg2,A ; trg1=src2](W[5](s.x), W[6](t.x))"
    )


def test_a_label_with_a_dot_is_a_label_first() -> None:
    dotted = catalog(stream("s", "x"), stream("t", "s.x"))
    assert _scans(translated("A(x, y) <- `s.x`(x, y)", dotted).expression) == {"s.x": ("t", WINDOW)}


def test_open_labels_take_what_no_stream_lists() -> None:
    some = catalog(stream("s", "a"), stream("t", "b", open_labels=True))
    expression = translated("A(x, y) <- x a/b/new/`t.other` y", some).expression
    assert {label: name for label, (name, _) in _scans(expression).items()} == {
        "a": "s",
        "b": "t",
        "new": "t",
        "other": "t",
    }


@pytest.mark.parametrize(
    ("query", "of", "code", "text", "message"),
    [
        (
            "A(x, y) <- likez(x, y)",
            catalog(stream("s", "likes follows")),
            "E-UNKNOWN",
            "likez",
            "did you mean likes? the labels are follows, likes",
        ),
        (
            "A(x, y) <- x (a|LIKES)/b y",
            catalog(stream("s", "likes a b")),
            "E-UNKNOWN",
            "LIKES",
            "did you mean likes?",
        ),
        ("A(x, y) <- zzz(x, y)", LETTERS, "E-UNKNOWN", "zzz", "the labels are a, b, c, d"),
        ("A(x, y) <- zzz(x, y)", catalog(), "E-UNKNOWN", "zzz", "the catalog has none at all"),
        (
            "Chain(x, y) <- a+(x, y). Answer(x, y) <- chain(x, y).",
            LETTERS,
            "E-UNKNOWN",
            "chain",
            "did you mean Chain? the labels are a, b, c, d",
        ),
        ("A(x, y) <- `s.z`(x, y)", LETTERS, "E-UNKNOWN", "s.z", "the labels are"),
        ("A(x, y) <- a(x, y) ON S WINDOW 5", LETTERS, "E-UNKNOWN", "S", "did you mean s?"),
        ("A(x, y) <- a(x, y) ON s (e) WINDOW 5", LETTERS, "E-UNKNOWN", "e", "its labels are a, b"),
        ("a(x, y) <- b(x, y)", LETTERS, "E-EDB", "a", "it is an input label, of the stream s"),
        ("A(x, y) <- b+(x, y) as c", LETTERS, "E-EDB", "c", "it is an input label"),
        (
            "A(x, y) <- a(x, y), k(y, x) ON g WINDOW 5",
            WITH_GRAPH,
            "E-STORED",
            "g",
            "leave its window out",
        ),
        (
            "A(x, y) <- a(x, y), k(y, x) ON g (k) WINDOW 5",
            WITH_GRAPH,
            "E-STORED",
            "g",
            "valid always",
        ),
        ("A(x, e.ts) <- k(x, y) as e", WITH_GRAPH, "E-STORED", "e.ts", "have no time"),
        (
            "A(x, y) <- k(x, y) EMIT SNAPSHOT EVERY 1 EVENT",
            WITH_GRAPH,
            "E-STORED",
            "EMIT",
            "nothing would ever be reported",
        ),
        ("A(x, y) <- b(x, y)", WITH_GRAPH, "E-AMBIGUOUS", "b", "a clause ON s (b) WINDOW ..."),
        (
            "A(x) <- a(x, 'u')",
            catalog(stream("s", "a", "integer")),
            "E-TYPE",
            "'u'",
            "integers of 64 bits",
        ),
        (
            "A(x) <- a(x, 9223372036854775808)",
            catalog(stream("s", "a", "integer")),
            "E-TYPE",
            "9223372036854775808",
            "integers of 64 bits",
        ),
        (
            "A(x, y) <- x (a|b)*/a/(a|b){20} y",
            LETTERS,
            "E-SIZE",
            "",
            "more than 4096 states",
        ),
    ],
)
def test_queries_that_contradict_the_catalog_are_refused(
    query: str, of: Catalog, code: str, text: str, message: str
) -> None:
    error = error_of(query, of)
    assert (error.code, error.text) == (code, text)
    assert error.line == 1
    assert message in str(error)


def test_queries_beyond_planning_are_refused() -> None:
    doubled = "".join(f"d{n}(x, y) <- d{n - 1}(x, z), d{n - 1}(z, y). " for n in range(1, 40))
    assert error_of(f"d0(x, y) <- a(x, z), b(z, y). {doubled}").code == "E-SIZE"
    deep = "".join(f"d{n}(x, y) <- x d{n - 1}/a y. " for n in range(1, 300))
    error = error_of(f"d0(x, y) <- a(x, y). {deep}")
    assert error.code == "E-SIZE"
    assert "nested more than 200 deep" in error.message


# --- constants and vertex types -------------------------------------------------------


@pytest.mark.parametrize(
    ("constant", "vertex_type", "condition"),
    [
        ("5", "string", "src = '5'"),
        ("'5'", "string", "src = '5'"),
        ("'it\\'s'", "string", "src = 'it\\'s'"),
        ("5", "integer", "src = 5"),
        ("'5'", "integer", "src = 5"),
        ("-5", "integer", "src = -5"),
        ("'-9223372036854775808'", "integer", "src = -9223372036854775808"),
    ],
)
def test_a_constant_gets_the_type_of_its_stream(
    constant: str, vertex_type: VertexType, condition: str
) -> None:
    of = catalog(stream("s", "a", vertex_type))
    assert algebra(f"A(x) <- a({constant}, x)", of) == f"C[trg](F[{condition}](W[100](a)))"
    assert algebra(f"A(x) <- {constant} a+ x", of) == f"C[trg](F[{condition}](P[a+](W[100](a))))"


MIXED: Mapping[str, Stream] = {"s": stream("s", "a b"), "t": stream("t", "n", "integer")}


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ("d(x, y) <- a(x, z), b(z, y). A(x) <- d(x, 5)", "trg = '5'"),
        ("d(x, y) <- n(x, z), n(z, y). A(x) <- d(x, '5')", "trg = 5"),
        ("d(x, y) <- a(x, z), n(w, y). A(x) <- d(x, '5')", "trg = 5"),
        ("d(x, y) <- a(x, z), n(w, y). A(x) <- d(5, x)", "src = '5'"),
        ("A(x) <- x n+ '5'", "trg = 5"),
        ("d(x, y) <- n(y, x). A(x) <- d(x, '5')", "trg = 5"),
        # where streams of both types meet, a constant stays what it was written as
        ("A(x) <- x a|n 5", "trg = 5"),
        ("A(x) <- x a|n '5'", "trg = '5'"),
        ("d(x, y) <- a(x, y). d(x, y) <- n(x, y). A(x) <- d(x, '5')", "trg = '5'"),
    ],
)
def test_the_type_goes_through_derived_predicates(query: str, condition: str) -> None:
    assert f"F[{condition}]" in algebra(query, Catalog(MIXED))


def test_a_join_of_strings_and_integers_gets_a_warning() -> None:
    warnings = translated("A(x, y) <- a(x, z), n(z, y)", Catalog(MIXED)).warnings
    assert len(warnings) == 1
    assert warnings[0].startswith(
        "W-TYPE 1:1: z: it joins a stream of strings with one of integers"
    )
    assert translated("A(x, y) <- a(x, z), n(w, y)", Catalog(MIXED)).warnings == ()


# --- meaning --------------------------------------------------------------------------


@given(case=cases())
@examples(200)
def test_the_expression_means_what_the_query_means(case: Case) -> None:
    """On every snapshot the canonical expression has the rows that the oracle has."""
    labels: dict[str, list[str]] = {}
    for label, source in case.query.sources:
        labels.setdefault(source.stream, []).append(label)
    vertex_type: VertexType = "integer" if case.integers else "string"
    of = catalog(*(stream(name, " ".join(ls), vertex_type) for name, ls in labels.items()))
    result = translated(text(case.query), of, None)
    truth = Truth(case.query, case.edges)
    for instant in truth.changes:
        rows = rows_of(result.expression, truth.snapshot(instant))
        assert rows == truth.at(instant), one_line(result.expression)
    windows = _scans(result.expression)
    for label, source in case.query.sources:
        if label in windows:
            assert windows[label] == (source.stream, Window(source.range, source.slide))
