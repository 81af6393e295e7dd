"""``headrace stats``: measures the statistics of a stream, and writes a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...planning.errors import UsageError
from .. import options as opt
from ..console import say, say_warning, write

if TYPE_CHECKING:
    from ...catalog.measurement import Measurement
    from ...catalog.model import Catalog, PropertyStatistics

_REJECTED_SHOWN = 3
_JOINS_SHOWN = 10
_VALUE_SHOWN = 40
"""The most characters of a shown value."""


def stats(
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

    if not (options.input_ or options.stored or options.vertices):
        raise UsageError(
            "there is nothing to measure: name files with --input, --stored or --vertices"
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
    write(dumps(catalog) if format_ == "yaml" else _table(catalog, measured))
    if out is not None:
        try:
            dump(catalog, out)
        except CatalogError as error:
            raise UsageError(str(error), code="E-FILE") from error
        say(f"catalog written to {out}")


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


def _table(catalog: Catalog, measured: Sequence[Measurement]) -> str:
    from ...documents.numbers import number, per_unit, printable

    rates = [s.rate for stream in catalog.streams.values() for s in stream.labels.values()]
    per = per_unit(catalog.time_unit, max(rates, default=0.0))
    head = ("label", f"edges/{per.sign}", "peak", "sources", "targets", "vertices", "pairs", "skew")
    rows = [
        (
            printable(label),
            f"{s.population:,.0f} stored" if s.population is not None else per(s.rate),
            "" if s.rates is None else per(s.rates.peak),
            f"{s.distinct_src:,.0f}",
            f"{s.distinct_trg:,.0f}",
            f"{s.vertices:,.0f}",
            "" if s.distinct_pairs is None else f"{s.distinct_pairs:,.0f}",
            "" if s.degree_skew is None else number(s.degree_skew),
        )
        for stream in catalog.streams.values()
        for label, s in stream.labels.items()
    ]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
    properties = [
        f"{printable(label)}.{printable(name)}: {kind}, {s.distinct_properties[name]:,.0f} values"
        + _described(s.properties.get(name))
        for stream in catalog.streams.values()
        for label, s in stream.labels.items()
        for name, kind in stream.properties.items()
        if s.distinct_properties.get(name)
    ]
    if properties:
        lines += ["", "properties", *(f"  {line}" for line in properties)]
    hubs = [
        f"{printable(label)}: {end} {printable(str(frequent[0][0]))}, {frequent[0][1]:.1%} of edges"
        for stream in catalog.streams.values()
        for label, s in stream.labels.items()
        for end, frequent in (("source", s.frequent_src), ("target", s.frequent_trg))
        if frequent and not stream.vertices
    ]
    if hubs:
        lines += ["", "most frequent vertices", *(f"  {line}" for line in hubs)]
    joins = [line for _, line in sorted(_joins(catalog), reverse=True)]
    if joins:
        more = len(joins) - _JOINS_SHOWN
        rest = [f"  and {more} more in the catalog"] if more > 0 else []
        shown = (f"  {line}" for line in joins[:_JOINS_SHOWN])
        lines += ["", "joins, compared with uniform degrees", *shown, *rest]
    whole = all(measurement.complete for measurement in measured)
    part = "all of the input" if whole else "the first of each file"
    edges = sum(measurement.rows for measurement in measured)
    return "\n".join([*lines, "", f"measured on {edges:,} edges, {part}", ""])


def _described(statistics: PropertyStatistics | None) -> str:
    """The range, the most common value and the share of missing values of a property."""
    from ...documents.numbers import printable

    if statistics is None:
        return ""
    parts = []
    if statistics.quantiles:
        values = statistics.quantiles
        low, middle, high = (
            printable(str(values[k])[:_VALUE_SHOWN]) for k in (0, len(values) // 2, -1)
        )
        parts.append(f"from {low} to {high}, median {middle}")
    if statistics.common:
        value, share = statistics.common[0]
        parts.append(f"most common {printable(str(value)[:_VALUE_SHOWN])} ({share:.1%})")
    if statistics.nulls:
        parts.append(f"{statistics.nulls:.1%} missing")
    return "".join(f", {part}" for part in parts)


def _joins(catalog: Catalog) -> Iterator[tuple[float, str]]:
    """Each join of two ends with the factor by which it is larger than for uniform degrees."""
    from ...documents.numbers import number, printable

    for joint in catalog.joint:
        counts = []
        for stream, label, end in (joint.left, joint.right):
            statistics = catalog.streams[stream].labels[label]
            counts.append(statistics.distinct_src if end == "src" else statistics.distinct_trg)
        factor = joint.selectivity * max(counts)
        left, right = (f"{printable(label)}.{end}" for _, label, end in (joint.left, joint.right))
        shared = f"{joint.shared:,.0f} shared vertices"
        yield factor, f"{left} = {right}: {number(factor)} times as large, {shared}"
