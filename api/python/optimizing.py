"""Plans a query for a program or a notebook: `headrace.optimize`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...planning.errors import UsageError
from ...planning.loading import load_catalog
from ...planning.planner import optimize as planned_by
from ...planning.query_text import QueryText, load_query
from ...planning.requests import PlanningOptions, PlanRequest
from .planned import FileNames, PlannedQuery, file_names

if TYPE_CHECKING:
    from ...catalog.model import Catalog, VertexType
    from ...languages.parsing.parameters import Parameters
    from ...optimizer.trace import Tracing


def optimize(
    query: PlanRequest | QueryText | str | Path,
    *,
    catalog: Catalog | str | Path | None = None,
    window: str | None = None,
    slide: str | None = None,
    inputs: FileNames = (),
    stored: FileNames = (),
    vertices: FileNames = (),
    columns: str | None = None,
    separator: str | None = None,
    language: str | None = None,
    parameters: Parameters | None = None,
    time_unit: str | None = None,
    vertex_type: VertexType | None = None,
    options: PlanningOptions | None = None,
    trace: bool | Tracing = False,
    cancelled: Callable[[], bool] | None = None,
) -> PlannedQuery:
    """Finds the cheapest plan of a query.

    Without a ``catalog``, planning measures the files of ``inputs``, ``stored`` and ``vertices``.
    Without both, it assumes the same statistics for every label.

    Args:
        query: the text of the query, the name of its file, or a whole request. A request has all
            else that the other arguments up to ``options`` say.
        catalog: the streams and their statistics, or the name of their YAML file.
        window: the range of the window for queries without one, such as ``30d``.
        slide: the slide of that window, such as ``1d``.
        inputs: the files of the stream, as ``FILE`` or ``LABEL=FILE``.
        stored: the files of the stored graph.
        vertices: the files of stored vertices.
        columns: which columns of ``inputs`` are which, as ``src=from,trg=to,ts=time``; or the
            columns of files without a header in their order, as ``src,trg,ts``.
        separator: the separator between two columns of ``inputs``; a comma by default.
        language: ``rq``, ``gcore`` or ``cypher``; None to detect it.
        parameters: the values of the parameters of a query in Cypher, by their names without ``$``.
        time_unit: the unit of ``ts`` in files without a catalog; a second by default.
        vertex_type: the type of vertices in files without a catalog; ``string`` by default.
        options: all other options of planning; ``window``, ``slide`` and ``parameters`` replace
            theirs.
        trace: whether to record the steps of the search, and which ones.
        cancelled: polled during planning; once it returns true, the search ends with the best plan
            so far.

    Raises:
        InvalidQueryError: for an invalid query, with the position of the mistake.
        UsageError: for any other mistake in the request.

    >>> import headrace
    >>> planned = headrace.optimize("Answer(x, y) <- x (a/b)+ y", window="1d")
    >>> planned.columns
    ('x', 'y')
    """
    arguments: dict[str, Any] = {
        "catalog": catalog,
        "window": window,
        "slide": slide,
        "inputs": inputs,
        "stored": stored,
        "vertices": vertices,
        "columns": columns,
        "separator": separator,
        "language": language,
        "parameters": parameters,
        "time_unit": time_unit,
        "vertex_type": vertex_type,
        "options": options,
    }
    if isinstance(query, PlanRequest):
        given = [name for name, value in arguments.items() if value not in (None, ())]
        if given:
            raise UsageError(
                f"the request says {', '.join(given)} itself",
                hint="set it in the PlanRequest, or give the text of the query",
            )
        request = query
    else:
        request = _request(_read(query), **arguments)
    return PlannedQuery.of(planned_by(request, trace=trace, cancelled=cancelled))


def _read(query: QueryText | str | Path) -> QueryText:
    read = query if isinstance(query, QueryText) else load_query(str(query), sys.stdin)
    if read.is_plan:
        raise UsageError(
            f"{read.name} is a plan, but optimize takes a query",
            hint="load_plan reads it, and run_plan runs it",
        )
    return read


def _request(
    query: QueryText,
    *,
    catalog: Catalog | str | Path | None,
    window: str | None,
    slide: str | None,
    inputs: FileNames,
    stored: FileNames,
    vertices: FileNames,
    columns: str | None,
    separator: str | None,
    language: str | None,
    parameters: Parameters | None,
    time_unit: str | None,
    vertex_type: VertexType | None,
    options: PlanningOptions | None,
) -> PlanRequest:
    options = options or PlanningOptions()
    options = replace(
        options,
        window=window or options.window,
        slide=slide or options.slide,
        parameters=options.parameters if parameters is None else parameters,
    )
    files = (file_names(inputs), file_names(stored), file_names(vertices))
    if catalog is not None:
        _check_alone(
            files,
            columns=columns,
            separator=separator,
            time_unit=time_unit,
            vertex_type=vertex_type,
        )
        described = load_catalog(catalog) if isinstance(catalog, str | Path) else catalog
        return PlanRequest(query.text, query.name, language, described, options=options)
    unit, kind = _unit(time_unit), vertex_type or "string"
    request = PlanRequest(
        query.text, query.name, language, options=options, time_unit=unit, vertex_type=kind
    )
    if not any(files) and columns is None and separator is None:
        return request
    from ...running.runs import read_inputs, read_vertices  # imports Arrow

    return replace(
        request,
        inputs=read_inputs(files[0], columns, separator, time_unit=unit, vertex_type=kind),
        stored=read_inputs(files[1], stored=True, time_unit=unit, vertex_type=kind)
        + read_vertices(files[2], time_unit=unit, vertex_type=kind),
    )


def _check_alone(files: Sequence[Sequence[str]], **described: str | None) -> None:
    """Refuses what a catalog says itself."""
    if any(files):
        raise UsageError(
            "there are a catalog and files, but a catalog names the files of its streams",
            hint="plan with the catalog, and give other files to run()",
        )
    for name, value in described.items():
        if value is not None:
            raise UsageError(
                f"{name} is for files without a catalog, and the catalog says it itself",
                hint=f"change {name} in the catalog, or leave the catalog out",
            )


def _unit(time_unit: str | None) -> str:
    from ...algebra.durations import unit

    if time_unit is not None and not time_unit.strip():
        raise UsageError("time_unit is empty", hint="give a unit such as second")
    return unit(time_unit or "second")
