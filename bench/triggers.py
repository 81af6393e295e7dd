"""The fixed cost of a trigger: ``python -m bench.triggers``.

Each round runs these streaming queries in one session, one after the other, over the same edges in
files of a few rows, a file per trigger:

- ``state``: an empty ``transformWithStateInPandas`` (:class:`bench.bare_job.Counting`);
- ``packed``: the same after a ``mapInArrow`` that returns its input;
- ``headrace``: ``headrace run`` of a plan with one join into a folder.

The times of a trigger are Spark's own (``durationMs`` of the query's progress). Processor time is
that of this process, the JVM and the Python workers between two progresses. The first triggers of a
query, which start workers and compile, are left out. Ratios are those of the rounds' medians.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from rich.console import Console
from rich.table import Table

from bench.bare_job import Counting
from bench.measuring import Spread, headline, machine, save
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.options import SessionOptions
from headrace.executor.spark.session.session import spark_session
from headrace.executor.spark.session.settings import location, streaming_session
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

KINDS = ("state", "packed", "headrace")
QUERY = "Answer(x, z) <- a(x, y), a(y, z). WINDOW 1000"
PARTS = ("triggerExecution", "addBatch", "queryPlanning", "walCommit", "commitOffsets",
         "latestOffset", "getBatch")  # fmt: skip
_EDGES = "src string, trg string, label string, ts bigint"


@dataclass(frozen=True, slots=True)
class Triggers:
    """The medians over the triggers of one query.

    Attributes:
        kind: ``state``, ``packed`` or ``headrace``.
        round: the number of the round.
        triggers: the number of triggers that count.
        ms: milliseconds of a trigger by part, as Spark names the parts.
        cpu_ms: milliseconds of processor time from one progress to the next.
    """

    kind: str
    round: int
    triggers: int
    ms: dict[str, float]
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class ProcessorSeconds:
    """Processor time in seconds, by process.

    Attributes:
        driver: of the process that runs the benchmark.
        jvm: of its JVM.
        workers: of Spark's Python workers, which run the operators.
    """

    driver: float
    jvm: float
    workers: float

    def __sub__(self, other: ProcessorSeconds) -> ProcessorSeconds:
        return ProcessorSeconds(
            self.driver - other.driver, self.jvm - other.jvm, self.workers - other.workers
        )

    @property
    def whole(self) -> float:
        """The sum over all processes."""
        return self.driver + self.jvm + self.workers


class Listening:
    """Collects the progress of one query, with the processor time used until then.

    PySpark's own ``StreamingQueryListener`` builds each progress from hundreds of calls of the JVM.
    They took 0.3 s of processor time for each trigger, which is as much as a small trigger itself.
    So this class implements Java's interface and makes one call, for the progress as JSON.
    """

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, int], ProcessorSeconds]] = []
        self._used: dict[tuple[int, float], tuple[str, float]] = {}
        self.ended = threading.Event()

    def processor_seconds(self) -> ProcessorSeconds:
        """The processor time of this process and of those below it, also of processes that ended
        after an earlier call."""
        own = psutil.Process()
        for process in [own, *own.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                kind = "workers" if process.name() != "java" else "jvm"
                kind = "driver" if process.pid == own.pid else kind
                key = process.pid, process.create_time()
                self._used[key] = kind, times.user + times.system
        used = self._used.values()
        kinds = ("driver", "jvm", "workers")
        return ProcessorSeconds(*(sum(s for of, s in used if of == kind) for kind in kinds))

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Spark's hook."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Spark's hook."""
        progress = json.loads(event.progress().json())
        if progress["numInputRows"]:
            self.heard.append((progress["durationMs"], self.processor_seconds()))

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Spark's hook."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Spark's hook."""
        self.ended.set()

    class Java:
        """The interface, as Py4J reads it."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]


@contextlib.contextmanager
def listening(spark: SparkSession) -> Iterator[Listening]:
    """Listens to the next query of a session until its end."""
    listener = Listening()
    jvm: Any = spark.sparkContext._jvm
    ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    package = jvm.org.apache.spark.sql.streaming
    wrapper = package.PythonStreamingQueryListenerWrapper(listener)
    streams = spark.streams._jsqm
    streams.addListener(wrapper)
    try:
        yield listener
        listener.ended.wait(30.0)
    finally:
        streams.removeListener(wrapper)


def edges_of(triggers: int, rows: int) -> list[tuple[str, str, str, int]]:
    """Edges of which each trigger has ``rows``; some of them join."""
    return [(f"v{i % 97}", f"v{i * 7 % 97}", "a", i) for i in range(triggers * rows)]


def planned() -> PhysicalPlan:
    """The plan with one join."""
    label = LabelStatistics(rate=1.0, distinct_src=97.0, distinct_trg=97.0, vertices=97.0)
    catalog = Catalog({"input": Stream("input", {"a": label})})
    return optimize(
        PlanRequest(QUERY, catalog=catalog, options=PlanningOptions(parallelism=1))
    ).plan


def unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function of the stage before the state in ``packed``."""
    yield from batches


def run_bare(spark: SparkSession, kind: str, data: Path, folder: Path) -> None:
    """Runs ``state`` or ``packed`` over the files of a folder."""
    edges = spark.readStream.schema(_EDGES).option("maxFilesPerTrigger", 1).parquet(str(data))
    keyed = edges.select(sf.lit(0).alias("key"), "*")
    if kind == "packed":
        keyed = keyed.mapInArrow(unchanged, f"key int, {_EDGES}")
    counted = keyed.groupBy("key").transformWithStateInPandas(
        Counting(), "count bigint", outputMode="Append", timeMode="None"
    )

    def collect(frame: DataFrame, _batch: int) -> None:
        frame.collect()

    query = (
        counted.writeStream.foreachBatch(collect)
        .option("checkpointLocation", location(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def measured(
    spark: SparkSession, kind: str, data: Path, *, number: int, rows: int, skipped: int
) -> Triggers:
    """Runs one query to its end."""
    session = streaming_session(spark, 1)
    with TemporaryDirectory(prefix="headrace-bench-") as tmp, listening(session) as listener:
        folder = Path(tmp)
        if kind == "headrace":
            source = {"input": [EdgeFile(str(data / "edges.csv"))]}
            options = RunOptions(largest_slice=rows)
            run(planned(), source, ToFolder(folder / "out"), options, spark=spark)
        else:
            run_bare(session, kind, data / "slices", folder)
    if len(listener.heard) <= skipped + 1:
        raise RuntimeError(f"{kind} had only {len(listener.heard)} triggers")
    counted = listener.heard[skipped:]
    return Triggers(
        kind=kind,
        round=number,
        triggers=len(counted) - 1,
        ms={part: median(ms.get(part, 0) for ms, _ in counted[1:]) for part in PARTS},
        cpu_ms=(counted[-1][1] - counted[0][1]).whole * 1000 / (len(counted) - 1),
    )


def write_edges(folder: Path, triggers: int, rows: int) -> None:
    """Writes the edges as one file for Headrace, and as a file per trigger for the others."""
    edges = edges_of(triggers, rows)
    lines = [",".join(map(str, edge)) for edge in edges]
    (folder / "edges.csv").write_text("\n".join(["src,trg,label,ts", *lines]) + "\n")
    slices = folder / "slices"
    slices.mkdir()
    names = ("src", "trg", "label", "ts")
    for k in range(triggers):
        columns = zip(*edges[k * rows : (k + 1) * rows], strict=True)
        table = pa.table(dict(zip(names, map(list, columns), strict=True)))
        pq.write_table(table, slices / f"{k:08}.parquet")
        time.sleep(0.002)  # Spark reads files in the order of their times


def table_of(found: Sequence[Triggers]) -> Table:
    """The medians of the rounds, and their ratios to ``state`` in the same round."""
    table = Table(title="milliseconds of a trigger")
    table.add_column("query")
    for name in (*PARTS, "processor time", "trigger, of state", "processor, of state"):
        table.add_column(name, justify="right")
    bare = {one.round: one for one in found if one.kind == "state"}
    for kind in dict.fromkeys(one.kind for one in found):
        own = [one for one in found if one.kind == kind]
        cells = [Spread.of([one.ms[part] for one in own]).text(0) for part in PARTS]
        cells.append(Spread.of([one.cpu_ms for one in own]).text(0))
        pairs = [(one, bare[one.round]) for one in own if one.round in bare]
        whole = [a.ms[PARTS[0]] / b.ms[PARTS[0]] for a, b in pairs]
        cpu = [a.cpu_ms / b.cpu_ms for a, b in pairs]
        cells += [Spread.of(ratios).text(2) if ratios else "" for ratios in (whole, cpu)]
        table.add_row(kind, *cells)
    return table


def main(
    *,
    rounds: Annotated[int, typer.Option(min=1, help="Queries of each kind.")] = 3,
    triggers: Annotated[int, typer.Option(min=4, help="Triggers of a query.")] = 16,
    skipped: Annotated[int, typer.Option(min=0, help="First triggers left out.")] = 4,
    rows: Annotated[int, typer.Option(min=1, help="Edges of a trigger.")] = 20,
    only: Annotated[
        list[str] | None, typer.Option(help="Kinds to run: state, packed, headrace.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the fixed cost of a trigger beside that of an empty stateful query."""
    console = Console(width=None if Console().is_terminal else 200)
    console.print(headline(machine()))
    kinds = [kind for kind in KINDS if not only or kind in only]
    found: list[Triggers] = []
    with TemporaryDirectory() as tmp, spark_session(SessionOptions(partitions=1)) as spark:
        data = Path(tmp)
        write_edges(data, triggers, rows)
        for number in range(-1, rounds):  # round -1 warms the JVM up
            for kind in kinds if number % 2 else reversed(kinds):
                with console.status(f"round {number}: {kind}"):
                    one = measured(spark, kind, data, number=number, rows=rows, skipped=skipped)
                    found += [one] if number >= 0 else []
    found.sort(key=lambda one: (KINDS.index(one.kind), one.round))
    console.print(table_of(found))
    console.print(f"load now {machine()['load'][0]}")
    options = {"rounds": rounds, "triggers": triggers, "skipped": skipped, "rows": rows}
    save(out, "triggers", options, [asdict(one) for one in found])


if __name__ == "__main__":
    typer.run(main)
