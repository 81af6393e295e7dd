"""``headrace demo``: a real query on real data, from text to results."""

from __future__ import annotations

import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from api import options as opt
from api.console import styled, watched

if TYPE_CHECKING:
    from headrace.planning import Planned

_SLICE = 2_500
"""Edges in a micro-batch: results should come from early on."""


def demo(
    query: Annotated[
        Literal["chains", "triangle", "q5", "q6", "q7"],
        typer.Argument(help="Which of the bundled queries."),
    ] = "chains",
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write the results here; by default to a new temporary folder.",
            show_default=False,
        ),
    ] = None,
    debug: opt.Debug = False,
) -> None:
    """Run a query on sixty days of real data, bundled with Headrace, and show every step."""
    from api.account import account
    from api.showing import shown_results
    from catalog import load
    from executor.spark.run import RunOptions
    from executor.spark.session import SessionOptions
    from executor.spark.sinks import ToFolder
    from headrace.planning import optimize
    from headrace.query_text import read_text
    from headrace.requests import PlanRequest
    from headrace.running import inputs_of_plan, run_plan

    with resources.as_file(resources.files("examples") / "mathoverflow") as folder:
        text = read_text(folder / f"{query}.rq")
        catalog = load(folder / "catalog.yaml")
        _say("The query", text.strip())
        planned = optimize(PlanRequest(text, f"{query}.rq", catalog=catalog))
        _show_plans(planned)
        place = output or Path(tempfile.mkdtemp(prefix="headrace-demo-"))
        inputs = inputs_of_plan(planned.plan, catalog, ())
        edges = ", ".join(label for stream in planned.plan.streams for label in stream.labels)
        _heading(f"Results on sixty days of MathOverflow ({edges}), as Spark finds them")
        with shown_results(planned.plan, place) as show:
            report = run_plan(
                planned.plan,
                inputs,
                ToFolder(place),
                RunOptions(largest_slice=_SLICE, session=SessionOptions(debug=debug)),
                on_progress=show,
            )
    _say("Done", account(report, f"{place}/part-*.jsonl"))


def _show_plans(planned: Planned) -> None:
    from api.explanation import summary
    from api.render import text
    from api.render.diagram import of_plan

    colour = watched(sys.stdout)
    found = planned.optimization
    written, chosen = of_plan(found.canonical_plan), of_plan(found.plan)
    _say(
        "The query as it is written, run operator by operator", text.render(written, colour=colour)
    )
    _say("The plan chosen", text.render(chosen, colour=colour))
    _say("", summary(planned))


def _heading(text: str) -> None:
    if text:
        print(styled(f"── {text} ", "1;36", sys.stdout), flush=True)


def _say(heading: str, text: str) -> None:
    _heading(heading)
    print(text.rstrip("\n"), end="\n\n", flush=True)
