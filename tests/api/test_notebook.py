"""The cell magic in a shell of IPython, and the notebook of the examples in a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace import Catalog, PlannedQuery, load_catalog
from headrace.api.progress import description
from headrace.api.render import html
from headrace.executor.spark.report import Progress

nbformat = pytest.importorskip("nbformat", reason="notebooks need the test extra")
nbclient = pytest.importorskip("nbclient", reason="notebooks need the test extra")
interactiveshell = pytest.importorskip(
    "IPython.core.interactiveshell", reason="notebooks need the test extra"
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "mathoverflow"
QUERY = "Answer(x, z) <- a2q(x, y), c2a(y, z)"


@pytest.fixture
def shell() -> Iterator[Any]:
    """A shell with the extension loaded, and the example's catalog as a variable."""
    shell = interactiveshell.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "headrace")
    shell.user_ns["known"] = load_catalog(EXAMPLE / "catalog.yaml")
    yield shell
    interactiveshell.InteractiveShell.clear_instance()


def test_a_cell_is_planned_and_named(shell: Any) -> None:
    assert isinstance(shell.user_ns["known"], Catalog)
    done = shell.run_cell(f"%%headrace planned --catalog known --window 3d\n{QUERY}")
    assert isinstance(done.result, PlannedQuery)
    assert shell.user_ns["planned"] is done.result
    assert done.result.columns == ("x", "z")
    by_file = f"%%headrace --catalog {EXAMPLE / 'catalog.yaml'} --window 3d\n{QUERY}"
    assert shell.run_cell(by_file).result.plan == done.result.plan


def test_a_cell_is_run(shell: Any, tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("src,trg,label,ts\n1,2,a2q,0\n2,3,c2a,5\n")
    shell.run_cell(f"%%headrace found --input {edges} --window 10 --run\n{QUERY}")
    assert shell.user_ns["found"].to_dict("records") == [{"x": "1", "z": "3", "ts": 5, "exp": 10}]


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("", "Answer(x, z) <- a2q(x, y)", "E-SAFE 1:1"),
        ("--catalog missing.yaml", QUERY, "missing.yaml"),
        ("--windows 3d", QUERY, "unrecognized arguments: --windows"),
        ("3d", QUERY, "3d is not the name of a variable"),
        ("'3d", QUERY, "No closing quotation"),
    ],
)
def test_a_mistake_in_a_cell_is_a_message_without_a_traceback(
    shell: Any, capsys: pytest.CaptureFixture[str], line: str, cell: str, message: str
) -> None:
    done = shell.run_cell(f"%%headrace {line}\n{cell}")
    assert type(done.error_in_exec).__name__ == "UsageError"
    said = "".join(capsys.readouterr())
    assert message in said
    assert "Traceback" not in said


def test_the_progress_of_a_notebook_is_a_bar_with_its_numbers() -> None:
    running = Progress("running", 0.25, edges=1_000, results=7)
    assert html.progress_bar(description(running), running.fraction) == (
        '<label><progress value="0.250"></progress> running: 1,000 edges, 7 results</label>'
    )
    waiting = Progress("waiting", None, reason="a <lost> executor")
    assert html.progress_bar(description(waiting), waiting.fraction) == (
        "<label><progress></progress> waiting to start again: a &lt;lost&gt; executor</label>"
    )


@pytest.mark.long
def test_the_notebook_of_the_examples_runs_in_a_kernel() -> None:
    notebook = nbformat.read(EXAMPLE / "answers.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLE)}}
    )
    client.execute()
    outputs = {
        "".join(cell.source).split("\n")[-1]: cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    (plan,) = outputs["planned"]
    assert plan.data["text/html"].startswith('<div class="headrace-plan">')
    assert plan.data["text/plain"].startswith("<PlannedQuery (x, y)")
    (plans,) = outputs["planned.alternatives(5)"]
    assert "chosen" in plans.data["text/html"]
    bar, head = outputs["answers.head()"]
    assert bar.data["text/html"].startswith('<label><progress value="1.000"></progress> done: ')
    assert "since" in head.data["text/html"]
    counted = outputs['triangles["x"].value_counts().head()']
    assert "count" in counted[-1].data["text/plain"]
