"""Every block of code in the documentation runs, or a table says why it does not."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.api.cli import main
from headrace.catalog import load
from headrace.languages import parse
from headrace.languages.query.errors import QueryError
from tests.page_blocks import ROOT, Block, blocks
from tests.processes import QUICK_SPARK

BLOCKS = blocks()

NOT_RUN = {
    "query text ──► languages/ ──► RegularQuery ──► LogicalQuery (algebra/)": "a drawing",
    "read  2c7d0b6e5f1a4398": "the form of lines of a file of the service",
    "docker build -t headrace .": "needs Docker",
    "ok       Java  ": "lines of the output of a command: tests/api/test_doctor.py",
    "error: The executor on node7 does not share the checkpoint /tmp/headrace-1 with the driver: "
    "[Errno 2] No such file or directory: ...": "an error of a cluster",
    "P S_PATH  (a2q⋈c2a)+ → x,y": "a line of the output with `--analyze`, above it in full",
    "read      32,071 edges, 32,071 relevant, 0 rows rejected": "output, tests/api/test_cli.py",
    'key    {"x": "1", "y": "7"}': "a message of Kafka: tests/kafka/test_kafka_output.py",
    '{"id": "...", "plan": {...}, "cost": ..., "shared_cost": ..., "canonical_cost": ..., '
    '"canonical_shared_cost": ..., "minimised"': "an answer with parts left out",
}
"""The blocks that are no code, by their first line, with the reason."""

ELSEWHERE = {
    "service": "tests/api/test_service_docs.py runs them against a service",
    "golden": "tests/test_docs.py compares them with the output of the command",
    "python spark": "the long tests below",
    "python spark part": "tests/executor/spark/test_named_sinks.py makes these calls",
    "python kafka": "tests/kafka/test_kafka_stream.py runs it against a broker",
    "typescript": "a part of a component of the page, which the page's own tests check",
}
"""The kinds of blocks that other tests check."""


def of_kind(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind and not left_out(block)]


def name(block: Block) -> str:
    return f"{block.page}:{block.line}"


def each(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", of_kind(kind), ids=name)


def test_each_block_is_checked() -> None:
    run = {"query", "catalog", "json", "shell", "cell", "python"}
    kinds = run | ELSEWHERE.keys()
    unknown = [
        (name(block), block.first_line)
        for block in BLOCKS
        if block.kind not in kinds and not left_out(block)
    ]
    assert unknown == [], "give the fence a language, or a reason in NOT_RUN"
    unused = [line for line in NOT_RUN if not any(b.first_line.startswith(line) for b in BLOCKS)]
    assert unused == [], "these reasons belong to no block"


def left_out(block: Block) -> bool:
    return any(block.first_line.startswith(line) for line in NOT_RUN)


@each("query")
def test_a_query_parses(block: Block) -> None:
    text = block.text
    assert parse(text).rules


A_STREAM = "streams: {s: {labels: {a: {rate: 1, distinct_src: 9, distinct_trg: 9}}}}"


@each("catalog")
def test_a_catalog_loads(block: Block, tmp_path: Path) -> None:
    text = block.text
    if "views:" in text or text.startswith("sinks:"):
        text = f"{A_STREAM}\n{text}"
    elif "streams:" not in text:
        text = f"streams:\n{textwrap.indent(text, '  ')}"
    for source in re.findall(r"file: ([\w.]+)", text):
        (tmp_path / source).write_text(
            "CONSTRUCT (x)-[:b]->(y) MATCH (x)-[:a]->(y) ON s WINDOW (1)"
        )
    (tmp_path / "catalog.yaml").write_text(text, "utf-8")
    catalog = load(tmp_path / "catalog.yaml")
    assert catalog.streams or catalog.views


@each("json")
def test_json_is_json(block: Block) -> None:
    text = block.text
    documents = text.splitlines() if block.language == "" else [text]
    assert all(isinstance(json.loads(document), dict) for document in documents)


NEEDS = {
    "kafka": "a broker: tests/kafka",
    "--output sink:": "Spark: tests/executor/spark/test_named_sinks.py",
    "--master": "a cluster: tests/cluster",
    "headrace serve": "a port, and does not end: tests/api",
    "headrace warm": "minutes: tests/test_packaging.py",
    "headrace calibrate": "minutes: tests/running/calibration",
    "headrace demo": "the gate, which runs the command of the README",
    "pytest": "the gate, which runs the command of the README",
    "curl ": "a service: tests/api/test_service_docs.py",
    "spark-submit": "a cluster",
    "venv-pack": "a cluster: tests/cluster",
    "npm ": "the page's own tools: tests/test_web.py",
    "python web/": "the page's own tools: tests/test_web.py",
    "docker ": "Docker",
}
"""What the commands need that are not run here, by a part of the command."""

RUN_AS_WRITTEN = re.compile(r"cd (\S+)|headrace (stats|explain|optimize|plans|run)\b.*")


def test_each_command_runs_here_or_says_what_it_needs() -> None:
    unknown = [
        (name(block), command)
        for block in of_kind("shell")
        for command in block.commands
        if not any(part in command for part in NEEDS) and not RUN_AS_WRITTEN.fullmatch(command)
    ]
    assert unknown == []


SAMPLE = {
    "query.rq": "Answer(x, y) <- x (a2q/c2a)+ y.\nWINDOW 30d SLIDE 1d\n",
    "likes.csv": "src,trg,ts\n1,7,0\n2,7,5\n",
    "forums.csv": "src,trg\n7,90\n",
    "pays.csv": "src,trg,ts\n1,2,0\n2,3,5\n",
    "people.csv": "id,country\n1,NL\n2,DE\n",
}
"""The files that commands of the pages name, beside ``edges.csv`` and its catalog."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands of the pages name."""
    folder = tmp_path_factory.mktemp("sample")
    for file, text in SAMPLE.items():
        (folder / file).write_text(text, "utf-8")
    lines = [
        f"{x % 31},{(x + 1) % 31},{label},{1_000_000 + 3600 * x}"
        for x in range(31)
        for label in ("a2q", "c2a")
    ]
    (folder / "edges.csv").write_text("\n".join(["src,trg,label,ts", *lines, ""]), "utf-8")
    (folder / "catalog.yaml").write_text(
        "streams:\n  posts:\n    source: {format: csv, path: edges.csv}\n    labels:\n"
        "      a2q: {rate: 0.0003, distinct_src: 31, distinct_trg: 31}\n"
        "      c2a: {rate: 0.0003, distinct_src: 31, distinct_trg: 31}\n",
        "utf-8",
    )
    return folder


