"""The dictionary against a Python dict."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.batch import FOREVER
from headrace.executor.dictionary import Dictionary
from tests.strategies.amount import examples

TEXTS = st.one_of(
    st.sampled_from(["", "1", "a", "ab", "b", "a\0", "\0", "ü", "é", "𝄞", "x" * 1_000]),
    st.text(max_size=3),
)
NUMBERS = st.one_of(st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]), st.integers(-9, 9))


def encode(dictionary: Dictionary, vertices: Sequence[str | int], expiry: int = 10) -> list[int]:
    kind = pa.string() if vertices and isinstance(vertices[0], str) else pa.int64()
    codes = dictionary.encode(pa.array(vertices, kind), np.full(len(vertices), expiry, np.int64))
    return [int(code) for code in codes]


def decode(dictionary: Dictionary, codes: list[int]) -> list[str | int]:
    decoded: list[Any] = dictionary.decode(np.array(codes, np.int64)).to_pylist()
    return decoded


@given(batches=st.lists(st.one_of(st.lists(TEXTS, min_size=1), st.lists(NUMBERS, min_size=1))))
@examples(200)
def test_codes_are_equal_if_and_only_if_vertices_are(batches: list[list[str | int]]) -> None:
    dictionary = Dictionary()
    known: dict[str | int, int] = {}
    for batch in batches:
        for vertex, code in zip(batch, encode(dictionary, batch), strict=True):
            assert known.setdefault(vertex, code) == code
    assert sorted(known.values()) == list(range(len(known))), "dense, each for one vertex"
    assert dictionary.entries == len(known)
    assert decode(dictionary, list(known.values())) == list(known)


@given(
    events=st.lists(
        st.tuples(st.one_of(TEXTS, NUMBERS), st.integers(0, 3), st.integers(0, 12)), max_size=80
    )
)
@examples(200)
def test_a_purge_frees_exactly_the_expired_codes(
    events: list[tuple[str | int, int, int]],
) -> None:
    """Vertices come and go; those that are valid keep their codes and their values."""
    dictionary = Dictionary()
    expiries: dict[str | int, int] = {}
    codes: dict[str | int, int] = {}
    now = 0
    for vertex, gap, length in events:
        now += gap
        dictionary.purge(now)
        expiries = {v: e for v, e in expiries.items() if e > now}
        codes = {v: codes[v] for v in expiries}
        assert dictionary.entries == len(expiries)
        (code,) = encode(dictionary, [vertex], now + length)
        assert codes.setdefault(vertex, code) == code
        expiries[vertex] = max(expiries.get(vertex, 0), now + length)
        assert len(set(codes.values())) == len(codes), "no code stands for two"
        assert decode(dictionary, list(codes.values())) == list(codes)


def test_memory_is_bounded_while_vertices_change() -> None:
    dictionary = Dictionary()
    sizes = []
    for now in range(400):
        vertices = [f"vertex number {now * 50 + i} of many" for i in range(200)]
        codes = encode(dictionary, vertices, now + 5)
        assert decode(dictionary, codes) == vertices
        assert max(codes) < 4_000, "codes are used again"
        dictionary.tick(now)
        sizes.append(dictionary.nbytes)
    assert max(sizes[20:]) <= 1.5 * max(sizes[:20])
    dictionary.purge(500)
    assert dictionary.entries == 0


def test_many_vertices_in_one_batch() -> None:
    dictionary = Dictionary()
    vertices = [f"v{i % 30_000}" for i in range(50_000)]
    codes = encode(dictionary, vertices)
    assert dictionary.entries == 30_000
    assert decode(dictionary, codes) == vertices


def test_a_constant_never_expires() -> None:
    dictionary = Dictionary()
    code, number = dictionary.constant("5"), dictionary.constant(5)
    assert code != number
    dictionary.purge(10**15)
    assert decode(dictionary, [code, number]) == ["5", 5]
    assert encode(dictionary, ["5"]) == [code]
    dictionary.purge(10**15)
    assert decode(dictionary, [code]) == ["5"]
    assert dictionary.constant("5") == code


def test_arrays_of_all_arrow_types_of_vertices_are_encoded() -> None:
    """All of Arrow's strings and integers, also sliced, chunked and dictionary-encoded."""
    dictionary = Dictionary()
    codes = encode(dictionary, ["b", "a", "b"])
    expiries = np.full(3, 10, np.int64)
    words = pa.array(["x", "b", "a", "b"])
    for array in (
        words.slice(1),
        words.slice(1).cast(pa.large_string()),
        words.slice(1).dictionary_encode(),
        pa.chunked_array([["b"], ["a", "b"]]),
        pa.chunked_array(
            [pa.array(["b", "a"]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]
        ),
    ):
        assert dictionary.encode(array, expiries).tolist() == codes
    numbers = encode(dictionary, [7, 8, 7])
    for kind in (pa.int8(), pa.int32(), pa.uint64()):
        assert dictionary.encode(pa.array([7, 8, 7], kind), expiries).tolist() == numbers
    assert dictionary.encode(pa.array([], pa.string()), expiries[:0]).tolist() == []


def test_decoded_types() -> None:
    dictionary = Dictionary()
    words, numbers = encode(dictionary, ["1", "2"]), encode(dictionary, [1])
    assert dictionary.decode(np.array(words)).type == pa.string()
    assert dictionary.decode(np.array(numbers)).type == pa.int64()
    assert decode(dictionary, [words[0], numbers[0], words[1], words[0]]) == ["1", 1, "2", "1"]
    assert decode(dictionary, []) == []


def test_a_type_that_is_no_value_type_is_refused() -> None:
    dictionary = Dictionary()
    expiry = np.array([FOREVER])
    with pytest.raises(ValueError, match="not list"):
        dictionary.encode(pa.array([[1]]), expiry)
    with pytest.raises(ValueError, match="2 values but 1 expiries"):
        dictionary.encode(pa.array(["a", "b"]), expiry)
    with pytest.raises(ValueError, match="18446744073709551615"):
        dictionary.encode(pa.array([2**64 - 1], pa.uint64()), expiry)
    assert dictionary.entries == 0


FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 2.0**63]),
    st.floats(),
)
COLUMNS: dict[Any, st.SearchStrategy[Any]] = {
    pa.string(): TEXTS,
    pa.int64(): NUMBERS,
    pa.float64(): FLOATS,
    pa.bool_(): st.booleans(),
    pa.null(): st.none(),
}
BATCHES = st.sampled_from([*COLUMNS]).flatmap(
    lambda kind: st.tuples(
        st.just(kind), st.lists(st.none() | COLUMNS[kind], min_size=1, max_size=8)
    )
)


