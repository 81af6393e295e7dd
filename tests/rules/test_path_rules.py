from __future__ import annotations

import pytest

from headrace.algebra.logical import (
    Filter,
    LogicalExpression,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
)
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Regex, Symbol, alternation, concat, optional, plus, star, symbols
from headrace.rules.concat_rules import ConcatToPattern, PathInline, PatternToConcat, UnionToConcat
from headrace.rules.path_rules import (
    AlternationToUnion,
    LabelToPath,
    PathOfLabel,
    SimplePathAsAnyPath,
    StarCompose,
    StarDecompose,
    UnionToAlternation,
)
from headrace.rules.rule import TransformationRule
from tests.rules.bench import Applied, apply, scan, tree

A, B, C = scan("a"), scan("b"), scan("c")
X, Y, Z = Symbol(0), Symbol(1), Symbol(2)
BACK_X, BACK_Y = Symbol(0, inverse=True), Symbol(1, inverse=True)


def path(r: Regex, *inputs: LogicalExpression, simple: bool = False) -> LogicalExpression:
    semantics = PathSemantics.SIMPLE if simple else PathSemantics.ARBITRARY
    return LogicalExpression(Path(r, semantics), inputs)


def along(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    """left(0,1) ⋈ right(1,2), from 0 to 2."""
    return LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 2)), (left, right))


def union(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Union(), (left, right))


def test_a_concatenation_is_split_at_every_place() -> None:
    done = apply(ConcatToPattern(), path(concat([X, Y, Z]), A, B, C))
    assert len(done.results) == 2
    assert done.found(along(A, path(concat([X, Y]), B, C)))
    assert done.found(along(path(concat([X, Y]), A, B), C))


@pytest.mark.parametrize(
    ("r", "expected"),
    [
        # As printed: neither part accepts the empty word.
        (concat([X, plus(Y)]), along(A, path(plus(X), B))),
        # The right part may be absent, then the left one is the path.
        (concat([X, star(Y)]), union(along(A, path(plus(X), B)), A)),
        # The left one may.
        (concat([optional(X), Y]), union(along(A, B), B)),
        # Both may.
        (
            concat([star(X), star(Y)]),
            union(
                union(along(path(plus(X), A), path(plus(X), B)), path(plus(X), B)), path(plus(X), A)
            ),
        ),
    ],
    ids=["a·b+", "a·b*", "a?·b", "a*·b*"],
)
def test_nullable_parts_add_what_is_left_without_them(
    r: Regex, expected: LogicalExpression
) -> None:
    assert apply(ConcatToPattern(), path(r, A, B)).found(expected)


def test_a_backward_step_is_bound_the_other_way_round() -> None:
    done = apply(ConcatToPattern(), path(concat([BACK_X, Y]), A, B))
    expected = LogicalExpression(Pattern(((0, 1), (0, 2)), (1, 2)), (A, B))
    assert done.found(expected)


@pytest.mark.parametrize(
    "expression",
    [path(plus(X), A), path(alternation([X, Y]), A, B), path(concat([X, Y]), A, B, simple=True)],
    ids=["closure", "alternation", "simple paths"],
)
def test_only_concatenations_of_arbitrary_paths_are_split(expression: LogicalExpression) -> None:
    assert apply(ConcatToPattern(), expression).results == ()


def test_a_join_along_a_path_is_a_concatenation() -> None:
    done = apply(PatternToConcat(), along(A, B))
    assert done.found(path(concat([X, Y]), A, B))


@pytest.mark.parametrize(
    ("bindings", "output", "r"),
    [
        (((1, 0), (1, 2)), (0, 2), concat([BACK_X, Y])),
        (((0, 1), (2, 1)), (0, 2), concat([X, BACK_Y])),
        (((0, 1), (1, 2)), (2, 0), concat([BACK_Y, BACK_X])),
        (((1, 2), (0, 1)), (0, 2), concat([Y, X])),
    ],
)
def test_ends_decide_the_direction(
    bindings: tuple[tuple[int, ...], ...], output: tuple[int, ...], r: Regex
) -> None:
    done = apply(PatternToConcat(), LogicalExpression(Pattern(bindings, output), (A, B)))
    assert done.found(path(r, A, B))


