"""The options --path-semantics and --simple-budget on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headrace.algebra.plan import PhysicalPlan
from tests.api.command import Commands

QUERY = "Answer(x, y) <- x (a/a)+ y  WINDOW 10"
EDGES = [(1, 2, 1), (2, 3, 2), (3, 1, 3), (3, 4, 4), (4, 2, 5), (4, 5, 15), (2, 2, 16), (2, 4, 17)]


@pytest.fixture
def edges(tmp_path: Path) -> str:
    file = tmp_path / "edges.csv"
    lines = ["src,trg,label,ts", *(f"{x},{y},a,{ts}" for x, y, ts in EDGES)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def simple_pairs_of_even_length(t: int) -> set[tuple[str, str]]:
    """Enumerates all simple paths."""
    valid = [(x, y) for x, y, ts in EDGES if ts <= t < ts + 10]
    found = set()
    pending: list[tuple[int, ...]] = [(x,) for x, _ in valid]
    while pending:
        walk = pending.pop()
        if len(walk) % 2 == 1 and len(walk) > 1:
            found.add((str(walk[0]), str(walk[-1])))
        pending += [(*walk, y) for x, y in valid if x == walk[-1] and y not in walk]
    return found


def test_the_plan_says_which_paths_count(headrace: Commands) -> None:
    done = headrace("optimize", QUERY, "--path-semantics", "simple", "--simple-budget", "77")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["path_semantics"] == "simple"
    (path,) = (node for node in document["nodes"] if node["op"] == "SIMPLE_PATH")
    assert path["args"]["budget"] == 77
    plan = PhysicalPlan.from_json(done.out)
    assert plan.to_json() == done.out
    other = json.loads(headrace("optimize", QUERY, "--path-semantics", "simple").out)
    assert other["digest"] == document["digest"], "a run goes on with a larger budget"
    arbitrary = json.loads(headrace("optimize", QUERY).out)
    assert arbitrary["digest"] != document["digest"]
    assert "path_semantics" not in arbitrary


def test_the_same_operators_for_another_meaning_are_another_plan(headrace: Commands) -> None:
    """For a pattern of edges only the digest depends on the path semantics."""
    query = "Answer(x, y) <- a(x, y)  WINDOW 10"
    one, other = (
        json.loads(headrace("optimize", query, "--path-semantics", kind).out)
        for kind in ("arbitrary", "simple")
    )
    assert one["nodes"] == other["nodes"]
    assert one["digest"] != other["digest"]


def test_explain_says_so_in_every_stage(headrace: Commands) -> None:
    for stage, said in (
        ("logical", "PATH  (a·a)+  simple"),
        ("memo", "simple"),
        ("physical", "P SIMPLE_PATH  (a·a)+"),
    ):
        done = headrace("explain", QUERY, "--path-semantics", "simple", "--stage", stage)
        assert done.code == 0
        assert said in done.out, stage
    costs = headrace("explain", QUERY, "--path-semantics", "simple", "--costs").out
    assert "4 · A + ri · k · Ph · T · T" in costs


def test_plans_of_simple_paths_are_fewer(headrace: Commands) -> None:
    """Rules 14 and 17 do not apply; the closure of one label equals that of arbitrary paths."""
    count = json.loads(
        headrace("plans", QUERY, "--path-semantics", "simple", "-n", "3", "-f", "json").out
    )
    assert count["total"] == 1
    closure = headrace("plans", "Answer(x, y) <- a+(x, y) WINDOW 9", "--path-semantics", "simple")
    assert "S_PATH  a+" in closure.out
    assert "SIMPLE_PATH  a+" in closure.out


def test_an_edge_is_no_path_and_a_path_of_one_step_is(headrace: Commands) -> None:
    def logical(body: str) -> str:
        query = f"Answer(x, y) <- {body}  WINDOW 10"
        done = headrace("explain", query, "--path-semantics", "simple", "--stage", "logical")
        assert done.code == 0
        return done.out

    assert "PATH" not in logical("a(x, y)")
    assert "PATH" not in logical("a(x, y) as d, d(x, y)")
    for body in ("x a y", "x ^a y", "x (a) y", "x a{1} y", "x a y as d, d(x, y)"):
        assert "simple" in logical(body)
    refused = headrace("explain", "Answer(x, y) <- x a y as e, e.ts > 5. WINDOW 10")
    assert (refused.code, "E-PATHVAR" in refused.error) == (2, True)


@pytest.mark.long
def test_analyze_runs_it(headrace: Commands, edges: str) -> None:
    done = headrace(
        "explain", QUERY, "-i", edges, "--path-semantics", "simple", "--analyze", "-f", "json"
    )
    assert done.code == 0
    plan = PhysicalPlan.from_document(json.loads(done.out)["plan"])
    assert any(node.op == "SIMPLE_PATH" for node in plan.nodes)


def test_analyze_beyond_the_budget_is_an_error(headrace: Commands, edges: str) -> None:
    options = ("--path-semantics", "simple", "--simple-budget", "1")
    done = headrace("explain", QUERY, "-i", edges, *options, "--analyze")
    assert done.code == 1
    assert "more than 1 steps" in done.error
    assert "--simple-budget" in done.error


def test_trails_are_planned_as_any_paths_where_these_connect_the_same_pairs(
    headrace: Commands,
) -> None:
    for path, op in (
        ("(a/a)+", "TRAIL_PATH"), ("a/^a", "TRAIL_PATH"), ("a+", "S_PATH"), ("(a/b)+", "S_PATH"),
    ):  # fmt: skip
        query = f"Answer(x, y) <- x {path} y  WINDOW 10"
        done = headrace("optimize", query, "--path-semantics", "trail", "--simple-budget", "77")
        assert done.code == 0
        document = json.loads(done.out)
        assert document["path_semantics"] == "trail"
        (node,) = (node for node in document["nodes"] if node["op"].endswith("_PATH"))
        assert node["op"] == op
        assert node["args"].get("budget", 77) == 77
        assert PhysicalPlan.from_json(done.out).to_json() == done.out
    said = headrace("explain", QUERY, "--path-semantics", "trail", "--stage", "logical").out
    assert "PATH  (a·a)+  trail" in said


def test_the_search_for_trails_has_a_budget(headrace: Commands, edges: str) -> None:
    options = ("--path-semantics", "trail", "--simple-budget", "1")
    done = headrace("explain", QUERY, "-i", edges, *options, "--analyze")
    assert done.code == 1
    assert "TRAIL_PATH" in done.error
    assert "more than 1 steps" in done.error
    assert "--simple-budget" in done.error


def test_trails_over_deletions_are_refused_unless_they_are_any_paths(
    headrace: Commands, tmp_path: Path
) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(
        "streams:\n  s:\n    deletions: true\n    labels:\n"
        "      a: {rate: 1, distinct_src: 9, distinct_trg: 9}\n",
        "utf-8",
    )
    options = ("--catalog", catalog, "--path-semantics", "trail")
    assert headrace("explain", "Answer(x, y) <- a+(x, y)  WINDOW 10", *options).code == 0
    done = headrace("explain", QUERY, *options)
    assert done.code == 2
    assert (
        "trails that differ from any paths are not supported with streams with deletions yet"
        in done.error
    )


def test_returned_trails_are_refused_unless_they_are_any_paths(headrace: Commands) -> None:
    options = ("--path-semantics", "trail")
    closure = "Answer(x, p, y) <- x a+ y as p  WINDOW 10"
    assert headrace("explain", closure, *options).code == 0
    done = headrace("explain", closure.replace("a+", "(a/a)+"), *options)
    assert done.code == 2
    assert "E-LATER" in done.error
    assert "paths in the answer are not supported with trails that differ" in done.error


@pytest.mark.parametrize("wrong", ["acyclic", ""])
def test_other_semantics_are_refused(headrace: Commands, wrong: str) -> None:
    done = headrace("explain", QUERY, "--path-semantics", wrong)
    assert done.code == 2
    assert "simple" in done.error


def test_path_semantics_of_a_stored_plan_cannot_change(headrace: Commands, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert headrace("optimize", QUERY, "--out", plan).code == 0
    done = headrace("run", plan, "--path-semantics", "simple")
    assert done.code == 2
    assert "--path-semantics needs a query" in done.error


def test_streams_with_deletions_are_refused(headrace: Commands, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(
        "streams:\n  s:\n    deletions: true\n    labels:\n"
        "      a: {rate: 1, distinct_src: 9, distinct_trg: 9}\n",
        "utf-8",
    )
    assert headrace("explain", QUERY, "--catalog", catalog).code == 0
    done = headrace("explain", QUERY, "--catalog", catalog, "--path-semantics", "simple")
    assert done.code == 2
    assert "simple paths are not supported with streams with deletions yet" in done.error


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("spark")
def test_a_run_on_spark(headrace: Commands, edges: str, tmp_path: Path) -> None:
    """First with a budget that does not do; then the same goes on with a larger one."""
    common = (
        "run", QUERY, "-i", edges, "--path-semantics", "simple", "--parallelism", "2",
        "--output", tmp_path / "out", "--no-progress",
    )  # fmt: skip
    failed = headrace(*common, "--simple-budget", "1")
    assert failed.code == 1
    assert "more than 1 steps" in failed.error
    assert "allow more steps (--simple-budget STEPS)" in failed.error
    done = headrace(*common)
    assert done.code == 0, done.err
    lines = [
        json.loads(line)
        for file in sorted((tmp_path / "out").glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
    assert lines
    for t in range(30):
        said = {tuple(r["bindings"].values()) for r in lines if r["ts"] <= t < r["exp"]}
        assert said == simple_pairs_of_even_length(t), f"at {t}"


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("spark")
def test_a_run_of_trails_on_spark_gives_the_results_of_one_process(
    headrace: Commands, edges: str, tmp_path: Path
) -> None:
    common = ("run", QUERY, "-i", edges, "--path-semantics", "trail", "--no-progress")
    found = []
    for name, engine in (("spark", ("--parallelism", "2")), ("local", ("--engine", "local"))):
        done = headrace(*common, *engine, "--output", tmp_path / name)
        assert done.code == 0, done.err
        lines = [
            json.loads(line)
            for file in sorted((tmp_path / name).glob("*.jsonl"))
            for line in file.read_text("utf-8").splitlines()
        ]
        assert lines
        found.append(
            [
                {tuple(r["bindings"].values()) for r in lines if r["ts"] <= t < r["exp"]}
                for t in range(30)
            ]
        )
    assert found[0] == found[1]
