"""Label sets and filtered edges are expanded over the labels of the catalog."""

from dataclasses import replace
from pathlib import Path

import pytest

from headrace.algebra.text import one_line
from headrace.algebra.window import Window
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.inputs import files_of_inputs
from headrace.catalog.measurement import ROWS
from headrace.catalog.model import Catalog, Stream
from headrace.languages import QueryError, parse
from headrace.languages.rq import printer
from headrace.languages.translation.canonical import translate
from headrace.planning.errors import InvalidQueryError
from headrace.planning.requests import PlanRequest
from headrace.planning.translating import translate_query

CATALOG = Catalog(
    {
        "s": Stream("s", dict.fromkeys("ab", DEFAULT_STATISTICS), properties={"n": "integer"}),
        "t": Stream("t", dict.fromkeys("bc", DEFAULT_STATISTICS)),
    }
)


def canonical(text: str) -> str:
    query = parse(text, "rq")
    assert parse(printer.text(query)) == query
    return one_line(translate(query, CATALOG, Window(9)).expression)


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("x _+ y", "x (a|`s.b`|`t.b`|c)+ y"),
        ("x s._/t._ y", "x (`s.a`|`s.b`)/(`t.b`|`t.c`) y"),
        ("x !b+ y", "x (a|c)+ y"),
        ("x !`s.b`+ y", "x (a|`t.b`|c)+ y"),
        ("x !(a|b|^c)* y", "x (c|^a|^`s.b`|^`t.b`)* y"),
        ("x t.!^b/a y", "x ^c/a y"),
        ("x ^!b/c y", "x (^a|^c)/c y"),
        ("t._+(x, y)", "x (`t.b`|`t.c`)+ y"),
    ],
)
def test_label_set_in_a_path_is_an_alternation(body: str, meant: str) -> None:
    assert canonical(f"A(x, y) <- {body}.") == canonical(f"A(x, y) <- {meant}.")


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        (
            "A(y, x) <- s._(x, y)",
            "A(y, x) <- (`s.a`|`s.b`)(x, y)",
        ),
        ("A(x, y) <- x s.!a y", "A(x, y) <- `s.b`(x, y)"),
        ("A(x, y) <- x t.!^c y", "A(x, y) <- `t.b`(y, x)"),
        (
            "A(x, e.n) <- s._(x, _) as e, e.n > 3",
            "A(x, e.n) <- (`s.a`|`s.b`)[n > 3](x, _) as e",
        ),
        ("A(x) <- (t._|^s.!b)(x, y)", "A(x) <- (`t.b`|`t.c`|^a)(x, y)"),
        ("A(x) <- (!(a|^b))(x, x)", "A(x) <- (`s.b`|`t.b`|c|a)(x, x)"),
    ],
)
def test_label_set_of_an_edge_is_any_of_its_labels(rule: str, meant: str) -> None:
    names = str.maketrans({"'": None, "_": None})
    assert canonical(rule).translate(names) == canonical(meant).translate(names)


@pytest.mark.parametrize(
    ("rules", "meant"),
    [
        ("A(x, y) <- a[n > 3]+(x, y)", "d(x, y) <- a(x, y) as e, e.n > 3. A(x, y) <- d+(x, y)"),
        (
            "A(x, y) <- x (a[ts < 5, n = 1]/^c)* y",
            "d(x, y) <- a(x, y) as e, e.ts < 5, e.n = 1. A(x, y) <- x (d/^c)* y",
        ),
        (
            "A(x, y) <- x s._[abs(n - 2) <= 1]/c y",
            "d(x, y) <- a(x, y) as e, abs(e.n - 2) <= 1."
            "d(x, y) <- `s.b`(x, y) as e, abs(e.n - 2) <= 1. A(x, y) <- x d/c y",
        ),
        (
            "A(x, f.n) <- a[n > 3](x, y) as f, f.ts < 4",
            "A(x, f.n) <- a(x, y) as f, f.ts < 4, f.n > 3",
        ),
        ("A(x, y) <- a[n > 3](x, y)", "A(x, y) <- a(x, y) as e, e.n > 3"),
    ],
)
def test_edges_chosen_by_their_properties(rules: str, meant: str) -> None:
    names = str.maketrans("", "", "d")
    algebra = canonical(rules).replace("a[n > 3]", "").replace("s._[abs(n - 2) <= 1]", "")
    algebra = algebra.replace("a[ts < 5 and n = 1]", "")
    assert algebra.translate(names) == canonical(meant).translate(names)


def test_label_set_without_labels_is_empty() -> None:
    logical = translate(parse("A(x, y) <- x !(a|b|c)+ y", "rq"), CATALOG, Window(9))
    assert one_line(logical.expression) == "∅"
    assert [warning.split()[0] for warning in logical.warnings] == ["W-EMPTY"]


def test_warning_of_an_unknown_label_that_is_left_out() -> None:
    logical = translate(parse("A(x, y) <- x !ab+ y", "rq"), CATALOG, Window(9))
    assert "no stream has the label ab, which is left out; did you mean" in logical.warnings[0]


@pytest.mark.parametrize(
    ("text", "code", "offending", "message"),
    [
        ("A(x, y) <- x r._+ y", "E-UNKNOWN", "r", "no stream has this name"),
        ("A(x, y) <- _(x, y) as e, e.n > 1", "E-UNKNOWN", "e.n", "stream t have no property n"),
        ("A(x, y) <- (!(a|b|c))(x, y) as e, e.ts > 1", "E-LABELS", "!(a|b|c)", "leaves out all"),
        ("A(x, y) <- x a y as e, e.ts > 1", "E-PATHVAR", "e.ts", "e is a path"),
        ("A(x, y) <- a[m > 3]+(x, y)", "E-UNKNOWN", "e.m", "no property m"),
        ("A(x, y) <- a[n > 'x']+(x, y)", "E-TYPE", ">", "is a number"),
        ("A(x, y) <- a[e.n > 3]+(x, y)", "E-SYNTAX", "e.n", "write n;"),
        ("A(x, y) <- a[]+(x, y)", "E-SYNTAX", "]", "expected a value"),
        ("A(x, y) <- x !(a/b) y", "E-SYNTAX", "/", ""),
    ],
)  # fmt: skip
def test_unknown_label_sets_are_refused(text: str, code: str, offending: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        translate(parse(text, "rq"), CATALOG, Window(9))
    assert (caught.value.code, caught.value.text) == (code, offending)
    assert message in str(caught.value)


def test_unlisted_labels_are_refused(tmp_path: Path) -> None:
    open_one = replace(CATALOG.streams["t"], open_labels=True)
    streams = {"s": CATALOG.streams["s"], "t": open_one}
    translate(parse("A(x, y) <- s._+(x, y)"), Catalog(streams), Window(9))
    with pytest.raises(
        QueryError, match="the stream t may have labels that the catalog does not list"
    ):
        translate(parse("A(x, y) <- _+(x, y)"), Catalog(streams), Window(9))

    def planned(name: str, rows: int) -> str:
        path = tmp_path / f"{rows}.csv"
        path.write_text("src,trg,label,ts\n1,2,b,5\n" + "1,2,a,5\n" * rows, "utf-8")
        files = files_of_inputs([name.format(path)])
        query = "A(x, y) <- x !b+ y WINDOW 9"
        return one_line(translate_query(PlanRequest(query, inputs=files)).logical.expression)

    assert planned("{}", 100) == "P[A;a+](W[9](a))"
    with pytest.raises(InvalidQueryError, match="the stream input may have labels"):
        planned("{}", ROWS + 100_000)
    assert planned("k={}", 100) == "P[A;k+](W[9](k))"