WIDE = LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 1, 2)), (A, B))


@pytest.mark.parametrize(
    "expression",
    [
        WIDE,
        LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 1)), (A, B)),
        LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 0)), (A, B)),
        LogicalExpression(Pattern(((0, 1), (1, 2)), (0,)), (A, B)),
        LogicalExpression(Pattern(((0, 1), (0, 1)), (0, 1)), (A, B)),
        LogicalExpression(Pattern(((0, 1), (2, 3)), (0, 3)), (A, B)),
        LogicalExpression(Pattern(((0, 1, 2), (2, 3)), (0, 3)), (WIDE, C)),
    ],
    ids=[
        "the middle is a result",
        "an end is missing",
        "one end twice",
        "one column",
        "two shared variables",
        "no shared variable",
        "an input of three columns",
    ],
)
def test_other_joins_are_no_concatenation(expression: LogicalExpression) -> None:
    assert apply(PatternToConcat(), expression).results == ()


def test_an_operand_that_is_a_path_enters_with_its_regex_or_as_a_symbol() -> None:
    inner = path(concat([X, Y]), B, C)
    done = apply(PatternToConcat(), along(A, inner))
    assert done.found(path(concat([X, Y]), A, inner))
    assert done.found(path(concat([X, Y, Z]), A, B, C))
    assert len(done.results) == 2


def test_a_nullable_regex_never_enters() -> None:
    """a·(b*·c*) would accept a alone, which the join does not."""
    inner = path(concat([star(X), star(Y)]), B, C)
    done = apply(PatternToConcat(), along(A, inner))
    assert done.found(path(concat([X, Y]), A, inner))
    assert not done.found(path(concat([X, star(Y), star(Z)]), A, B, C))


def test_simple_paths_do_not_enter() -> None:
    inner = path(plus(X), B, simple=True)
    done = apply(PatternToConcat(), along(A, inner))
    assert [len(done.results), done.found(path(concat([X, Y]), A, inner))] == [1, True]


def test_a_join_or_its_end_is_a_concatenation_with_an_optional_part() -> None:
    assert apply(UnionToConcat(), union(along(A, B), A)).found(path(concat([X, optional(Y)]), A, B))
    assert apply(UnionToConcat(), union(along(A, B), B)).found(path(concat([optional(X), Y]), A, B))
    assert apply(UnionToConcat(), union(along(A, B), C)).results == ()


def test_both_parts_may_be_optional() -> None:
    half = union(along(A, B), B)
    done = apply(
        UnionToConcat(),
        union(half, A),
        below=((half, path(concat([optional(X), Y]), A, B)),),
    )
    assert done.found(path(concat([optional(X), optional(Y)]), A, B))


def test_an_end_walked_backwards_is_no_optional_part() -> None:
    """^a·b or a: the relation a leads from the middle, not to it."""
    backwards = LogicalExpression(Pattern(((0, 1), (0, 2)), (1, 2)), (A, B))
    assert apply(UnionToConcat(), union(backwards, A)).results == ()
    assert apply(UnionToConcat(), union(backwards, B)).found(
        path(concat([optional(BACK_X), Y]), A, B)
    )


def test_an_optional_symbol_takes_in_its_path_even_if_nullable() -> None:
    inner = path(concat([star(X), star(Y)]), B, C)
    done = apply(PathInline(), path(concat([X, optional(Y)]), A, inner))
    assert done.found(path(concat([X, star(Y), star(Z)]), A, B, C))


def test_a_needed_symbol_takes_in_no_nullable_path() -> None:
    inner = path(concat([star(X), star(Y)]), B, C)
    done = apply(PathInline(), path(concat([Y, optional(X)]), A, inner))
    assert done.results == ()


def test_an_alternation_is_a_union() -> None:
    done = apply(AlternationToUnion(), path(alternation([X, Y]), A, B))
    assert done.found(union(A, B))
    longer = apply(AlternationToUnion(), path(alternation([X, Y, Z]), A, B, C))
    assert longer.found(union(A, path(alternation([X, Y]), B, C)))


