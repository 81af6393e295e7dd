"""Analysis measures the rows of each operator."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from headrace.catalog import from_document
from headrace.documents.runs import analysis_document
from headrace.executor.local import run_plan
from headrace.planning.errors import RunError, UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanRequest
from headrace.running.analysis import analyze, results
from headrace.running.runs import files_alone, inputs_of_plan

ROWS = [
    ("1", "2", "a", 5), ("2", "3", "b", 6), ("2", "1", "a", 7), ("1", "4", "b", 7),
    ("3", "1", "a", 20), ("1", "1", "c", 21), ("4", "3", "b", 22), ("1", "4", "a", 30),
]  # fmt: skip
QUERY = "Answer(x, z) <- a(x, y), b(y, z). Answer(x, y) <- x (a/b)+ y WINDOW 10"


def edges_file(folder: Path, rows: list[tuple[str, str, str, int]]) -> Path:
    file = folder / "edges.csv"
    lines = [",".join(map(str, row)) for row in rows]
    file.write_text("\n".join(["src,trg,label,ts", *lines, "1,,a,5", ""]))
    return file


def test_analysis_counts_the_rows_of_every_operator(tmp_path: Path) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    # the file is not in order of time; the analysis is
    file = edges_file(tmp_path, ROWS[::-1])
    analysis = analyze(plan, files_alone(inputs_of_plan(plan, None, [str(file)])))
    labels = Counter(label for _, _, label, _ in ROWS)
    for node, scan in plan.scans:
        assert analysis.nodes[node.id].counters.rows_out == labels[scan.label]
        assert analysis.nodes[node.id].rate == labels[scan.label] / analysis.ticks
    relevant = sorted((row for row in ROWS if row[2] != "c"), key=lambda row: row[3])
    results = list(run_plan(plan, relevant))
    assert analysis.results == len(results) == analysis.nodes[plan.root].counters.rows_out > 0
    assert analysis.edges == len(ROWS)
    assert analysis.rejected == 1
    assert analysis.ticks == 30 - 5 + 1
    document = analysis_document(analysis)
    assert set(document.nodes) == {str(key) for key in analysis.nodes}


def test_streams_may_have_different_vertex_types(tmp_path: Path) -> None:
    statistics = {"rate": 1, "distinct_src": 5, "distinct_trg": 5}
    catalog = from_document(
        {
            "streams": {
                "s": {
                    "source": {"format": "csv", "path": str(tmp_path / "s.csv")},
                    "label": "a",
                    "labels": {"a": statistics},
                },
                "t": {
                    "source": {"format": "csv", "path": str(tmp_path / "t.csv")},
                    "label": "b",
                    "vertex_type": "integer",
                    "labels": {"b": statistics},
                },
            }
        }
    )
    (tmp_path / "s.csv").write_text("src,trg,ts\nx,y,1\nx,z,9\n")
    (tmp_path / "t.csv").write_text("src,trg,ts\n1,2,1\n2,3,2\n")
    plan = optimize(
        PlanRequest("Answer(x, y, u, v) <- a(x, y), b(u, v) WINDOW 5", catalog=catalog)
    ).plan
    analysis = analyze(plan, files_alone(inputs_of_plan(plan, catalog, ())))
    assert analysis.results == 2
    assert analysis.edges == 4


def test_an_input_without_edges_has_zero_counters(tmp_path: Path) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    file = tmp_path / "edges.csv"
    file.write_text("src,trg,label,ts\n")
    analysis = analyze(plan, files_alone(inputs_of_plan(plan, None, [str(file)])))
    assert (analysis.edges, analysis.results, analysis.ticks) == (0, 0, 0)
    assert all(node.rate == 0 for node in analysis.nodes.values())


def test_an_input_whose_rows_are_all_rejected_is_an_error_as_in_a_run(tmp_path: Path) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    inputs = files_alone(inputs_of_plan(plan, None, [str(edges_file(tmp_path, []))]))
    for read in (analyze, lambda *of: list(results(*of))):
        with pytest.raises(RunError, match=r"The only row of the stream .* was rejected") as error:
            read(plan, inputs)
        assert error.value.code == "E-ROW"


def test_a_file_without_a_needed_column_is_refused(tmp_path: Path) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    file = tmp_path / "bad.csv"
    file.write_text("src,label,ts\n")
    with pytest.raises(UsageError, match="no column 'trg'"):
        analyze(plan, files_alone(inputs_of_plan(plan, None, [str(file)])))
