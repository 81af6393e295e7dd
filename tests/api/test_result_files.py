"""The results of a query as files of other formats."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pc_csv
import pyarrow.parquet as pq
import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.api.service.result_files import FileFormat, file_pieces
from headrace.api.service.results import Kept, Reader, Results
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanRequest


def written(
    folder: Path, planned: PhysicalPlan, rows: list[dict[str, Any]], kind: FileFormat
) -> bytes:
    """The file of rows, which lie in two parts."""
    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        text = "".join(json.dumps(row) + "\n" for row in part)
        (folder / f"part-{number:08}-000.jsonl").write_text(text, "utf-8")
    results = Results(folder, folder / "note", Kept())
    return b"".join(file_pieces(Reader(results), planned, kind))


def planned(query: str) -> PhysicalPlan:
    return optimize(PlanRequest(query)).plan


def row(x: Any, y: Any, ts: int, exp: int | None) -> dict[str, Any]:
    return {"bindings": {"x": x, "y": y}, "ts": ts, "exp": exp}


ROWS = [row("1", 'a "b", c', 5, 35), row("ü", "2", 6, None), row("3", "", 7, 37)]
PLAN = "Answer(x, y) <- a(x, y) WINDOW 1d"


def test_json_lines_are_the_results_as_they_were_written(tmp_path: Path) -> None:
    text = written(tmp_path, planned(PLAN), ROWS, "jsonl").decode()
    assert [json.loads(line) for line in text.splitlines()] == ROWS


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_columns_have_a_row_for_each_result(tmp_path: Path, kind: FileFormat) -> None:
    data = written(tmp_path, planned(PLAN), ROWS, kind)
    if kind == "csv":
        types = {"x": "string", "y": "string", "ts": "int64", "exp": "int64"}
        options = pc_csv.ConvertOptions(column_types=types)
        table = pc_csv.read_csv(io.BytesIO(data), convert_options=options)
    else:
        table = pq.read_table(io.BytesIO(data))
    flat = [{**one["bindings"], "ts": one["ts"], "exp": one["exp"]} for one in ROWS]
    assert table.to_pylist() == flat


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_without_results_has_its_columns(tmp_path: Path, kind: FileFormat) -> None:
    data = written(tmp_path, planned(PLAN), [], kind)
    if kind == "csv":
        assert data == b'"x","y","ts","exp"\n'
    else:
        assert pq.read_table(io.BytesIO(data)).column_names == ["x", "y", "ts", "exp"]
