"""Compares continuous Cypher with re-evaluation by Kuzu: ``python -m bench.cypher``.

The stream is the beginning of the bundled MathOverflow. A query reports the rows that enter, at
each event or once a minute. Headrace keeps its answers up to date; Kuzu, an embedded Cypher engine
on one thread, evaluates the query anew at each report, and the rows are compared with those of the
report before. Kuzu has all relationships from the beginning and selects those of the window by
their times, so it pays for no insertion. Both run in this process, in turns, and are measured in
processor time without planning and loading. The reports of both have to be equal.

``--out`` is a file of JSON lines to which measurements are added; a call goes on where the call
before ended. ``python -m bench.cypher report FILE --to docs/experiments/cypher.md`` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated, Any

import kuzu
import typer
from rich.console import Console

from bench.json_lines import append, rows_of
from bench.markdown import head, row
from bench.measuring import Spread, headline, machine
from bench.peers.report import measured_on
from bench.streams import LABELS, catalog_of, files, load
from headrace.algebra.durations import ticks
from headrace.algebra.plan import PhysicalPlan
from headrace.executor import local
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

QUERIES: Mapping[str, tuple[str, str, str]] = {
    "join": (
        "MATCH (a)-[e:a2q]->(b)-[f:c2a]->(c) {where} RETURN DISTINCT a, c",
        "e f",
        "MATCH (a:N)-[e:a2q]->(b:N)-[f:c2a]->(c:N) {where} RETURN DISTINCT a.id, c.id",
    ),
    "triangle": (
        "MATCH (x)-[e:a2q]->(y)-[f:c2a]->(z)-[g:c2q]->(x) {where} RETURN x, y, z",
        "e f g",
        "MATCH (x:N)-[e:a2q]->(y:N)-[f:c2a]->(z:N)-[g:c2q]->(x) {where} "
        "RETURN DISTINCT x.id, y.id, z.id",
    ),
    "path": (
        "MATCH (a)-[:a2q|c2a*1..3]->(b) RETURN DISTINCT a, b",
        "",
        "MATCH (a:N)-[:a2q|c2a* TRAIL 1..3 (r, _ | WHERE r.ts > $since AND r.ts <= $now)]->(b:N) "
        "RETURN DISTINCT a.id, b.id",
    ),
    "count": (
        "MATCH (a)-[e:a2q|c2a|c2q]->(b) {where} RETURN b, count(e) AS n",
        "e",
        "MATCH (a:N)-[e:a2q|c2a|c2q]->(b:N) {where} RETURN b.id, count(e) AS n",
    ),
}
"""For each query its text, its relationships, and its text for Kuzu."""
REPORTS = {"event": "1 Event", "minute": "PT1M"}
MINUTE = 60
Row = tuple[Any, ...]
Reports = set[tuple[int, Row]]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True, slots=True)
class Job:
    """A query over the first ``edges``, with its window in seconds, reported by event or minute."""

    query: str
    every: str
    edges: int
    window: int

    @property
    def text(self) -> str:
        """The query in Seraph."""
        pattern, _, _ = QUERIES[self.query]
        return f"{pattern.format(where='')} EMIT ON ENTERING EVERY {REPORTS[self.every]}"

    @property
    def text_of_kuzu(self) -> str:
        """The query over the relationships of a window."""
        _, names, text = QUERIES[self.query]
        tests = [f"{name}.ts > $since AND {name}.ts <= $now" for name in names.split()]
        return text.format(where=f"WHERE {' AND '.join(tests)}") if tests else text


Edges = Sequence[tuple[int, int, str, int]]


def edges_of(count: int) -> Edges:
    """The first edges of the bundled stream: source, target, label and time."""
    table = load(files(None)).slice(0, count)
    columns = [table[name].to_pylist() for name in ("src", "trg", "label", "ts")]
    return list(zip(*columns, strict=True))


def plan_of(job: Job) -> PhysicalPlan:
    """The plan of Headrace."""
    options = PlanningOptions(window=str(job.window))
    request = PlanRequest(
        job.text, language="cypher", catalog=catalog_of(files(None)), options=options
    )
    return optimize(request).plan


def run_headrace(plan: PhysicalPlan, edges: Edges, last: int) -> tuple[Reports, float]:
    """The reports until the last event, and the processor seconds."""
    stream = plan.streams[0].name
    rows = [(*edge, stream) for edge in edges]
    start = process_time()
    results = list(local.run_plan(plan, rows, 100))
    seconds = process_time() - start
    return {(r.ts, r.bindings) for r in results if r.ts <= last}, seconds


def instants_of(job: Job, edges: Edges) -> list[int]:
    """The instants of reports until the last event, which has a label of the query."""
    pattern, _, _ = QUERIES[job.query]
    times = sorted({ts for _, _, label, ts in edges if label in pattern})
    if job.every == "event":
        return times
    first = -(-times[0] // MINUTE) * MINUTE
    return list(range(first, times[-1] + 1, MINUTE))


def loaded(edges: Edges) -> kuzu.Connection:
    """A database of the edges on one thread."""
    connection = kuzu.Connection(kuzu.Database(":memory:"), num_threads=1)
    with TemporaryDirectory(prefix="headrace-bench-") as name:
        folder = Path(name)
        nodes = sorted({end for source, target, *_ in edges for end in (source, target)})
        connection.execute("CREATE NODE TABLE N(id INT64 PRIMARY KEY)")
        (folder / "nodes.csv").write_text("".join(f"{node}\n" for node in nodes))
        connection.execute(f"COPY N FROM '{folder / 'nodes.csv'}'")
        for label in LABELS:
            file = folder / f"{label}.csv"
            own = [f"{s},{t},{ts}\n" for s, t, name, ts in edges if name == label]
            file.write_text("".join(own))
            connection.execute(f"CREATE REL TABLE {label}(FROM N TO N, ts INT64)")
            connection.execute(f"COPY {label} FROM '{file}'")
    return connection


def run_kuzu(
    job: Job, connection: kuzu.Connection, instants: Iterable[int]
) -> tuple[Reports, float]:
    """The reports by evaluating anew, and the processor seconds."""
    found: Reports = set()
    before: set[Row] = set()
    start = process_time()
    text = job.text_of_kuzu
    for now in instants:
        times = {"since": now - job.window, "now": now}
        if "TRAIL" in text:  # no parameter stands in a path
            result = connection.execute(_filled(text, times))
        else:
            result = connection.execute(text, times)
        assert isinstance(result, kuzu.QueryResult)
        rows = set(map(tuple, result.get_all()))
        found.update((now, row) for row in rows - before)
        before = rows
    return found, process_time() - start


def _filled(text: str, parameters: Mapping[str, int]) -> str:
    for name, value in parameters.items():
        text = text.replace(f"${name}", str(value))
    return text


def compared(job: Job, rounds: int) -> dict[str, Any]:
    """Measures both systems in turns, and compares their reports.

    Raises:
        ValueError: if the reports differ.
    """
    edges = edges_of(job.edges)
    instants, plan, connection = instants_of(job, edges), plan_of(job), loaded(edges)
    own, _ = run_headrace(plan, edges, instants[-1])  # compiles the kernels
    theirs, _ = run_kuzu(job, connection, instants)
    if own != theirs:
        raise ValueError(f"{job}: {len(own ^ theirs)} reports differ")
    times: dict[str, list[float]] = {"headrace": [], "kuzu": []}
    for _ in range(rounds):
        times["headrace"].append(run_headrace(plan, edges, instants[-1])[1])
        times["kuzu"].append(run_kuzu(job, connection, instants)[1])
    return {"reports": len(instants), "rows": len(own), "seconds": times}


@app.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    *,
    out: Annotated[Path, typer.Option(help="Append the measurements here, as JSON lines.")] = Path(
        "cypher.jsonl"
    ),
    queries: Annotated[str, typer.Option(help="Separated by commas.")] = ",".join(QUERIES),
    edges: Annotated[int, typer.Option(help="Edges of the stream.")] = 1_000,
    window: Annotated[str, typer.Option(help="How long an edge is valid.")] = "1d",
    rounds: Annotated[int, typer.Option(help="Timed runs of each system, in turns.")] = 3,
) -> None:
    """Measures the queries that have no measurement yet."""
    if context.invoked_subcommand is not None:
        return
    console = Console()
    console.print(headline(machine()))
    for query in queries.split(","):
        for every in REPORTS:
            job = Job(query, every, edges, ticks(window, "second"))
            if any(known["job"] == asdict(job) for known in rows_of(out)):
                continue
            measured = compared(job, rounds)
            append(out, {"job": asdict(job), "machine": machine(), **measured})
            console.print(line_of({"job": asdict(job), **measured}), highlight=False)


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="The measurements.")],
    to: Annotated[Path, typer.Option(help="Write the table here.")],
) -> None:
    """Writes the measurements as Markdown."""
    to.write_text(written(list(rows_of(file))), "utf-8")


def line_of(measured: Mapping[str, Any]) -> str:
    """A row of the table: medians, with the smallest and the largest."""
    job, seconds, reports = measured["job"], measured["seconds"], measured["reports"]
    each = {name: Spread.of([1000 * s / reports for s in own]) for name, own in seconds.items()}
    factors = [k / h for h, k in zip(seconds["headrace"], seconds["kuzu"], strict=True)]
    return row(
        job["query"], job["every"], f"{reports:,}", f"{measured['rows']:,}",
        each["headrace"].text(3), each["kuzu"].text(2), Spread.of(factors).text(0),
    )  # fmt: skip


def written(measured: Sequence[Mapping[str, Any]]) -> str:
    """The document of the measurements."""
    jobs = [each["job"] for each in measured]
    (edges,), (window,) = ({job[name] for job in jobs} for name in ("edges", "window"))
    lines = [
        "# Cypher beside re-evaluation",
        "",
        "Measured by `python -m bench.cypher`, written by `python -m bench.cypher report`.",
        "",
        measured_on([each["machine"] for each in measured]),
        "",
        f"The stream is the first {edges:,} edges of the bundled MathOverflow, the window "
        f"{window // 3600} hours. A query reports the rows that enter, at each",
        "event or at each minute until the last event. Headrace keeps its answers up to date. Kuzu "
        "0.11.3, with one thread, evaluates the query anew at",
        "each report over the relationships of the window, which it selects by their times: all "
        "were loaded before. Both give the same reports. Times",
        "are processor time in milliseconds for each report, the median of the runs in turns "
        "(smallest-largest), without planning and loading; the",
        "factor is how many times as long Kuzu takes.",
        "",
        *head("query", "at each", "reports", "rows", "Headrace, ms", "Kuzu, ms", "factor"),
        *map(line_of, measured),
        "",
        "```",
        *(
            f"{name}: {text.format(where='').replace('  ', ' ')}"
            for name, (text, _, _) in QUERIES.items()
        ),
        "```",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    app()
