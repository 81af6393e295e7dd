"""Properties of edges: declared in catalogs, inferred from files, read in every format."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.values import PropertyType
from headrace.catalog import (
    CatalogError,
    EdgeFile,
    EdgeFileError,
    Layout,
    dump,
    dumps,
    files_of_inputs,
    files_of_stream,
    load,
    loads,
    measured_catalog,
)
from headrace.catalog.edges import format_of, read
from headrace.catalog.schema_inference import inferred_schema
from tests.strategies.amount import examples

TYPES: Mapping[str, PropertyType] = {
    "name": "string",
    "count": "integer",
    "weight": "number",
    "new": "boolean",
}
ROWS: list[tuple[object, ...]] = [
    ("1", "2", "a", 5, "x", 7, 1.5, True),
    ("1", "3", "a", 6, "é", -(2**63), -1e300, False),
    ("1", "4", "a", 7, None, None, None, None),
    ("1", "5", "a", 8, "1", 0, 3.0, True),
]
NAMES = ["src", "trg", "label", "ts", *TYPES]


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def as_csv(rows: list[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([NAMES, *rows])
    return text.getvalue()


def as_json(rows: list[tuple[object, ...]]) -> str:
    return "".join(
        json.dumps({k: v for k, v in zip(NAMES, row, strict=True) if v is not None}) + "\n"
        for row in rows
    )


def values_of(file: EdgeFile) -> list[tuple[object, ...]]:
    return [
        tuple(row.values()) for batch in read(file, strict=True) for row in batch.edges.to_pylist()
    ]


def reasons_of(file: EdgeFile) -> list[tuple[int, str]]:
    return [(r.line, r.reason) for batch in read(file) for r in batch.rejected]


def test_every_format_gives_the_same_values(tmp_path: Path) -> None:
    table = pa.table({n: [row[i] for row in ROWS] for i, n in enumerate(NAMES)})
    pq.write_table(table, tmp_path / "x.parquet")
    paths = [
        written(tmp_path, "x.csv", as_csv(ROWS)),
        written(tmp_path, "x.jsonl", as_json(ROWS)),
        str(tmp_path / "x.parquet"),
    ]
    for path in paths:
        file = EdgeFile(path, format_of(path), properties=TYPES)
        assert values_of(file) == ROWS, path
        assert file.schema.names == NAMES
        assert inferred_schema([EdgeFile(path, format_of(path))]).properties == TYPES, path


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False),
            st.booleans(),
        ).map(tuple),
        max_size=6,
    )
)
@examples(30)
def test_values_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[object, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("values")
    rows = [("1", "2", "a", ts, *row) for ts, row in enumerate(values)]
    for path in (
        written(folder, "x.csv", as_csv(rows)),
        written(folder, "x.jsonl", as_json(rows)),
    ):
        assert values_of(EdgeFile(path, format_of(path), properties=TYPES)) == rows


def test_values_of_another_type_reject_their_row(tmp_path: Path) -> None:
    bad = [
        ("1", "2", "a", 5, "x", "7.5", 1, True),
        ("1", "2", "a", 5, "x", 7, "much", True),
        ("1", "2", "a", 5, "x", 7, 1, "1"),
        ("1", "2", "a", 5, "", "", "", ""),
        ("1", "2", "a", 5, "nan", 2**63, "NaN", "TRUE"),
        ("1", "2", "a", 5, " ", " 7 ", " inf ", "False"),
    ]
    file = EdgeFile(written(tmp_path, "x.csv", as_csv([*bad])), properties=TYPES)
    assert reasons_of(file) == [
        (2, "count '7.5' is not a whole number"),
        (3, "weight 'much' is not a number"),
        (4, "new '1' is not true or false"),
        (6, "count '9223372036854775808' is not a whole number"),
    ]
    edges = [tuple(r.values()) for b in read(file) for r in b.edges.to_pylist()]
    assert [row[4:] for row in edges] == [(None,) * 4, (" ", 7, math.inf, False)]


def test_json_names_the_member_of_another_type(tmp_path: Path) -> None:
    lines = '{"src": 1, "trg": 2, "label": "a", "ts": 1, "name": [1]}\n'
    lines += '{"src": 1.5, "trg": 2, "label": "a", "ts": 1}\n'
    lines += '{"src": 1, "trg": 2, "label": "a", "ts": 1, "name": true, "weight": NaN}\n'
    file = EdgeFile(written(tmp_path, "x.jsonl", lines), "json", properties=TYPES)
    assert reasons_of(file) == [
        (1, "name is [1]: expected text or a single value"),
        (2, "src is 1.5: expected text or a whole number"),
    ]
    (row,) = (row for batch in read(file) for row in batch.edges.to_pylist())
    assert (row["name"], row["weight"]) == ("true", None)


def test_parquet_columns_become_properties_of_their_types(tmp_path: Path) -> None:
    when = datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
    table = pa.table(
        {
            "src": [1, 1],
            "trg": [2, 2],
            "ts": [0, 0],
            "count": pa.array([3.0, math.nan]),
            "weight": pa.array([2, None], pa.int8()),
            "name": pa.array([True, None]),
            "when": pa.array([when, None], pa.timestamp("ms", "UTC")),
            "list": [[1], [2]],
        }
    )
    path = str(tmp_path / "x.parquet")
    pq.write_table(table, path)
    types: dict[str, PropertyType] = {
        "count": "integer",
        "weight": "number",
        "name": "string",
        "when": "integer",
        "absent": "boolean",
    }
    rows = values_of(EdgeFile(path, "parquet", "a", properties=types))
    assert rows == [
        ("1", "2", "a", 0, 3, 2.0, "true", 60, None),
        ("1", "2", "a", 0, None, None, None, None, None),
    ]
    with pytest.raises(EdgeFileError, match=r"column 'list' is list.*: a property is a single"):
        values_of(EdgeFile(path, "parquet", "a", properties={"list": "string"}))


def test_a_property_may_have_a_column_of_another_name(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "1,2,9,0\n")
    columns = {"src": "_c0", "trg": "_c1", "ts": "_c3", "weight": "_c2"}
    file = EdgeFile(path, "csv", "a", columns, header=False, properties={"weight": "number"})
    assert values_of(file) == [("1", "2", "a", 0, 9.0)]
    other = EdgeFile(path, "csv", "a", {**columns, "weight": "w"}, False, properties=TYPES)
    with pytest.raises(EdgeFileError, match="no column 'w' for weight"):
        values_of(other)
    with pytest.raises(EdgeFileError, match="ts is not a property: every edge has it"):
        EdgeFile(path, properties={"ts": "integer"})


CATALOG = """\
streams:
  s:
    source: {format: csv, path: x.csv}
    columns: {weight: w}
    properties: {weight: number, name: string}
    labels:
      a: {rate: 1, distinct_src: 2, distinct_trg: 3, distinct_properties: {weight: 4}}
