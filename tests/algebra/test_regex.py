"""The normal form of regexes keeps the language and is reached in one step."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.regex import (
    EPSILON,
    NOTHING,
    Alternation,
    Concat,
    Optional,
    Plus,
    Regex,
    Star,
    Symbol,
    alternation,
    concat,
    optional,
    plus,
    repeat,
    star,
)
from tests.algebra.regexes import language, regexes

A, B, C = Symbol("a"), Symbol("b"), Symbol("c")
SHORT = 5


def _closure(words: set[str]) -> set[str]:
    """All concatenations of ``words`` up to length five."""
    found = {""}
    while True:
        more = {w + v for w in found for v in words if len(w + v) <= SHORT}
        if more <= found:
            return found
        found |= more


def _product(left: set[str], right: set[str]) -> set[str]:
    return {w + v for w in left for v in right if len(w + v) <= SHORT}


@given(st.lists(regexes, max_size=3))
def test_concat_and_alternation_keep_the_language(parts: list[Regex]) -> None:
    product, either = {""}, set[str]()
    for part in parts:
        product = _product(product, language(part))
        either |= language(part)
    assert language(concat(parts)) == product
    assert language(alternation(parts)) == either


@given(regexes)
def test_star_plus_optional_keep_the_language(r: Regex) -> None:
    words = language(r)
    assert language(star(r)) == _closure(words)
    assert language(plus(r)) == _product(words, _closure(words))
    assert language(optional(r)) == words | {""}
    assert regex.nullable(r) == ("" in words)
    assert language(regex.nonempty(r)) - {""} == words - {""}
    assert language(regex.without_empty(r)) == words - {""}
    assert not regex.nullable(regex.without_empty(r))


@given(regexes, st.integers(0, 3), st.none() | st.integers(0, 4))
def test_bounded_repeats_keep_the_language(r: Regex, least: int, most: int | None) -> None:
    words, expected = language(r), set[str]()
    power = {""}
    for times in range(SHORT + 4):
        if least <= times and (most is None or times <= most):
            expected |= power
        power = _product(power, words)
    assert language(repeat(r, least, most)) == expected


@given(regexes)
def test_an_inverse_reads_paths_from_their_end(r: Regex) -> None:
    assert language(regex.inverse(r)) == {word[::-1].swapcase() for word in language(r)}
    assert regex.inverse(regex.inverse(r)) == r


@given(regexes)
def test_the_normal_form_follows_the_laws_of_regexes(r: Regex) -> None:
    assert regex.substitute(r, lambda s: s) == r
    assert star(star(r)) == star(r)
    assert star(plus(r)) == star(r)
    assert plus(star(r)) == star(r)
    assert plus(plus(r)) == plus(r)
    assert optional(optional(r)) == optional(r)
    assert alternation([r, r]) == r
    assert concat([EPSILON, r]) == r == concat([r, EPSILON])
    assert alternation([NOTHING, r]) == r
    assert regex.nonempty(regex.nonempty(r)) == regex.nonempty(r)
    for part in _all_parts(r):
        _assert_normal(part)


@given(
    st.lists(regexes, min_size=2, max_size=3).flatmap(
        lambda rs: st.permutations(rs).map(lambda p: (rs, p))
    )
)
def test_the_order_of_an_alternation_has_no_meaning(
    orders: tuple[list[Regex], list[Regex]],
) -> None:
    one, other = orders
    assert alternation(one) == alternation(other)


@given(regexes, regexes)
def test_substitution_replaces_words(r: Regex, inner: Regex) -> None:
    replaced = regex.substitute(r, lambda s: inner if s.ref == 0 and not s.inverse else s)
    letters = {"A": {"A"}, "b": {"b"}, "B": {"B"}, "a": language(inner)}
    expected = set[str]()
    for word in language(r):
        spelled = {""}
        for letter in word:
            spelled = _product(spelled, letters[letter])
        expected |= spelled
    # A word longer than five can shrink only where the empty word is put in.
    assert expected <= language(replaced)
    if not regex.nullable(inner):
        assert expected == language(replaced)


@pytest.mark.parametrize(
    ("built", "expected"),
    [
        (star(plus(A)), "a*"),
        (plus(star(A)), "a*"),
        (plus(optional(A)), "a*"),
        (star(alternation([star(A), B])), "(a|b)*"),
        (star(concat([star(A), optional(B)])), "(a|b)*"),
        (plus(alternation([plus(A), B])), "(a|b)+"),
        (alternation([B, A, B]), "a|b"),
        (alternation([A, optional(B)]), "(a|b)?"),
        (alternation([star(A), concat([star(A), star(B)])]), "a*·b*|a+"),
        (optional(plus(A)), "a*"),
        (concat([A, concat([B, C])]), "a·b·c"),
        (concat([A, alternation([B, C])]), "a·(b|c)"),
        (plus(concat([A, B])), "(a·b)+"),
        (repeat(A, 2, 4), "a·a·(a·a?)?"),
        (repeat(A, 2, None), "a·a+"),
        (repeat(A, 0, None), "a*"),
        (repeat(A, 0, 0), "ε"),
        (repeat(A, 3, 2), "∅"),
        (repeat(optional(A), 2, 3), "a?·a?·a?"),
        (concat([A, NOTHING]), "∅"),
        (star(NOTHING), "ε"),
        (plus(NOTHING), "∅"),
        (optional(NOTHING), "ε"),
        (regex.inverse(concat([A, star(B)])), "^b*·^a"),
    ],
)
def test_the_normal_form_is_written_in_thesis_notation(built: Regex, expected: str) -> None:
    assert regex.text(built) == expected


@given(regexes)
def test_symbols_and_refs_go_from_left_to_right(r: Regex) -> None:
    found = list(regex.symbols(r))
    assert regex.refs(r) == tuple(dict.fromkeys(s.ref for s in found))
    shown = regex.text(r, name=lambda ref: f"<{ref}>")
    assert [int(part[0]) for part in shown.split("<")[1:]] == [s.ref for s in found]


def test_the_key_orders_every_kind() -> None:
    kinds = [
        A,
        Symbol("a", inverse=True),
        concat([A, B]),
        alternation([A, B]),
        star(A),
        plus(A),
        optional(A),
        EPSILON,
        NOTHING,
    ]
    for one, next_one in itertools.pairwise(kinds):
        assert regex.sort_key(one) < regex.sort_key(next_one)


def _all_parts(r: Regex) -> list[Regex]:
    match r:
        case Concat(parts) | Alternation(parts):
            return [r, *(p for part in parts for p in _all_parts(part))]
        case Star(part) | Plus(part) | Optional(part):
            return [r, *_all_parts(part)]
        case _:
            return [r]


def _assert_normal(r: Regex) -> None:
    match r:
        case Concat(parts):
            assert len(parts) > 1
            assert not any(isinstance(p, Concat | regex.Epsilon | regex.Nothing) for p in parts)
        case Alternation(parts):
            assert list(parts) == sorted(set(parts), key=regex.sort_key)
            assert len(parts) > 1
            never = Alternation | Star | Optional | regex.Epsilon | regex.Nothing
            assert not any(isinstance(p, never) for p in parts)
        case Star(part) | Plus(part) | Optional(part):
            assert not regex.nullable(part)
            repeated = Star | Plus if isinstance(r, Optional) else Star | Plus | Optional
            assert not isinstance(part, repeated | regex.Nothing)
        case _:
            pass


@given(regexes)
def test_beginnings_are_words_with_which_all_words_begin(r: Regex) -> None:
    words = language(r) - {""}
    short = language(regex.beginnings(r))
    assert short <= words
    assert all(any(word.startswith(first) for first in short) for word in words)


@pytest.mark.parametrize(
    ("r", "short"),
    [
        (plus(A), A),
        (star(A), A),
        (concat([A, star(B)]), A),
        (plus(alternation([A, B])), alternation([A, B])),
        (concat([optional(A), plus(B)]), concat([optional(A), B])),
        (concat([star(A), star(B)]), alternation([A, B])),
        (plus(concat([A, plus(B)])), concat([A, B])),
        (concat([A, star(B), C]), concat([A, star(B), C])),
    ],
)
def test_beginnings_leave_out_repetitions_at_the_end(r: Regex, short: Regex) -> None:
    assert regex.beginnings(r) == short
