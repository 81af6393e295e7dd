"""Errors of queries: code, place, text, reason, hint."""

import copy
import pickle
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headrace.catalog.defaults import default_catalog
from headrace.languages import QueryError, parse
from headrace.languages.query.atoms import Location
from headrace.languages.query.errors import CODES, listed
from headrace.languages.translation.canonical import translate
from headrace.languages.translation.labels_read import input_labels
from tests.languages.examples import EXAMPLES

SYNTAX = [
    # text, place, offending text, a part of the message
    ("", "1:1", "", "the query is empty"),
    ("  % nothing\n", "1:1", "", "the query is empty"),
    ("A(x,y)", "1:7", "", "ends too early; expected <-"),
    ("A(x,y) <-", "1:10", "", "expected an atom, as likes(x, y)"),
    ("A(x,y) <- a(x,y", "1:16", "", "expected a comma or )"),
    ("A(x,y) <- a(x,y),\n", "1:18", "", "expected an atom"),
    (
        "A(x,y) <- x a",
        "1:14",
        "",
        "expected a variable or a constant, a repeat (* + ? {m,n}), | or /",
    ),
    ("A(x,y) <- x a|", "1:15", "", "expected a path"),
    ("A(x,y) <- x a{ y", "1:16", "y", "expected a comma or a whole number"),
    ("A(x,y) <- x a{1 y", "1:17", "y", "expected a comma or }"),
    ("A() <- a(x,y)", "1:3", ")", "expected a value, as e.amount or 100"),
    ("A(x,y) <- b(x,y), C(x,y) <- d(x,y)", "1:26", "<-", "between rules stands a dot"),
    ("A(x,y) <- x a.b y", "1:14", ".", "steps of a path are joined by /"),
    ("A(x,y) <- x a +b y", "1:15", "+", "blanks on both sides means either"),
    (
        "A(x,y) <- a",
        "1:12",
        "",
        "expected (source, target), a path",
    ),
    ("A(x,y) - a(x,y)", "1:8", "-", "expected <-"),
    ("A(x,y) <- x has-creator y", "1:16", "-", "in backquotes, `has-creator`"),
    ("A(x,y) <- a(x, 5abc)", "1:16", "5abc", "no name begins with a digit"),
    ('A(x,y) <- a(x, "y)', "1:16", '"', "not closed on its line"),
    ("A(x,y) <- `a(x, y)", "1:11", "`", "not closed on its line"),
    ("A(x,y) <- a(x, y) & b(x, y)", "1:19", "&", "not a sign of the language"),
    ("A(x,y) <- a(x, y) as", "1:21", "", "expected a name"),
    ("A(x,y) <- a(x, y) as (x)", "1:25", "", "expected <-"),
    ("WINDOW 24h A(x,y) <- a(x,y)", "1:8", "24h", "windows stand after the rules"),
    ("A(x,y) <- a(x,y) WINDOW 24h B(x,y) <- c(x,y)", "1:29", "B", "before the windows"),
    ("A(x,y) <- a(x,y) WINDOW", "1:24", "", "expected a length of time, as 24h"),
    ("A(x,y) <- a(x,y) WINDOW 1h SLIDE", "1:33", "", "expected a length of time"),
    ("A(x,y) <- a(x,y) WINDOW SLIDE 1h", "1:25", "SLIDE", "expected a length of time"),
    ("A(x,y) <- a(x,y) ON s", "1:22", "", "expected ( or WINDOW"),
    ("A(x,y) <- a(x,y) ON s () WINDOW 5", "1:24", ")", "expected a name"),
    ("SELECT *", "1:8", "*", "expected <-, a comma or ("),
    ("A(x,y) <- a(x,y).\nB(x,\n y) <- c(x y)", "3:12", "y", "expected"),
    ("A(x,y) <- a(x,y), x <", "1:22", "", "expected a value, as e.amount or 100"),
    ("A(x,y) <- a(x,y) as e, e.n", "1:27", "", "expected a comparison, as e.amount > 100"),
    ("A(x,y) <- a(x,y), x", "1:20", "", "expected (source, target), a path"),
    ("A(x,y) <- a(x,y) as e, e.n < 1 OR e.n > 2", "1:35", "e.n", "write a rule for each part"),
    ("A(x,y) <- a(x,y) as e, e.n IS NULL", "1:28", "IS", "conditions are comparisons"),
    ("A(x,y) <- a(x,y) as e, e.n <-1", "1:28", "<-", "between < and - stands a blank"),
    ("A(x,y) <- a(x,y), x < 5abc", "1:23", "5abc", "no name begins with a digit"),
    ("A(x,y) <- a(x,y), x = 007", "1:23", "007", "without leading zeros"),
    ("A(x,y) <- a(x,y), x < 9e999", "1:23", "9e999", "beyond what 64 bits hold"),
    ("A(x,y) <- a(x,y), x < 9223372036854775808", "1:23", "9223372036854775808", "64 bits"),
    ("A(x,y) <- a(x,y), _ = x", "1:21", "=", "or a path"),
    ("A(x,y) <- a(x, e.n)", "1:17", ".", "expected a comma or )"),
    ("A(e.n as) <- a(x,y) as e", "1:9", ")", "expected a name"),
    ("A(x,y) <- a(x,y). EMIT ENTERING", "1:24", "ENTERING", "expected"),
    ("A(x,y) <- a(x,y) EMIT SNAPSHOT WINDOW 5", "1:32", "WINDOW", "it cannot stand here"),
    ("A(x, count(*)) <- a(x,y)", "1:6", "", "an aggregate needs a name"),
    ("A(x, e.n * 2) <- a(x,y) as e", "1:6", "", "a computed column needs a name"),
    ("A(x, sum(*) as n) <- a(x,y)", "1:6", "sum", "only count takes *"),
    ("A(x,'y') <- a(x,y)", "1:5", "'y'", "a constant in a head needs a name"),
    ("A(x,y) <- a(x, 007)", "1:16", "007", "without leading zeros"),
    ("A(x,y) <- a(x, 1.5)", "1:16", "1.5", "a whole number"),
    ("A(x,y) <- a(x, -0)", "1:16", "-0", "put it in quotes"),
    ("A(x,y) <- a(x, " + "9" * 5000 + ")", "1:16", "9" * 5000, "a whole number"),
    (r"A(x,y) <- a(x, '\q')", "1:16", r"'\q'", "has an unknown escape"),
    (r"A(x,y) <- a(x, '\ud800')", "1:16", r"'\ud800'", "has an unknown escape"),
]

