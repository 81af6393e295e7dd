"""The options that several commands share, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..algebra.physical import DEFAULT_STEPS
from ..catalog.model import VertexType
from ..planning.requests import CostModelKind, Evaluation, PathSemanticsKind
from .console import Session

READING = "Input and catalog"
PLANNING = "Planning"
OUTPUT = "Output"


def _debug(context: typer.Context, on: bool) -> bool:
    if on and isinstance(context.obj, Session):
        context.obj.debug = True
    return on


Query = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="A file, - for standard input, or the text itself.",
        show_default=False,
    ),
]
Language = Annotated[
    str | None,
    typer.Option(help="The query's language, if its file's ending or text does not tell."),
]
Inputs = Annotated[
    list[str],
    typer.Option(
        "--input",
        "-i",
        metavar="[LABEL=]FILE",
        help="Edges: CSV, JSON lines or Parquet, gzip too. Repeatable: all files are one "
        "stream, merged by time. LABEL= gives every edge of the file that label.",
        rich_help_panel=READING,
        default_factory=list,
        show_default=False,
    ),
]
Stored = Annotated[
    list[str],
    typer.Option(
        "--stored",
        metavar="[LABEL=]FILE",
        help="Edges of a stored graph, which has no times and is valid always. Repeatable; LABEL= "
        "as in --input. They are read once, before the stream, and joined without a window.",
        rich_help_panel=READING,
        default_factory=list,
        show_default=False,
    ),
]
Vertices = Annotated[
    list[str],
    typer.Option(
        "--vertices",
        metavar="[LABEL=]FILE",
        help="Stored vertices, with a column id and perhaps label; further columns are their "
        "properties. Repeatable; LABEL= as in --input.",
        rich_help_panel=READING,
        default_factory=list,
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="What the columns of files without a header are: src,trg,ts and perhaps label.",
        rich_help_panel=READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option("--sep", help="What stands between two columns.", rich_help_panel=READING),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        "--time-unit",
        metavar="UNIT",
        help="What ts counts, and rates are per: second (unless said), ms, minute, hour, day, ...; "
        "ISO 8601 timestamps are rounded down to it. A catalog has a time_unit of its own.",
        rich_help_panel=READING,
    ),
]
VertexTypeOf = Annotated[
    VertexType | None,
    typer.Option(
        "--vertex-type",
        help="What vertices are: string (unless said), or integer, which are compared as numbers. "
        "A catalog has a vertex_type for each stream.",
        rich_help_panel=READING,
    ),
]
CatalogFile = Annotated[
    Path | None,
    typer.Option(
        "--catalog",
        metavar="YAML",
        help="Streams and their statistics; without it they are measured from a sample of the "
        "input.",
        rich_help_panel=READING,
    ),
]
WindowRange = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="LENGTH",
        help="The window where the query has none: 30d, 12h, or ticks.",
        rich_help_panel=PLANNING,
    ),
]
WindowSlide = Annotated[
    str | None,
    typer.Option("--slide", metavar="LENGTH", help="Its slide.", rich_help_panel=PLANNING),
]
CostModel = Annotated[
    CostModelKind,
    typer.Option("--cost-model", help="Which formulas estimate.", rich_help_panel=PLANNING),
]
DisabledRules = Annotated[
    list[str],
    typer.Option(
        "--disable-rule",
        metavar="NAME",
        help="Search without this rule. Repeatable.",
        rich_help_panel=PLANNING,
        default_factory=list,
        show_default=False,
    ),
]
BudgetMs = Annotated[
    int | None,
    typer.Option(
        "--budget-ms",
        min=1,
        help="So many milliseconds from the text to the plan; then the best plan found.",
        rich_help_panel=PLANNING,
    ),
]
BudgetExpressions = Annotated[
    int | None,
    typer.Option(
        "--budget-expressions",
        min=1,
        help="Stop searching at so many expressions in the memo, with the best plan found.",
        rich_help_panel=PLANNING,
    ),
]
Parallelism = Annotated[
    int,
    typer.Option(
        "--parallelism",
        min=1,
        max=1024,
        help="Plan for so many partitions that work at the same time.",
        rich_help_panel=PLANNING,
    ),
]
PathSemantics = Annotated[
    PathSemanticsKind,
    typer.Option(
        "--path-semantics",
        help="Which paths count: arbitrary ones, or simple ones, which repeat no vertex.",
        rich_help_panel=PLANNING,
    ),
]
SimpleBudget = Annotated[
    int | None,
    typer.Option(
        "--simple-budget",
        metavar="STEPS",
        min=1,
        help="How many steps the search for the simple paths of one edge may take; "
        f"{DEFAULT_STEPS} unless said.",
        rich_help_panel=PLANNING,
        show_default=False,
    ),
]
Evaluate = Annotated[
    Evaluation,
    typer.Option(
        "--evaluate",
        help="When results are right: eager, at every instant; slide, at the end of each slide.",
        rich_help_panel=PLANNING,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write here, not to stdout.", rich_help_panel=OUTPUT
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show tracebacks and what Spark says.", callback=_debug),
]