def same(value: Any) -> object:
    """What is equal if and only if values are: they differ by type, but NaN is missing."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return None if missing else (type(value), value)


@given(batches=st.lists(BATCHES, max_size=8))
@examples(200)
def test_values_of_all_types_round_trip(batches: list[tuple[Any, list[Any]]]) -> None:
    """Codes are equal where values are, and give them back, also mixed; after a purge, too."""
    dictionary = Dictionary()
    expiry = 10
    for now in (0, 10):
        dictionary.purge(now)
        assert dictionary.entries == 0
        known: dict[object, int] = {}
        values: list[Any] = []
        codes: list[int] = []
        for kind, column in batches:
            given_codes = dictionary.encode(
                pa.array(column, kind), np.full(len(column), now + expiry, np.int64)
            ).tolist()
            decoded = dictionary.decode(np.array(given_codes))
            assert decoded.type in (kind, pa.null())
            assert [*map(same, decoded.to_pylist())] == [*map(same, column)]
            for value, code in zip(column, given_codes, strict=True):
                assert known.setdefault(same(value), code) == code
            values += column
            codes += given_codes
        assert len(set(known.values())) == len(known) == dictionary.entries
        mixed = dictionary.decode(np.array(codes, np.int64))
        assert [*map(same, mixed.to_pylist())] == [*map(same, values)]


def test_negative_zero_equals_zero() -> None:
    dictionary = Dictionary()
    codes = dictionary.encode(pa.array([0.0, -0.0]), np.full(2, 9))
    assert codes[0] == codes[1]
    assert math.copysign(1, dictionary.decode(codes[:1])[0].as_py()) == 1


def test_are_vertices_is_false_for_numbers_booleans_and_missing_values() -> None:
    dictionary = Dictionary()
    words, numbers = encode(dictionary, ["a"]), encode(dictionary, [1])
    assert dictionary.are_vertices(np.array(words + numbers))
    other = dictionary.encode(pa.array([1.5, None]), np.full(2, 9)).tolist()
    assert dictionary.are_vertices(np.array(words + numbers))
    assert not dictionary.are_vertices(np.array(words + other[:1]))
    assert not dictionary.are_vertices(np.array(other[1:]))
    for value in ("a", 1, 1.5, None, True):
        assert decode(dictionary, [dictionary.constant(value)]) == [value]
