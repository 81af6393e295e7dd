"""Runs without Spark give exact results in every format, and refuse what needs Spark."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import (
    PlanningOptions,
    PlanRequest,
    Progress,
    RunError,
    RunOptions,
    SessionOptions,
    StoppedError,
    ToFile,
    ToFolder,
    ToFunction,
    UsageError,
    inputs_of_plan,
    load_catalog,
    optimize,
    run_plan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.executor.batch import FOREVER
from headrace.executor.local import Result
from tests.api.command import EXAMPLES, ROOT, Commands, environment
from tests.executor.spark.inputs import inputs_of
from tests.executor.spark.running import read_csv, read_jsonl, read_parquet, results_in
from tests.oracles.judgement import Line
from tests.oracles.snapshot import ALWAYS, Truth
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases
from tests.waiting import PATIENCE

QUERY = "Answer(x, z) <- a(x, y), b(y, z). Answer(x, y) <- x (a/b)+ y WINDOW 10"
ROWS = [
    "1,2,a,5", "2,3,b,6", "2,1,a,7", "1,4,b,7", "3,1,a,20", "1,1,c,21", "4,3,b,22", "1,4,a,30",
    "1,2,a,soon", "4,5,b,31",
]  # fmt: skip

DISORDERED = """\
streams:
  s:
    source: {format: csv, path: s.csv}
    delay: 5
    properties: {w: number}
    labels: {a: {rate: 1, distinct_src: 9, distinct_trg: 9}}