OTHERS = [
    ("E-ARITY", "A(x) <- p(x,y), l+(x)", "1:17", "l", "this one has 1 term"),
    ("E-ARITY", "A(x) <- l()", "1:9", "l", "this one has no terms"),
    ("E-ARITY", "A(x) <- l(x, y, z)", "1:9", "l", "this one has 3 terms"),
    ("E-ARITY", "A(x) <- `l-l`(x, y, z)", "1:9", "l-l", "this one has 3 terms"),
    ("E-ARITY", "A(x,y) <- d(x,y). d(x) <- a(x,y).", "1:11", "d", "d has one column in its rule"),
    ("E-ARITY", "A(x) <- d(x,y). d(x,y,z) <- a(x,y), b(y,z)", "1:9", "d", "write d(x1, x2, x3)"),
    (
        "E-ARITY",
        "d(x, e.n) <- a(x,y) as e. A(x) <- d+(x,y)",
        "1:35",
        "d",
        "column 2 of d holds values",
    ),
    ("E-ARITY", "d(x, e.n) <- a(x,y) as e. A(x) <- (d|a)(x,y)", "1:36", "d", "alternatives relate"),
    ("E-ARITY", "d(x, y, y) <- a(x,y). A(x) <- x d y", "1:31", "d", "3 columns in its rule, and 2"),
    ("E-ARITY", "d(x, y, y) <- a(x,y). A(x) <- d(x, y, z) as e", "1:31", "d", "leave `as` out"),
    ("E-ARITY", "d(x, y, y) <- a(x,y). A(x) <- d+(x, y, z)", "1:31", "d", "a closure or an edge"),
    ("E-ARITY", "d(x) <- a(x,y). A(x) <- d(x) as e, a(x, y)", "1:25", "d", "leave `as` out"),
    (
        "E-ARITY",
        "A(x,y) <- a(x,y). A(x) <- b(x,y)",
        "1:19",
        "A",
        "1 variables here and 2 in line 1",
    ),
    ("E-ARITY", "Answer(x) <- a(x,y). D(x,y) <- Answer(x,y)", "1:32", "Answer", "write Answer(x)"),
    ("E-SAFE", "A(x) <- not l(x,y)", "1:9", "not", "shares no variable with the atoms beside it"),
    ("E-SAFE", "A(x) <- a(x,y), NOT l+(z,w)", "1:17", "not", "let it have one of x, y"),
    ("E-SAFE", "A(x) <- a(x,y), not {b(y,z), not c(z,x)}", "1:30", "not", "further outside"),
    ("E-SAFE", "A(x,z) <- a(x,y), not b(x,z)", "1:1", "A", "z is in the head"),
    ("E-SAFE", "A(x) <- a(x,y), not b(x,z), z = y", "1:29", "z", "no atom of the body binds it"),
    ("E-SAFE", "A(x) <- a(x,y), not {b(x,z), z <> y}", "1:30", "y", "no atom of the body binds it"),
    ("E-REC", "A(x,y) <- a(x,y), not A(y,x)", "1:1", "A", "through `not`: A <- A"),
    ("E-REC", "A(x,y) <- a(x,y), not B(x,y). B(x,y) <- A+(x,y)", "1:1", "A", "A <- B <- A"),
    ("E-NEG", "A(x) <- a(x,y), not (l(x,y))", "1:17", "not", "written with `not` before an atom"),
    ("E-NEG", "A(x) <- a(x,y), !l(x,y)", "1:17", "!", "written with `not` before an atom"),
    ("E-NEG", "A(x) <- ¬l(x,y)", "1:9", "¬", "written with `not` before an atom"),
    ("E-SAFE", "A(x,y) <- a(x,z)", "1:1", "A", "y is in the head of A"),
    ("E-SAFE", "A(x,_) <- a(x,_)", "1:5", "_", "an anonymous variable"),
    ("E-SAFE", "A(x) <- a('x',5)", "1:1", "A", "no atom of its body binds it"),
    ("E-SAFE", "A(x) <- a(x,y), y < z", "1:17", "z", "the body binds x, y"),
    ("E-EDB", "A(x) <- a(x,y) as e, b(x,y) as e", "1:22", "e", "that of an edge"),
    ("E-EDB", "A(x) <- a(x,y) as y", "1:9", "y", "that of a vertex"),
    ("E-EDB", "A(e.n as x) <- a(x,y) as e", "1:3", "x", "that of a vertex"),
    ("E-EDB", "A(e.n as m, e.k as m) <- a(x,y) as e", "1:13", "m", "two columns"),
    ("E-PROPERTY", "A(x) <- a(x,y), e.n > 1", "1:17", "e.n", "no atom of the body is called e"),
    ("E-PROPERTY", "A(x, e.n) <- a(x,y)", "1:6", "e.n", "no atom of the body is called e"),
    ("E-PATHVAR", "A(x) <- a+(x,y) as p, p.n > 1", "1:23", "p.n", "p is a path"),
    ("E-PROPERTY", "A(x) <- d(x,y) as e, e.n > 1. d(x,y) <- a(x,y)", "1:22", "e.n", "predicate d"),
    ("E-PROPERTY", "A(x) <- a(x,y) as e, e > 1", "1:22", "e", "compare one of its properties"),
    ("E-PROPERTY", "A(x) <- a(x,y) as e, b(y,z) as f, e < f", "1:35", "e", "is an edge"),
    ("E-PROPERTY", "A(x) <- a(x,y) as e, e + 1 > 2", "1:22", "e", "arithmetic is for numbers"),
    ("E-PROPERTY", "A(x, p.cost) <- shortest a+(x,y) as p", "1:6", "p.cost", "no such property"),
    (
        "E-PATHVAR",
        "A(x, place(p) as i) <- shortest a+(x,y) as p",
        "1:6",
        "place(p)",
        "over neither",
    ),
    ("E-EDB", "A(x) <- shortest a+(x,y) as p over p", "1:18", "p", "that of a vertex"),
    ("E-SYNTAX", "A(x) <- a+(x,y) as p over n", "1:22", "over", "expected"),
    ("E-PATHVAR", "A(x) <- shortest a+(x,y) as p, nodes(p) = 3", "1:32", "nodes(p)", "is a list"),
    (
        "E-PATHVAR",
        "A(x, min(nodes(p)) as n) <- shortest a+(x,y) as p",
        "1:10",
        "nodes(p)",
        "a list",
    ),
    ("E-PATHVAR", "A(x) <- a+(x,y) as p, length(p) > 1", "1:23", "p.length", "shortest x pays+ y"),
    *(
        ("E-PATHVAR", f"W(x, {path}) <- shortest a+(x,y) as p. {rule}", f"1:{at}", text, reason)
        for path, rule, at, text, reason in (
            ("p", "A(x) <- W(x, y), y > 1", 35, "y", "a path is not compared"),
            ("nodes(p)", "A(x) <- W(x, y), y > 1", 42, "y", "a path is not compared"),
            ("p", "A(x) <- W(x, y), a(y, z)", 35, "y", "a join by a path"),
            ("p", "A(x) <- W(x, y), not a(y, x)", 35, "y", "a join by a path"),
            ("p", "A(x) <- W(x, y), optional a(y, z)", 35, "y", "a join by a path"),
            ("p", "A(x) <- W(x, 3)", 43, "W", "a path is not compared"),
            ("p", "A(x) <- W(x, y) as q, q(z, y)", 35, "y", "a join by a path"),
            ("p", "B(x) <- W(x, y) as q. A(x) <- q(x, y), B(x), y > 1", 57, "y", "a path is not"),
            ("p", "A(x, count(y) as n) <- W(x, y)", 35, "n", "computes with a path"),
            ("p", "A(x, TEXT_SIZE(y) as n) <- W(x, y)", 35, "n", "computes with a path"),
            ("p", "A(x, y) <- a(x, z), optional W(x, y)", 55, "optional", "an optional part"),
            ("p", "A(x, y) <- W(x, y). A(x, y) <- a(x, y)", 55, "A", "no path in another"),
        )
    ),
    *(
        ("E-AGG", f"W(x, collect(y) as ys) <- a(x,y). {rule}", f"1:{at}", text, reason)
        for rule, at, text, reason in (
            ("A(x) <- W(x, y), y > 1", 35, "y", "a list is not compared"),
            ("A(x) <- W(x, y), a(y, z)", 35, "y", "a join by a list"),
            ("A(x) <- W(x, y), W(z, y)", 35, "y", "a join by a list"),
            ("A(x) <- W(x, y), not a(y, x)", 35, "y", "a join by a list"),
            ("A(x) <- W(x, 3)", 43, "W", "a list is not compared"),
            ("A(x, count(y) as n) <- W(x, y)", 35, "n", "computes with a list"),
            ("A(x, y) <- a(x, z), optional W(x, y)", 55, "optional", "an optional part"),
            ("A(x, y) <- W(x, y). A(x, y) <- a(x, y)", 55, "A", "no list in another"),
            ("A(x, y) <- W(x, y) ORDER BY y LIMIT 2", 54, "y", "a list is not compared"),
        )
    ),
    ("E-EDB", "A(x) <- shortest a+(x,y) as x", "1:18", "x", "that of a vertex"),
    ("E-SYNTAX", "A(x) <- shortest a(x,y) as p", "1:9", "shortest", "before a path or a closure"),
    ("E-PATHVAR", "A(x) <- a(x,y) as e, b+(x,y) as p, e = p", "1:36", "p", "p is a path"),
    ("E-PATHVAR", "A(x, p + 1 as q) <- a+(x,y) as p", "1:1", "p", "p is a path"),
    ("E-PATHVAR", "A(x, p) <- a+(x,y) as p, a+(y,z) as p", "1:1", "p", "several paths"),
    ("E-PATHVAR", "A(x, p) <- a+(x,y) as p. Answer(x) <- A(x, y)", "1:1", "p", "only the answer"),
    (
        "E-PROPERTY",
        "d(x, e.n) <- a(x,y) as e. A(x) <- d(x,y) as f, f.n > 1",
        "1:48",
        "f.n",
        "derived",
    ),
    ("E-SIZE", "A(x) <- a(x,y), " + "-" * 30 + "x > 1", "1:30", "", "more than 16 deep"),
    ("E-REC", "A(x,y) <- A(x,y)", "1:1", "A", "the rule of A depends on itself: A <- A"),
    ("E-REC", "A(x,y) <- a(x,z), A+(z,y)", "1:1", "A", "A <- A; repetition is"),
    (
        "E-REC",
        "Answer(x,y) <- B(x,y).\nB(x,y) <- x C/a y.\nC(x,y) <- b(x,z), B(z,y).",
        "2:1",
        "B",
        "the rule of B depends on itself: B <- C <- B",
    ),
    ("E-REC", "A(x,y) <- x a/B y as B", "1:1", "B", "B <- B"),
    ("E-REC", "A(x,y) <- B(x,y), A+(x,y) as B", "1:1", "A", "A <- B <- A"),
    ("E-EDB", "A(x,y) <- a+(x,y) as d. d(x,y) <- b(x,y).", "1:11", "d", "the head of a rule"),
    ("E-EDB", "A(x,y) <- a+(x,y) as d, b+(x,y) as d", "1:25", "d", "another path"),
    ("E-ANSWER", "B(x,y) <- b(x,y).\nC(x,y) <- c(x,y)", "2:1", "C", "no other rule reads B, C"),
    ("E-WINDOW", "A(x,y) <- a(x,y) EMIT SNAPSHOT EVERY 0", "1:38", "0", "longer than zero"),
    (
        "E-WINDOW",
        "A(x,y) <- a(x,y) EMIT SNAPSHOT EVERY 00 EVENTS",
        "1:38",
        "00 EVENTS",
        "at least 1",
    ),
    (
        "E-WINDOW",
        "A(x,y) <- a(x,y) EMIT SNAPSHOT STARTING AT '31.12.'",
        "1:44",
        "31.12.",
        "not an instant",
    ),
    ("E-ARITY", "d(x, count(*) as n) <- a(x,y). A(x) <- d+(x,y)", "1:40", "d", "column 2 of d"),
    ("E-AGG", "A(x) <- a(x,y) as e, sum(e.n) > 3", "1:22", "sum", "a column of a head"),
    ("E-AGG", "A(x, sum(e.n) / 2 as n) <- a(x,y) as e", "1:6", "sum", "a column of a head"),
    (
        "E-AGG",
        "A(x, sum(distinct e.n) as n) <- a(x,y) as e",
        "1:6",
        "sum",
        "does not take DISTINCT",
    ),
    (
        "E-AGG",
        "A(x, count(*) as n) <- a(x,y). A(x, sum(e.n) as n) <- a(x,y) as e",
        "1:32",
        "A",
        "differ from those in line 1",
    ),
    ("E-PROPERTY", "A(x, sum(e) as n) <- a(x,y) as e", "1:6", "e", "arithmetic is for numbers"),
    ("E-SAFE", "A(x, z * 2 as n) <- a(x,y)", "1:1", "z", "no atom of the body binds it"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW 24y", "1:25", "24y", "'y' is not a unit of time"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW P1M", "1:25", "P1M", "no fixed length"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW 1.5s", "1:25", "1.5s", "not a whole number of seconds"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW soon", "1:25", "soon", "not a length of time"),
    (
        "E-WINDOW",
        "A(x,y) <- a(x,y) WINDOW 1h SLIDE 2h",
        "1:34",
        "2h",
        "longer than the window of 1h",
    ),
    ("E-SYNTAX", "A(x) <- a(x,1e5) WINDOW 5", "1:13", "1e5", "a whole number in digits"),
    ("E-SYNTAX", "A(x) <- a(x,-1E5) WINDOW 5", "1:13", "-1E5", "put it in quotes if"),
    ("E-SYNTAX", "A(x) <- a(x,-0) WINDOW 5", "1:13", "-0", "without leading zeros"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW 0", "1:25", "0", "longer than zero"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW 5 SLIDE 0", "1:33", "0", "longer than zero"),
    ("E-WINDOW", "A(x,y) <- a(x,y) WINDOW 5\nWINDOW 6", "2:8", "all other streams", "already"),
    ("E-WINDOW", "A(x,y) <- a(x,y) ON s WINDOW 5 ON s WINDOW 6", "1:35", "s", "already"),
    (
        "E-WINDOW",
        "A(x,y) <- a(x,y) ON s (a, b) WINDOW 5 ON s (b) WINDOW 6",
        "1:42",
        "s (b)",
        "already",
    ),
    ("E-SIZE", "A(x,y) <- x a{1000} y", "1:15", "{1000,1000}", "more than 512 steps"),
    ("E-SIZE", "A(x,y) <- x a{0,150} y", "1:15", "{0,150}", "of them optional"),
    ("E-SIZE", "A(x,y) <- x a{" + "9" * 5000 + "} y", "1:15", "", "more than 512 steps"),
    ("E-SIZE", "A(x,y) <- x (a{30}/b){20} y", "1:23", "{20,20}", "more than 512 steps"),
    ("E-SIZE", "A(x,y) <- x " + "a/" * 512 + "a y", "1:13", "", "more than 512 steps"),
    (
        "E-SIZE",
        "A(x,y) <- x " + "(" * 150 + "a" + "*/b)" * 150 + " y",
        "1:163",
        "",
        "nested more than 200 deep",
    ),
    ("E-SIZE", "A(x,y) <- x " + "^" * 201 + "a y", "1:214", "", "nested more than 200 deep"),
    ("E-SIZE", "A(x,y) <- x a" + "*" * 201 + " y", "1:13", "", "nested more than 200 deep"),
]


