"""SLIDE_PATH against a search over the product graph of each snapshot."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.physical import SlidePath
from headrace.algebra.regex import Regex
from headrace.executor.batch import Batch
from headrace.executor.operators import slide_path
from headrace.executor.operators.slide_path import SlidePathOperator
from tests.executor.model import CUTS, Row, check, is_coalesced, ports, walked
from tests.executor.test_path import REGEXES, A
from tests.strategies.amount import examples


def path_of(pattern: Regex) -> SlidePath:
    automaton = minimal_dfa(pattern).with_fresh_start()
    return SlidePath(automaton.states, automaton.transitions, automaton.accepting)


@pytest.mark.parametrize("name", REGEXES)
def test_slide_path_has_the_snapshots_of_a_product_graph_search(name: str) -> None:
    path = path_of(REGEXES[name])
    inputs = 1 + max(number for _, number, *_ in path.transitions)

    @given(rows=ports((2,) * inputs), cuts=CUTS)
    @examples(15)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        operator = SlidePathOperator(path, inputs)
        found = check(operator, partial(walked, path), rows, (2,) * inputs, cuts)
        assert is_coalesced(found)

    holds()


def slide(edges: list[tuple[int, int]], ts: int, exp: int) -> Batch:
    columns = np.array(edges, np.int64).reshape(-1, 2).T
    return Batch(np.ascontiguousarray(columns), np.full(len(edges), ts), np.full(len(edges), exp))


def pairs(batch: Batch) -> list[tuple[int, ...]]:
    return sorted(zip(*batch.columns.tolist(), batch.ts.tolist(), batch.exp.tolist(), strict=True))


def test_a_pair_is_reported_once_per_slide_with_its_final_expiry() -> None:
    operator = SlidePathOperator(path_of(regex.plus(A)), 1)
    first = operator.process([slide([(0, 1), (1, 2)], 10, 30)], True)
    assert pairs(first) == [(0, 1, 10, 30), (0, 2, 10, 30), (1, 2, 10, 30)]
    again = operator.process([slide([(1, 2), (0, 3), (3, 2)], 20, 40)], True)
    assert pairs(again) == [(0, 2, 20, 40), (0, 3, 20, 40), (1, 2, 20, 40), (3, 2, 20, 40)]
    assert len(operator.process([slide([(0, 3)], 20, 40)], True)) == 0
    assert operator.entries == 4
    operator.purge(40)
    assert (operator.entries, operator.nbytes) == (0, 0)


@given(
    edges=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=300),
    cut=st.integers(0, 300),
)
@examples(10)
def test_targets_beyond_the_memory_limit_take_several_passes(
    edges: list[tuple[int, int]], cut: int
) -> None:
    """With room for 64 targets at a time."""

    def found() -> list[list[tuple[int, ...]]]:
        operator = SlidePathOperator(path_of(regex.plus(A)), 1)
        slides = [slide(edges[:cut], 10, 30), slide(edges[cut:], 20, 40)]
        return [pairs(operator.process([each], True)) for each in slides]

    whole = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slide_path, "_SET_BYTES", 0)
        assert found() == whole
