"""Files that appear in a followed folder, read without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.reading.sources import Aside, _file_reader


def read_in(folder: Path, *names: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The edges of files, and the rejected rows."""
    layouts = {"": EdgeFile("", label="a")}
    reader = _file_reader(layouts, Aside(str(folder / "aside"), "s", "0"))
    paths = pa.RecordBatch.from_pydict({"path": [f"file://{folder}/{name}" for name in names]})
    edges = [row for batch in reader([paths]) for row in batch.to_pylist()]
    aside = [path.read_text() for path in sorted((folder / "aside").glob("*.jsonl"))]
    return edges, [json.loads(line) for text in aside for line in text.splitlines()]


def test_records_of_several_lines_are_whole_in_a_followed_folder(tmp_path: Path) -> None:
    bad = '1,2,soon,"x\n9,9,9,"'
    (tmp_path / "x.csv").write_text(f'src,trg,ts,note\n1,2,5,"x\n9,9,9,"\n{bad}\n3,4,6,\n')
    edges, aside = read_in(tmp_path, "x.csv")
    assert [(row["src"], row["ts"]) for row in edges] == [("1", 5), ("3", 6)]
    assert [(row["line"], row["text"]) for row in aside] == [(4, bad)]


def test_a_missing_file_is_rejected_and_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,trg,ts\n1,2,5\n")
    edges, aside = read_in(tmp_path, "gone.csv", "x.csv")
    assert [row["ts"] for row in edges] == [5]
    assert [(row["file"], row["line"]) for row in aside] == [(f"{tmp_path}/gone.csv", 0)]
    assert "No such file" in aside[0]["reason"]
