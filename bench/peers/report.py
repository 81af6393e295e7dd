"""Writes the measurements as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.figures.plots import Curves, Value, curves
from bench.markdown import head, row
from bench.measuring import Spread
from bench.peers.jobs import LABELS, QUERIES
from headrace.algebra.durations import ticks

NAMES = {"differential": "differential dataflow", "duckdb": "DuckDB", "pathway": "Pathway"}
CONFIGURATION = ("stream", "edges", "range", "slide", "batch")
"""What the queries of a table share."""
ABOUT = """\
Each system runs with one thread over the same edges and window; times are processor seconds
without starting, reading and planning. Before, one run of each collects its answers: those of
Headrace and of differential dataflow are the same at every second, those of DuckDB and of Pathway
the same at the first instant of each slide, the only ones of which they give answers. A ratio is
the median of the runs in turns (smallest to largest); above 1, Headrace uses less. Memory is the
largest during a run less that before it.

Differential dataflow 0.25.1 runs the programs in `bench/peers/differential`, written by hand:
closures by iteration, joins in the order that `plans.rs` shows, cyclic patterns by the delta
queries of `differential-dogs3`. It handles each batch of edges with all its instants at once, as
Headrace does. DuckDB evaluates each query anew at each slide, by SQL with recursive common table
expressions. Pathway 0.33.0 runs the programs in `bench/peers/pathway`: joins in a written order,
closures by `pw.iterate`. Edges and their ends come at the first instants of slides, so it has far
fewer times than the others.
"""


def write_report(rows: Iterable[Mapping[str, Any]], drawing: str | None) -> str:
    """The report of the rows of :mod:`bench.peers.__main__`; ``drawing`` is its plot's file."""
    rows = list(rows)
    lines = [
        "# Beside other systems",
        "",
        "Measured by `python -m bench.peers --data FOLDER`, "
        "written by `python -m bench.peers report`.",
        "",
        measured_on([each["machine"] for each in rows]),
        "",
        ABOUT,
    ]
    tables: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for each in rows:
        tables.setdefault(tuple(each["job"][name] for name in CONFIGURATION), []).append(each)
    for (stream, edges, span, slide, batch), own in tables.items():
        lines += [
            f"## {stream}, window {span} slide {slide}",
            "",
            f"{edges:,} edges, {batch:,} edges at once; a, b, c are "
            f"{', '.join(LABELS[str(stream)])}.",
            "",
            *head(
                "query", "answers", "Headrace, s", "memory, MB",
                *(title for name in NAMES.values() for title in (f"{name}, ratio", "memory, MB")),
            ),
            *(line_of(each) for each in own),
            "",
        ]  # fmt: skip
    if drawing is not None:
        lines += ["## Growth with the window", "", f"![growth with the window]({drawing})", ""]
    lines += [
        "## Queries",
        "",
        "```",
        *(f"{n}: {t.strip()}" for n, t in QUERIES.items()),
        "```",
        "",
    ]
    return "\n".join(lines)


def measured_on(machines: Sequence[Mapping[str, Any]]) -> str:
    """The machines of the measurements with their loads, commits and days."""
    kinds = {f"{m['processor']}, {m['cores']} cores, {m['memory_gb']} GB" for m in machines}
    loads = [m["load"][0] for m in machines]
    pythons, commits = ({m[name] for m in machines} for name in ("python", "commit"))
    days = sorted({m["date"][:10] for m in machines})
    return (
        f"{'; '.join(sorted(kinds))}, load {min(loads):g} to {max(loads):g}; "
        f"Python {', '.join(sorted(pythons))}; commits {', '.join(sorted(commits))}; "
        f"{' to '.join(dict.fromkeys((days[0], days[-1])))}."
    )


def drawn(rows: Iterable[Mapping[str, Any]]) -> str | None:
    """Processor time of an edge over the length of the window, a panel for each query.

    None if no query was measured with several windows.
    """
    rows = sorted(rows, key=lambda each: ticks(each["job"]["range"], "second"))
    systems = {"headrace": "Headrace", **NAMES}
    names = [name for key, name in systems.items() if any(key in r["systems"] for r in rows)]
    panels: dict[str, dict[str, list[tuple[float, Value]]]] = {}
    for each in rows:
        job = each["job"]
        title = f"{job['query']}, {job['stream']}, slide {job['slide']}"
        lines = panels.setdefault(title, {name: [] for name in names})
        for system, runs in each["systems"].items():
            spent = Spread.of([run["cpu_s"] / job["edges"] * 1e6 for run in runs])
            days = ticks(job["range"], "second") / 86_400
            value = Value(spent.median, spent.low, spent.high)
            lines[systems[system]].append((days, value))
    several = [
        Curves(title, lines) for title, lines in panels.items() if len(lines["Headrace"]) > 1
    ]
    if not several:
        return None
    return curves("Processor time of an edge, in µs", "days of window", several)


def line_of(each: Mapping[str, Any]) -> str:
    """The line of one query."""
    systems = each["systems"]
    own = systems.get("headrace", [])
    cells = [
        each["job"]["query"],
        f"{each['answers'].get('headrace', 0):,}",
        Spread.of([r["cpu_s"] for r in own]).text(3) if own else each["failed"].get("headrace"),
        _memory(own),
    ]
    for peer in NAMES:
        theirs = systems.get(peer, [])
        if own and theirs:
            pairs = zip(theirs, own, strict=False)
            ratio = Spread.of([r["cpu_s"] / o["cpu_s"] for r, o in pairs])
            cells += [ratio.text(1), _memory(theirs)]
        else:
            cells += [each["failed"].get(peer, "not run"), ""]
    return row(*cells)


def _memory(runs: list[Mapping[str, Any]]) -> str:
    return f"{max(r['peak_bytes'] for r in runs) / 1e6:,.0f}" if runs else ""
