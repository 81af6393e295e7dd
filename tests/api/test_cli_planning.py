"""The output of explain, optimize and plans."""

from __future__ import annotations

import io
import json
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_schema import plan_schema
from headrace.api.listing import shown_listing
from headrace.costmodel import Constants
from headrace.optimizer.listing import ListingProgress
from headrace.planning.calibration import Calibration
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanRequest
from tests.api.command import CATALOG, EXAMPLES, QUERY, Commands

FORMATS = ("text", "json", "dot", "mermaid", "html")
SCHEMA = Draft202012Validator(plan_schema())


@pytest.mark.parametrize("stage", ["query", "logical", "memo", "physical", "plan"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_stage_in_every_form(headrace: Commands, stage: str, form: str) -> None:
    done = headrace("explain", QUERY, "--stage", stage, "--format", form)
    if stage in ("query", "memo") and form not in ("text", "json"):
        assert done.code == 2
        assert f"the stage {stage} has no {form} form" in done.error
        return
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\n")
    if form == "json":
        json.loads(done.out)
    elif form == "html":
        assert done.out.startswith("<!doctype html>")
    elif form == "dot":
        assert done.out.startswith("digraph plan {")
    elif form == "mermaid":
        assert done.out.startswith("flowchart BT")


def test_the_default_is_the_plan_with_its_costs(headrace: Commands) -> None:
    done = headrace("explain", EXAMPLES / "q5.rq", "--catalog", CATALOG)
    lines = done.out.splitlines()
    heads = "rows/h valid rows held cost/h share total emitted/h"
    assert lines[0].split() == heads.split()
    assert lines[1].startswith("⊔ COALESCE  m1,m2 ")
    assert "⋈ HASH_JOIN  " in lines[2]
    assert " on " in lines[2]
    assert re.fullmatch(r"cost [\d.]+/h.*, as written [\d.]+k?/h: [\d.]+ times cheaper", lines[-2])
    assert re.fullmatch(
        r"searched \d+ groups, \d+ expressions, \d+ physical ones in \d+ ms", lines[-1]
    )


def test_summary_says_that_statistics_are_assumed(headrace: Commands) -> None:
    given = ("--catalog", CATALOG)
    query = "Answer(x, y) <- a2q(x, y) WINDOW 1d"
    assert "statistics are assumed" in headrace("explain", query).out
    assert "statistics are assumed" not in headrace("explain", query, *given).out
    kinds = {
        json.loads(headrace("explain", query, *more, "-f", "json").out)["statistics"]
        for more in ((), given, ("-i", f"a2q={EXAMPLES / 'a2q.csv.gz'}"))
    }
    assert kinds == {"assumed", "catalog", "measured"}


def test_explain_json_has_all_documented_members(headrace: Commands) -> None:
    done = headrace("explain", QUERY, "-f", "json")
    document = json.loads(done.out)
    promised = {
        "version", "query", "language", "canonical", "stop_reason", "optimize_ms", "memo",
        "cost", "canonical_cost", "plan",
    }  # fmt: skip
    assert promised <= set(document)
    assert {"groups", "expressions", "physical_expressions", "merges", "rules"} == set(
        document["memo"]
    )
    SCHEMA.validate(document["plan"])


def test_costs_show_the_formula_with_its_numbers(headrace: Commands) -> None:
    done = headrace("explain", QUERY, "--costs")
    assert "cost = ri · (I + E) + rn · N + rl · Ph / 2 + rO · CO = " in done.out
    document = json.loads(headrace("explain", QUERY, "--costs", "-f", "json").out)
    assert set(document["costs"]) == {str(n["id"]) for n in document["plan"]["nodes"]}


def test_why_adds_notes_below_each_operator(headrace: Commands) -> None:
    done = headrace("explain", EXAMPLES / "q7.rq", "--catalog", CATALOG, "--why")
    assert "G13 = PATH[G12·^G0+], by JoinIntoPath\n" in done.out
    assert "next best S_PATH[G5+·^G3] at " in done.out
    assert done.out.count("run by ") == 9
    document = json.loads(headrace("explain", QUERY, "--why", "-f", "json").out)
    assert set(document["why"]) == {str(n["id"]) for n in document["plan"]["nodes"]}


def test_details_are_shown_together_in_one_order(headrace: Commands) -> None:
    done = headrace("explain", QUERY, "--why", "--costs", "--trace")
    places = [done.out.index(text) for text in ("run by ", "cost = ri", "1  query: G0 = WSCAN")]
    assert places == sorted(places)


def test_the_trace_ends_at_the_plan(headrace: Commands) -> None:
    given = ("explain", EXAMPLES / "triangle.rq", "--catalog", CATALOG, "--trace")
    done = headrace(*given)
    steps = re.findall(r"^ *(\d+)  \w", done.out, re.MULTILINE)
    assert steps == [str(k + 1) for k in range(len(steps))]
    assert re.search(r"^PatternAssociate +\d+ +\d+ +\d+ +[\d.]+$", done.out, re.MULTILINE)
    document = json.loads(headrace(*given, "-f", "json").out)
    last = document["trace"]["steps"][-1]
    assert last["plan"]["cost"] == document["cost"]
    assert "trace" not in json.loads(headrace("explain", QUERY, "-f", "json").out)


def test_a_query_without_time_for_a_search_has_no_reasons(headrace: Commands) -> None:
    wide = ", ".join(f"a{k}(x, y{k}), b{k}(y{k}, z)" for k in range(12))
    query = f"Answer(x, z) <- {wide} WINDOW 1d"
    document = json.loads(headrace("explain", query, "--why", "--budget-ms", "1", "-f", "json").out)
    assert document["stop_reason"] == "budget_ms"
    assert document["why"] == {}
    said = headrace("explain", query, "--why", "--trace", "--budget-ms", "1").out
    assert "found no cheaper plan than the one with which it began" in said


def test_cut_search_says_that_alternatives_may_be_missing(headrace: Commands) -> None:
    query = EXAMPLES / "chains.rq"
    done = headrace("explain", query, "--catalog", CATALOG, "--why", "--budget-expressions", "3")
    assert "run by ScanByWindow for G0 [spark_sql], no other way found in time" in done.out


@pytest.mark.long
def test_analyze_shows_measured_beside_estimated(headrace: Commands) -> None:
    query, catalog = EXAMPLES / "triangle.rq", ("--catalog", CATALOG)
    done = headrace("explain", query, *catalog, "--analyze")
    assert done.code == 0
    assert re.search(r"measured/h  valid +held +q-error", done.out)
    assert re.search(r"furthest off: held of HASH_JOIN  y,z ⋈ x,y,z → x,y,z  on y,z, ", done.out)
    assert re.search(r"ran on 20,489 edges of 60d in [\d.]+ s: 1,5\d\d results", done.out)
    scan = next(line for line in done.out.splitlines() if "a2q" in line)
    assert scan.split()[-1] == "1"
    # The thesis takes degrees as uniform, and is off by more than ten times.
    uniform = headrace("explain", query, *catalog, "--analyze", "--cost-model", "thesis")
    for text, far_off in ((done.out, False), (uniform.out, True)):
        marked = [line for line in text.splitlines() if line.endswith(" s") and "!" in line]
        assert bool(marked) is far_off
    document = json.loads(headrace("explain", query, *catalog, "--analyze", "-f", "json").out)
    measured = document["measured"]
    assert measured["edges"] == 20_489
    for node in document["plan"]["nodes"]:
        if node["op"] == "WSCAN":
            rate = measured["nodes"][str(node["id"])]["rate"]
            assert rate == pytest.approx(node["estimate"]["rate"], rel=0.01)
            assert measured["nodes"][str(node["id"])]["q_error"]["rate"] < 1.01


def test_a_query_from_a_file_or_standard_input(
    headrace: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "q.rq"
    file.write_text(QUERY)
    from_file = headrace("optimize", file)
    monkeypatch.setattr("sys.stdin", file.open())
    from_stdin = headrace("optimize", "-")
    assert from_file.out == from_stdin.out == headrace("optimize", QUERY).out


def test_language_comes_from_the_option_the_ending_or_the_text(
    headrace: Commands, tmp_path: Path
) -> None:
    text = "SELECT x, y MATCH (x)-/<:(a/b)+>/->(y)"
    file = tmp_path / "query.gcore"
    file.write_text(text)
    window = ("--window", "30d", "--slide", "1d")
    for query in ([file], [text], [text, "--language", "gcore"]):
        assert headrace("optimize", *query, *window).out == headrace("optimize", QUERY).out
    shown = headrace("explain", file, *window, "-f", "json").out
    assert json.loads(shown)["language"] == "gcore"
    failed = headrace("optimize", text, *window, "--language", "rq")
    assert failed.code == 2
    assert "E-SYNTAX 1:8" in failed.error


def test_optimize_writes_a_plan_that_explain_reads(headrace: Commands, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    done = headrace("optimize", EXAMPLES / "q6.rq", "--catalog", CATALOG, "--out", out)
    assert (done.code, done.out) == (0, "")
    plan = PhysicalPlan.from_json(out.read_text("utf-8"))
    assert f"plan {plan.digest} written to {out}" in done.err
    assert stat.S_IMODE(out.stat().st_mode) & 0o400
    tree = headrace("explain", out)
    assert (tree.code, tree.err) == (0, "")
    assert "PAIR_PATH" in tree.out
    assert headrace("explain", out, "-f", "json").out == out.read_text("utf-8")
    page = headrace("explain", out, "-f", "html", "-o", tmp_path / "plan.html")
    assert page.code == 0
    assert plan.digest in (tmp_path / "plan.html").read_text("utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plan.html", "plan.json"]


def test_plans_counts_and_ranks(headrace: Commands) -> None:
    arguments = ("plans", EXAMPLES / "q5.rq", "--catalog", CATALOG)
    document = json.loads(headrace(*arguments, "--limit", "5", "-f", "json").out)
    assert isinstance(document["total"], int)
    assert [plan["rank"] for plan in document["plans"]] == [1, 2, 3, 4, 5]
    for plan in document["plans"]:
        assert set(plan) == {
            "rank", "cost", "shared_cost", "chosen", "difference", "digest", "text", "plan",
        }  # fmt: skip
        SCHEMA.validate(plan["plan"])
        assert "_JOIN" in plan["text"]
    text = headrace(*arguments, "-n", "2").out
    assert document["different"] < document["total"]
    assert text.startswith(f"{document['different']:,} different of {document['total']:,} plans\n")
    assert text.count(" cost ") == 2
    assert text.count("COALESCE") == 2
    only_count = json.loads(headrace(*arguments, "-n", "0", "-f", "json").out)
    assert only_count == document | {"plans": [], "cost_bound": None}
    assert document["cost_bound"] == document["plans"][-1]["cost"]
    assert document["plans"][0]["difference"] is None
    assert document["plans"][1]["difference"] == {
        "kind": "path",
        "text": "S_PATH a2q·^c2a instead of a2q⋈c2a",
    }  # fmt: skip


def test_interrupted_ranking_shows_the_plans_so_far(
    headrace: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[ListingProgress] = []

    @contextmanager
    def pressed_after_two(_: PhysicalPlan) -> Iterator[Callable[[ListingProgress], None]]:
        def press(progress: ListingProgress) -> None:
            shown.append(progress)
            if progress.doing == "counting":
                signal.raise_signal(signal.SIGINT)

        yield press

    monkeypatch.setattr("headrace.api.listing.shown_listing", pressed_after_two)
    done = headrace("plans", EXAMPLES / "q5.rq", "--catalog", CATALOG, "-n", "2")
    assert done.code == 130
    assert done.out.startswith("an unknown number of different plans; the list is incomplete\n")
    assert done.out.count(" cost ") == 2
    assert "the list of plans is incomplete: it was interrupted" in done.err
    assert shown[-1].plans == 2


def test_a_listing_shows_its_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = optimize(PlanRequest("Answer(x, y) <- a(x, z), b(z, y) WINDOW 1d")).plan
    with shown_listing(plan) as show:
        assert show is None
    written = io.StringIO()
    monkeypatch.setattr("headrace.api.listing.watched", lambda _: True)
    monkeypatch.setattr(sys, "stderr", written)
    with shown_listing(plan) as show:
        assert show is not None
        show(ListingProgress("ranking", 3, 2.5, 1.25))
    line, erased = written.getvalue().split("\r\x1b[K")[1:]
    assert line.startswith("ranking (1.2 s), 3 plans, the others cost 2.5/s or more")
    assert erased == ""


def test_plans_samples_the_same_for_the_same_seed(headrace: Commands) -> None:
    arguments = ("plans", EXAMPLES / "q5.rq", "--catalog", CATALOG, "-f", "json", "--sample", "6")

    def digests(*more: str) -> list[str]:
        document = json.loads(headrace(*arguments, *more).out)
        assert all(plan["rank"] is None for plan in document["plans"])
        return [plan["digest"] for plan in document["plans"]]

    assert digests("--seed", "7") == digests("--seed", "7")
    assert digests() == digests("--seed", "0")
    assert digests("--seed", "7") != digests("--seed", "8")


def test_planning_options_change_the_plan(headrace: Commands) -> None:
    notified = ("explain", EXAMPLES / "q7.rq", "--catalog", CATALOG)
    assert "S_PATH  π(c2q)·^a2q+" in headrace(*notified).out
    assert "S_PATH  π(c2q)·^a2q+" not in headrace(*notified, "--disable-rule", "JoinIntoPath").out
    query = "Answer(x, y) <- a(x, y)"
    windowed = headrace("explain", query, "--window", "12h", "--slide", "1h").out
    assert "window 12h slide 1h" in windowed
    document = json.loads(headrace("explain", QUERY, "--cost-model", "thesis", "-f", "json").out)
    assert document["cost_model"] == "thesis"
    cut = headrace("explain", EXAMPLES / "q5.rq", "--catalog", CATALOG, "--budget-expressions", "9")
    assert "cut by its limit of expressions" in cut.out


def test_inputs_are_measured(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "edges.txt"
    file.write_text("".join(f"{k} {k + 1} {k * 3600}\n" for k in range(48)))
    done = headrace(
        "explain", "Answer(x, y) <- a(x, y) WINDOW 1d",
        "--input", f"a={file}", "--columns", "src,trg,ts", "--sep", " ", "-f", "json",
    )  # fmt: skip
    plan = json.loads(done.out)["plan"]
    scan = next(node for node in plan["nodes"] if node["op"] == "WSCAN")
    assert scan["estimate"]["rate"] * 3600 == pytest.approx(1, rel=0.1)


def test_warnings_go_to_stderr(headrace: Commands) -> None:
    done = headrace("explain", "Answer(x, y) <- a(x, y) WINDOW 3d SLIDE 2d", "-f", "json")
    assert done.code == 0
    assert "warning: W-SLIDE" in done.err
    assert json.loads(done.out)["warnings"]


def test_hostile_names_stay_text(headrace: Commands) -> None:
    query = "Answer(x, y) <- `<script>alert(1)</script>`(x, y) WINDOW 1d"
    page = headrace("explain", query, "-f", "html")
    assert page.code == 0
    assert "<script" not in page.out
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.out


def test_statistics_in_a_unit_of_time(headrace: Commands, tmp_path: Path) -> None:
    """Rates are per time unit of the catalog, and so are the costs of plans."""
    edges, catalog = tmp_path / "edges.csv", tmp_path / "catalog.yaml"
    days = [f"{i},{i + 1},a,2024-01-{1 + i // 2:02}T{12 * (i % 2):02}:59:00Z" for i in range(60)]
    edges.write_text("\n".join(["src,trg,label,ts", *days]))
    measured = headrace("stats", "--input", edges, "--time-unit", "day", "--out", catalog)
    assert re.search(r"^a +2 ", measured.out, re.MULTILINE), measured.out
    assert "time_unit: day\n" in catalog.read_text()
    planned = headrace("optimize", "Answer(x, y) <- a(x, y) WINDOW 1w", "--catalog", catalog)
    assert json.loads(planned.out)["windows"][0]["range"] == 7
    assert headrace("stats", "-i", edges, "--time-unit", " ").code == 2


NUMBERED = "src,trg,label,ts\n" + "".join(f"1,{k},a,{1_700_000_000_000 + k}\n" for k in range(12))


@pytest.mark.parametrize("command", ["explain", "optimize", "plans", "run"])
def test_a_vertex_is_not_silently_compared_with_a_number(
    headrace: Commands, tmp_path: Path, command: str
) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text(NUMBERED)
    query = "Answer(x, y) <- a(x, y), y > 3 WINDOW 1h"
    done = headrace(command, query, "--input", edges)
    assert done.code == 2
    assert "E-TYPE 1:26: >: y is a string and 3 is a number" in done.error
    assert "vertex_type: integer in the catalog" in done.error
    assert "(--vertex-type integer)" in done.error
    assert "if they are milliseconds, say --time-unit millisecond" in done.err


def test_a_run_fails_if_no_row_of_its_input_can_be_read(headrace: Commands, tmp_path: Path) -> None:
    edges, output = tmp_path / "edges.csv", tmp_path / "results.jsonl"
    edges.write_text("src,trg,ts\n1,2,soon\n2,3,later\n")
    query, file = "Answer(x, y) <- a(x, y) WINDOW 1h", f"a={edges}"
    run = ("run", query, "--input", file, "--engine", "local")
    done = headrace(*run, "--output", output)
    assert done.code == 1
    assert f"All 2 rows of the stream 'input' were rejected. The first: {edges}:2:" in done.error
    assert "ts 'soon' is neither a whole number nor ISO-8601" in done.error
    assert "its separator, the columns of its fields" in done.error
    kept = (tmp_path / "results.jsonl.rejected.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["line"] for row in kept] == [2, 3]
    assert not output.exists()
    # One edge suffices.
    edges.write_text("src,trg,ts\n1,2,soon\n2,3,5\n")
    assert headrace(*run, "--output", output).code == 0
    assert len(output.read_text("utf-8").splitlines()) == 1


def test_types_and_units_without_a_catalog(headrace: Commands, tmp_path: Path) -> None:
    edges, people, catalog = (tmp_path / name for name in ("edges.csv", "people.csv", "c.yaml"))
    edges.write_text(NUMBERED)
    people.write_text("id,label\n1,P\n")
    query = "Answer(x, y) <- a(x, y), P(x), y > 3 WINDOW 1h"
    options = ("--vertex-type", "integer", "--time-unit", "ms")
    done = headrace("optimize", query, "-i", edges, "--vertices", people, *options)
    assert done.err == ""
    plan = json.loads(done.out)
    assert plan["time_unit"] == "millisecond"
    assert plan["windows"][0]["range"] == 3_600_000
    assert {stream["vertex_type"] for stream in plan["streams"]} == {"integer"}
    # The same without input, from the catalog that stats writes.
    assumed = json.loads(headrace("optimize", query, *options).out)
    assert {stream["vertex_type"] for stream in assumed["streams"]} == {"integer"}
    assert assumed["time_unit"] == "millisecond"
    assert headrace("stats", "-i", edges, *options, "--out", catalog).code == 0
    assert "time_unit: millisecond\n" in catalog.read_text()
    assert "vertex_type: integer\n" in catalog.read_text()
    edges_alone = "Answer(x, y) <- a(x, y), y > 3 WINDOW 1h"
    assert headrace("optimize", edges_alone, "--catalog", catalog).code == 0
    refused = headrace("optimize", edges_alone, "--catalog", catalog, "--vertex-type", "integer")
    assert "--vertex-type is for input without a catalog" in refused.error
    made = tmp_path / "plan.json"
    made.write_text(done.out)
    refused = headrace("run", made, "--vertex-type", "string")
    assert "--vertex-type needs a query" in refused.error


def test_warning_if_numbers_are_ordered_as_text(headrace: Commands, tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    for query in ("Answer(x) <- a(x, y), x < y", "Answer(x, max(y) as m) <- a(x, y)"):
        edges.write_text("src,trg,label,ts\n9,10,a,5\n")
        done = headrace("optimize", f"{query} WINDOW 1h", "-i", edges)
        assert "warning: the query orders vertices as text" in done.err
        done = headrace("optimize", f"{query} WINDOW 1h", "-i", edges, "--vertex-type", "integer")
        assert done.err == ""
        edges.write_text("src,trg,label,ts\n9,v10,a,5\n")
        assert headrace("optimize", f"{query} WINDOW 1h", "-i", edges).err == ""


def test_calibrated_constants_change_the_costs_and_are_shown(
    headrace: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costly = asdict(replace(Constants(), push=1_000.0))
    machine = {"processor": "a processor", "date": "2026-11-22T10:00:00+00:00"}
    path = tmp_path / "constants.json"
    path.write_text(Calibration(constants=costly, machine=machine).to_json(), "utf-8")
    shipped = headrace("explain", QUERY, "--costs")
    assert "constants: shipped defaults" in shipped.out
    named = headrace("explain", QUERY, "--constants", path)
    assert "constants: measured on a processor, 2026-11-22" in named.out
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.delenv("HEADRACE_CONSTANTS")
    documents = [
        json.loads(headrace("explain", QUERY, *more, "-f", "json").out)
        for more in ((), ("--constants", path), ("--constants", "shipped"))
    ]
    default, same, other = documents
    assert default["cost"] == same["cost"] > 10 * other["cost"]
    assert default["constants_origin"] == "measured on a processor, 2026-11-22"
    assert "constants_origin" not in other


def test_damaged_constants_are_an_error_with_advice(headrace: Commands, tmp_path: Path) -> None:
    path = tmp_path / "constants.json"
    path.write_text("{", "utf-8")
    done = headrace("plans", QUERY, "--constants", path)
    assert done.code == 2
    assert f"the cost constants in {path} cannot be used: it is not JSON" in done.error
    assert "calibrate again, or name 'shipped' instead of a file" in done.error


def test_no_sample_plans_without_the_sample(headrace: Commands, tmp_path: Path) -> None:
    rows = "".join(f"{k % 7},{k % 5},a,{k}\n" for k in range(200))
    (tmp_path / "in.csv").write_text("src,trg,label,ts\n" + rows)
    query = "Answer(x, y) <- x a+ y WINDOW 20"
    given = ("explain", query, "--input", tmp_path / "in.csv", "--format", "json")
    assert json.loads(headrace(*given).out)["sampling"]["estimates"] == 1
    assert json.loads(headrace(*given, "--no-sample").out).get("sampling") is None
