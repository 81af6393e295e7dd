"""The meaning of RQ text, construct by construct."""

import logging
from dataclasses import replace

import pytest
from lark import Lark
from lark import logger as lark_logger

from headrace.algebra import regex
from headrace.algebra.regex import Symbol
from headrace.algebra.scalar import Literal
from headrace.algebra.window import Window
from headrace.languages import QueryError, detect, parse
from headrace.languages.query.atoms import (
    Atom,
    Constant,
    EdgeAtom,
    Location,
    PathAtom,
    Term,
    Variable,
)
from headrace.languages.query.condition_text import condition_text
from headrace.languages.query.regular_query import Computed, Property, RegularQuery, WindowClause
from headrace.languages.rq import parser, printer
from tests.languages.examples import EXAMPLES

NOWHERE = Location(1, 1)
X, Y, Z = Variable("x"), Variable("y"), Variable("z")


def edge(label: str, source: Term, target: Term) -> EdgeAtom:
    return EdgeAtom.of(label, source, target, NOWHERE)


def path(r: regex.Regex, source: Term, target: Term, alias: str | None = None) -> PathAtom:
    return PathAtom(r, source, target, NOWHERE, alias)


def body(text: str) -> tuple[Atom, ...]:
    """The atoms of a body that binds x."""
    return parse(f"Answer(x) <- {text}").rules[0].body


def path_of(text: str) -> str:
    (atom,) = parse(f"Answer(x) <- x {text} y").rules[0].body
    assert isinstance(atom, PathAtom)
    return regex.text(atom.regex)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_printed_examples_are_read(name: str) -> None:
    text, _ = EXAMPLES[name]
    assert detect(text) == "rq"
    assert parse(text) == parse(text, "rq") == parser.parse(text)
    assert parse(text).warnings == ()


def test_the_grammar_gives_every_text_one_tree(caplog: pytest.LogCaptureFixture) -> None:
    """A grammar that is LALR(1) without conflicts has no text with two trees."""
    level = lark_logger.level
    lark_logger.setLevel(logging.DEBUG)
    lark_logger.propagate = True
    try:
        with caplog.at_level(logging.DEBUG, logger=lark_logger.name):
            Lark(parser.PARSER.grammar, parser="lalr", debug=True)
            ambiguous = 'start: e\ne: e "+" e | "a"'
            assert "conflict" not in caplog.text.lower()
            Lark(ambiguous, parser="lalr", debug=True)
            assert "Shift/Reduce conflict" in caplog.text
    finally:
        lark_logger.setLevel(level)