def _error_of(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text, "rq")
    return caught.value


@pytest.mark.parametrize(("text", "place", "offending", "message"), SYNTAX)
def test_syntax_errors_have_a_place_and_an_explanation(
    text: str, place: str, offending: str, message: str
) -> None:
    error = _error_of(text)
    assert error.code == "E-SYNTAX"
    assert f"{error.line}:{error.column}" == place
    assert error.text == offending
    assert message in str(error)


@pytest.mark.parametrize("length", ["3q", "P1M", "1.5", "1.5s", "soon", "99999999999999w"])
def test_an_invalid_length_is_reported_once(length: str) -> None:
    error = _error_of(f"A(x,y) <- a(x,y) WINDOW {length}")
    assert (error.code, error.text) == ("E-WINDOW", length)
    assert str(error).count(length) == 1
    assert error.hint


@pytest.mark.parametrize(("code", "text", "place", "offending", "message"), OTHERS)
def test_semantic_errors_have_a_code_and_a_place(
    code: str, text: str, place: str, offending: str, message: str
) -> None:
    error = _error_of(text)
    assert error.code == code
    assert f"{error.line}:{error.column}" == place
    if offending:
        assert error.text == offending
    assert message in str(error)


def test_errors_without_a_place() -> None:
    assert _error_of("A(x) <- a(x, y). " + "%" * 200_000).code == "E-SIZE"
    assert "Unicode" in _error_of("A(x) <- a(x, '\udcff')").message


