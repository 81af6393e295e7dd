"""``headrace doctor``: checks whether this machine can plan and run queries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from .. import options as opt
from ..console import watched, write


def doctor(
    *,
    catalog: Annotated[
        Path | None,
        typer.Option(
            "--catalog", metavar="YAML", help="Check this catalog and the files beside it too."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder for results and checkpoints; by default the current one.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="The port of the service to check.")
    ] = 8080,
    format_: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", help="The form of the output.", rich_help_panel=opt.OUTPUT),
    ] = "text",
    debug: opt.Debug = False,
) -> None:
    """Check Java, Spark, caches, folders, memory and ports, and say what to do."""
    from ...documents.model import json_text
    from ..doctor.doctor import examine
    from ..render.checks import render

    document = examine(catalog=catalog, folder=output, port=port)
    if format_ == "json":
        write(json_text(document))
    else:
        write(render(document, colour=watched(sys.stdout)))
    if not document.ok:
        raise typer.Exit(1)
