"""The words of an automaton as a regex."""

import pytest
from hypothesis import given

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.logical.bound import after_sources
from headrace.algebra.regex import Regex
from headrace.costmodel.reached import words_of
from tests.executor.test_path import PATTERNS, REGEXES
from tests.strategies.amount import examples


def words(r: Regex) -> Regex:
    automaton = minimal_dfa(r).with_fresh_start()
    return words_of(automaton.states, automaton.transitions, automaton.accepting)


@given(pattern=PATTERNS)
@examples(100)
def test_the_regex_has_the_words_of_the_automaton(pattern: Regex) -> None:
    wanted = minimal_dfa(regex.without_empty(pattern)).with_fresh_start()
    found = minimal_dfa(words(pattern)).with_fresh_start()
    assert found == wanted


@pytest.mark.parametrize("name", ["a+", "(a|b|c)+", "a·a", "a·b·a", "(a·b·c)+", "^a+"])
def test_simple_forms_come_back_as_they_were(name: str) -> None:
    assert words(REGEXES[name]) == REGEXES[name]
    assert words(after_sources(REGEXES[name])) == after_sources(REGEXES[name])