"""


@pytest.fixture
def headrace(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    file = tmp_path / "edges.csv"
    file.write_text("\n".join(["src,trg,label,ts", *reversed(ROWS), ""]))
    return file


def local_results(
    plan: PhysicalPlan, inputs: dict[str, list[EdgeFile]], largest_slice: int
) -> list[Result]:
    tables: list[pa.Table] = []
    output = ToFunction(lambda _, rows: tables.append(rows))
    report = run_plan(plan, inputs, output, RunOptions(largest_slice=largest_slice), engine="local")
    results = [result for table in tables for result in results_in(table)]
    assert report.results == len(results)
    return results


@given(case=cases(), seed=st.integers(0, 999), largest_slice=st.sampled_from([3, 1000]))
@examples(25)
def test_runs_over_files_equal_the_oracle(case: Case, seed: int, largest_slice: int) -> None:
    truth = Truth(case.query, case.edges)
    with TemporaryDirectory() as folder:
        if not case.edges:
            return
        inputs = inputs_of(case, Path(folder), seed)
        for plan in plans_of(optimized(case), most=2, seed=seed):
            read = {scan.stream for _, scan in plan.scans}
            if any(not inputs.get(stream) for stream in read):
                return
            found = local_results(plan, inputs, largest_slice)
            lines = [Line(r.bindings, r.ts, ALWAYS if r.exp == FOREVER else r.exp) for r in found]
            judge(truth, plan, lines)


def test_late_edges_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(DISORDERED)
    edges = [("1", "2", 20), ("2", "3", 16), ("3", "4", 40), ("4", "5", 5), ("5", "6", 41)]
    rows = [f"{x},{y},a,{ts},{number}.5" for number, (x, y, ts) in enumerate(edges)]
    (tmp_path / "s.csv").write_text("\n".join(["src,trg,label,ts,w", *rows, ""]))
    catalog = load_catalog(tmp_path / "catalog.yaml")
    text = "Answer(x, y, e.w as w) <- a(x, y) as e WINDOW 10"
    plan = optimize(PlanRequest(text, catalog=catalog)).plan
    output = ToFile(tmp_path / "out.jsonl")
    options = RunOptions(largest_slice=3)
    report = run_plan(plan, inputs_of_plan(plan, catalog, []), output, options, engine="local")
    assert [(*r.bindings, r.ts) for r in read_jsonl(output.path)] == [
        ("2", "3", 1.5, 16), ("1", "2", 0.5, 20), ("3", "4", 2.5, 40), ("5", "6", 4.5, 41),
    ]  # fmt: skip
    assert (report.late, report.late_by_stream, report.batches) == (1, {"s": 1}, 2)
    (late,) = map(json.loads, Path(str(report.late_file)).read_text().splitlines())
    assert late == {
        "stream": "s",
        "row": {"src": "4", "trg": "5", "label": "a", "ts": 5, "w": 3.5},
        "reason": "late: the watermark was 35",
    }


def test_every_format_has_the_same_results(edges: Path, tmp_path: Path) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    inputs = inputs_of_plan(plan, None, [str(edges)])
    read = {"jsonl": read_jsonl, "csv": read_csv, "parquet": read_parquet}
    rows: list[Sequence[Result]] = []
    for ending, reader in read.items():
        file, folder = tmp_path / f"results.{ending}", tmp_path / ending
        report = run_plan(plan, inputs, ToFile(file, ending), engine="local")  # type: ignore[arg-type]
        again = run_plan(plan, inputs, ToFolder(folder, ending), engine="local")  # type: ignore[arg-type]
        assert (report.edges, report.relevant, report.rejected) == (9, 8, 1)
        assert report.results == again.results == len(reader(file))
        assert report.ticks == 31 - 5 + 1
        assert reader(file) == reader(folder)
        (rejected,) = map(json.loads, Path(str(report.rejected_file)).read_text().splitlines())
        assert rejected["text"] == "1,2,a,soon"
        assert again.rejected_file == str(folder / "_headrace" / "rejected.jsonl")
        rows.append(reader(file))
    assert rows[0] == rows[1] == rows[2] != []
    assert sorted(p.name for p in (tmp_path / "csv" / "_headrace").iterdir()) == [
        "owner.json", "rejected.jsonl",
    ]  # fmt: skip


def test_the_command_line_loads_no_module_of_spark(tmp_path: Path) -> None:
    program = (
        "import sys; from headrace.api.cli import main; code = main(sys.argv[1:]);"
        "loaded = {name.partition('.')[0] for name in sys.modules};"
        "sys.exit(code or len(loaded & {'pyspark', 'py4j'}))"
    )
    query, catalog = EXAMPLES / "triangle.rq", EXAMPLES / "catalog.yaml"
    run = ("run", query, "--catalog", catalog, "--engine", "local", "--metrics", tmp_path / "m")
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, run)],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    metrics = json.loads((tmp_path / "m").read_text())
    assert metrics["results"] == len(done.stdout.splitlines()) > 0
    assert metrics["edges"] == 20_489
    assert metrics["jvm_peak_bytes"] == 0 < metrics["worker_peak_bytes"]


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        (("--checkpoint", "c", "--conf", "a=b"), "a checkpoint, settings of Spark"),
        (("--parallelism", "2"), "several partitions"),
        (("--output", "kafka://h:1/t"), "a topic of Kafka"),
    ],
)
def test_options_that_need_spark_are_refused_in_one_message(
    headrace: Commands, edges: Path, options: tuple[str, ...], needs: str
) -> None:
    done = headrace("run", QUERY, "--input", edges, "--engine", "local", *options)
    assert done.code == 2
    assert done.error.splitlines()[0] == (
        f"error: the local engine runs without Spark, which is needed for {needs}"
    )


def test_live_sources_are_refused(headrace: Commands, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(
        "streams: {s: {source: {format: kafka, options: {kafka.bootstrap.servers: 'h:1', "
        "subscribe: t}}, labels: {a: {rate: 1, distinct_src: 9, distinct_trg: 9}}}}"
    )
    query = "Answer(x, y) <- a(x, y) WINDOW 9"
    done = headrace("run", query, "--catalog", catalog, "--engine", "local")
    assert done.code == 2
    assert "is needed for the live source kafka t" in done.error


def test_a_python_call_refuses_a_session(edges: Path) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    options = RunOptions(session=SessionOptions(conf={"a": "b"}))
    with pytest.raises(UsageError, match="settings of Spark"):
        run_plan(
            plan,
            inputs_of_plan(plan, None, [str(edges)]),
            ToFunction(print),
            options,
            engine="local",
        )


def test_an_output_with_results_is_refused(headrace: Commands, edges: Path, tmp_path: Path) -> None:
    run = ("run", QUERY, "--input", edges, "--engine", "local", "--output", tmp_path / "out")
    first = headrace(*run)
    assert (first.code, first.out) == (0, ""), first.err
    before = read_jsonl(tmp_path / "out")
    again = headrace(*run)
    assert again.code == 2
    assert "holds the results of another query or of an earlier run" in again.error
    assert read_jsonl(tmp_path / "out") == before != []


def test_a_strict_run_leaves_no_output(headrace: Commands, edges: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    done = headrace("run", QUERY, "--input", edges, "--engine", "local", "--strict", "-o", out)
    assert done.code == 1
    assert "soon" in done.error
    assert not out.exists()


def test_a_plan_for_several_partitions_runs(edges: Path) -> None:
    one = optimize(PlanRequest(QUERY)).plan
    three = optimize(PlanRequest(QUERY, options=PlanningOptions(parallelism=3))).plan
    inputs = {
        name: list(files)
        for name, files in inputs_of_plan(one, None, [str(edges)]).items()
        if isinstance(files, tuple)
    }
    alone, spread = (local_results(plan, inputs, 1000) for plan in (one, three))
    for t in range(45):
        valid = [{r.bindings for r in found if r.ts <= t < r.exp} for found in (alone, spread)]
        assert valid[0] == valid[1], t


@pytest.mark.parametrize("by", ["event", "Ctrl-C"])
def test_a_stopped_run_keeps_the_results_of_whole_slices(
    edges: Path, tmp_path: Path, by: str
) -> None:
    plan = optimize(PlanRequest(QUERY)).plan
    cancelled = threading.Event()

    def stop(progress: Progress) -> None:
        if progress.batch == 2:
            if by == "Ctrl-C":
                raise KeyboardInterrupt
            cancelled.set()

    output = ToFolder(tmp_path / "out")
    with pytest.raises(StoppedError, match="Stopped after 2 batches and"):
        run_plan(
            plan,
            inputs_of_plan(plan, None, [str(edges)]),
            output,
            RunOptions(largest_slice=2),
            engine="local",
            on_progress=stop,
            cancelled=cancelled,
        )
    assert not (output.path / "_headrace" / "staging").exists()
    assert len(list(output.path.glob("part-*"))) <= 2


def test_too_many_steps_of_simple_paths_end_the_run(tmp_path: Path) -> None:
    file, random = tmp_path / "dense.csv", Random(3)
    ends = [(x, y) for x in range(40) for y in range(40) if x != y and random.random() < 0.1]
    file.write_text("\n".join(["src,trg,label,ts", *(f"{x},{y},a,1" for x, y in ends)]))
    options = PlanningOptions(path_semantics="simple", simple_budget=50)
    plan = optimize(PlanRequest("Answer(x, y) <- x (a/a)+ y WINDOW 10", options=options)).plan
    with pytest.raises(RunError, match="steps"):
        run_plan(plan, inputs_of_plan(plan, None, [str(file)]), ToFunction(print), engine="local")


def test_slices_of_a_replay_follow_the_speed(edges: Path, tmp_path: Path) -> None:
    """A slice has the edges of ten seconds of the stream, as on Spark."""
    plan = optimize(PlanRequest(QUERY)).plan
    batches: list[int] = []
    options = RunOptions(speed=1000.0, interval="10 milliseconds")
    report = run_plan(
        plan,
        inputs_of_plan(plan, None, [str(edges)]),
        ToFunction(lambda batch, _: batches.append(batch)),
        options,
        engine="local",
    )
    assert report.batches == 3, "edges from 5 to 7, from 20 to 22, and from 30 to 31"
    assert batches == sorted(batches)


def test_a_catalog_gives_the_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number in range(2):
        (tmp_path / "a" / f"{number}.jsonl").write_text(
            json.dumps({"src": number, "trg": number + 1, "ts": 10 - number, "w": 1.5}) + "\n"
        )
    (tmp_path / "catalog.yaml").write_text(
        "streams: {s: {source: {format: json, path: a/*.jsonl}, label: a, vertex_type: integer, "
        "properties: {w: number}, labels: {a: {rate: 1, distinct_src: 9, distinct_trg: 9}}}}"
    )
    catalog = load_catalog(tmp_path / "catalog.yaml")
    text = "Answer(x, z, e.w as w) <- a(x, y) as e, a(y, z) WINDOW 20"
    plan = optimize(PlanRequest(text, catalog=catalog)).plan
    run_plan(
        plan, inputs_of_plan(plan, catalog, []), ToFile(tmp_path / "out.jsonl"), engine="local"
    )
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["bindings"] == {"x": 0, "z": 2, "w": 1.5}