def test_example_3_reads_as_the_expected_query() -> None:
    query = parse(EXAMPLES["Example 3"][0])
    assert [(rule.head, rule.variables) for rule in query.rules] == [
        ("RL", ("u1", "u2")),
        ("Notify", ("u", "m")),
        ("Answer", ("u", "m")),
    ]
    u1, u2, m1 = Variable("u1"), Variable("u2"), Variable("m1")
    assert query.rules[0].body == (
        edge("l", u1, m1),
        edge("p", u2, m1),
        path(regex.plus(Symbol("f")), u1, u2, "FP"),
    )
    assert query.answer == "Answer"
    assert query.windows == (WindowClause(Window(86_400)),)
    assert query.time_unit == "second"
    assert query.rules[1].location == Location(4, 1)
    assert query.rules[1].body[1].location == Location(4, 33)


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("l(x, y)", (edge("l", X, Y),)),
        ("l(?x, y)", (edge("l", X, Y),)),
        ("l+(x, y)", (path(regex.plus(Symbol("l")), X, Y),)),
        ("l*(x, y)", (path(regex.star(Symbol("l")), X, Y),)),
        ("l(x, y) as d", (EdgeAtom.of("l", X, Y, NOWHERE, "d"),)),
        ("x l y as d", (path(Symbol("l"), X, Y, "d"),)),
        (
            "l(x, y) as d, d+(x, y)",
            (replace(edge("l", X, Y), alias="d"), path(regex.plus(Symbol("d")), X, Y)),
        ),
        ("(l|^k)(x, y)", (EdgeAtom((Symbol("l"), Symbol("k", True)), X, Y, NOWHERE),)),
        ("l+(x, y) AS d", (path(regex.plus(Symbol("l")), X, Y, "d"),)),
        ("x l|k y as d", (path(regex.alternation([Symbol("k"), Symbol("l")]), X, Y, "d"),)),
        ("x l y", (path(Symbol("l"), X, Y),)),
        ("?x l ?y", (path(Symbol("l"), X, Y),)),
        ("x ^l y", (path(Symbol("l", inverse=True), X, Y),)),
        ("x l⁻ y", (path(Symbol("l", inverse=True), X, Y),)),
        ("x l⁻¹ y", (path(Symbol("l", inverse=True), X, Y),)),
        ("x ^^l y", (path(Symbol("l"), X, Y),)),
        ("x (l) y", (path(Symbol("l"), X, Y),)),
        ("x l{1} y", (path(Symbol("l"), X, Y),)),
        ("x ^l y as d", (path(Symbol("l", inverse=True), X, Y, "d"),)),
        ("(l(x, y))", (edge("l", X, Y),)),
        ("((l(x, y), k(y, z)), j(z, x))", (edge("l", X, Y), edge("k", Y, Z), edge("j", Z, X))),
        ("(x (l) y), l(y, z)", (path(Symbol("l"), X, Y), edge("l", Y, Z))),
        ("l(x, x)", (edge("l", X, X),)),
        ("l(x, 5)", (edge("l", X, Constant(5)),)),
        ("l(-5, x)", (edge("l", Constant(-5), X),)),
        ('l(x, "5")', (edge("l", X, Constant("5")),)),
        ("l(x, 'it is \"it\"')", (edge("l", X, Constant('it is "it"')),)),
        (r'l(x, "a\"b\\c\n\u00e9")', (edge("l", X, Constant('a"b\\c\né')),)),
        (r"l(x, 'it\'s \"it\"')", (edge("l", X, Constant('it\'s "it"')),)),
        ("l(x, '')", (edge("l", X, Constant("")),)),
        ("l(x, _)", (edge("l", X, Variable("_1")),)),
        ("l(x, _), k(_, x)", (edge("l", X, Variable("_1")), edge("k", Variable("_2"), X))),
        ("l(x, _1), k(_, x)", (edge("l", X, Variable("_1")), edge("k", Variable("_2"), X))),
        ("_ l|k x", (path(regex.alternation([Symbol("k"), Symbol("l")]), Variable("_1"), X),)),
        ("'a' l x", (path(Symbol("l"), Constant("a"), X),)),
        ("7 ^l x", (path(Symbol("l", inverse=True), Constant(7), X),)),
        ("`has-creator`(x, y)", (edge("has-creator", X, Y),)),
        ("`has-creator`+(x, y)", (path(regex.plus(Symbol("has-creator")), X, Y),)),
        ("x `a``b` y", (path(Symbol("a`b"), X, Y),)),
        ("_l(x, y)", (edge("_l", X, Y),)),
        ("Größe(x, y)", (edge("Größe", X, Y),)),
        ("l\n  (x % the source\n , y)", (edge("l", X, Y),)),
    ],
)
def test_atoms_are_read(text: str, atoms: tuple[Atom, ...]) -> None:
    assert body(text) == atoms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b", "a·b"),
        ("a◦b∘c·d", "a·b·c·d"),
        ("a|b", "a|b"),
        ("b + a", "a|b"),
        ("a\n+\nb", "a|b"),
        ("a+ + b", "b|a+"),
        ("a+ | b", "b|a+"),
        ("a+/b", "a+·b"),
        ("a|b/c", "a|b·c"),
        ("(a|b)/c", "(a|b)·c"),
        ("a/b*", "a·b*"),
        ("(a/b)*", "(a·b)*"),
        ("^a/b", "^a·b"),
        ("^(a/b)", "^b·^a"),
        ("^a*", "^a*"),
        ("(a/b)⁻", "^b·^a"),
        ("a?/b", "a?·b"),
        ("a ? /b", "a?·b"),
        ("a{2}", "a·a"),
        ("a{2,3}", "a·a·a?"),
        ("a{ 2 , }", "a·a+"),
        ("a{,2}", "(a·a?)?"),
        ("a{,}", "a*"),
        ("a{0,}", "a*"),
        ("(a|b){2}", "(a|b)·(a|b)"),
        ("a{2}{2}", "a·a·a·a"),
        ("a*+?", "a*"),
        ("(a?)+", "a*"),
        ("()", "ε"),
        ("a{0}", "ε"),
        ("a{3,2}", "∅"),
        ("`a b`/c", "a b·c"),
    ],
)
def test_path_expressions_are_read(text: str, expected: str) -> None:
    assert path_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Answer(x, y) <- a(x, z), b(z, y).",
        "Answer(x,y):-a(x,z),b(z,y)",
        "Answer(x, y) ← a(x, z), b(z, y)",
        "?x, ?y <- a(x, z), b(z, y)",
        "x, y <- a(?x, ?z), b(?z, ?y).",
        "% a comment\nAnswer(?x, ?y) <- % another\n a(x, z), b(z, y) %and one at the end",
        "Answer(x, y) <- (a(x, z), b(z, y)).",
        "Answer(x, y) <- `a`(x, z), `b`(z, y).",
    ],
)
def test_equivalent_spellings_read_as_one_query(text: str) -> None:
    assert parse(text) == parse("Answer(x, y) <- a(x, z), b(z, y)")


