"""PAIR_PATH and SIMPLE_PATH over a relation of sources, against the paths of each snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given

from headrace.algebra.logical.bound import after_sources
from headrace.algebra.physical import PairPath
from headrace.algebra.regex import Regex
from headrace.executor.batch import FOREVER
from headrace.executor.operators.path import PathOperator
from headrace.executor.operators.path_with_deletions import PathWithDeletions
from headrace.executor.operators.simple_path import SimplePathOperator
from tests.executor import deletions
from tests.executor.model import CUTS, Row, Values, check, is_coalesced, ports, walked
from tests.executor.test_path import PATTERNS, REGEXES, inputs_of, path_of
from tests.executor.test_simple_path import meaning as simple_meaning
from tests.executor.test_simple_path import path_of as simple_path_of
from tests.strategies.amount import examples


def of_pairs(pattern: Regex) -> PairPath:
    s = path_of(pattern)
    return PairPath(s.states, s.transitions, s.accepting)


def pairs_of(path: PairPath, inputs: Sequence[Values[int]]) -> Values[int]:
    return walked(path, inputs[:-1]) & inputs[-1]


@pytest.mark.parametrize("name", ["a+", "a·b*", "(a|^a)+", "a?·b*", "(a·^b)+"])
def test_pair_path_has_the_pairs_that_a_path_connects(name: str) -> None:
    path = of_pairs(REGEXES[name])
    inputs = 1 + inputs_of(path_of(REGEXES[name]))
    widths = (2,) * inputs

    @given(rows=ports(widths, vertices=3), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        found = check(PathOperator(path, inputs), partial(pairs_of, path), rows, widths, cuts)
        assert is_coalesced(found)

    holds()


@given(pattern=PATTERNS, rows=ports((2, 2, 2), vertices=3), cuts=CUTS)
@examples(100)
def test_pairs_of_random_patterns(
    pattern: Regex, rows: tuple[list[Row], ...], cuts: list[int]
) -> None:
    path = of_pairs(pattern)
    check(PathOperator(path, 3), partial(pairs_of, path), rows, (2, 2, 2), cuts)


@pytest.mark.long
@given(pattern=PATTERNS, rows=deletions.ports((2, 2, 2), vertices=3, longest=60), cuts=CUTS)
@examples(150)
def test_pairs_of_random_patterns_with_deletions(
    pattern: Regex, rows: tuple[list[Row], ...], cuts: list[int]
) -> None:
    path = of_pairs(pattern)
    widths = (2, 2, 2)
    deletions.check(PathWithDeletions(path, 3), partial(pairs_of, path), rows, widths, cuts)


def test_a_pair_that_comes_late_is_reported_from_the_trees_there() -> None:
    edges = [Row((1, 2), 0, 50), Row((2, 3), 0, 40)]
    pairs = [Row((1, 3), 7, 20), Row((1, 3), 9, 90), Row((3, 1), 9, 90)]
    path = of_pairs(REGEXES["a+"])
    found = check(PathOperator(path, 2), partial(pairs_of, path), (edges, pairs), (2, 2))
    assert found == [Row((1, 3), 7, 20), Row((1, 3), 9, 40)]


def test_many_pairs_enlarge_the_table_and_leave_it_when_they_expire() -> None:
    random, path = Random(1), of_pairs(REGEXES["a+"])
    operator = PathOperator(path, 2)
    edges = [Row((v, v + 1), 0, FOREVER) for v in range(30)]
    pairs = [
        Row((random.randrange(31), random.randrange(31)), t // 9, t // 9 + 20) for t in range(4_000)
    ]
    check(operator, partial(pairs_of, path), (edges, pairs), (2, 2), range(0, 450, 50))
    held = operator.entries
    operator.purge(1_000)
    assert operator.entries == 30 + 30 * 31 // 2 < held


def test_pairs_of_other_roots_are_not_held() -> None:
    path = of_pairs(REGEXES["a+"])
    operator = PathOperator(path, 2, lambda codes: np.asarray(codes == 1))
    edges, pairs = [Row((1, 2), 0, 9)], [Row((1, 2), 0, 9), Row((2, 1), 0, 9)]
    found = check(
        operator,
        lambda inputs: {(x, y) for x, y in pairs_of(path, inputs) if x == 1},
        (edges, pairs),
        (2, 2),
    )
    assert found == [Row((1, 2), 0, 9)]
    assert operator.entries == 3  # an edge, a value and a pair


def test_first_steps_alone_read_a_relation_of_sources() -> None:
    path = replace(simple_path_of(REGEXES["a+"]), from_relation=True)
    with pytest.raises(ValueError, match="first steps alone"):
        path.check_bounds(1)
    replace(simple_path_of(after_sources(REGEXES["a+"])), from_relation=True).check_bounds(2)


@pytest.mark.parametrize("name", ["a+", "a·b*", "(a|^a)+", "a·a", "(a·^b)+"])
def test_simple_paths_from_a_relation_of_sources(name: str) -> None:
    pattern = REGEXES[name]
    inputs = 1 + inputs_of(path_of(pattern))
    path = replace(simple_path_of(after_sources(pattern)), from_relation=True)

    def meaning(values: Sequence[Values[int]]) -> Values[int]:
        sources, *steps = values
        return {row for row in simple_meaning(pattern, steps) if (row[0], row[0]) in sources}

    @given(rows=ports((2,) * inputs, vertices=4), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        rows = ([Row((r.values[0],) * 2, r.ts, r.exp) for r in rows[0]], *rows[1:])
        found = check(SimplePathOperator(path, inputs), meaning, rows, (2,) * inputs, cuts)
        assert is_coalesced(found)

    holds()
