"""Scan inputs: the rows that they select, their validity and their codes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import Coalesce, FilterRows, MergeUnion, WindowScan
from headrace.algebra.plan_parts import PlanError
from headrace.algebra.window import Window
from headrace.executor.dictionary import Dictionary
from headrace.executor.encoding import encode
from headrace.executor.scans import ScanInput, scan_inputs
from tests.executor.plans import plan_of

SCAN = WindowScan("s", "a", 10, 4)


def scan_input(*predicates: str, integer: bool = False) -> ScanInput:
    return ScanInput(0, SCAN, predicates, "integer" if integer else "string")


def edges(*rows: tuple[object, ...]) -> pa.RecordBatch:
    names = ["src", "trg", "label", "ts", "stream"][: len(rows[0])]
    return pa.RecordBatch.from_pydict(
        dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    )


@given(
    ts=st.lists(st.one_of(st.integers(0, 50), st.integers(10**12, 10**12 + 50))),
    window=st.tuples(st.integers(1, 20), st.integers(1, 20)),
)
def test_expiry_follows_definition_30(ts: list[int], window: tuple[int, int]) -> None:
    scan = Window(max(window), min(window))
    expiry = ScanInput(0, WindowScan("s", "a", scan.range, scan.slide), (), "string").expiry
    assert expiry(np.array(ts, np.int64)).tolist() == [scan.expiry(t) for t in ts]


def test_select_filters_by_label_and_predicates() -> None:
    rows = edges(("x", "y", "a", 0), ("x", "y", "b", 0), ("y", "y", "a", 1), ("x", "z", "a", 1))
    assert scan_input().select(rows)["trg"].to_pylist() == ["y", "y", "z"]
    assert scan_input("c0 <> c1", "c1 <> 'z'").select(rows).to_pylist() == [
        {"src": "x", "trg": "y", "label": "a", "ts": 0}
    ]


def test_select_filters_by_stream() -> None:
    rows = edges(("x", "y", "a", 0, "s"), ("x", "z", "a", 0, "t"))
    assert scan_input().select(rows)["trg"].to_pylist() == ["y"]


def test_encode_makes_a_batch_of_codes() -> None:
    dictionary = Dictionary()
    batch = encode(scan_input(), edges(("x", "y", "a", 0), ("y", "x", "a", 5)), dictionary)
    assert [dictionary.decode(c).to_pylist() for c in batch.columns] == [["x", "y"], ["y", "x"]]
    assert batch.ts.tolist() == [0, 5]
    assert batch.exp.tolist() == [10, 14]
    dictionary.purge(13)
    assert dictionary.entries == 2, "both vertices are valid until 14"
    dictionary.purge(14)
    assert dictionary.entries == 0


def test_vertices_must_have_the_declared_type() -> None:
    dictionary = Dictionary()
    words = encode(scan_input(), edges((1, 2, "a", 0)), dictionary)
    assert dictionary.decode(words.columns[0]).to_pylist() == ["1"]
    numbers = encode(scan_input(integer=True), edges((1, 2, "a", 0)), dictionary)
    assert dictionary.decode(numbers.columns[0]).to_pylist() == [1]
    with pytest.raises(ValueError, match=r"stream 's' has integer vertices, .* hold string"):
        encode(scan_input(integer=True), edges(("1", "2", "a", 0)), dictionary)
    with pytest.raises(ValueError, match="are null"):
        encode(scan_input(), edges((None, "2", "a", 0)), dictionary)


def test_a_selection_compares_in_the_declared_type() -> None:
    rows = edges((10, 9, "a", 0), (9, 10, "a", 0))
    assert scan_input("c0 < c1").select(rows)["src"].to_pylist() == [10], "as texts, '10' < '9'"
    assert scan_input("c0 < c1", integer=True).select(rows)["src"].to_pylist() == [9]
    assert scan_input("c0 = '9'").select(rows)["src"].to_pylist() == [9]
    assert scan_input("c0 = '9'", integer=True).select(rows).num_rows == 0


def test_a_plan_has_a_scan_input_for_each_chain_over_a_scan() -> None:
    other = WindowScan("t", "b", 5, 1)
    plan = plan_of(
        [
            (SCAN, ()),
            (FilterRows("c0 = c1"), (0,)),
            (other, ()),
            (FilterRows("c0 <> c1"), (2,)),
            (FilterRows("c0 = 7"), (3,)),
            (MergeUnion(), (2, 4)),
            (FilterRows("c0 = c1"), (5,)),
            (MergeUnion(), (6, 1)),
        ],
        {"t": "integer"},
    )
    assert scan_inputs(plan) == (
        ScanInput(1, SCAN, ("c0 = c1",), "string"),
        ScanInput(2, other, (), "integer"),
        ScanInput(4, other, ("c0 <> c1", "c0 = 7"), "integer"),
    )


def test_a_scan_that_the_root_does_not_read_is_no_scan_input() -> None:
    plan = plan_of([(SCAN, ()), (SCAN, ()), (Coalesce(), (0,)), (Coalesce(), (1,))])
    assert [found.node for found in scan_inputs(plan)] == [1]


def test_a_predicate_that_is_not_allowed_is_refused() -> None:
    plan = plan_of([(SCAN, ()), (FilterRows("c2 = c0"), (0,))])
    with pytest.raises(PlanError, match="c2"):
        scan_inputs(plan)
