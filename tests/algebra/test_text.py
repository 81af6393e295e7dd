"""Logical expressions in the notation of the thesis."""

import pytest

from headrace.algebra.logical import (
    Empty,
    Filter,
    LogicalExpression,
    LogicalOperator,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
)
from headrace.algebra.notation import InputNames
from headrace.algebra.physical import MultiwayJoin
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Symbol, alternation, concat, plus, star
from headrace.algebra.text import one_line, text
from headrace.algebra.window import Window


def over(
    operator: LogicalOperator, *inputs: LogicalExpression, name: str | None = None
) -> LogicalExpression:
    return LogicalExpression(operator, inputs, name)


def scan(label: str, stream: str = "s", window: Window | None = None) -> LogicalExpression:
    return over(WScan(stream, label, window or Window(100)))


A, B = scan("a"), scan("b")
STEP = Symbol(0)
NO_NAMES = InputNames((), (), "second")
JOIN = Pattern(((0, 1), (1, 2)), (0, 2))


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        (A, "W[100](a)"),
        (scan("a", window=Window(100, 10)), "W[100,10](a)"),
        (over(Filter(Predicate.column_equals(0, "u")), A), "F[src = 'u'](W[100](a))"),
        (over(Filter(Predicate.columns_equal(1, 0)), A), "F[src = trg](W[100](a))"),
        (over(Union(), A, B), "U(W[100](a), W[100](b))"),
        (over(Union(), A, B, name="d"), "U[d](W[100](a), W[100](b))"),
        (over(Project((1, 0)), A), "C[trg,src](W[100](a))"),
        (over(Empty(2)), "∅"),
        (over(Path(plus(STEP)), A), "P[a+](W[100](a))"),
        (over(Path(star(STEP)), A, name="d"), "P[d;a*](W[100](a))"),
        (over(Path(plus(STEP), PathSemantics.SIMPLE), A), "P[a+;simple](W[100](a))"),
        (
            over(Path(concat([Symbol(0, inverse=True), star(Symbol(1))])), A, B),
            "P[^a·b*](W[100](a), W[100](b))",
        ),
        (
            over(Path(alternation([Symbol(0), Symbol(1)])), A, scan("a", "t")),
            "P[s.a|t.a](W[100](s.a), W[100](t.a))",
        ),
        (
            over(Path(alternation([Symbol(0), Symbol(1)])), A, scan("a", window=Window(5))),
            "P[#1|#2](W[100](a), W[5](a))",
        ),
        (
            over(Path(plus(concat([Symbol(0), Symbol(1)]))), over(JOIN, A, B, name="d"), A),
            "P[(d·a)+](J[src1,trg2,d ; trg1=src2](W[100](a), W[100](b)), W[100](a))",
        ),
        (
            over(Path(plus(STEP)), over(JOIN, A, B)),
            "P[#1+](J[src1,trg2 ; trg1=src2](W[100](a), W[100](b)))",
        ),
        (
            over(Pattern(((0, 1), (1, 2), (2, 0)), (0, 1, 2)), A, A, B, name="t"),
            "J[src1,trg1,t ; trg1=src2 & trg2=src3 & src1=trg3 ; ; trg2]"
            "(W[100](a), W[100](a), W[100](b))",
        ),
        (
            over(Pattern(((0, 1), (2, 3)), (0, 2, 3)), A, B),
            "J[src1,src2 ; ; ; trg2](W[100](a), W[100](b))",
        ),
        (over(Pattern(((0, 1), (2, 3)), (0, 2)), A, B), "J[src1,src2](W[100](a), W[100](b))"),
        (
            over(
                Pattern(((0, 1, 2), (2, 3)), (0, 3)),
                over(Pattern(((0, 1), (1, 2)), (0, 1, 2)), A, B),
                A,
            ),
            "J[c1_1,trg2 ; c3_1=src2]("
            "J[src1,trg1 ; trg1=src2 ; ; trg2](W[100](a), W[100](b)), W[100](a))",
        ),
        (
            over(
                Filter(Predicate.column_equals(2, 5)),
                over(Pattern(((0, 1), (1, 2)), (0, 1, 2)), A, B),
            ),
            "F[c3 = 5](J[src1,trg1 ; trg1=src2 ; ; trg2](W[100](a), W[100](b)))",
        ),
        (over(Project((0, 0)), over(Project((1,)), A)), "C[src,src](C[trg](W[100](a)))"),
    ],
)
def test_an_expression_is_written_in_one_line(expression: LogicalExpression, line: str) -> None:
    assert one_line(expression) == line


def test_windows_are_written_as_lengths_of_time() -> None:
    month = scan("a", window=Window(2_592_000, 86_400))
    assert one_line(month, "second") == "W[30d,1d](a)"
    assert one_line(month) == "W[2592000,86400](a)"
    assert one_line(scan("a", window=Window(36)), "hour") == "W[36h](a)"


def test_a_tree_has_an_operator_a_line() -> None:
    closure = over(Path(plus(STEP)), A, name="d")
    whole = over(JOIN, over(Union(), over(JOIN, closure, B), B), B, name="Answer")
    assert text(whole, "second").splitlines() == [
        "J[src1,trg2,Answer ; trg1=src2]",
        "├─ U",
        "│  ├─ J[src1,trg2 ; trg1=src2]",
        "│  │  ├─ P[d;a+]",
        "│  │  │  └─ W[100s](a)",
        "│  │  └─ W[100s](b)",
        "│  └─ W[100s](b)",
        "└─ W[100s](b)",
    ]


def test_names_do_not_affect_equality_of_expressions() -> None:
    assert over(JOIN, A, B, name="d") == over(JOIN, A, B, name="e") == over(JOIN, A, B)
    assert len({over(JOIN, A, B, name="d"), over(JOIN, A, B)}) == 1


def test_a_multiway_join_without_an_order_of_variables_names_none() -> None:
    """A star: a row of one atom binds the only shared variable."""
    star_join = MultiwayJoin((0, 1, 2), ((0, 1), (0, 2), (0, 3)), (0,), ((), (), ()), tuple("xabc"))
    assert star_join.arguments(NO_NAMES) == "x,a ⋈ x,b ⋈ x,c → x  on x"
    chain = MultiwayJoin((0, 1, 2), ((0, 1), (0,), (1,)), (0,), ((), (1,), (0,)), tuple("xy"))
    assert chain.arguments(NO_NAMES).endswith("  binding – / y / x")
