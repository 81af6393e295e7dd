"""Operators refuse fields without a meaning, and have one canonical form."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import WScan, WScanUnion
from headrace.algebra.window import Window

A, B = (WScan("s", label, Window(10)) for label in "ab")


def test_a_scan_of_several_labels_is_sorted_without_repeats() -> None:
    assert WScanUnion((B, A, B)).canonical(())[0] == WScanUnion((A, B))
    assert WScanUnion((A, A)).canonical(())[0] == A


@pytest.mark.parametrize(
    "others",
    [
        (),
        (WScan("s", "b", Window(20)),),
        (WScan("t", "b", Window(10)),),
        (WScan("s", "b", Window(10), properties=("p",)),),
    ],
    ids=["one scan", "another window", "another stream", "other columns"],
)
def test_a_scan_of_several_labels_has_one_stream_window_and_set_of_columns(
    others: tuple[WScan, ...],
) -> None:
    with pytest.raises(ValueError, match="one stream, window and set of columns"):
        WScanUnion((A, *others))


def test_a_scan_refuses_a_repeated_property() -> None:
    assert WScan("s", "a", Window(20), properties=("p", "ts")).width(()) == 4
    with pytest.raises(ValueError, match="a property once"):
        WScan("s", "a", Window(20), properties=("p", "p"))
