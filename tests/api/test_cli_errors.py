"""Each mistake gives one message, the right exit code, no traceback and no partial file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.api.command import CATALOG, EXAMPLES, QUERY, Commands, process

A2Q = f"a2q={EXAMPLES / 'a2q.csv.gz'}"
NO_WINDOW = "Answer(x, y) <- a(x, y)"

WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no such command": (("explian", QUERY), "No such command 'explian'"),
    "no such option": (("explain", QUERY, "--tint"), "no such option: --tint"),
    "an option misspelled": (
        ("explain", QUERY, "--widnow", "1d"), "no such option: --widnow; did you mean --window?"
    ),
    "no such value": (
        ("explain", QUERY, "--stage", "phys"), "or plan, got 'phys'; did you mean physical?"
    ),
    "a value missing": (("explain", QUERY, "--window"), "requires an argument"),
    "no query": (("explain",), "Missing argument 'QUERY'"),
    "too much": (("explain", QUERY, QUERY), "unexpected extra argument"),
    "not a number": (
        ("plans", QUERY, "--limit", "few"), "--limit: expected a whole number, got 'few'"
    ),
    "negative": (("plans", QUERY, "--limit", "-1"), "--limit: expected at least 0, got '-1'"),
    "no such file": (("explain", "query.rq"), "no such file: query.rq"),
    "a folder": (("explain", str(EXAMPLES)), "is a folder"),
    "an empty query": (("explain", " "), "the query is empty"),
    "not in the grammar": (("explain", "Answer(x, y <- a(x, y)"), "E-SYNTAX 1:13"),
    "recursion": (("explain", "Answer(x, y) <- Answer(x, y) WINDOW 1d"), "E-REC 1:"),
    "unbound": (("explain", "Answer(x, z) <- a(x, y) WINDOW 1d"), "E-SAFE 1:"),
    "slide over range": (("explain", f"{NO_WINDOW} WINDOW 1d SLIDE 2d"), "E-WINDOW 1:"),
    "slide over range, as options": (
        ("explain", NO_WINDOW, "--window", "1d", "--slide", "2d"),
        "the default slide of 2d is longer than the default window of 1d",
    ),
    "a slide alone": (("explain", NO_WINDOW, "--slide", "2d"), "(--window 24h)"),
    "not a length of time": (("explain", NO_WINDOW, "--window", "soon"), "soon"),
    "no window at all": (("explain", NO_WINDOW), "E-NOWIN 1:17"),
    "an unknown label": (
        ("explain", "Answer(x, y) <- a2p(x, y) WINDOW 1d", "--catalog", CATALOG), "E-UNKNOWN 1:17"
    ),
    "an unknown language": (("explain", QUERY, "--language", "sql"), "E-LANGUAGE"),
    "an unknown rule": (("explain", QUERY, "--disable-rule", "Magic"), "no rule 'Magic'"),
    "a rule misspelled": (
        ("explain", QUERY, "--disable-rule", "FilterMerg"), "did you mean FilterMerge? there are:"
    ),
    "a catalog as the query": (("explain", CATALOG), "give this file as the catalog (--catalog"),
    "edges as the query": (
        ("explain", str(EXAMPLES / "a2q.csv.gz")), "give this file as the input (--input FILE)"
    ),
    "no trigger": (("run", QUERY, "--trigger", "sometimes"), "not a length of time"),
    "a trigger without a unit": (
        ("run", QUERY, "--trigger", "5"), "with its unit, as '10 seconds', got '5'"
    ),
    "no catalog": (("explain", QUERY, "--catalog", "none.yaml"), "none.yaml"),
    "no input": (("explain", QUERY, "--input", "none.csv"), "none.csv"),
    "columns of nothing": (("explain", QUERY, "--columns", "src,trg,ts"), "no input files"),
    "columns without trg": (
        ("explain", QUERY, "-i", A2Q, "--columns", "src,ts"), "trg is missing"
    ),
    "a picture of a query": (("explain", QUERY, "--stage", "query", "-f", "dot"), "no dot form"),
    "costs of a memo": (("explain", QUERY, "--stage", "memo", "--costs"), "--costs needs --stage"),
    "a trace of a query": (
        ("explain", QUERY, "--stage", "query", "--trace"), "--trace needs --stage physical"
    ),
    "reasons in a picture": (("explain", QUERY, "--why", "-f", "dot"), "--why needs --stage"),
    "reasons of a plan": (("explain", "{plan}", "--why"), "--why needs a query"),
    "a trace of a plan": (
        ("explain", "{plan}", "--costs", "--trace"), "--costs and --trace need a query"
    ),
    "analysis of nothing": (("explain", QUERY, "--analyze"), "there is no input"),
    "a seed without a sample": (("plans", QUERY, "--seed", "1"), "--seed needs --sample"),
    "nowhere to write": (("optimize", QUERY, "--out", "no/such/folder/p.json"), "cannot write"),
    "nothing to measure": (("stats",), "stats needs a file to measure"),
    "nothing to run on": (("run", QUERY), "there is no input"),
    "a plan is planned": (("run", "{plan}", "--window", "1d"), "is a plan already"),
    "a plan to optimize": (("optimize", "{plan}"), "is a plan, but this command takes a query"),
    "a memo of a plan": (("explain", "{plan}", "--stage", "memo"), "only the stages"),
    "parquet on stdout": (
        ("run", "{plan}", "-i", A2Q, "--output-format", "parquet"), "Parquet cannot go"
    ),
    "no such demo": (("demo", "tetris"), "got 'tetris'"),
    "no such port": (("serve", "--port", "70000"), "--port: expected at most 65,535, got '70000'"),
    "not our address": (("serve", "--host", "192.0.2.1", "--port", "0"), "cannot listen on"),
}  # fmt: skip


@pytest.fixture
def plan(headrace: Commands, tmp_path: Path) -> Path:
    """A plan in a file."""
    file = tmp_path / "plan.json"
    query = "Answer(x, y) <- a2q(x, y) WINDOW 1d"
    assert headrace("optimize", query, "--out", file).code == 0
    return file


@pytest.mark.parametrize("what", WRONG)
def test_wrong_usage_ends_with_exit_code_2(headrace: Commands, plan: Path, what: str) -> None:
    arguments, message = WRONG[what]
    done = headrace(*(a.replace("{plan}", str(plan)) for a in arguments))
    assert done.code == 2
    assert message in done.error
    assert done.out == ""


def test_the_place_in_the_query_is_shown(headrace: Commands) -> None:
    done = headrace("explain", "Answer(x, z) <-\n  a(x, y), b(y z)\nWINDOW 1d")
    assert "E-SYNTAX 2:16: z: " in done.error
    assert "  2 |   a(x, y), b(y z)\n    |                ^" in done.error


def test_a_misspelt_option_is_guessed(headrace: Commands) -> None:
    assert "--input" in headrace("explain", QUERY, "--inptu", "x").error


BROKEN = {
    "not JSON": ("{", "not JSON"),
    "another version": ('{"version": 99}', "plan version 99 is not known"),
    "no version": ("{}", "plan version None is not known"),
    "no nodes": ('{"version": 1}', "nodes"),
    "not an object": ("[1]", "a plan is a JSON object"),
    "very deep": ('{"version":' + "[" * 100_000, "nest more than"),
    "many digits": ('{"version": ' + "9" * 9_999 + "}", "not an integer of 64 bits"),
    "no number": ('{"version": NaN}', "NaN is not JSON"),
    "a key twice": ('{"version": 1, "version": 1}', "stands twice"),
    "half a character": ('{"version": 1, "nodes": "\\ud800"}', "not Unicode text"),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("command", ["run", "explain"])
def test_invalid_plans_are_refused(
    headrace: Commands, tmp_path: Path, what: str, command: str
) -> None:
    text, message = BROKEN[what]
    file = tmp_path / "plan.json"
    file.write_text(text)
    done = headrace(command, file)
    assert done.code == 2
    assert message in done.error
    assert str(file) in done.error


BY_HAND: dict[str, tuple[int, dict[str, object], str]] = {
    "code of Java": (0, {"predicate": "java_method('java.lang.System', 'exit', 0) = 1"}, "allowed"),
    "a sub-query": (0, {"predicate": "c0 = (SELECT 1)"}, "not allowed"),
    "a window beyond all time": (0, {"range": 2**63 - 1}, "a window needs"),
    "a stream of another": (0, {"stream": "secrets"}, "no stream 'secrets'"),
    "an unknown argument": (1, {"code": "import os"}, "code"),
}


@pytest.mark.parametrize("what", BY_HAND)
@pytest.mark.parametrize("command", ["run", "explain"])
def test_plans_changed_by_hand_are_checked(
    headrace: Commands, plan: Path, what: str, command: str
) -> None:
    """The command refuses it before it starts anything or writes a file."""
    node, arguments, message = BY_HAND[what]
    document = json.loads(plan.read_text())
    del document["digest"]
    document["nodes"][node]["args"].update(arguments)
    plan.write_text(json.dumps(document))
    more = ("--input", A2Q, "--output", plan.with_name("out")) if command == "run" else ()
    done = headrace(command, plan, *more)
    assert done.code == 2
    assert message in done.error
    assert len(done.error) < 1_000
    assert [file.name for file in plan.parent.iterdir()] == ["plan.json"]


def test_plan_that_is_not_text_is_refused(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(b'{"version": 1, "nodes": "\xff"}')
    done = headrace("run", file)
    assert done.code == 2
    assert "UTF-8" in done.error


def test_a_plan_changed_by_hand(headrace: Commands, plan: Path) -> None:
    document = json.loads(plan.read_text())
    document["nodes"][0]["args"]["range"] += 1
    plan.write_text(json.dumps(document))
    done = headrace("run", plan, "--input", A2Q)
    assert done.code == 2
    assert "changed by hand" in done.error


def test_a_catalog_with_a_mistake(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_text("streams:\n  s:\n    labels:\n      a: {rate: many}\n")
    done = headrace("explain", QUERY, "--catalog", file)
    assert done.code == 2
    assert f"{file}:4: streams.s.labels.a" in done.error


def test_a_file_without_the_columns(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,when\n1,2,3\n")
    for command in (("explain", QUERY), ("stats",), ("run", QUERY, "-o", tmp_path / "out")):
        done = headrace(*command, "--input", f"a={file}")
        assert done.code == 2
        assert "no column 'src'" in done.error
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this file")
def test_a_file_that_cannot_be_read(headrace: Commands) -> None:
    done = headrace("stats", "--input", "a=/proc/self/mem", "--columns", "src,trg,ts")
    assert done.code == 2
    assert "/proc/self/mem: cannot be read" in done.error


def test_a_cut_off_gzip_file(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv.gz"
    file.write_bytes((EXAMPLES / "a2q.csv.gz").read_bytes()[:2000])
    done = headrace("stats", "--input", f"a={file}")
    assert done.code == 2
    assert "damaged or cut off" in done.error


def test_bad_row_stops_strict_reading_only(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("src,trg,label,ts\n1,2,a,5\n1,2,a,soon\n")
    done = headrace("stats", "--input", file)
    assert done.code == 0
    assert f"warning: 1 row is not an edge:\n  {file}:3: ts 'soon'" in done.err
    strict = headrace("stats", "--input", file, "--strict")
    assert strict.code == 1
    assert f"{file}:3: ts 'soon'" in strict.error


def test_internal_error_is_reported_as_one(
    headrace: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("headrace.planning.translating.translate", broken)
    done = headrace("explain", QUERY)
    assert done.code == 1
    assert "ZeroDivisionError: of all things" in done.error
    assert "a fault of Headrace" in done.error
    assert "Traceback" in headrace("explain", QUERY, "--debug").err


def test_debug_shows_where_a_user_error_was_found(headrace: Commands) -> None:
    done = headrace("explain", "Answer(x", "--debug")
    assert done.code == 2
    assert "Traceback" in done.err


def test_as_a_process() -> None:
    done = process("explain", "Answer(x, y) <- a(x, y")
    assert done.code == 2
    assert "E-SYNTAX" in done.error
    assert done.out == ""


@pytest.mark.parametrize("command", ["stats", "explain", "plans", "optimize", "run"])
@pytest.mark.parametrize("kind", ["a pipe", "a device", "an empty file", "an empty folder"])
def test_input_that_is_not_an_edge_file_is_refused(
    headrace: Commands, tmp_path: Path, command: str, kind: str
) -> None:
    path = tmp_path / "edges.csv"
    match kind:
        case "a pipe":
            os.mkfifo(path)
        case "a device":
            path = Path("/dev/zero")
        case "an empty file":
            path.touch()
        case _:
            path.mkdir()
    said = {
        "an empty file": "the file is empty: there is nothing to read, not even a header",
        "an empty folder": "the folder has no files",
    }
    query = () if command == "stats" else ("Answer(x, y) <- a(x, y) WINDOW 1d",)
    done = headrace(command, *query, "--input", f"a={path}")
    assert done.code == 2
    assert f"{path}: " in done.error
    assert said.get(kind, f"cannot be read: it is {kind}, and input is read") in done.error
    assert done.out == ""


def test_a_stored_plan_refuses_such_input_when_it_runs(headrace: Commands, plan: Path) -> None:
    empty, pipe = plan.with_name("empty.csv"), plan.with_name("pipe.csv")
    empty.touch()
    os.mkfifo(pipe)
    for path, said in ((empty, "the file is empty"), (pipe, "it is a pipe")):
        done = headrace("run", plan, "--input", f"a2q={path}")
        assert done.code == 2
        assert said in done.error
