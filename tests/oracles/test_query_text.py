"""The RQ text of the oracle's queries against texts by hand."""

from tests.oracles.query import (
    Alt,
    Atom,
    Back,
    Const,
    Query,
    Repeat,
    Rule,
    Seq,
    Source,
    Step,
    Var,
    maybe,
    plus,
    regex_text,
    star,
    text,
)

A, B = Step("a"), Step("b")


def test_a_regex_is_printed_with_necessary_brackets() -> None:
    assert regex_text(Seq((A, star(B)))) == "a/b*"
    assert regex_text(plus(Alt((A, B)))) == "(a|b)+"
    assert regex_text(Seq((Alt((A, B)), star(B)))) == "(a|b)/b*"
    assert regex_text(Alt((Seq((A, B)), maybe(A)))) == "a/b|a?"
    assert regex_text(Back(star(A))) == "^(a*)"
    assert regex_text(star(Back(A))) == "(^a)*"
    assert regex_text(star(plus(A))) == "(a+)*"
    assert regex_text(Repeat(A, 2, 2)) == "a{2}"
    assert regex_text(Repeat(Seq((A, B)), 1, 3)) == "(a/b){1,3}"
    assert regex_text(Repeat(A, 2, None)) == "a{2,}"


def test_terms_and_windows_are_written_as_rq_reads_them() -> None:
    body = (Atom("a", Var("x"), Const('say "\\"')), Atom("b", Const(7), Var("x")))
    rule = Rule("Answer", ("x",), body)
    head = 'Answer(x) <- a(x, "say \\"\\\\\\""), b(7, x).\n'
    one = Query((rule,), (("a", Source("s", 9)), ("b", Source("s", 9))))
    assert text(one) == head + "WINDOW 9"
    two = Query((rule,), (("a", Source("s", 9, 2)), ("b", Source("t", 5))))
    assert text(two) == head + "ON s WINDOW 9 SLIDE 2\nON t WINDOW 5"
    apart = Query((rule,), (("a", Source("s", 9)), ("b", Source("s", 5))))
    assert text(apart) == head + "ON s (a) WINDOW 9\nON s (b) WINDOW 5"
