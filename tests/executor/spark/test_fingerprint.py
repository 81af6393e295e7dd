"""Descriptions of input files, which checkpoints keep."""

from __future__ import annotations

from pathlib import Path

from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.reading.fingerprint import fingerprint

EARLIER = {
    "path", "format", "label", "columns", "header", "names", "separator", "time_unit",
    "vertex_type", "deletions", "stored", "vertices", "properties",
}  # fmt: skip
"""What checkpoints of commit 5764d18 hold of a file. One that held more would start no run of
theirs again."""


def test_a_file_without_graphs_is_described_as_in_earlier_versions(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("src,trg,label,ts\n")
    (described,) = fingerprint({"input": [EdgeFile(str(file))]})
    assert set(described["reading"]) == EARLIER


def test_the_layout_of_graphs_is_part_of_the_description(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text("")
    one, other = [
        fingerprint({"input": [EdgeFile(str(file), "graph", layout=layout)]})
        for layout in ("seraph", "neo4j")
    ]
    assert one != other
