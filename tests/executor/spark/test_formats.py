"""Results as bytes say what the rows say."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from executor.spark.formats import PartFormat, ResultShape, result_writer
from executor.spark.names import ColumnType, column_names

Row = tuple[str | int | None, ...]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
VALUES = {
    "text": TEXT,
    "integers": st.integers(-(2**63), 2**63 - 1),
    "mixed": TEXT | st.integers(-5, 5),
}
TIMES = st.integers(0, 2**62)


def batch_of(rows: Sequence[Row], names: Sequence[str]) -> pa.RecordBatch:
    """Rows as a stage puts them out."""
    columns = [column_of([row[i] for row in rows]) for i in range(len(names))]
    ends = [pa.array([row[i] for row in rows], pa.int64()) for i in (-2, -1)]
    return pa.RecordBatch.from_arrays([*columns, *ends], [*names, "ts", "exp"])


def column_of(values: Sequence[str | int | None]) -> pa.Array[Any]:
    """Text, integers, or a dense union where both occur, as the dictionary decodes."""
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
    types: list[ColumnType] = ["integer" if kind == "integers" else "string" for kind in kinds]
    shape = ResultShape(columns, column_names(columns), tuple(types))
    return shape, draw(st.lists(st.lists(row, min_size=1, max_size=5), max_size=3))


@given(case=cases())
def test_json_lines(case: tuple[ResultShape, list[list[Row]]]) -> None:
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


@given(case=cases())
def test_parquet(case: tuple[ResultShape, list[list[Row]]]) -> None:
    shape, batches = case
    data = written("parquet", shape, [batch_of(rows, shape.names) for rows in batches])
    table = pq.read_table(io.BytesIO(data))
    assert table.schema.equals(shape.schema)
    found = [tuple(row.values()) for row in table.to_pylist()]
    assert found == [as_typed(row, shape) for rows in batches for row in rows]


@given(case=cases())
def test_csv(case: tuple[ResultShape, list[list[Row]]]) -> None:
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


def test_names_are_distinct() -> None:
    assert column_names(("x", "y", "x", "ts", "x_2", "exp")) == (
        "x",
        "y",
        "x_2",
        "ts_2",
        "x_2_2",
        "exp_2",
    )