def test_an_alternation_of_simple_paths_is_a_union_of_simple_paths() -> None:
    done = apply(AlternationToUnion(), path(alternation([plus(X), plus(Y)]), A, B, simple=True))
    assert done.found(union(path(plus(X), A, simple=True), path(plus(X), B, simple=True)))


def test_a_union_is_an_alternation() -> None:
    done = apply(UnionToAlternation(), union(A, path(concat([X, Y]), B, C)))
    assert done.found(path(alternation([X, Y]), A, path(concat([X, Y]), B, C)))
    assert done.found(path(alternation([X, concat([Y, Z])]), A, B, C))


def test_a_nullable_regex_may_enter_an_alternation() -> None:
    done = apply(UnionToAlternation(), union(A, path(concat([star(X), star(Y)]), B, C)))
    assert done.found(path(alternation([X, concat([star(Y), star(Z)])]), A, B, C))


@pytest.mark.parametrize(
    "expression",
    [
        union(WIDE, LogicalExpression(Pattern(((0, 1), (1, 2)), (2, 1, 0)), (A, B))),
        union(A, union(B, C)),
    ],
    ids=["three columns", "a part that is a union itself"],
)
def test_other_unions_are_no_alternation(expression: LogicalExpression) -> None:
    assert apply(UnionToAlternation(), expression).results == ()


def test_a_path_of_one_label_is_its_input() -> None:
    done = apply(PathOfLabel(), path(X, A))
    assert done.found(A)
    assert done.memo.expression_count == 1


def test_a_path_of_one_label_is_its_input_by_the_rule_alone() -> None:
    done = apply(PathOfLabel(), path(X, A), paths_of_labels=False)
    assert done.found(A)
    assert [done.memo.find(group) for group in done.results if isinstance(group, int)] == [
        done.memo.find(done.group)
    ]


def test_a_path_of_one_backward_step_swaps_the_columns() -> None:
    done = apply(PathOfLabel(), path(BACK_X, A))
    assert done.found(LogicalExpression(Project((1, 0)), (A,)))


@pytest.mark.parametrize("paths_of_labels", [True, False])
def test_a_simple_path_of_one_label_is_its_input_without_loops(paths_of_labels: bool) -> None:
    def applied(r: Regex) -> Applied:
        one = path(r, A, simple=True)
        return apply(PathOfLabel(), one, paths_of_labels=paths_of_labels)

    no_loops = LogicalExpression(Filter(Predicate("c0 <> c1")), (A,))
    assert applied(X).found(no_loops)
    assert applied(X).memo.lookup(tree(A)) != applied(X).group
    assert applied(BACK_X).found(LogicalExpression(Project((1, 0)), (no_loops,)))


def test_an_alternation_of_simple_paths_is_put_together_from_them_alone() -> None:
    def put(left: LogicalExpression, right: LogicalExpression) -> Applied:
        return apply(UnionToAlternation(), union(left, right))

    both = put(path(plus(X), A, simple=True), path(X, B, simple=True))
    assert both.found(path(alternation([plus(X), Y]), A, B, simple=True))
    # As relations they may stand for a symbol of any path.
    assert both.found(path(alternation([X, Y]), both_of(A, plus(X)), both_of(B, X)))
    loops = put(path(plus(X), A, simple=True), B)
    assert not loops.found(path(alternation([plus(X), Y]), A, B, simple=True))
    mixed = put(path(plus(X), A, simple=True), path(plus(X), B))
    for simple in (True, False):
        assert not mixed.found(path(alternation([plus(X), plus(Y)]), A, B, simple=simple))


def both_of(label: LogicalExpression, r: Regex) -> LogicalExpression:
    return path(r, label, simple=True)


def test_an_optional_rest_of_simple_paths_is_not_read_off_a_union() -> None:
    """1 -a-> 1 is in A, and no simple path; to take A in as a step would lose it, or take
    any path for a simple one."""
    joined = path(concat([optional(X), Y]), A, B, simple=True)
    assert apply(UnionToConcat(), union(joined, A)).results == ()