def test_an_error_has_code_place_text_reason_and_hint() -> None:
    error = _error_of("Answer(x, y) <-\n  likes(x, y) likes")
    assert error.expected == ("<-", "a comma", "(")
    assert str(error) == "E-SYNTAX 2:20: the query ends too early; expected <-, a comma or ("
    arity = _error_of("Answer(x) <- likes(x, y, z)")
    assert str(arity) == (
        "E-ARITY 1:14: likes: an atom of a label relates two vertices, this one has 3 terms; "
        "write label(source, target), or label(vertex); only heads may have other arities"
    )


def test_error_shows_its_line_with_a_caret() -> None:
    text = "% two rules\nAnswer(x, z) <- likes(x, z), not posts(u, y).\n"
    assert _error_of(text).render(text).splitlines()[1:] == [
        "  2 | Answer(x, z) <- likes(x, z), not posts(u, y).",
        "    |                              ^^^",
    ]
    early = "Answer(x, y) <-"
    assert _error_of(early).render(early).splitlines()[1:] == [
        "  1 | Answer(x, y) <-",
        "    |                ^",
    ]


def test_error_shows_no_control_characters() -> None:
    text = "A(x, y) <- a(x,\ty)\x1b[31m"
    shown = _error_of(text).render(text)
    assert "\x1b" not in shown
    assert "\t" not in shown
    *_, line, caret = shown.splitlines()
    assert line[caret.index("^")] == "\N{REPLACEMENT CHARACTER}"


