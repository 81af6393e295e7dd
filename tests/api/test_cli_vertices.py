"""Vertices on the command line: described by a catalog, or named with ``--vertices``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headrace.api.service import create_app
from tests.api.command import Commands
from tests.api.serving import LOOPBACK, served, settings

AMLSIM = Path(__file__).parents[2] / "examples" / "amlsim"


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("spark")
def test_the_example_runs_on_spark(
    headrace: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of results is that of its README; each is of a flagged account."""
    monkeypatch.chdir(AMLSIM)
    out = tmp_path / "found.jsonl"
    headrace("run", "flagged.gcore", "--catalog", "catalog.yaml", "--output", out)
    rows = [json.loads(line)["bindings"] for line in out.read_text("utf-8").splitlines()]
    assert "There are 106 such cycles." in (AMLSIM / "README.md").read_text("utf-8")
    assert len({tuple(row.values()) for row in rows}) == 106
    assert all(row["first"] <= row["last"] for row in rows)


QUERY = "Answer(x, y) <- likes(x, y), Person(x), x.age > 30. WINDOW 1h"


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[str | Path, ...]:
    """Three likes and two people, one of whom is older than 30."""
    (tmp_path / "likes.csv").write_text("src,trg,ts\n1,2,5\n2,3,6\n1,3,7\n")
    (tmp_path / "people.csv").write_text("id,age\n1,40\n2,30\n")
    return (
        "--input",
        f"likes={tmp_path / 'likes.csv'}",
        "--vertices",
        f"Person={tmp_path / 'people.csv'}",
    )


def test_vertices_without_a_catalog(headrace: Commands, inputs: tuple[str | Path, ...]) -> None:
    done = headrace("explain", QUERY, *inputs, "--analyze", "-f", "json")
    document = json.loads(done.out)
    assert document["statistics"] == "measured"
    assert document["measured"]["results"] == 2
    assert [stream["name"] for stream in document["plan"]["streams"]] == ["input", "vertices"]
    scans = [node for node in document["plan"]["nodes"] if node["op"] == "WSCAN"]
    (people,) = [scan["args"] for scan in scans if scan["args"]["label"] == "Person"]
    assert (people["range"], people["predicate"], people["properties"]) == (
        None,
        "c2 > 30",
        ["age"],
    )
    assert headrace("plans", QUERY, *inputs, "-n", "0").code == 0


def test_they_are_measured(
    headrace: Commands, inputs: tuple[str | Path, ...], tmp_path: Path
) -> None:
    catalog = tmp_path / "catalog.yaml"
    done = headrace("stats", *inputs, "--out", catalog)
    assert "Person  2 stored" in done.out
    assert "vertices: true" in catalog.read_text("utf-8")
    again = headrace("explain", QUERY, "--catalog", catalog, "--analyze", "-f", "json")
    assert json.loads(again.out)["measured"]["results"] == 2
    plan = tmp_path / "plan.json"
    assert headrace("optimize", QUERY, *inputs, "--out", plan).code == 0


def test_wrong_vertex_files_are_refused(headrace: Commands, inputs: tuple[str | Path, ...]) -> None:
    done = headrace("explain", QUERY, *inputs[:2])
    assert "E-UNKNOWN 1:30: Person: no stream has vertices of this label" in done.error
    assert "(--vertices FILE)" in done.error
    done = headrace("explain", QUERY, *inputs[:2], "--vertices", "nowhere.csv")
    assert "nowhere.csv: the file does not exist" in done.error
    edges = str(inputs[1]).partition("=")[2]
    done = headrace("explain", QUERY, *inputs[:2], "--vertices", f"Person={edges}")
    assert "no column 'id'; it has 'src', 'trg', 'ts'" in done.error


def test_a_request_describes_them(tmp_path: Path) -> None:
    with served(create_app(settings(tmp_path, hosts=LOOPBACK))) as client:
        likes = {"labels": {"likes": {"rate": 1, "distinct_src": 9, "distinct_trg": 9}}}
        people = {
            "vertices": True,
            "stored": True,
            "properties": {"age": "integer"},
            "labels": {"Person": {"population": 9, "distinct_src": 9, "distinct_trg": 9}},
        }
        body = {"query": QUERY, "streams": {"s": likes, "people": people}}
        answer = client.post("/optimize", json=body)
    assert answer.status_code == 200, answer.text
    assert [stream["name"] for stream in answer.json()["plan"]["streams"]] == ["people", "s"]