"""


def test_a_catalog_declares_properties(tmp_path: Path) -> None:
    catalog = loads(CATALOG)
    stream = catalog.streams["s"]
    assert stream.properties == {"weight": "number", "name": "string"}
    assert stream.labels["a"].distinct_properties == {"weight": 4}
    assert loads(dumps(catalog)) == catalog
    written(tmp_path, "x.csv", "src,trg,ts,w,name\n1,2,3,0.5,\n")
    written(tmp_path, "c.yaml", CATALOG.replace("labels:", "label: a\n    labels:"))
    (file,) = files_of_stream(load(tmp_path / "c.yaml").streams["s"], "second")
    assert values_of(file) == [("1", "2", "a", 3, 0.5, None)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "number",
            "float",
            r"catalog:5: streams.s.properties.weight: expected string, integer",
        ),
        ("columns: {weight", "columns: {wieght", "columns.wieght: it is neither one of src, trg"),
        ("name: string", "ts: integer", "properties.ts: it is not a property: every edge has it"),
        ("{weight: 4}", "{w: 4}", "labels.a.distinct_properties.w: it is not among the properties"),
        ("{weight: 4}", "{weight: -4}", "expected at least 0"),
    ],
)
def test_invalid_properties_are_refused(old: str, new: str, message: str) -> None:
    assert old in CATALOG
    with pytest.raises(CatalogError, match=message):
        loads(CATALOG.replace(old, new))


def test_further_columns_of_files_are_inferred_as_properties(tmp_path: Path) -> None:
    one = written(tmp_path, "a.csv", "src,trg,ts,w,new,_x\n1,2,3,5,true,1\n1,2,4,,false,1\n")
    two = written(tmp_path, "b.csv", "src,trg,ts,w,name\n1,2,3,0.5,n\n1,2,9,0.5,\n")
    catalog, (measurement,) = measured_catalog(files_of_inputs([f"a={one}", f"b={two}"]))
    stream = catalog.streams["input"]
    assert stream.properties == {"w": "number", "new": "boolean", "name": "string"}
    assert measurement.statistics["a"].distinct_properties == {"name": 0, "new": 2, "w": 1}
    assert measurement.statistics["b"].distinct_properties == {"name": 1, "new": 0, "w": 1}
    dump(catalog, tmp_path / "c.yaml")
    again = load(tmp_path / "c.yaml").streams["input"]
    assert (again.properties, again.labels) == (stream.properties, stream.labels)
    rows = [row[2:] for f in files_of_stream(again, "second") for row in values_of(f)]
    assert rows == [
        ("a", 3, None, True, 5.0),
        ("a", 4, None, False, None),
        ("b", 3, "n", None, 0.5),
        ("b", 9, None, None, 0.5),
    ]


def test_named_fields_of_files_without_a_header_are_inferred(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "1 2 x 7 3\n")
    files = files_of_inputs([f"a={path}"], Layout.of("src,trg,_,count,ts", " "))
    catalog, _ = measured_catalog(files)
    stream = catalog.streams["input"]
    assert stream.properties == {"count": "integer"}
    assert stream.columns == {"src": "_c0", "trg": "_c1", "count": "_c3", "ts": "_c4"}
    (file,) = files_of_stream(stream, "second")
    assert values_of(file) == [("1", "2", "a", 3, 7)]


def test_the_catalog_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "running.md").read_text()
    text, *others = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    stream = loads(text).streams["payments"]
    assert stream.properties["amount"] == "number"
    assert stream.columns["amount"] == "value"
    # Further ones show a stream of it, or a whole catalog.
    whole = [o if o.startswith(("streams:", "sinks:")) else f"streams:\n{o}" for o in others]
    shown = [loads(f"streams: {{s: {{}}}}\n{o}" if o.startswith("sinks:") else o) for o in whole]
    streams = {name: stream for one in shown for name, stream in one.streams.items()}
    sinks = {name: sink for one in shown for name, sink in one.sinks.items()}
    assert streams["people"].vertices
    callers = streams["callers"].source
    assert callers is not None
    assert callers.of_graphs
    assert streams["people"].columns == {"id": "nodeid"}
    assert {name: sink.format for name, sink in sinks.items()} == {
        "archive": "parquet", "answers": "kafka", "lake": "delta"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "others", "message"),
    [
        (99, ["n/a"], "of 100 values 99 are numbers, but 'n/a' is none. A catalog can say"),
        (95, ["", "-", "?"], "of 97 values 95 are numbers, but '-' is none"),
        (50, ["n/a"] * 50, None),
        (0, ["x", "y"], None),
        (10, [], None),
    ],
)
def test_text_that_is_nearly_all_numbers_gets_a_warning(
    tmp_path: Path, numbers: int, others: list[str], message: str | None
) -> None:
    values = [*map(str, range(numbers)), *others]
    csv, lines = tmp_path / "x.csv", tmp_path / "x.jsonl"
    csv.write_text("src,trg,ts,n\n" + "".join(f"1,2,3,{value}\n" for value in values))
    rows = [{"src": 1, "trg": 2, "ts": 3, "n": value} for value in values]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for path in (csv, lines):
        schema = inferred_schema([EdgeFile(str(path), format_of(str(path)))])
        if message is None:
            assert schema.warnings == ()
        else:
            assert schema.properties == {"n": "string"}
            (warning,) = schema.warnings
            assert message in warning
            assert warning.startswith("the property n is read as text")


def test_text_in_one_of_several_files_gets_a_warning(tmp_path: Path) -> None:
    for name, last in (("a", "7"), ("b", "none")):
        rows = "".join(f"1,2,3,{k}\n" for k in range(20))
        (tmp_path / f"{name}.csv").write_text(f"src,trg,ts,n\n{rows}1,2,3,{last}\n")
    files = [EdgeFile(str(tmp_path / f"{name}.csv"), label="a") for name in ("a", "b")]
    catalog, (measured,) = measured_catalog(files)
    assert catalog.streams["input"].properties == {"n": "string"}
    assert "of 42 values 41 are numbers, but 'none' is none" in measured.warnings[0]
