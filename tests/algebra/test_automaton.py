"""Automata accept what Python's `re` accepts, and no smaller one does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import automaton, regex
from headrace.algebra.automaton import Automaton, AutomatonError, minimal_dfa
from headrace.algebra.regex import Symbol, alternation, concat, optional, plus, star
from tests.algebra.regexes import LETTERS, WORDS, language, pattern, regexes, spelled
from tests.oracles.paths import Pair, path_pairs, simple_pairs
from tests.properties.algebra import as_written

A, B, C = Symbol(0), Symbol(1), Symbol(2)


@given(regexes)
def test_an_automaton_accepts_exactly_the_words_of_its_regex(r: regex.Regex) -> None:
    dfa, words = minimal_dfa(r), language(r)
    assert {spelled(word) for word in WORDS if dfa.accepts(word)} == words


@given(regexes)
def test_the_fresh_start_is_never_entered_and_only_loses_the_empty_word(r: regex.Regex) -> None:
    dfa = minimal_dfa(r)
    fresh = dfa.with_fresh_start()
    assert all(to != 0 for *_, to in fresh.transitions)
    assert 0 not in fresh.accepting
    assert dfa.states <= fresh.states <= dfa.states + 1
    words = language(r) - {""}
    assert {spelled(word) for word in WORDS if fresh.accepts(word)} == words
    assert _distinguished(fresh) >= dfa.states - 1


@given(regexes)
def test_an_automaton_is_minimal_trimmed_and_deterministic(r: regex.Regex) -> None:
    dfa = minimal_dfa(r)
    assert len(dfa.moves) == len(dfa.transitions)
    assert _reached(dfa, {0}, forward=True) == set(range(dfa.states))
    if dfa.accepting:
        assert _reached(dfa, set(dfa.accepting), forward=False) == set(range(dfa.states))
    else:
        assert dfa == Automaton(1, (), ())
    assert _distinguished(dfa) == dfa.states


@given(regexes)
def test_states_are_numbered_breadth_first_in_the_order_of_symbols(r: regex.Regex) -> None:
    dfa = minimal_dfa(r)
    assert list(dfa.transitions) == sorted(dfa.transitions)
    entered = [to for *_, to in dfa.transitions]
    first_entries = [to for to in dict.fromkeys(entered) if to != 0]
    assert first_entries == list(range(1, dfa.states))


@given(regexes)
def test_equal_languages_have_equal_automata(r: regex.Regex) -> None:
    twice = regex.alternation([regex.concat([r, regex.star(r)]), r])
    assert minimal_dfa(twice) == minimal_dfa(regex.plus(r))


@pytest.mark.parametrize(
    ("r", "states", "fresh"),
    [
        (plus(A), 2, 2),
        (star(A), 1, 2),
        (concat([A, B]), 3, 3),
        (plus(concat([A, B])), 3, 3),
        (plus(concat([A, B, C])), 4, 4),
        (concat([A, star(B)]), 2, 2),
        (concat([star(A), star(B)]), 2, 3),
        (concat([star(A), B]), 2, 3),
        (optional(A), 2, 2),
        (plus(alternation([A, B, C])), 2, 2),
        (concat([A, A, A]), 4, 4),
        (regex.repeat(A, 2, None), 3, 3),
        (regex.EPSILON, 1, 1),
        (regex.NOTHING, 1, 1),
    ],
)
def test_an_automaton_has_as_many_states_as_expected(
    r: regex.Regex, states: int, fresh: int
) -> None:
    assert minimal_dfa(r).states == states
    assert minimal_dfa(r).with_fresh_start().states == fresh


def test_a_nullable_regex_has_the_expected_automaton() -> None:
    dfa = minimal_dfa(concat([star(A), star(Symbol(1, inverse=True))]))
    assert dfa == Automaton(2, ((0, 0, False, 0), (0, 1, True, 1), (1, 1, True, 1)), (0, 1))
    assert dfa.with_fresh_start() == Automaton(
        3,
        (
            (0, 0, False, 1),
            (0, 1, True, 2),
            (1, 0, False, 1),
            (1, 1, True, 2),
            (2, 1, True, 2),
        ),
        (1, 2),
    )


def test_an_automaton_is_built_once() -> None:
    assert minimal_dfa(concat([A, B])) is minimal_dfa(concat([A, B]))


def test_an_automaton_of_too_many_states_is_refused() -> None:
    either = alternation([A, B])
    small = concat([star(either), A, *[either] * 5])
    assert minimal_dfa(small).states == 64
    with pytest.raises(AutomatonError, match="more than 4096 states"):
        minimal_dfa(concat([star(either), A, *[either] * 20]))


def test_an_automaton_over_unresolved_labels_is_refused() -> None:
    with pytest.raises(TypeError, match="likes"):
        minimal_dfa(Symbol("likes"))


def test_the_reference_translation_reads_the_whole_regex() -> None:
    assert re.fullmatch(pattern(concat([A, Symbol(0, inverse=True)])), "aA")
    assert automaton.MOST_STATES == 4096


def _reached(dfa: Automaton, start: set[int], forward: bool) -> set[int]:
    reached = set(start)
    while True:
        more = {
            (to if forward else state)
            for state, _, _, to in dfa.transitions
            if (state if forward else to) in reached
        }
        if more <= reached:
            return reached
        reached |= more


def _distinguished(dfa: Automaton) -> int:
    """The number of distinguishable states: the table-filling method, with a dead state added."""
    dead = dfa.states
    moves = {
        (state, step): dfa.moves.get((state, *step), dead)
        for state in range(dfa.states + 1)
        for step in LETTERS
    }
    apart = {
        (p, q)
        for p in range(dfa.states + 1)
        for q in range(dfa.states + 1)
        if (p in dfa.accepting) != (q in dfa.accepting)
    }
    while True:
        more = {
            (p, q)
            for p in range(dfa.states + 1)
            for q in range(dfa.states + 1)
            if any((moves[p, step], moves[q, step]) in apart for step in LETTERS)
        }
        if more <= apart:
            break
        apart |= more
    return sum(all((p, q) in apart for q in range(p)) for p in range(dfa.states))


@given(regexes, st.frozensets(st.tuples(*[st.integers(0, 3)] * 2), max_size=7).map(frozenset))
def test_simple_paths_connect_the_same_pairs_where_repeats_can_be_ignored(
    r: regex.Regex, edges: frozenset[Pair]
) -> None:
    whole = regex.nonempty(r)
    relations = dict.fromkeys(map(str, regex.refs(whole)), edges)
    if minimal_dfa(whole).with_fresh_start().ignores_repeats:
        written = as_written(whole)
        any_pairs = path_pairs(written, relations)
        assert simple_pairs(written, relations) == {(x, y) for x, y in any_pairs if x != y}


@pytest.mark.parametrize(
    ("r", "ignores"),
    [
        (A, True),
        (plus(A), True),
        (plus(alternation([A, B])), True),
        (concat([star(A), star(B)]), True),
        (optional(concat([A, star(A)])), True),
        (concat([A, B]), False),
        (concat([A, star(B)]), False),  # x -a-> y -b-> x -b-> z: no simple path from x to z
        (concat([star(A), B]), False),
        (plus(concat([A, A])), False),
        (plus(concat([A, B])), False),
    ],
    ids=regex.text,
)
def test_expressions_that_ignore_repeated_vertices(r: regex.Regex, ignores: bool) -> None:
    assert minimal_dfa(regex.nonempty(r)).with_fresh_start().ignores_repeats is ignores


def test_a_set_of_many_labels_has_one_state_more() -> None:
    anything = regex.alternation(regex.Symbol(i, inverse=i % 2 == 0) for i in range(9_000))
    assert minimal_dfa(regex.plus(anything)).states == 2
    assert len(minimal_dfa(regex.plus(anything)).transitions) == 2 * 9_000


def test_an_automaton_of_too_many_moves_is_refused() -> None:
    labels = regex.alternation(map(regex.Symbol, range(5_000)))
    with pytest.raises(AutomatonError, match="more than 100,000 moves"):
        minimal_dfa(regex.concat([labels] * 30))