def commands(*, examples: bool) -> Iterator[tuple[str, Block, str]]:
    """The blocks with commands that run here, and the command of each."""
    for block in of_kind("shell"):
        if block.page.startswith("examples/") != examples:
            continue
        for command in block.commands:
            if not any(part in command for part in NEEDS):
                yield name(block), block, command


@pytest.mark.parametrize(
    ("place", "command"),
    [(place, command) for place, _, command in commands(examples=False)],
)
def test_a_command_of_a_page_runs(
    place: str,
    command: str,
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Runs in process, and runs of plans without Spark."""
    work = tmp_path / "work"
    shutil.copytree(sample, work)
    monkeypatch.chdir(work)
    if "--speed" in command:  # replays 31 hours at that speed
        command = re.sub(r"--speed \S+", "--speed 7d", command)
    _, *words = shlex.split(command)
    assert main(words + local(words)) == 0, (place, capsys.readouterr().err)
    assert "--output" in words or "--out" in words or capsys.readouterr().out


def local(words: list[str]) -> list[str]:
    return ["--engine", "local"] if words[0] == "run" and "--engine" not in words else []


@pytest.mark.long
@pytest.mark.parametrize("folder", ["amlsim", "flows", "ldbc"])
def test_the_commands_of_an_example_run(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "examples" / folder
    shutil.copytree(ROOT / "examples" / folder, here)
    monkeypatch.chdir(tmp_path)
    ran = 0
    for _, block, command in commands(examples=True):
        if f"/{folder}/" in block.page:
            if command.startswith("cd "):
                monkeypatch.chdir(tmp_path / command[3:])
                continue
            _, *words = shlex.split(command)
            assert main(words + local(words)) == 0
            ran += 1
    assert ran >= 2


@each("cell")
def test_a_cell_of_a_notebook_runs(
    block: Block, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.chdir(sample)
    shell = InteractiveShell()
    for cell in ("%load_ext headrace", block.text):
        shell.run_cell(cell).raise_error()
    assert shell.user_ns["planned"].columns == ("x", "y")


PROGRAM = "docs/stream.md"
"""The page whose blocks are one program."""


@pytest.mark.parametrize(
    "block", [block for block in of_kind("python") if block.page != PROGRAM], ids=name
)
def test_a_program_runs(block: Block, sample: Path, tmp_path: Path) -> None:
    """In a folder with the files that the pages name, and the examples."""
    work = tmp_path / "work"
    shutil.copytree(sample, work)
    (work / "examples").symlink_to(ROOT / "examples")
    done = python(block.text, work)
    assert done.returncode == 0, done.stderr


def python(code: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a program; ``more`` is added to its environment."""
    (folder / "program.py").write_text(code, "utf-8")
    return subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.spark
@pytest.mark.long
@each("python spark")
def test_a_program_that_starts_spark_runs(
    block: Block, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    shutil.copytree(sample, work)
    monkeypatch.chdir(work)
    for plan, query in (("fraud", "a2q(x, y), c2a(y, z)"), ("circles", "a2q(x, y), a2q(y, z)")):
        command = ["optimize", f"Answer(x, z) <- {query} WINDOW 30d"]
        assert main([*command, "--catalog", "catalog.yaml", "--out", f"{plan}.json"]) == 0
    done = python(block.text, work)
    assert done.returncode == 0, done.stderr
    fraud, circles = map(int, done.stdout.split())
    assert fraud > 0
    assert circles > 0


PAYMENTS = """\
sender,receiver,amount,at
1,2,500.0,2026-01-01T10:00:00
2,3,120.0,2026-01-01T10:00:20
3,1,80.0,2026-01-01T10:00:40
9,9,1.0,2026-01-01T12:00:00
9,9,1.0,2026-01-01T14:00:00
"""


@pytest.mark.spark
@pytest.mark.long
def test_the_program_with_headrace_stream_runs(tmp_path: Path) -> None:
    """The answer is that of its page; edges of a later hour let the earlier ones through."""
    (tmp_path / "payments.csv").write_text(PAYMENTS, "utf-8")
    code = "\n".join(block.text for block in of_kind("python") if block.page == PROGRAM)
    done = python(f"{code}\nspark.stop()\n", tmp_path, **QUICK_SPARK)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("{'x'")]
    ten = 1_767_261_600  # 2026-01-01 10:00:00
    answers = [
        {"x": "1", "z": "3", "first": 500.0, "ts": ten + 20, "exp": ten + 3600},
        {"x": "3", "z": "2", "first": 80.0, "ts": ten + 40, "exp": ten + 3600},
    ]
    assert sorted(rows) == [str(answer) for answer in answers]


DOCTESTS = sorted(
    path.relative_to(ROOT)
    for folder in ROOT.iterdir()
    if (folder / "__init__.py").exists() and folder.name not in ("tests", "bench", "web")
    for path in folder.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("path", [Path("__init__.py"), *DOCTESTS], ids=str)
def test_the_examples_of_docstrings_are_right(path: Path) -> None:
    parts = path.with_suffix("").parts
    module = importlib.import_module(
        ".".join(("headrace", *(part for part in parts if part != "__init__")))
    )
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_wrong_example_of_a_query_is_refused() -> None:
    """So that the checks above can fail."""
    with pytest.raises(QueryError):
        parse("Answer(x, y) <- a(x z).")
