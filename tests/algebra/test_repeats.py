"""Repeats side by side become one, which has the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex, repeats
from headrace.algebra.regex import Regex, Symbol, concat, optional, plus, star
from tests.algebra.regexes import language, regexes

A, B = Symbol(0), Symbol(1)
REPEATS = (star, plus, optional, None)
SIDE_BY_SIDE = st.lists(
    st.tuples(st.sampled_from([A, B, concat([A, B])]), st.sampled_from(REPEATS))
    .map(lambda drawn: drawn[0] if drawn[1] is None else drawn[1](drawn[0])),
    max_size=4,
).map(concat)  # fmt: skip


@given(regexes | SIDE_BY_SIDE)
def test_one_repeat_has_the_words_of_those_side_by_side(r: Regex) -> None:
    merged = repeats.as_one(r)
    assert language(merged) == language(r)
    assert set(regex.symbols(merged)) == set(regex.symbols(r))


@pytest.mark.parametrize(
    ("parts", "merged"),
    [
        ([A, optional(A), star(A), optional(A)], plus(A)),
        ([star(A), star(A)], star(A)),
        ([plus(A), A], concat([A, plus(A)])),
        ([optional(A), A], concat([optional(A), A])),
        ([optional(A), optional(A)], concat([optional(A), optional(A)])),
        ([optional(A), A, optional(A), star(A), A], concat([A, plus(A)])),
        ([A, star(B), B, A], concat([A, plus(B), A])),
        ([star(concat([A, optional(A)])), B], concat([star(concat([A, optional(A)])), B])),
    ],
    ids=str,
)
def test_repeats_side_by_side(parts: list[Regex], merged: Regex) -> None:
    assert repeats.as_one(concat(parts)) == merged
