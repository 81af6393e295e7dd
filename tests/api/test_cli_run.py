"""Runs the commands run and demo on Spark, in separate processes where these are the subject."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import run_plan
from tests.api.command import (
    CATALOG,
    EXAMPLES,
    ROOT,
    Commands,
    command_line,
    environment,
    process,
)
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

EDGES = [
    ("1", "2", "a", 5), ("2", "3", "b", 6), ("2", "1", "a", 7), ("1", "4", "b", 7),
    ("3", "1", "a", 20), ("1", "1", "c", 21), ("4", "3", "b", 22), ("1", "4", "a", 30),
    ("4", "größe \"5\"", "b", 31),
]  # fmt: skip
QUERY = "Answer(x, z) <- a(x, y), b(y, z).  Answer(x, y) <- x (a/b)+ y.  WINDOW 10"

TICKS = 31 - 5 + 1
"""From the first edge that the query reads to the last."""

Row = tuple[tuple[str, ...], int, int]


def edges_file(folder: Path) -> Path:
    """The edges out of order, and two rows that are not edges."""
    file = folder / "edges.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerows([("src", "trg", "label", "ts"), *reversed(EDGES)])
        writer.writerows([("1", "2", "a", "soon"), ("", "2", "a", "5")])
    return file


def answers(rows: Iterable[Row]) -> dict[int, set[tuple[str, ...]]]:
    """The answer at every instant."""
    known = list(rows)
    return {t: {row for row, ts, exp in known if ts <= t < exp} for t in range(60)}


def of_json_lines(text: str) -> list[Row]:
    results = [json.loads(line) for line in text.splitlines()]
    return [(tuple(r["bindings"].values()), r["ts"], r["exp"]) for r in results]


def expected(plan: PhysicalPlan) -> dict[int, set[tuple[str, ...]]]:
    """The answers by the operators alone, without Spark and files."""
    relevant = sorted((e for e in EDGES if e[2] != "c"), key=lambda e: e[3])
    found = answers((tuple(map(str, r.bindings)), r.ts, r.exp) for r in run_plan(plan, relevant))
    assert any(found.values())
    return found


def test_from_query_to_folder_and_again(headrace: Commands, tmp_path: Path) -> None:
    edges, out, metrics = edges_file(tmp_path), tmp_path / "out", tmp_path / "metrics.json"
    run = ("run", QUERY, "--input", edges, "--output", out)
    done = process(*run, "--metrics", metrics, "--progress")
    assert (done.code, done.out) == (0, ""), done.err
    assert "running 100%: 8 edges, " in done.err
    assert "read      9 edges, 8 relevant, 2 rows rejected" in done.err
    found = int(re.search(r"found +([\d,]+) results\n", done.err)[1])  # type: ignore[index]
    assert re.search(r"[\d,]+ edges/s, [\d,]+ results/s", done.err)
    assert f"results   {out}\n" in done.err

    parts = {part.name: part.read_text("utf-8") for part in sorted(out.glob("part-*.jsonl"))}
    rows = of_json_lines("".join(parts.values()))
    assert len(rows) == found
    planned = headrace("optimize", QUERY, "--input", edges)
    plan = PhysicalPlan.from_json(planned.out)
    assert answers(rows) == expected(plan)
    account = json.loads(metrics.read_text())
    assert account["plan"] == plan.digest
    assert (account["edges"], account["relevant"], account["rejected"]) == (9, 8, 2)
    assert account["results"] == found
    assert (account["late"], account["rebuilt"], account["ticks"]) == (0, 0, TICKS)
    root = account["operators"][str(plan.root)]
    assert root["rows_out"] == found == root["last_batch"]["rows_out"]
    assert root["rate"] == found / TICKS
    assert root["estimate"]["rate"] == plan.nodes[plan.root].estimate.rate
    assert all(off >= 1 for off in root["q_error"].values())
    # a scan counts its output, also where Spark ran it
    counted = account["operators"]
    assert sum(counted[str(node.id)]["rows_out"] for node, _ in plan.scans) == 8
    assert re.search(r"measured/\w+  valid +held +q-error", done.err)
    rejected = re.search(r"rejected +(\S+)$", done.err, re.MULTILINE)
    assert rejected is not None
    reasons = [json.loads(line) for line in Path(rejected[1]).read_text("utf-8").splitlines()]
    assert [(Path(r["file"]).name, r["line"]) for r in reasons] == [
        ("edges.csv", 11),
        ("edges.csv", 12),
    ]
    assert "soon" in reasons[0]["reason"]

    # the same command again has nothing left to do
    again = process(*run)
    assert again.code == 0
    assert "an earlier run did all the work" in again.err

    # another query may not use this output
    other = headrace("run", "Answer(x, y) <- a(x, y) WINDOW 10", "-i", edges, "-o", out)
    assert other.code == 2
    assert str(out) in other.error
    assert parts == {p.name: p.read_text("utf-8") for p in sorted(out.glob("part-*.jsonl"))}


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_plan_to_stdout_as_csv(
    headrace: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, plan_file = edges_file(tmp_path), tmp_path / "plan.json"
    assert headrace("optimize", QUERY, "--out", plan_file).code == 0
    monkeypatch.chdir(tmp_path)
    done = headrace("run", plan_file, "-i", edges, "--output-format", "csv")
    assert done.code == 0, done.err
    table = list(csv.DictReader(io.StringIO(done.out)))
    plan = PhysicalPlan.from_json(plan_file.read_text("utf-8"))
    assert list(table[0]) == [*plan.columns, "ts", "exp"]
    rows = [(tuple(row[c] for c in plan.columns), int(row["ts"]), int(row["exp"])) for row in table]
    assert answers(rows) == expected(plan)
    assert "results   stdout" in done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.csv", "plan.json"]


@pytest.mark.long
def test_run_ends_quietly_when_the_reader_of_stdout_has_gone() -> None:
    with subprocess.Popen(
        command_line("run", EXAMPLES / "chains.rq", "--catalog", CATALOG),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            assert running.stderr is not None
            (row,) = of_json_lines(running.stdout.readline())
            assert row[1] < row[2]
            running.stdout.close()
            assert running.stderr.read() == ""
            assert running.wait(PATIENCE) == 0
        finally:
            running.kill()


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_bad_row_stops_a_strict_run_without_results(headrace: Commands, tmp_path: Path) -> None:
    edges, out = edges_file(tmp_path), tmp_path / "out"
    done = headrace("run", QUERY, "-i", edges, "-o", out, "--strict")
    assert done.code == 1
    assert f"{edges}:11: " in done.error
    assert not list(tmp_path.glob("out/part-*"))


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_run_on_spark_fails_if_no_row_can_be_read(headrace: Commands, tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("src,trg,ts\n1,2,soon\n2,3,later\n")
    query = "Answer(x, y) <- a(x, y) WINDOW 10"
    done = headrace("run", query, "--input", f"a={edges}", "--output", tmp_path / "out")
    assert done.code == 1
    assert f"All 2 rows of the stream 'input' were rejected. The first: {edges}:2:" in done.error


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_stopped_run_is_resumed(headrace: Commands, tmp_path: Path) -> None:
    """By SIGTERM, then by Ctrl-C; neither leaves temporary files.

    The last command runs in this process, in the Spark session of the tests.
    """
    out, temporary = tmp_path / "out", tmp_path / "tmp"
    temporary.mkdir()
    run = ("run", EXAMPLES / "q6.rq", "--catalog", CATALOG, "-o", out, "--largest-batch", "2000")
    for stop, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        with subprocess.Popen(
            command_line(*run, "--progress"),
            cwd=ROOT,
            env=environment(TMPDIR=str(temporary)),
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            try:
                assert running.stderr is not None
                while not (line := running.stderr.readline()).startswith("running"):
                    assert line, "it ended before a batch was done"
                running.send_signal(stop)
                said = running.stderr.read()
                assert running.wait(PATIENCE) == code, said
                assert "Traceback" not in said
                assert "The same command goes on from there" in said
            finally:
                running.kill()
        assert not list(temporary.iterdir())
    before = {part.name for part in out.glob("part-*.jsonl")}
    done = headrace(*run)
    assert done.code == 0, done.err
    assert "(some of it by an earlier run)" in done.err
    assert before < {part.name for part in out.glob("part-*.jsonl")}


@pytest.mark.soak
def test_the_demo_shows_every_step_and_ends(tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = process("demo", "--output", out)
    assert (done.code, done.err) == (0, "")
    headings = [line[3:].strip() for line in done.out.splitlines() if line.startswith("── ")]
    assert headings == [
        "The query",
        "The query as it is written, run operator by operator",
        "The plan chosen",
        "The page",
        "Results on sixty days of MathOverflow (a2q, c2a), as Spark finds them",
        "Done",
    ]
    assert "Answer(x, y) <- x (a2q/c2a)+ y." in done.out
    assert re.search(r"as written .*: [\d.k]+ times cheaper", done.out)
    assert re.search(
        r"  x = \d+ +y = \d+ +from 2010-06-08 \d\d:\d\d to 2010-06-1\d 00:00", done.out
    )
    found = re.search(r"found +([\d,]+) results", done.out)
    assert found is not None
    lines = sum(len(part.read_text().splitlines()) for part in out.glob("part-*.jsonl"))
    assert lines == int(found[1].replace(",", ""))
    assert f"results   {out}/part-*.jsonl" in done.out
    assert re.search(r"^http://127.0.0.1:\d+/#/live/[0-9a-f]+$", done.out, re.MULTILINE)
    assert "\x1b[" not in done.out