def test_the_final_dot_is_optional() -> None:
    text = "A(x, y) <- a(x, y), x b y{} B(x, y) <- A(x, y){} ?x, ?y <- A+(x, y) as C{} WINDOW 5{}"
    assert parse(text.replace("{}", "")) == parse(text.replace("{}", "."))


def test_rules_of_one_head_stay_apart() -> None:
    query = parse("?x, ?y <- a(x, y). ?x, ?y <- b(x, y).")
    assert [rule.head for rule in query.rules] == ["Answer", "Answer"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer(x) <- a(x, y).", "Answer"),
        ("ans(x) <- a(x, y).", "ans"),
        ("Ans(x, y) <- a(x, y). Answer(x, y) <- b(x, y).", "Answer"),
        ("ANSWER(x, y) <- a(x, y). Answer(x, y) <- b(x, y).", "Answer"),
        ("D(x, y) <- a(x, y). Last(x) <- D(x, y).", "Last"),
        ("D(x, y) <- a(x, y). Last(x, y) <- D+(x, y).", "Last"),
    ],
)
def test_answer_is_the_head_of_that_name_or_the_unread_one(text: str, answer: str) -> None:
    assert parse(text).answer == answer


@pytest.mark.parametrize("word", ["as", "on", "window", "WINDOW", "slide", "emit", "not", "exit"])
def test_keywords_are_names_too(word: str) -> None:
    derived = parse(
        f"{word}(x, {word}) <- a(x, y), y a/b {word} as {word}2\n"
        f"{word}, x <- {word} {word} x\n"
        f"ON {word} ({word}, b) WINDOW 5 SLIDE 1"
    )
    assert [rule.head for rule in derived.rules] == [word, "Answer"]
    assert derived.rules[0].variables == ("x", word)
    assert derived.rules[1].body == (path(Symbol(word), Variable(word), X),)
    assert derived.windows == (WindowClause(Window(5), word, (word, "b")),)
    label, both = Symbol(word), regex.concat([Symbol(word), Symbol("b")])
    atoms = body(f"{word}(x, {word}), {word} {word}/b x, {word}+(x, y) as {word}3, {word} {word} x")
    assert atoms == (
        edge(word, X, Variable(word)),
        path(both, Variable(word), X),
        path(regex.plus(label), X, Y, f"{word}3"),
        path(label, Variable(word), X),
    )


