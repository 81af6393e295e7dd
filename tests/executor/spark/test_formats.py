"""Files of results have the rows, in every format."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.values import PropertyType
from headrace.executor.dictionary import Dictionary
from headrace.executor.spark.exchange.names import column_names
from headrace.executor.spark.results.formats import PartFormat, ResultShape, result_writer

Row = tuple[str | int | None, ...]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
VALUES = {
    "text": TEXT,
    "integers": st.integers(-(2**63), 2**63 - 1),
    "mixed": TEXT | st.integers(-5, 5),
}
TIMES = st.integers(0, 2**62)


def batch_of(rows: Sequence[Row], names: Sequence[str]) -> pa.RecordBatch:
    """Rows as the last stage gives them."""
    columns = [column_of([row[i] for row in rows]) for i in range(len(names))]
    ends = [pa.array([row[i] for row in rows], pa.int64()) for i in (-2, -1)]
    return pa.RecordBatch.from_arrays([*columns, *ends], [*names, "ts", "exp"])


def column_of(values: Sequence[str | int | None]) -> pa.Array[Any]:
    """Text, integers, or a dense union of both, as the dictionary decodes."""
    texts = [value for value in values if isinstance(value, str)]
    integers = [value for value in values if isinstance(value, int)]
    if not integers:
        return pa.array(texts, pa.string())
    if not texts:
        return pa.array(integers, pa.int64())
    kinds = [0 if isinstance(value, str) else 1 for value in values]
    offsets = [kinds[:i].count(kind) for i, kind in enumerate(kinds)]
    parts: list[pa.Array[Any]] = [pa.array(texts, pa.string()), pa.array(integers, pa.int64())]
    return pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), parts
    )


def written(
    file_format: PartFormat, shape: ResultShape, batches: Sequence[pa.RecordBatch]
) -> bytes:
    file = io.BytesIO()
    writer = result_writer(file_format, shape, file)
    for batch in batches:
        writer.write(batch)
    writer.close()
    return file.getvalue()


@st.composite
def cases(draw: st.DrawFn) -> tuple[ResultShape, list[list[Row]]]:
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), max_size=3))
    columns = tuple(draw(st.lists(TEXT, min_size=len(kinds), max_size=len(kinds), unique=True)))
    row = st.tuples(*(VALUES[kind] for kind in kinds), TIMES, st.none() | TIMES)
    types: list[PropertyType] = ["integer" if kind == "integers" else "string" for kind in kinds]
    shape = ResultShape(columns, column_names(columns), tuple(types))
    return shape, draw(st.lists(st.lists(row, min_size=1, max_size=5), max_size=3))


@given(case=cases())
def test_json_lines_have_the_rows(case: tuple[ResultShape, list[list[Row]]]) -> None:
    shape, batches = case
    data = written("jsonl", shape, [batch_of(rows, shape.names) for rows in batches])
    lines = data.decode().split("\n")
    assert lines.pop() == ""
    expected = [
        {"bindings": dict(zip(shape.columns, row, strict=False)), "ts": row[-2], "exp": row[-1]}
        for rows in batches
        for row in rows
    ]
    assert [json.loads(line) for line in lines] == expected
    # Key order, spaces and all: the very text of the interface's example.
    assert lines == [json.dumps(document, ensure_ascii=False) for document in expected]


def test_retractions_have_an_op_column() -> None:
    shape = ResultShape(("x", "y"), ("x", "y"), ("string", "integer"), deletions=True)
    rows = [("a", 1, 5, 35), ("a", 1, 12, ~35), ("b", 2, 13, None)]
    batch = batch_of(rows, shape.names)
    assert written("jsonl", shape, [batch]).decode().splitlines() == [
        '{"bindings": {"x": "a", "y": 1}, "ts": 5, "exp": 35}',
        '{"op": "-", "bindings": {"x": "a", "y": 1}, "ts": 12}',
        '{"bindings": {"x": "b", "y": 2}, "ts": 13, "exp": null}',
    ]
    nothing = ResultShape((), (), (), deletions=True)
    assert written("jsonl", nothing, [batch_of([(1, 9), (4, ~9)], ())]).decode().splitlines() == [
        '{"bindings": {}, "ts": 1, "exp": 9}',
        '{"op": "-", "bindings": {}, "ts": 4}',
    ]
    assert written("csv", shape, [batch]).decode().splitlines() == [
        '"x","y","ts","exp","op"',
        '"a",1,5,35,"+"',
        '"a",1,12,,"-"',
        '"b",2,13,,"+"',
    ]
    table = pq.read_table(io.BytesIO(written("parquet", shape, [batch])))
    assert [(r["ts"], r["exp"], r["op"]) for r in table.to_pylist()] == [
        (5, 35, "+"),
        (12, None, "-"),
        (13, None, "+"),
    ]


def test_paths_are_arrays_in_json_lines() -> None:
    shape = ResultShape(
        ("p", "x", "q"), ("p", "x", "q"), ("string",) * 3, paths=frozenset({0, 2})
    )  # fmt: skip
    first, second = '[["1","a","4"]]', '[["4","^b","say \\"7\\""]]'
    batch = batch_of([(first, "1", second, 5, 35)], shape.names)
    assert written("jsonl", shape, [batch]).decode() == (
        f'{{"bindings": {{"x": "1"}}, "paths": {{"p": {first}, "q": {second}}}, '
        '"ts": 5, "exp": 35}\n'
    )
    alone = ResultShape(("p",), ("p",), ("string",), paths=frozenset({0}))
    assert written("jsonl", alone, [batch_of([(first, 5, None)], ("p",))]).decode() == (
        f'{{"bindings": {{}}, "paths": {{"p": {first}}}, "ts": 5, "exp": null}}\n'
    )
    line = written("csv", shape, [batch]).decode().splitlines()[1]
    assert next(csv.reader([line])) == [first, "1", second, "5", "35"]
    table = pq.read_table(io.BytesIO(written("parquet", shape, [batch])))
    assert table.to_pylist() == [{"p": first, "x": "1", "q": second, "ts": 5, "exp": 35}]


def test_lists_are_arrays_where_the_format_has_them() -> None:
    names = ("x", "s", "n")
    shape = ResultShape(names, names, ("string", "strings", "numbers"))
    texts = '["a\\"b","c"]', "[1,2.5,1e999]"
    batch = batch_of([("u", *texts, 5, 35), ("v", "[]", "[]", 6, None)], names)
    assert written("jsonl", shape, [batch]).decode() == (
        f'{{"bindings": {{"x": "u", "s": {texts[0]}, "n": {texts[1]}}}, "ts": 5, "exp": 35}}\n'
        '{"bindings": {"x": "v", "s": [], "n": []}, "ts": 6, "exp": null}\n'
    )
    line = written("csv", shape, [batch]).decode().splitlines()[1]
    assert next(csv.reader([line])) == ["u", *texts, "5", "35"]
    expected = [
        {"x": "u", "s": ['a"b', "c"], "n": [1.0, 2.5, math.inf], "ts": 5, "exp": 35},
        {"x": "v", "s": [], "n": [], "ts": 6, "exp": None},
    ]
    table = pq.read_table(io.BytesIO(written("parquet", shape, [batch])))
    assert table.to_pylist() == expected
    assert table.schema.field("n").type == pa.list_(pa.float64())
    again = shape.nested(shape.flat(batch))
    assert again["s"].to_pylist() == [texts[0], "[]"]
    assert again["n"].to_pylist() == ["[1.0,2.5,1e999]", "[]"]
    messages = written("messages", shape, [batch])
    (key, _) = pq.read_table(io.BytesIO(messages))["key"].to_pylist()
    assert json.loads(str(key)) == {"x": "u", "s": ['a"b', "c"], "n": [1, 2.5, math.inf]}


def test_a_list_of_several_types_is_a_list_of_texts() -> None:
    shape = ResultShape(("s",), ("s",), ("strings",))
    rows = shape.flat(batch_of([('["a",1,true]', 5, 35)], ("s",)))
    assert rows.to_pylist() == [{"s": ["a", "1", "true"], "ts": 5, "exp": 35}]


@given(case=cases())
def test_parquet_has_the_rows(case: tuple[ResultShape, list[list[Row]]]) -> None:
    shape, batches = case
    data = written("parquet", shape, [batch_of(rows, shape.names) for rows in batches])
    table = pq.read_table(io.BytesIO(data))
    assert table.schema.equals(shape.schema)
    found = [tuple(row.values()) for row in table.to_pylist()]
    assert found == [as_typed(row, shape) for rows in batches for row in rows]


@given(case=cases())
def test_csv_has_the_rows(case: tuple[ResultShape, list[list[Row]]]) -> None:
    shape, batches = case
    data = written("csv", shape, [batch_of(rows, shape.names) for rows in batches])
    header, *found = csv.reader(io.StringIO(data.decode(), newline=""))
    assert header == shape.schema.names
    expected = [
        ["" if value is None else str(value) for value in row] for rows in batches for row in rows
    ]
    assert found == expected


def as_typed(row: Row, shape: ResultShape) -> Row:
    *values, ts, exp = row
    return (
        *(v if t == "integer" else str(v) for v, t in zip(values, shape.types, strict=True)),
        ts,
        exp,
    )


def test_properties_of_all_types_are_written() -> None:
    """Columns of mixed types and of missing values are written too."""
    dictionary = Dictionary()
    columns: list[pa.Array[Any]] = [
        pa.array([1.0, 0.1, -math.inf, None, 2.0**60]),
        pa.array([True, False, None, None, True]),
        pa.array(["1", None, 'q"', "", "\\"]),
        pa.nulls(5),
        pa.nulls(5),
    ]
    codes = [dictionary.encode(column, np.full(5, 9)) for column in columns]
    numbers = dictionary.encode(pa.array([7, None, 2**60]), np.full(3, 9))
    codes[3] = np.concatenate([codes[0][:2], numbers])
    rows = pa.RecordBatch.from_arrays(
        [*map(dictionary.decode, codes), pa.array([0] * 5), pa.array([9, None, 9, 9, 9])],
        ["n", "b", "s", "m", "z", "ts", "exp"],
    )
    names = ("n", "b", "s", "m", "z")
    shape = ResultShape(names, names, ("number", "boolean", "string", "number", "integer"))
    lines = written("jsonl", shape, [rows]).decode().splitlines()
    assert lines[0] == (
        '{"bindings": {"n": 1.0, "b": true, "s": "1", "m": 1.0, "z": null}, "ts": 0, "exp": 9}'
    )
    found = [list(json.loads(line)["bindings"].values()) for line in lines]
    expected = [
        [1.0, True, "1", 1.0, None],
        [0.1, False, None, 0.1, None],
        [-math.inf, None, 'q"', 7, None],
        [None, None, "", None, None],
        [2.0**60, True, "\\", 2**60, None],
    ]
    assert found == expected
    table = pq.read_table(io.BytesIO(written("parquet", shape, [rows])))
    assert table.schema.types[:5] == [
        pa.float64(),
        pa.bool_(),
        pa.string(),
        pa.float64(),
        pa.int64(),
    ]
    assert [list(row.values())[:5] for row in table.to_pylist()] == expected
    _, *fields = csv.reader(io.StringIO(written("csv", shape, [rows]).decode(), newline=""))
    assert fields[1][1:] == ["false", "", "0.1", "", "0", ""]
    assert [float(row[0]) for row in fields if row[0]] == [1.0, 0.1, -math.inf, 2.0**60]


def test_column_names_are_distinct() -> None:
    assert column_names(("x", "y", "x", "ts", "x_2", "exp")) == (
        "x",
        "y",
        "x_2",
        "ts_2",
        "x_2_2",
        "exp_2",
    )