def test_error_in_a_long_line_shows_the_part_around_it() -> None:
    text = "A(x) <- " + "a(x, y), " * 100 + "b(x,y,z), " + "a(x, y), " * 99 + "a(x, y)"
    error = _error_of(text)
    assert (error.code, error.column) == ("E-ARITY", 909)
    _, line, caret = error.render(text).splitlines()
    assert len(line) < 180
    assert line.startswith("  1 | …")
    assert line.endswith("…")
    assert line[caret.index("^") :].startswith("b(x,y,z), a(x")
    early = "A(x) <- b(x,y,z), " + "a(x, y), " * 99 + "a(x, y)"
    _, line, caret = _error_of(early).render(early).splitlines()
    assert line.startswith("  1 | A(x) <- b(x,y,z), ")
    assert caret == "    |         ^"


def test_long_names_and_long_cycles_are_shortened() -> None:
    long = "a" * 1000
    error = _error_of(f"A(x) <- {long}(x, y, z)")
    assert error.text == long
    assert len(str(error)) < 250
    assert len(error.render(f"A(x) <- {long}(x, y, z)").splitlines()[-1]) < 180
    circle = _error_of("".join(f"d{n}(x, y) <- d{(n + 1) % 99}(x, y)." for n in range(99)))
    assert circle.code == "E-REC"
    assert "d8 <- d9 <- ... <- d0; repetition" in str(circle)


