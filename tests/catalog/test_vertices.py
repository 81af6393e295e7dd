"""Files of vertices: each row is an edge from the vertex to itself."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headrace.catalog import (
    CatalogError,
    EdgeFile,
    EdgeFileError,
    dumps,
    files_of_stream,
    loads,
    measure_files,
    measured_catalog,
)
from headrace.catalog.edges import read

ROWS = [("7", "P", 1, 30), ("é", "P", 1, None), ("7", "Q", 2, 5)]
EDGES = [(v, v, label, ts, age) for v, label, ts, age in ROWS]


def edges_of(file: EdgeFile) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for batch in read(file) for row in batch.edges.to_pylist()]


def csv_of(path: Path, header: str = "id,label,ts,age") -> Path:
    rows = [f"{v},{label},{ts},{'' if age is None else age}" for v, label, ts, age in ROWS]
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    plain = csv_of(tmp_path / "v.csv")
    (tmp_path / "v.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    rows = [dict(zip(("id", "label", "ts", "age"), row, strict=True)) for row in ROWS]
    (tmp_path / "v.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "v.parquet")
    files = [
        EdgeFile(str(plain), vertices=True, properties={"age": "integer"}),
        EdgeFile(str(tmp_path / "v.csv.gz"), vertices=True, properties={"age": "integer"}),
        EdgeFile(str(tmp_path / "v.jsonl"), "json", vertices=True, properties={"age": "integer"}),
        EdgeFile(
            str(tmp_path / "v.parquet"), "parquet", vertices=True, properties={"age": "integer"}
        ),
    ]
    for file in files:
        assert edges_of(file) == EDGES, file.path


def test_vertex_files_take_mapped_columns_and_one_label(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "v.csv", "node,kind,ts,years")
    columns = {"id": "node", "age": "years"}
    file = EdgeFile(
        str(path), label="P", columns=columns, vertices=True, properties={"age": "integer"}
    )
    assert edges_of(file) == [(v, v, "P", ts, age) for v, _, ts, age in ROWS]


@pytest.mark.parametrize(
    ("row", "reason"),
    [(",P,1", "id is empty"), ("7,,1", "label is empty"), ("7,P,-1", "ts -1 is negative")],
)
def test_a_row_without_a_valid_vertex_is_rejected(tmp_path: Path, row: str, reason: str) -> None:
    path = tmp_path / "v.csv"
    path.write_text(f"id,label,ts\n7,P,1\n{row}\n")
    (batch,) = read(EdgeFile(str(path), vertices=True))
    assert batch.edges.num_rows == 1
    assert [(r.line, r.reason, r.text) for r in batch.rejected] == [(3, reason, row)]


def test_vertex_files_need_an_id_column_with_valid_ids(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "v.csv")
    (batch,) = read(EdgeFile(str(path), vertices=True, vertex_type="integer"))
    assert batch.edges.to_pylist()[0] == {"src": 7, "trg": 7, "label": "P", "ts": 1}
    assert batch.rejected[0].reason == "id 'é' is not a whole number"
    edges = tmp_path / "e.csv"
    edges.write_text("src,trg,label,ts\n")
    with pytest.raises(EdgeFileError, match="no column 'id'; it has 'src', 'trg'"):
        list(read(EdgeFile(str(edges), vertices=True)))
    for name in ("id", "src"):
        with pytest.raises(EdgeFileError, match=f"{name} is not a property: every vertex has it"):
            EdgeFile("v.csv", vertices=True, properties={name: "string"})


CATALOG = """\
time_unit: second
streams:
  people:
    source:
      format: csv
      path: PATH
    columns:
      id: node
    vertices: true
    properties:
      age: integer
"""


def test_a_catalog_describes_vertex_files(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "v.csv", "node,label,ts,age")
    catalog = loads(CATALOG.replace("PATH", str(path)))
    assert dumps(catalog) == CATALOG.replace("PATH", str(path))
    files = files_of_stream(catalog.streams["people"], "second")
    assert edges_of(files[0]) == EDGES
    statistics = measure_files(files).statistics["P"]
    assert (
        statistics.rate,
        statistics.distinct_src,
        statistics.distinct_trg,
        statistics.vertices,
    ) == (1, 2, 2, 2)
    assert statistics.distinct_properties == {"age": 1}


def test_invalid_declarations_of_vertices_are_refused() -> None:
    for line, message in [
        ("columns: {src: a}", "src: it is neither one of id, label, ts, op nor among"),
        ("properties: {id: string}", "id: it is not a property: every vertex has it"),
        ("properties: {trg: string}", "trg: it is not a property: every vertex has it"),
    ]:
        with pytest.raises(CatalogError, match=message):
            loads(f"streams: {{p: {{vertices: true, {line}}}}}")


def test_vertex_labels_and_edge_labels_are_separate() -> None:
    label = "{rate: 1, distinct_src: 1, distinct_trg: 1}"
    catalog = loads(
        f"streams: {{e: {{labels: {{L: {label}}}}}, v: {{vertices: true, labels: {{L: {label}}}}}}}"
    )
    assert [s.name for s in catalog.streams_of("L")] == ["e"]
    assert [s.name for s in catalog.streams_of("L", vertices=True)] == ["v"]


def test_undeclared_vertex_files_are_measured(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "v.csv", "id,label,ts,src")
    files = [EdgeFile(str(path), label="P", vertices=True)]
    catalog, _ = measured_catalog(files, now=datetime(2026, 1, 1, tzinfo=UTC))
    (stream,) = catalog.streams.values()
    assert stream.vertices
    assert stream.properties == {}
    assert stream.labels["P"].vertices == 2
