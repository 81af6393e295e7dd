"""Composed strings of the dictionary: they equal the strings of the same text."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.dictionary import Dictionary
from headrace.executor.kernels import composed
from headrace.executor.kernels.tables import EMPTY
from headrace.executor.kernels.vertices import hash_of_string
from headrace.executor.operators.path_texts import Elements
from tests.strategies.amount import examples

ELEMENTS = st.sampled_from(["1", '"a"', '"ü"', "[1]", '["a"]', ""])
TIMES = st.integers(1, 30)
STEPS = st.one_of(
    st.tuples(st.just("compose"), st.integers(0, 9), ELEMENTS, TIMES),
    st.tuples(st.just("encode"), st.integers(0, 9), ELEMENTS, TIMES),
    st.tuples(st.sampled_from(["purge", "write out"]), st.just(0), st.just(""), TIMES),
)


def encoded(dictionary: Dictionary, text: str, until: int) -> int:
    return int(dictionary.encode(pa.array([text]), np.array([until], np.int64))[0])


def compose(dictionary: Dictionary, before: int, text: str, element: str, until: int) -> int:
    """The code of a list ``text``, which ends with ``element``."""
    last = encoded(dictionary, element, until)
    parts = Elements.of([(pa.array([text]), np.array([last], np.int64))])
    length = len(text.encode())
    hashed = hash_of_string(parts.rolls[0], length)
    table = dictionary.arrays(1, length)
    return int(composed.code_of_list(table, before, last, length, hashed, until))


@given(steps=st.lists(STEPS, max_size=60))
@examples(150)
def test_equal_texts_have_equal_codes_however_they_are_made(
    steps: list[tuple[str, int, str, int]],
) -> None:
    dictionary = Dictionary()
    codes: dict[str, int] = {}
    until: dict[str, int] = {}
    for step, number, element, time in steps:
        before = [*sorted(text for text in codes if text.startswith("[")), None][: 1 + number][
            -1
        ]  # an existing list, or none
        text = f"[{element}]" if before is None else f"{before[:-1]},{element}]"
        if step == "purge":
            dictionary.purge(time)
            until = {text: end for text, end in until.items() if end > time}
            codes = {text: codes[text] for text in until}
        elif step == "write out":
            assert len(dictionary.strings)
        else:
            if step == "compose":
                before_code = EMPTY if before is None else codes[before]
                code = compose(dictionary, before_code, text, element, time)
            else:
                code = encoded(dictionary, text, time)
            assert codes.setdefault(text, code) == code
            until[text] = max(until.get(text, 0), time)
        assert len(set(codes.values())) == len(codes)
        held = dictionary.decode(np.array([*codes.values()], np.int64)).to_pylist()
        assert held == [*codes]
    for text, code in codes.items():
        assert encoded(dictionary, text, 40) == code


def test_a_list_keeps_its_parts_beyond_their_own_expiry() -> None:
    dictionary = Dictionary()
    first = compose(dictionary, EMPTY, '["a"]', '"a"', 5)
    second = compose(dictionary, first, '["a","b"]', '"b"', 5)
    third = compose(dictionary, second, '["a","b","c"]', '"c"', 5)
    dictionary.hold(np.array([third], np.int64), np.array([50], np.int64))
    for now in (10, 20):
        dictionary.purge(now)
        for k in range(200):  # takes freed codes
            encoded(dictionary, f"{now} {k}", now + 5)
        (text,) = dictionary.decode(np.array([third], np.int64)).to_pylist()
        assert json.loads(str(text)) == ["a", "b", "c"]
    dictionary.purge(60)
    assert dictionary.entries == 0