def test_keywords_ignore_case() -> None:
    text = "A(x, y) <- a+(x, y) {} d. {} s {} 2h {} 1h"
    upper = parse(text.format("AS", "ON", "WINDOW", "SLIDE"))
    assert upper == parse(text.format("as", "on", "window", "slide"))
    assert upper == parse(text.format("As", "oN", "Window", "sLIDE"))


@pytest.mark.parametrize(
    ("text", "time_unit", "window", "unit"),
    [
        ("WINDOW 24h", "second", Window(86_400), "second"),
        ("WINDOW 24 h SLIDE 1 hour", "second", Window(86_400, 3_600), "second"),
        ("WINDOW 24 hours SLIDE 60 Minutes.", "minute", Window(1_440, 60), "minute"),
        ("WINDOW PT4H SLIDE PT30M", "second", Window(14_400, 1_800), "second"),
        ("WINDOW P1DT12H", "hour", Window(36), "hour"),
        ("WINDOW 1.5s SLIDE 500ms", "millisecond", Window(1_500, 500), "millisecond"),
        ("WINDOW 100", "furlong", Window(100), None),
        ("WINDOW 100 SLIDE 10", "second", Window(100, 10), None),
        ("WINDOW 1m SLIDE 10", "second", Window(60, 10), "second"),
        ("WINDOW 1w SLIDE 1d", "day", Window(7), "day"),
    ],
)
def test_windows(text: str, time_unit: str, window: Window, unit: str | None) -> None:
    query = parse(f"?x, ?y <- ?x a* ?y {text}", time_unit=time_unit)
    assert query.windows == (WindowClause(window),)
    assert query.time_unit == unit


def test_windows_of_streams_and_labels() -> None:
    query = parse(
        "Answer(x, y) <- a(x, y), b(x, y), c(x, y)\n"
        "ON s (a, `b-b`, a) WINDOW 10 ON s WINDOW 20 SLIDE 2 WINDOW 30 ON `my stream` WINDOW 40"
    )
    assert query.windows == (
        WindowClause(Window(10), "s", ("a", "b-b")),
        WindowClause(Window(20, 2), "s"),
        WindowClause(Window(30)),
        WindowClause(Window(40), "my stream"),
    )
    assert query.windows[0].location == Location(2, 4)


def test_a_query_without_windows_has_none() -> None:
    assert parse("?x, ?y <- ?x a* ?y") == RegularQuery(
        parse("Answer(x, y) <- a*(x, y)").rules, "Answer", ()
    )


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("Answer(x, y) <- a(x, z), b(w, y)", "W-CROSS 1:1", "2 parts of the body"),
        ('Answer(x, y) <- a(x, y), b("1", 2)', "W-CROSS 1:1", "2 parts of the body"),
        ("Answer(x, y) <- a(x, z), b(w, y), c(_, _)", "W-CROSS 1:1", "3 parts of the body"),
        ("Answer(x, y) <- x a{3,2}|b y", "W-EMPTY 1:21", "{3,2}: no path fits"),
        ("Answer(x, y) <- x a{0} y", "W-EMPTY 1:17", "without edges"),
        ("Answer(x, y) <- a(x, y) WINDOW 10 SLIDE 3", "W-SLIDE 1:32", "3 does not divide"),
        ("Answer(x, y) <- a(x, y). D(x, y) <- b(x, y)", "W-UNUSED 1:26", "D: the rule is not"),
        (
            "Answer(x, y) <- a(x, y). D(x, y) <- E(x, y). E(x, y) <- b(x, y). E(x, y) <- c(x, y)",
            "W-UNUSED 1:46",
            "E: its rules are not",
        ),
    ],
)
def test_warnings(text: str, code: str, message: str) -> None:
    warnings = parse(text).warnings
    assert any(w.startswith(code) and message in w for w in warnings), warnings


