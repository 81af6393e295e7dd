"""Conditions and properties in the canonical expression: positions and carried columns."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import LogicalExpression, WScan
from headrace.algebra.scalar import Literal
from headrace.algebra.text import one_line
from headrace.algebra.window import Window
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream, View
from headrace.languages import QueryError, parse
from headrace.languages.query.atoms import EdgeAtom, Location, Variable
from headrace.languages.query.checks import checked_query
from headrace.languages.query.regular_query import (
    Both,
    Comparison,
    Either,
    Missing,
    Negated,
    Property,
    Rule,
)
from headrace.languages.translation.canonical import translate

CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            dict.fromkeys("ab", DEFAULT_STATISTICS),
            properties={"n": "integer", "r": "number", "note": "string", "flag": "boolean"},
        ),
        "t": Stream("t", dict.fromkeys("xy", DEFAULT_STATISTICS), vertex_type="integer"),
    }
)
HERE = Location(1, 1)


def expression(text: str) -> str:
    return one_line(translate(parse(text, "rq"), CATALOG, Window(9)).expression)


def scans(e: LogicalExpression) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(e.operator, WScan):
        return [(e.operator.label, e.operator.properties)]
    return [scan for part in e.inputs for scan in scans(part)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # Of one atom: a FILTER on it, and a projection that drops what is not needed above.
        ("A(x,y) <- a(x,y) as e, e.n > 1", "C[c1,c2](F[c3 > 1](W[9](a(n))))"),
        ("A(x,y,e.n) <- a(x,y) as e, e.n > 1", "F[c3 > 1](W[9](a(n)))"),
        ("A(x) <- a(x,y) as e", "C[src](W[9](a))"),
        ("A(e.ts) <- a(x,'u') as e", "C[c3](F[c2 = 'u'](W[9](a(ts))))"),
        ("A(x,z) <- a(x,y) as e, b(y,z), e.n = 1, e.note = 'u', x <> y",
         "J[src1,trg2,A ; trg1=src2]("
         "C[c1,c2](F[c1 <> c2 AND c3 = 1 AND c4 = 'u'](W[9](a(n,note)))), W[9](b))"),
        # Of several: above the pattern, whose further columns are dropped then.
        ("A(x,z) <- a(x,y), b(y,z), x <> z",
         "F[src <> trg](J[src1,trg2 ; trg1=src2](W[9](a), W[9](b)))"),
        ("A(x) <- a(x,y) as e, a(y,z) as f, e.n < f.r",
         "C[c1](F[c2 < c3](J[c1_1,c3_1 ; c2_1=c1_2 ; ; c3_2](W[9](a(n)), W[9](a(r)))))"),
        ("A(x,f.n) <- a(x,y) as e, a(y,z) as f, abs(e.ts - f.ts) <= 10, f.flag = true",
         "C[c1,c2](F[ABS(c3 - c4) <= 10](J[c1_1,c3_2 ; c2_1=c1_2 ; ; c3_1,c4_2]("
         "W[9](a(ts)), C[c1,c2,c4,c5](F[c3 = TRUE](W[9](a(flag,n,ts)))))))"),
        # Over vertices alone: wherever they all are.
        ("A(x,z) <- a(x,y), b(y,z), y <> 'u'",
         "J[src1,trg2,A ; trg1=src2](F[trg <> 'u'](W[9](a)), F[src <> 'u'](W[9](b)))"),
        ("A(x,z) <- a+(x,y), b(y,z), x < y",
         "J[src1,trg2,A ; trg1=src2](F[src < trg](P[a+](W[9](a))), W[9](b))"),
        ("A(x,y) <- x(x,y), x + 1 = y", "F[src + 1 = trg](W[9](x))"),
        # Equal variables are one.
        ("A(x,w) <- a(x,y), b(z,w), y = z", "J[src1,trg2,A ; trg1=src2](W[9](a), W[9](b))"),
        ("A(x,y) <- a(x,y), x = y", "C[src,src](F[src = trg](W[9](a)))"),
        # Equal properties are one variable, for rows that have them; a time is always there.
        ("A(x,z) <- a(x,y) as e, b(z,w) as f, e.n = f.n",
         "J[c1_1,c1_2,A ; c3_1=c3_2]("
         "F[NOT c3 IS NULL](W[9](a(n))), F[NOT c3 IS NULL](W[9](b(n))))"),
        ("A(x,z) <- a(x,y) as e, b(z,w) as f, e.ts = f.ts",
         "J[c1_1,c1_2,A ; c3_1=c3_2](W[9](a(ts)), W[9](b(ts)))"),
        ("A(x,f.n) <- a(x,y) as e, b(z,w) as f, e.n = f.n, e.r < f.n",
         "C[c1,c2](F[c2 > c3](J[c1_1,c3_1 ; c3_1=c3_2 ; ; c4_1]("
         "F[NOT c3 IS NULL](W[9](a(n,r))), F[NOT c3 IS NULL](W[9](b(n))))))"),
        # So are a property and a vertex, and what is equal within an atom is checked there.
        ("A(x,w) <- a(x,y) as e, b(z,w), e.note = z",
         "J[c1_1,trg2,A ; c3_1=src2](F[NOT c3 IS NULL](W[9](a(note))), W[9](b))"),
        ("A(x,z) <- a(x,y) as e, b(z,w), e.note = z, e.note = w",
         "J[c1_1,c3_1,A ; c3_1=src2]("
         "F[NOT c3 IS NULL](W[9](a(note))), C[src](F[src = trg](W[9](b))))"),
        # An integer and a number are compared.
        ("A(x,z) <- a(x,y) as e, b(z,w) as f, e.n = f.r",
         "C[c1,c2](F[c3 = c4](J[c1_1,c1_2 ; ; ; c3_1,c3_2](W[9](a(n)), W[9](b(r)))))"),
        # Constants are of the type of the vertices.
        ("A(x) <- a(x,y), y = 5", "C[src](F[trg = '5'](W[9](a)))"),
        ("A(x) <- x(x,y), '5' = y, x < 1.5", "C[src](F[src < 1.5 AND trg = 5](W[9](x)))"),
        # What is certain needs no column.
        ("A(x,y) <- a(x,y) as e, b(x,y) as f, e <> f",
         "J[src1,trg1,A ; src1=src2 & trg1=trg2](W[9](a), W[9](b))"),
        ("A(x,y) <- a(x,y) as e, 1 < 2, e = e", "W[9](a)"),
        ("A(x,y) <- a(x,y), 2 < 1", "F[FALSE](W[9](a))"),
    ],
)  # fmt: skip
def test_conditions_are_filters_on_atoms_or_above_the_join(query: str, expected: str) -> None:
    assert expression(query) == expected


def test_two_edges_differ_in_an_end_their_time_or_some_property() -> None:
    text = expression("A(x) <- x(x,y) as e, x(x,z) as f, e <> f")
    assert text == (
        "C[c1](F[c2 <> c3 OR c4 <> c5](J[c1_1,c2_1 ; c1_1=c1_2 ; ; c2_2,c3_1,c3_2]("
        "W[9](x(ts)), W[9](x(ts)))))"
    )
    one = Catalog({"s": Stream("s", {"a": DEFAULT_STATISTICS}, properties={"n": "integer"})})
    query = parse("A(x) <- a(x,'u') as e, a(x,'u') as f, e <> f", "rq")
    assert (
        "F[c2 <> c3 OR (NOT c2 IS NULL AND c3 IS NULL) OR (c2 IS NULL AND NOT c3 IS NULL)"
        " OR c4 <> c5]"
    ) in one_line(translate(query, one, Window(9)).expression)


def test_one_label_is_scanned_with_the_columns_that_each_atom_needs() -> None:
    query = parse(
        "A(x, g.note) <- a(x,y) as e, a(y,z), a(z,w) as g, e.n > 1, e.r < g.r, a+(w,x)", "rq"
    )
    assert scans(translate(query, CATALOG, Window(9)).expression) == [
        ("a", ("n", "r")),
        ("a", ()),
        ("a", ("note", "r")),
        ("a", ()),
    ]


def test_properties_of_the_answer_are_columns() -> None:
    query = parse("A(x, e.n, e.n as m, f.n) <- a(x,y) as e, a(y,z) as f", "rq")
    assert translate(query, CATALOG, Window(9)).columns == ("x", "e_n", "m", "f_n")


@pytest.mark.parametrize(
    ("query", "code", "place", "text", "message"),
    [
        ("A(x) <- a(x,y) as e, e.m > 1", "E-UNKNOWN", "1:22", "e.m",
         "stream s have no property m; the properties are flag, n, note, r, ts"),
        ("A(x,e.n) <- x(x,y) as e", "E-UNKNOWN", "1:5", "e.n", "the properties are ts"),
        ("A(x) <- a(x,y) as e, e.note > 1", "E-TYPE", "1:22", ">",
         "e.note is a string and 1 is a number"),
        ("A(x) <- a(x,y) as e, e.flag = e.n", "E-TYPE", "1:22", "=", "is a truth value"),
        ("A(x) <- a(x,y) as e, x = e.n", "E-TYPE", "1:22", "=", "x is a string and e.n"),
        ("A(x) <- a(x,y) as e, e.note * 2 > 1", "E-TYPE", "1:22", "e.note * 2",
         "arithmetic is for numbers"),
        ("A(x) <- a(x,y), x(w,z), x < z", "E-TYPE", "1:25", "<", "neither comes first"),
        ("A(x) <- x(x,y), y = 'u'", "E-TYPE", "1:17", "'u'", "integers of 64 bits"),
        ("A(x) <- a(x,y), y = 1.5", "E-TYPE", "1:17", "=", "y is a string and 1.5 is a number"),
        *(
            (f"A(x) <- a(x,y), {test}", "E-TYPE", "1:17", sign, "declare vertex_type: integer")
            for test, sign in (("y > 3", ">"), ("3 > y", ">"), ("y <= 3", "<="), ("y < 1 + 2", "<"),
                               ("y >= 1.5", ">="), ("y = 1 + 2", "="))
        ),
        ("A(x) <- a(x,y), y + 1 > 3", "E-TYPE", "1:17", "y + 1", "vertex_type: integer in the"),
        ("A(sum(y) as s) <- a(x,y)", "E-TYPE", "1:3", "y", "vertex_type: integer in the"),
        ("A(x) <- a(x,y) as e, y < e.n", "E-TYPE", "1:22", "<", "vertex_type: integer in the"),
        ("A(x) <- a(x,y) as e, e.note < 1", "E-TYPE", "1:22", "<", "properties: {note: number}"),
    ],
)  # fmt: skip
def test_invalid_conditions_are_refused(
    query: str, code: str, place: str, text: str, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        expression(query)
    error = caught.value
    assert (error.code, f"{error.line}:{error.column}", error.text) == (code, place, text)
    assert message in str(error)


@pytest.mark.parametrize(
    ("test", "stream", "expected"),
    [
        ("y > 3", "x", "trg > 3"),
        ("3 <= y", "x", "trg >= 3"),
        ("y > '3'", "x", "trg > 3"),
        ("y > '3'", "a", "trg > '3'"),
        # A whole number beside = names a vertex, as in an atom.
        ("y = 3", "a", "trg = '3'"),
        ("y <> 3", "a", "trg <> '3'"),
        ("x < y", "a", "src < trg"),
    ],
)
def test_constants_take_the_type_of_the_vertices_beside_them(
    test: str, stream: str, expected: str
) -> None:
    assert f"F[{expected}]" in expression(f"A(x, y) <- {stream}(x,y), {test}")


def test_views_do_not_compare_vertices_with_numbers_either() -> None:
    views = {"v": View("big(x, y) <- a(x, y), y > 3 WINDOW 9")}
    catalog = Catalog(CATALOG.streams, views=views)
    with pytest.raises(QueryError, match="in the view v: y is a string and 3 is") as caught:
        translate(parse("A(x, y) <- big(x, y)", "rq"), catalog, Window(9))
    assert (caught.value.line, caught.value.column) == (1, 12)  # where the view is read
    assert "vertex_type: integer" in caught.value.hint
    assert [remedy.setting for remedy in caught.value.remedies] == ["vertex_type"]


def test_too_many_conditions_are_refused() -> None:
    many = ", ".join(f"e.n <> {k}" for k in range(300))
    with pytest.raises(QueryError, match="the conditions are too large"):
        expression(f"A(x) <- a(x,y) as e, {many}")


def test_a_property_beside_vertices_of_several_types_may_be_either() -> None:
    expression("A(x,y) <- x a|x y as d, a(x,z) as e, y = e.n")


def test_conditions_beyond_rq_are_translated() -> None:
    n, r = Property("e", "n"), Property("e", "r")
    above = Comparison(n, ">", Literal(1), HERE)
    same = Comparison(Variable("e"), "=", Variable("f"), HERE)
    body = (
        EdgeAtom.of("a", Variable("x"), Variable("y"), HERE, "e"),
        EdgeAtom.of("a", Variable("x"), Variable("y"), HERE, "f"),
    )
    either = Either((Both((above, Negated(Missing(r)))), Negated(above)))
    rule = Rule("A", ("x", "y"), body, HERE, (either, Negated(Negated(Either((same, above))))))
    algebra = one_line(translate(checked_query([rule], []), CATALOG, Window(9)).expression)
    assert "F[c4 <= 1 OR (c4 > 1 AND NOT c6 IS NULL)](W[9](a(flag,n,note,r,ts)))" in algebra


def test_equal_properties_connect_atoms_without_a_shared_variable() -> None:
    apart = "A(x,z) <- a(x,y) as e, b(z,w) as f"
    assert [w.partition(" ")[0] for w in parse(apart, "rq").warnings] == ["W-CROSS"]
    for same in ("e.n = f.n", "e.note = z", "w = e.note"):
        assert parse(f"{apart}, {same}", "rq").warnings == ()
    assert len(parse(f"{apart}, e.n < f.n", "rq").warnings) == 1
