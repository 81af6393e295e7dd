"""Equal values belong to one partition, as values and as codes."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.batch import FOREVER, IntArray
from headrace.executor.dictionary import Dictionary
from headrace.executor.partitions import partitions_of

STRINGS = ["", "a", "1", "01", "né", "日本", "x" * 300, "a\x00b"]
INTEGERS = [0, 1, -1, 2**62, -(2**63), 2**63 - 1]
OF_STRINGS = [0, 1, 6, 0, 5, 6, 3, 3]
OF_INTEGERS = [0, 6, 6, 1, 0, 4]
"""Their partitions of seven: what lies in checkpoints goes by them."""


def encoded(dictionary: Dictionary, vertices: pa.Array[Any]) -> IntArray:
    return dictionary.encode(vertices, np.full(len(vertices), FOREVER))


@given(
    vertices=st.lists(st.one_of(st.text(), st.integers(-(2**63), 2**63 - 1)), min_size=1),
    partitions=st.integers(1, 9),
)
def test_values_and_their_codes_have_the_same_partition(
    vertices: list[str | int], partitions: int
) -> None:
    dictionary = Dictionary()
    for kind, of_kind in ((str, pa.string()), (int, pa.int64())):
        own = pa.array([v for v in vertices if isinstance(v, kind)], of_kind)
        by_value = partitions_of(own, partitions)
        codes = encoded(dictionary, own)
        assert by_value.tolist() == dictionary.partitions(codes, partitions).tolist()
        assert all(0 <= partition < partitions for partition in by_value.tolist())
        assert dict(zip(codes.tolist(), by_value.tolist(), strict=True)) == dict(
            zip(codes.tolist()[::-1], by_value.tolist()[::-1], strict=True)
        )
        assert partitions_of(own[1:], partitions).tolist() == by_value.tolist()[1:]


def test_the_hash_of_partitions_never_changes() -> None:
    assert partitions_of(pa.array(STRINGS), 7).tolist() == OF_STRINGS
    assert partitions_of(pa.array(STRINGS, pa.large_string()), 7).tolist() == OF_STRINGS
    assert partitions_of(pa.chunked_array([STRINGS[:3], STRINGS[3:]]), 7).tolist() == OF_STRINGS
    assert partitions_of(pa.array(INTEGERS), 7).tolist() == OF_INTEGERS
    assert partitions_of(pa.array([0, 1, -1], pa.int32()), 7).tolist() == OF_INTEGERS[:3]


def test_partitions_are_the_same_in_another_process() -> None:
    program = (
        "import pyarrow as pa; from headrace.executor.partitions import partitions_of; "
        f"print(partitions_of(pa.array({STRINGS!r}), 7).tolist())"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str(OF_STRINGS)


@pytest.mark.parametrize("partitions", [2, 3, 8])
def test_vertices_are_spread_evenly(partitions: int) -> None:
    for vertices in (
        pa.array([str(i) for i in range(8_000)]),
        pa.array(range(8_000)),
        pa.array(range(0, 8_000 * 1024, 1024)),
    ):
        counts = Counter(partitions_of(vertices, partitions).tolist())
        assert len(counts) == partitions
        assert min(counts.values()) > 0.85 * 8_000 / partitions


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.5, -0.0, 0.0, math.nan, None, math.inf]),
        pa.array([True, False, None]),
        pa.array(["a", None, ""]),
        pa.nulls(2),
    ],
    ids=str,
)
def test_properties_and_their_codes_have_the_same_partition(values: pa.Array[Any]) -> None:
    dictionary = Dictionary()
    by_value = partitions_of(values, 5)
    assert dictionary.partitions(encoded(dictionary, values), 5).tolist() == by_value.tolist()
    missing = partitions_of(pa.nulls(1), 5)[0]
    assert {by_value[i] for i, v in enumerate(values) if not v.is_valid} <= {missing}


def test_other_types_have_no_partition() -> None:
    with pytest.raises(ValueError, match="not list"):
        partitions_of(pa.array([[1]]), 2)