@pytest.mark.parametrize(
    "r",
    [
        plus(X),
        plus(alternation([X, Y])),
        concat([star(X), star(Y)]),
        plus(alternation([X, BACK_X])),
    ],
    ids=["a+", "(a|b)+", "a*·b*", "(a|^a)+"],
)
def test_simple_paths_that_need_no_repeat_are_any_paths_without_loops(r: Regex) -> None:
    any_path = LogicalExpression(Filter(Predicate("c0 <> c1")), (path(r, A, B),))
    if not isinstance(any_path.inputs[0].operator, Path) or Y not in set(symbols(r)):
        any_path = LogicalExpression(Filter(Predicate("c0 <> c1")), (path(r, A),))
        assert apply(SimplePathAsAnyPath(), path(r, A, simple=True)).found(any_path)
    else:
        assert apply(SimplePathAsAnyPath(), path(r, A, B, simple=True)).found(any_path)


@pytest.mark.parametrize(
    "r",
    [concat([X, Y]), concat([X, star(Y)]), plus(concat([X, Y])), plus(concat([X, X])), X],
    ids=["a·b", "a·b*", "(a·b)+", "(a·a)+", "a, which rule 16 is for"],
)
def test_other_simple_paths_stay_what_they_are(r: Regex) -> None:
    over = (A, B) if Y in set(symbols(r)) else (A,)
    assert apply(SimplePathAsAnyPath(), path(r, *over, simple=True)).results == ()
    assert apply(SimplePathAsAnyPath(), path(r, *over)).results == ()


def test_swapped_columns_are_a_backward_step() -> None:
    done = apply(LabelToPath(), LogicalExpression(Project((1, 0)), (A,)))
    assert done.found(path(BACK_X, A))
    assert apply(LabelToPath(), LogicalExpression(Project((0,)), (A,))).results == ()
    assert apply(LabelToPath(), LogicalExpression(Project((1, 0)), (WIDE,))).results == ()


@pytest.mark.parametrize(
    ("whole", "step"),
    [
        (plus(concat([X, Y])), concat([X, Y])),
        (plus(alternation([X, Y])), alternation([X, Y])),
        (plus(concat([X, optional(Y)])), concat([X, optional(Y)])),
    ],
    ids=["(a·b)+", "(a|b)+", "(a·b?)+"],
)
def test_a_closure_is_a_closure_of_its_step(whole: Regex, step: Regex) -> None:
    expression = path(whole, A, B)
    done = apply(StarDecompose(), expression)
    assert done.found(path(plus(X), path(step, A, B)))
    back = apply(StarCompose(), path(plus(X), path(step, A, B)))
    assert back.found(expression)


def test_a_nullable_step_may_be_repeated_too() -> None:
    """(a*·b*)+ is any word of a and b; the empty one is reported by neither side."""
    done = apply(StarCompose(), path(plus(X), path(concat([star(X), star(Y)]), A, B)))
    assert done.found(path(plus(alternation([X, Y])), A, B))


def test_a_closure_of_one_symbol_stays() -> None:
    assert apply(StarDecompose(), path(plus(X), A)).results == ()
    assert apply(StarDecompose(), path(plus(BACK_X), A)).results == ()
    assert apply(StarCompose(), path(plus(X), A)).results == ()


def test_a_closure_walked_backwards_reverses_its_step() -> None:
    done = apply(StarCompose(), path(plus(BACK_X), path(concat([X, Y]), A, B)))
    assert done.found(path(plus(concat([BACK_Y, BACK_X])), A, B))


@pytest.mark.parametrize("rule", [StarDecompose(), ConcatToPattern()])
def test_simple_paths_are_not_taken_apart(rule: TransformationRule) -> None:
    for r in (plus(concat([X, Y])), concat([X, Y])):
        assert apply(rule, path(r, A, B, simple=True)).results == ()


def test_simple_paths_are_not_put_together() -> None:
    inner = path(concat([X, Y]), A, B, simple=True)
    assert apply(StarCompose(), path(plus(X), inner)).results == ()
    assert (
        apply(StarCompose(), path(plus(X), path(concat([X, Y]), A, B), simple=True)).results == ()
    )
