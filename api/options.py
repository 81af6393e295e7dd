"""The options that several commands share, each declared once.

A group of options is a dataclass with fields in the form of Typer parameters. A command takes the
group as one parameter, and `command` gives Typer a parameter for each field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ..algebra.limits import DEFAULT_STEPS
from ..catalog.model import VertexType
from ..planning.requests import CostModelKind, Evaluation, PathSemanticsKind, PlanningOptions
from .console import Session

READING = "Input and catalog"
PLANNING = "Planning"
OUTPUT = "Output"


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Converts a function to a command, with an option for each field of a group of options."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation) and isinstance(parameter.annotation, type):
            groups[parameter.name] = parameter.annotation
            parameters += _parameters(parameter.annotation)
        else:
            parameters.append(parameter)

    @wraps(function)
    def called(*arguments: Any, **options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(**{f.name: options.pop(f.name) for f in fields(group)})
        function(*arguments, **options)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    del called.__wrapped__  # Typer would read its parameters
    return called


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


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
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write to this file instead of stdout.",
        rich_help_panel=OUTPUT,
    ),
]
ConstantsFile = Annotated[
    str | None,
    typer.Option(
        "--constants",
        envvar="HEADRACE_CONSTANTS",
        metavar="FILE",
        help="The constants of the cost model, as headrace calibrate writes them; by default those "
        "in the data directory, if there are any. shipped: the ones that Headrace comes with.",
        rich_help_panel=PLANNING,
        show_default=False,
    ),
]
Feedback = Annotated[
    bool,
    typer.Option(
        "--feedback/--no-feedback",
        help="Whether figures that earlier runs measured replace estimates, and runs keep theirs, "
        "in a file beside the catalog. Without a catalog no figures are kept.",
        rich_help_panel=PLANNING,
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show tracebacks and the log of Spark.", callback=_debug)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """The input files and their format; lists are of ``[LABEL=]FILE``."""

    input_: Annotated[
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
    stored: Annotated[
        list[str],
        typer.Option(
            "--stored",
            metavar="[LABEL=]FILE",
            help="Edges of a stored graph, which has no times and is always valid. Repeatable; "
            "LABEL= as in --input. They are read once, before the stream, and joined without a "
            "window.",
            rich_help_panel=READING,
            default_factory=list,
            show_default=False,
        ),
    ]
    vertices: Annotated[
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
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Which columns of the files are src, trg, ts and label, as "
            "src=from,trg=to,ts=time; or, of files without a header, all in order: src,trg,ts.",
            rich_help_panel=READING,
        ),
    ] = None
    sep: Annotated[
        str | None,
        typer.Option("--sep", help="The separator between two columns.", rich_help_panel=READING),
    ] = None
    time_unit: Annotated[
        str | None,
        typer.Option(
            "--time-unit",
            metavar="UNIT",
            help="The unit of ts and of rates: second (the default), ms, minute, hour, day, ...; "
            "ISO 8601 timestamps are rounded down to it. A catalog has a time_unit of its own.",
            rich_help_panel=READING,
        ),
    ] = None
    vertex_type: Annotated[
        VertexType | None,
        typer.Option(
            "--vertex-type",
            help="The type of vertices: string (the default), or integer, which are compared as "
            "numbers. A catalog has a vertex_type for each stream.",
            rich_help_panel=READING,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions(InputOptions):
    """The language of a query, its input, and the options of planning."""

    language: Annotated[
        str | None,
        typer.Option(
            help="The language of the query, if neither its file name nor its text tells."
        ),
    ] = None
    catalog: CatalogFile = None
    param: Annotated[
        list[str],
        typer.Option(
            "--param",
            metavar="NAME=VALUE",
            help="The value of the parameter $NAME of a query in Cypher: JSON, or else text. "
            "Repeatable.",
            default_factory=list,
            show_default=False,
        ),
    ]
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="LENGTH",
            help="The window where the query has none: 30d, 12h, or ticks.",
            rich_help_panel=PLANNING,
        ),
    ] = None
    slide: Annotated[
        str | None,
        typer.Option(
            "--slide", metavar="LENGTH", help="The slide of that window.", rich_help_panel=PLANNING
        ),
    ] = None
    cost_model: Annotated[
        CostModelKind,
        typer.Option(
            "--cost-model", help="The cost formulas to plan with.", rich_help_panel=PLANNING
        ),
    ] = "saturating"
    constants: ConstantsFile = None
    no_sample: Annotated[
        bool,
        typer.Option(
            "--no-sample",
            help="Estimate paths and joins without the samples of streams.",
            rich_help_panel=PLANNING,
        ),
    ] = False
    disable_rule: Annotated[
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
    budget_ms: Annotated[
        int | None,
        typer.Option(
            "--budget-ms",
            min=1,
            help="Plan for at most this many milliseconds, then take the best plan found.",
            rich_help_panel=PLANNING,
        ),
    ] = None
    budget_expressions: Annotated[
        int | None,
        typer.Option(
            "--budget-expressions",
            min=1,
            help="Stop the search at this many expressions in the memo, then take the best plan "
            "found.",
            rich_help_panel=PLANNING,
        ),
    ] = None
    parallelism: Annotated[
        int,
        typer.Option(
            "--parallelism",
            min=1,
            max=1024,
            help="The number of partitions to plan for.",
            rich_help_panel=PLANNING,
        ),
    ] = 1
    path_semantics: Annotated[
        PathSemanticsKind,
        typer.Option(
            "--path-semantics",
            help="Which paths count: arbitrary ones, simple ones, which repeat no vertex, or "
            "trails, which repeat no edge.",
            rich_help_panel=PLANNING,
        ),
    ] = "arbitrary"
    simple_budget: Annotated[
        int | None,
        typer.Option(
            "--simple-budget",
            metavar="STEPS",
            min=1,
            help="The most steps that the search for simple paths or trails may take for one edge; "
            f"{DEFAULT_STEPS} by default.",
            rich_help_panel=PLANNING,
            show_default=False,
        ),
    ] = None
    evaluate: Annotated[
        Evaluation,
        typer.Option(
            "--evaluate",
            help="When results are right: eager, at every instant; slide, at the end of each "
            "slide.",
            rich_help_panel=PLANNING,
        ),
    ] = "eager"

    feedback: Feedback = True

    @property
    def planning(self) -> PlanningOptions:
        """The options of the planner.

        Raises:
            UsageError: if the file of constants cannot be used, or a parameter has no name or
                value, or two values.
        """
        from ..planning.calibration import chosen_calibration
        from .parameters import values_of

        calibration = chosen_calibration(self.constants)
        return PlanningOptions(
            window=self.window,
            slide=self.slide,
            cost_model=self.cost_model,
            disabled_rules=tuple(self.disable_rule),
            budget_ms=self.budget_ms,
            budget_expressions=self.budget_expressions,
            parallelism=self.parallelism,
            path_semantics=self.path_semantics,
            simple_budget=self.simple_budget or DEFAULT_STEPS,
            evaluate=self.evaluate,
            constants=None if calibration is None else calibration.values,
            constants_origin=None if calibration is None else calibration.origin,
            feedback=self.feedback,
            sample=not self.no_sample,
            parameters=values_of(self.param),
        )

    @property
    def only_for_planning(self) -> str | None:
        """The first option on the command line that a stored plan cannot use, or None."""
        for field in fields(self):
            if field.name in _ONLY_FOR_PLANNING:
                default = [] if field.default is MISSING else field.default
                if getattr(self, field.name) != default:
                    return f"--{field.name.replace('_', '-')}"
        return None


_ONLY_FOR_PLANNING = frozenset(
    {
        "language",
        "time_unit",
        "vertex_type",
        "param",
        "window",
        "slide",
        "disable_rule",
        "budget_ms",
        "budget_expressions",
        "parallelism",
        "path_semantics",
        "evaluate",
    }
)