@pytest.mark.parametrize(
    "text",
    [
        "Answer(x, y) <- a(x, z), b(z, w), c(w, y)",
        "Answer(x, y) <- a(x, z), b(w, y), c(w, z)",
        "Answer(x, y) <- D(x, y). D(x, y) <- a+(x, y) as E, E(y, x). WINDOW 9 SLIDE 3",
        "Answer(x, x) <- a(x, x)",
    ],
)
def test_queries_without_warnings(text: str) -> None:
    assert parse(text).warnings == ()


def test_large_queries_are_read() -> None:
    rules = [f"d{n}(x, y) <- d{n - 1}(x, z), a{n}(z, y)." for n in range(1, 300)]
    query = parse("d0(x, y) <- a(x, y)." + "\n".join(rules))
    assert len(query.rules) == 300
    assert query.answer == "d299"
    wide = parse("Answer(v0, v1) <- " + ", ".join(f"a(v{n}, v{n + 1})" for n in range(1000)))
    assert len(wide.rules[0].body) == 1000
    nested = parse("Answer(x) <- x " + "(" * 2000 + "a|b" + ")" * 2000 + " y")
    assert nested == parse("Answer(x) <- x a|b y")
    assert path_of("a/" * 511 + "a").count("a") == 512
    assert path_of("a{0,90}").count("a") == 90


# --- conditions -----------------------------------------------------------------------


def conditions(text: str) -> list[str]:
    """The conditions beside two edges with names, printed."""
    rule = parse(f"Answer(x) <- a(x, y) as e, b(y, z) as f, {text}", "rq").rules[0]
    return [condition_text(condition) for condition in rule.conditions]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("e.amount > 100", ["e.amount > 100"]),
        ("e.amount>=1.5, f.`a b`< -1", ["e.amount >= 1.5", "f.`a b` < -1"]),
        ("x <> y, x != ?y, x ≠ z", ["x <> y"] * 2 + ["x <> z"]),
        ("x == 'u', 5 ≤ ?y", ['x = "u"', "5 <= y"]),
        ("e <> f, (e = f)", ["e <> f", "e = f"]),
        ("abs(e.ts - f.ts) <= 10", ["abs(e.ts - f.ts) <= 10"]),
        ("e.a+f.a*2-1 = -(e.b)/3", ["(e.a + (f.a * 2)) - 1 = (-(e.b)) / 3"]),
        ("(e.a - (f.a - 1)) * 2 < 1e3", ["(e.a - (f.a - 1)) * 2 < 1000.0"]),
        ("x +1 > y, x * 2 = y - -3", ["x + 1 > y", "x * 2 = y - -3"]),
        ("e.flag = true, FALSE <> f.flag", ["e.flag = true", "false <> f.flag"]),
        ("e.s = 'a\"b'", [r'e.s = "a\"b"']),
    ],
)
def test_conditions(text: str, printed: list[str]) -> None:
    assert conditions(text) == printed
    assert conditions(", ".join(printed)) == printed