def test_error_without_a_place_is_one_line() -> None:
    error = QueryError("E-SIZE", "too long")
    assert error.render("text") == str(error) == "E-SIZE: too long"
    elsewhere = QueryError("E-SYNTAX", "wrong", at=Location(7, 1))
    assert elsewhere.render("one line") == str(elsewhere)


def test_error_survives_copy_and_pickle() -> None:
    error = _error_of("A(x) <- a(x,")
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_every_code_is_explained_once() -> None:
    assert all(code.startswith(("E-", "W-")) and message for code, message in CODES.items())
    with pytest.raises(AssertionError):
        QueryError("E-NONE", "no such code")


def test_long_lists_are_shortened() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(n) for n in range(20)], most=3) == "0, 1, 2 and 17 more"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(QueryError, match="known are cypher, gcore, rq") as caught:
        parse("A(x) <- a(x, y)", "sql")
    assert (caught.value.code, caught.value.text) == ("E-LANGUAGE", "sql")


# --- any text -------------------------------------------------------------------------


TEXTS = [text for text, _ in EXAMPLES.values()]
SIGNS = r"""
    Answer Ans a b + * ? { } ( ) , . / | ^ ⁻ _ 1 2 5 0 007 -1 1.5 24h PT4H 'c' "d" ` `q` <- :- ←
    < > = != <> - e.n e.ts abs(
    x ?x y ?y as AS on ON window WINDOW slide SLIDE emit EMIT not ! ¬ % \ ; : & ◦ · ' "
"""
TOKENS = st.sampled_from([*SIGNS.split(), "\n", "\t", " "])
ANYTHING = st.text(st.characters() | st.sampled_from("ab(x,y)<-+*?{}|/^.'\"`_% \n"), max_size=80)


