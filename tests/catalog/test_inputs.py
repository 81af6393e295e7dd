"""Inputs of the command line and streams of a catalog: the same files either way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headrace.catalog import (
    CatalogError,
    EdgeFile,
    EdgeFileError,
    Layout,
    Source,
    Stream,
    dump,
    files_of_inputs,
    files_of_stream,
    load,
    measured_catalog,
)
from headrace.catalog.edges import read

NOW = datetime(2020, 1, 2, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.tsv", "sub/c.jsonl", "sub/d.csv", "sub/.hidden", "sub/_SUCCESS"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def test_inputs_expand_to_files_and_labels(folder: Path) -> None:
    files = files_of_inputs(["a.csv", "x=b.tsv", "sub", "*/*.csv"])
    assert [(f.path, f.label, f.format, f.separator) for f in files] == [
        ("a.csv", None, "csv", ","),
        ("b.tsv", "x", "csv", "\t"),
        ("sub/c.jsonl", None, "json", ","),
        ("sub/d.csv", None, "csv", ","),
        ("sub/d.csv", None, "csv", ","),
    ]


def test_a_file_name_may_contain_an_equals_sign(folder: Path) -> None:
    (folder / "x=a.csv").write_text("")
    (folder / "day=1").mkdir()
    (folder / "day=1" / "e.csv").write_text("")
    files = files_of_inputs(["x=a.csv", "day=1/e.csv", "l=day=1/e.csv"])
    assert [(f.path, f.label) for f in files] == [
        ("x=a.csv", None),
        ("day=1/e.csv", None),
        ("day=1/e.csv", "l"),
    ]


@pytest.mark.parametrize("path", ["none.csv", "x=none.csv", "*.parquet"])
def test_missing_inputs_are_refused(folder: Path, path: str) -> None:
    with pytest.raises(EdgeFileError, match="the file does not exist"):
        files_of_inputs([path])


def test_columns_and_separator_describe_files_without_a_header(folder: Path) -> None:
    layout = Layout.of("src, trg,_,ts", r"\t", "millisecond", "integer")
    (file,) = files_of_inputs(["a.csv"], layout)
    assert (file.names, file.header, file.separator) == (("src", "trg", "_", "ts"), False, "\t")
    assert (file.time_unit, file.vertex_type) == ("millisecond", "integer")
    assert Layout.of() == Layout()


def test_columns_say_which_ones_of_a_file_fill_the_roles(folder: Path) -> None:
    (folder / "calls.csv").write_text("time,caller,callee,cost\n5,1,2,0.5\n6,2,1,\n", "utf-8")
    (file,) = files_of_inputs(["calls=calls.csv"], Layout.of("src=caller, trg=callee,ts=time"))
    catalog, _ = measured_catalog([file])
    stream = catalog.streams["input"]
    assert dict(stream.columns) == {"src": "caller", "trg": "callee", "ts": "time"}
    assert dict(stream.properties) == {"cost": "number"}
    (batch,) = read(replace(file, properties=stream.properties))
    assert batch.edges.to_pylist() == [
        {"src": "1", "trg": "2", "label": "calls", "ts": 5, "cost": 0.5},
        {"src": "2", "trg": "1", "label": "calls", "ts": 6, "cost": None},
    ]
    assert Layout.of("src=caller,trg,ts").columns == {"src": "caller", "trg": "trg", "ts": "ts"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("src=a,to=b", "'to=b' does not say which column"),
        ("src=", "'src=' does not say which column"),
        ("src=a,src=b", "src is given twice"),
        ("a,b,c", "src is missing"),
        ("src,ts", "trg is missing"),
        ("src,src,trg", "src is given twice"),
    ],
)
def test_invalid_layouts_are_refused(columns: str, message: str) -> None:
    with pytest.raises(EdgeFileError, match=message):
        Layout.of(columns)


def test_a_stream_without_files_is_refused(folder: Path) -> None:
    with pytest.raises(EdgeFileError, match="stream s: it has no source"):
        files_of_stream(Stream("s", {}), "second")
    with pytest.raises(EdgeFileError, match="s: 'kafka' is not a file format; files are csv"):
        files_of_stream(Stream("s", {}, Source("kafka")), "second")
    with pytest.raises(EdgeFileError, match="the file does not exist"):
        files_of_stream(Stream("s", {}, Source("csv", ("none",))), "second")


def test_a_stream_describes_its_files(folder: Path) -> None:
    options = {"Delimiter": "|", "HEADER": "False"}
    stream = Stream(
        "s",
        {},
        Source("csv", ("sub/*.csv",), options),
        {"src": "_c0"},
        "x",
        vertex_type="integer",
        deletions=True,
        stored=True,
    )
    assert files_of_stream(stream, "minute") == (
        EdgeFile(
            "sub/d.csv",
            "csv",
            "x",
            {"src": "_c0"},
            header=False,
            separator="|",
            time_unit="minute",
            vertex_type="integer",
            deletions=True,
            stored=True,
        ),
    )


@pytest.mark.parametrize("labels", [("a", "b"), ("a", "a"), (None, None)])
@pytest.mark.parametrize("headers", [True, False])
def test_a_measured_catalog_describes_the_same_edges(
    folder: Path, labels: tuple[str | None, str | None], headers: bool
) -> None:
    header = "src;trg;label;ts\n" if headers else ""
    (folder / "a.csv").write_text(header + "1;2;k;5\n2;3;l;6\n")
    (folder / "sub" / "d.csv").write_text(header + "7;8;k;9\n")
    (folder / "stored.csv").write_text("1;2;m;0\n" if not headers else header + "1;2;m;0\n")
    layout = Layout.of(None if headers else "src,trg,label,ts", ";")
    paths = [
        path if label is None else f"{label}={path}"
        for label, path in zip(labels, ("a.csv", "sub/d.csv"), strict=True)
    ]
    inputs = files_of_inputs(paths, layout)
    stored = files_of_inputs(["stored.csv"], layout, stored=True)
    catalog, (measurement, _) = measured_catalog(inputs, stored, now=NOW)
    assert measurement.rows == 3
    dump(catalog, "sub/catalog.yaml")
    loaded = load("sub/catalog.yaml")
    assert replace(loaded, sample_file=None) == catalog
    again = files_of_stream(loaded.streams["input"], loaded.time_unit)
    assert [b.edges for f in again for b in read(f)] == [b.edges for f in inputs for b in read(f)]
    stored_again = files_of_stream(loaded.streams["stored"], loaded.time_unit)
    assert [b.edges for f in stored_again for b in read(f)] == [
        b.edges for f in stored for b in read(f)
    ]
    assert loaded.streams["stored"].stored


def test_files_of_different_layouts_are_refused_as_one_stream(folder: Path) -> None:
    (folder / "a.csv").write_text("src,trg,ts\n1,2,3\n")
    (folder / "sub" / "c.jsonl").write_text('{"src": 1, "trg": 2, "ts": 3}')
    with pytest.raises(EdgeFileError, match=r"a\.csv and sub/c\.jsonl are laid out differently"):
        measured_catalog(files_of_inputs(["x=a.csv", "x=sub/c.jsonl"]))


def test_no_input_is_an_error() -> None:
    with pytest.raises(EdgeFileError, match="name at least one file of edges"):
        measured_catalog([])


def test_a_catalog_error_is_a_value_error() -> None:
    assert issubclass(CatalogError, ValueError)