def test_properties_in_the_head_are_named_columns() -> None:
    rule = parse("Answer(x, e.n, e.n as m, f.n, e.x) <- a(x, y) as e, b(y, z) as f", "rq").rules[0]
    assert rule.variables == ("x", "e_n", "m", "f_n", "e_x")
    assert dict(rule.properties) == {
        "e_n": Property("e", "n"),
        "m": Property("e", "n"),
        "f_n": Property("f", "n"),
        "e_x": Property("e", "x"),
    }


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("e.n, f.n", ("e_n", "f_n")),
        ("e.n, f.n as n", ("e_n", "n")),
        ("e.n, e.n", ("n", "e_n")),
        ("e.n, f.m", ("n", "m")),
        ("x.n, y.n, e_n", ("x_n", "y_n", "e_n")),
    ],
)
def test_a_property_of_several_edges_is_named_after_its_edges(
    head: str, names: tuple[str, ...]
) -> None:
    body = "a(x, y) as e, b(y, e_n) as f" if "e_n" in head else "a(x, y) as e, b(y, z) as f"
    rule = parse(f"Answer({head}) <- {body}", "rq").rules[0]
    assert rule.variables == names


def test_a_dot_without_blanks_may_end_a_rule() -> None:
    query = parse("d(x,y) <- a(x,y), x <> y.Answer(x,y) <- d(x,y), x < y.", "rq")
    assert [condition_text(c) for rule in query.rules for c in rule.conditions] == [
        "x <> y",
        "x < y",
    ]


def test_labels_may_look_like_conditions() -> None:
    labels = ["abs(x, y)", "true(x, y)", "x abs y", "a (x, y)", "a *(x, y)", "a +(x, y)"]
    for text in labels:
        (rule,) = parse(f"Answer(x) <- {text}", "rq").rules
        assert (len(rule.body), rule.conditions) == (1, ())


def test_equal_variables_are_no_cross_product() -> None:
    apart = parse("Answer(x, z) <- a(x, y), b(z, w), y <> z", "rq")
    assert [w.partition(" ")[0] for w in apart.warnings] == ["W-CROSS"]
    assert parse("Answer(x, z) <- a(x, y), b(z, w), y = z", "rq").warnings == ()


def test_functions_stand_in_conditions_heads_and_aggregates() -> None:
    query = parse(
        "A(x, TEXT_LEFT(e.s, 2) as t, abs(DIVIDE(e.n, 2)) as n, "
        "sum(CASE_WHEN(LESS(e.n, 3), 1, 0)) as c) "
        "<- a(x, y) as e, TEXT_CONTAINS(e.s, 'b,c') = true, IS_NOT_NULL(e.n) = true, b(y, z)",
        "rq",
    )
    (rule,) = query.rules
    left = Computed("TEXT_LEFT", (Property("e", "s"), Literal(2)))
    half = Computed("ABS", (Computed("DIVIDE", (Property("e", "n"), Literal(2))),))
    assert dict(rule.properties)["t"] == left
    assert dict(rule.properties)["n"] == half
    assert [condition_text(one) for one in rule.conditions] == [
        'TEXT_CONTAINS(e.s, "b,c") = true',
        "IS_NOT_NULL(e.n) = true",
    ]
    assert parse(printer.text(query), "rq").rules == query.rules


def test_a_label_of_the_name_of_a_function_is_in_backquotes() -> None:
    query = parse("A(x) <- `LESS`(x, y), abs(x, 'u'), count(y, % two terms\n z)", "rq")
    assert [atom.labels[0].ref for atom in query.rules[0].body if isinstance(atom, EdgeAtom)] == [
        "LESS", "abs", "count",
    ]  # fmt: skip
    assert printer.text(query).startswith('A(x) <- `LESS`(x, y), abs(x, "u"), count(y, z).')
    assert parse("A(x) <- less(x, y)", "rq").rules


def test_a_function_with_other_arguments_is_refused() -> None:
    with pytest.raises(QueryError, match=r"E-FUNC 1:23: TEXT_LEFT: it takes 2 arguments"):
        parse("A(x) <- a(x, y) as e, TEXT_LEFT(e.s) = 'a'", "rq")
    with pytest.raises(QueryError, match=r"E-FUNC 1:23: TEXT_PART: it takes 2 to 3 arguments"):
        parse("A(x) <- a(x, y) as e, TEXT_PART(e.s) = 'a'", "rq")