def _only_query_errors(text: str) -> None:
    """Parsing and translating succeed or raise a QueryError that can be shown."""
    try:
        query = parse(text)
        translate(query, default_catalog(input_labels(query)))
    except QueryError as raised:
        error = raised
    else:
        return
    assert error.code in error.render(text)
    if error.line is not None:
        assert 1 <= error.line <= text.count("\n") + 1


@given(st.lists(TOKENS, max_size=40).map(" ".join) | st.lists(TOKENS, max_size=40).map("".join))
@example("A(x,y) <- a(x,y)" * 100)
@example("(" * 10_000)
@example("A(x) <- x " + "(" * 10_000)
@example("A(x) <- x " + "^" * 10_000 + "a y")
@example("A(x) <- x a" + "*" * 10_000 + " y")
@example("A(x) <- " + "(" * 10_000 + "a(x,y)" + ")" * 10_000)
@example("A(x) <- x (a|b)*/a" + "/(a|b)" * 100 + " y WINDOW 5")
@example("".join(f"d{n}(x,y) <- d{n + 1}(x,z), d{n + 1}(z,y)." for n in range(50)) + "WINDOW 5")
@example("".join(f"d{n}(x,y) <- x d{n + 1}/a y." for n in range(500)) + "WINDOW 5")
@example("A(x) <- x " + "^" * 10_000 + "(" + "a/" * 500 + "a) y")
@example("A(" + "x, " * 10_000 + "x) <- a(x, x)")
@example("A(x) <- " + ", ".join(f"a(x{n}, y{n})" for n in range(3000)))
@example("d(x,y) <- a(x,y)." * 3000 + "WINDOW 5")
@example("".join(f"d(x,y) <- a{n}(x,y)." for n in range(3000)) + "WINDOW 5")
def test_any_text_is_a_query_or_a_query_error(text: str) -> None:
    _only_query_errors(text)


@given(ANYTHING)
def test_any_characters_are_a_query_or_a_query_error(text: str) -> None:
    _only_query_errors(text)


@given(st.sampled_from(TEXTS), st.integers(1, 3), st.integers(0, 2**32))
def test_a_damaged_query_is_a_query_or_a_query_error(text: str, times: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(times):
        at = chance.randrange(len(text) + 1)
        length = chance.choice([0, 1, 1, 2, 5, 20])
        piece = chance.choice(["", "", text[at : at + 5], chance.choice("(){}<-+*?|/.,'\"`_%0xA ")])
        text = text[:at] + piece + text[at + length :]
    _only_query_errors(text)
