"""When a sweep is due."""

import numpy as np
import pyarrow as pa

from headrace.executor.dictionary import Dictionary
from headrace.executor.schedule import Schedule


def test_sweeps_are_a_part_of_the_longest_validity_apart() -> None:
    schedule = Schedule()
    assert schedule.is_due(0, 1)
    schedule.swept(100, 0, 500)
    assert not schedule.is_due(199, 10)
    assert schedule.is_due(200, 10)


def test_no_sweep_of_an_empty_store_is_due() -> None:
    assert not Schedule().is_due(5, 0)


def test_no_sweep_is_due_if_nearly_no_entry_can_expire() -> None:
    schedule = Schedule()
    schedule.swept(100, 1_000, 100)
    assert not schedule.is_due(10**9, 1_000)
    assert not schedule.is_due(10**9, 1_100)
    assert schedule.is_due(10**9, 1_200)


def test_a_dictionary_of_constants_is_not_swept_repeatedly() -> None:
    dictionary = Dictionary()
    dictionary.constant("a")
    dictionary.tick(5)
    codes = dictionary.encode(pa.array(["a", "b"]), np.array([9, 9]))
    dictionary.tick(20)
    assert dictionary.entries == 1
    assert dictionary.decode(codes[:1]).to_pylist() == ["a"]
