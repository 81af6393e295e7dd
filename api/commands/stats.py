"""``headrace stats``: measures the statistics of a stream, and writes a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...planning.errors import UsageError
from .. import options as opt
from ..console import say, say_warning, write

if TYPE_CHECKING:
    from ...catalog.edges import EdgeFile
    from ...catalog.measurement import Measurement
    from ...catalog.model import Catalog

_REJECTED_SHOWN = 3


def stats(
    edges: Annotated[
        list[str],
        typer.Argument(
            metavar="[LABEL=]FILE",
            help="Edges, as with --input.",
            default_factory=list,
            show_default=False,
        ),
    ],
    *,
    options: opt.InputOptions,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Measure this many rows, a share of each file; a million by default.",
            rich_help_panel=opt.READING,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Stop at the first row that is not an edge.",
            rich_help_panel=opt.READING,
        ),
    ] = False,
    format_: Annotated[
        Literal["text", "yaml"],
        typer.Option(
            "--format",
            "-f",
            help="The form of what is written to stdout.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = "text",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="YAML",
            help="Write the catalog here, for --catalog.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample/--no-sample",
            help="Write a piece of each stream beside the catalog, from which planning estimates "
            "paths and joins.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = True,
    debug: opt.Debug = False,
) -> None:
    """Measure a stream, or a stored graph: rates, vertices, values and joins of each label."""
    from ...catalog import (
        CatalogError,
        EdgeFileError,
        RejectedRowError,
        dump,
        dumps,
        measured_catalog,
    )
    from ...catalog.measurement import ROWS
    from ...planning.errors import RunError
    from ..request import files_of

    options = replace(options, input_=[*edges, *options.input_])
    if not (options.input_ or options.stored or options.vertices):
        raise UsageError(
            "stats needs a file to measure: name files of edges, or use --stored or --vertices"
        )
    files, graph = files_of(options)
    try:
        catalog, measured = measured_catalog(
            files, graph, rows=rows or ROWS, strict=strict, sample=sample
        )
    except EdgeFileError as error:
        raise UsageError(str(error), code="E-FILE") from error
    except RejectedRowError as error:
        raise RunError(str(error), code="E-ROW") from error
    for measurement in measured:
        _warn(measurement)
    write(dumps(catalog) if format_ == "yaml" else _text(catalog, measured, files))
    if out is not None:
        try:
            dump(catalog, out)
        except CatalogError as error:
            raise UsageError(str(error), code="E-FILE") from error
        say(f"catalog written to {out}")


def _text(catalog: Catalog, measured: Sequence[Measurement], files: Sequence[EdgeFile]) -> str:
    from ...catalog.schema_inference import has_timestamps
    from ...catalog.time_units import guessed_time_unit
    from ..statistics import text_of

    times = next((one.times for one in measured if one.times is not None), None)
    if times is None:
        return text_of(catalog, measured, None, None)
    dates = any(map(has_timestamps, files))
    guess = guessed_time_unit(*times, catalog.time_unit, dates=dates)
    return text_of(catalog, measured, times, guess)


def _warn(measurement: Measurement) -> None:
    for doubt in measurement.warnings:
        say_warning(doubt)
    if measurement.more_labels:
        from ...catalog.measurement import MOST_LABELS

        say_warning(
            f"the input has more than {MOST_LABELS:,} labels; the further labels were not measured "
            "(open_labels: true)"
        )
    if not measurement.rejected_count:
        return
    first = "\n".join(f"  {row}" for row in measurement.rejected[:_REJECTED_SHOWN])
    more = measurement.rejected_count - _REJECTED_SHOWN
    rest = f"\n  and {more:,} more" if more > 0 else ""
    count = measurement.rejected_count
    what = "1 row is not an edge" if count == 1 else f"{count:,} rows are not edges"
    say_warning(f"{what}:\n{first}{rest}")
