"""The results of a run, as rows, Arrow tables, or a DataFrame of pandas or Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, Full, Queue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from ...executor.spark.report import Progress, RunReport
from ...executor.spark.results.formats import ResultShape
from ...executor.spark.results.sinks import ToFunction
from ...planning.errors import UsageError
from ...running.runs import EngineKind, run_plan
from .display import shown_progress

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from ...algebra.plan import PhysicalPlan
    from ...catalog.edges import EdgeFile
    from ...catalog.live import LiveSource
    from ...executor.spark.options import RunOptions

_WAITING = 4
"""The most micro-batches of results that wait for the reader; then the run waits."""
_POLL_SECONDS = 0.1

_Item = pa.Table | Progress | RunReport | BaseException


def to_nowhere() -> ToFunction:
    """An output that drops all results, to check a run."""
    return ToFunction(lambda batch, rows: None)


class Rows(Iterator[dict[str, Any]]):
    """The results of one run, each a dictionary from column to value.

    The columns are those of a Parquet file of results: the variables of the answer, then ``ts`` and
    ``exp`` (None: without end); of a report ``at`` and ``event``; over deletions also ``op``. Times
    are in time units of the plan.

    The run begins with the first row and goes on while rows are read; another thread computes it.
    It ends with its input, or when it is closed: by :meth:`close`, at the end of a ``with`` block,
    or on Ctrl-C. Rows come once: the conversions take those that were not read yet.

    Attributes:
        schema: the names and types of the columns.
        report: the numbers of the run after its end; None before.
    """

    def __init__(
        self,
        plan: PhysicalPlan,
        inputs: Mapping[str, Sequence[EdgeFile] | LiveSource],
        *,
        engine: EngineKind = "local",
        options: RunOptions | None = None,
        spark: SparkSession | None = None,
        progress: bool | None = None,
    ) -> None:
        """Prepares a run; `PlannedQuery.run` describes the arguments."""
        self.schema: pa.Schema = ResultShape.of(plan).schema
        self.report: RunReport | None = None
        self._plan = plan
        self._engine = engine
        self._spark = spark
        self._progress = progress
        self._start = partial(run_plan, plan, inputs, options=options, engine=engine, spark=spark)
        self._tables = self._run()
        self._table: pa.Table = self.schema.empty_table()
        self._rows: Iterator[dict[str, Any]] = iter(())
        self._read = 0
        self._rest: pa.Table | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    def __next__(self) -> dict[str, Any]:
        row = next(self._rows, None)
        while row is None:
            self._table, self._read = next(self._tables), 0
            self._rows = iter(self._table.to_pylist())
            row = next(self._rows, None)
        self._read += 1
        return row

    def tables(self) -> Iterator[pa.Table]:
        """Yields the rows as an Arrow table for each micro-batch, as they come."""
        begun = self._table.slice(self._read)
        self._drop()
        if begun.num_rows:
            yield begun
        yield from self._tables

    def to_arrow(self) -> pa.Table:
        """Reads to the end of the run, and returns the rows as an Arrow table.

        A second conversion returns the same rows.
        """
        if self._rest is None:
            self._rest = pa.concat_tables([self.schema.empty_table(), *self.tables()])
        return self._rest

    def to_pandas(self) -> pd.DataFrame:
        """Reads to the end of the run, and returns the rows as a DataFrame of pandas.

        Whole numbers have the type ``Int64``, which has missing values.
        """
        import pandas as pd

        def mapped(kind: pa.DataType) -> Any:
            return pd.Int64Dtype() if pa.types.is_int64(kind) else None

        frame: pd.DataFrame = self.to_arrow().to_pandas(types_mapper=mapped)
        return frame

    def to_spark(self, spark: SparkSession | None = None) -> DataFrame:
        """Reads to the end of the run, and returns the rows as a DataFrame of Spark.

        All rows pass through this process; `headrace.stream` leaves them in Spark.

        Args:
            spark: the session of the DataFrame; by default that of the run, or the active one.

        Raises:
            UsageError: if there is no session.
        """
        from pyspark.sql import SparkSession

        session = spark or self._spark or SparkSession.getActiveSession()
        if session is None:
            raise UsageError(
                "a DataFrame needs a Spark session",
                hint="give one: with headrace.spark_session() as spark",
            )
        return session.createDataFrame(self.to_arrow())

    def close(self) -> None:
        """Stops the run, if it is not at its end; there are no more rows."""
        self._tables.close()
        self._drop()

    def _drop(self) -> None:
        """Drops the table of which :meth:`__next__` has read rows."""
        self._table = self.schema.empty_table()
        self._rows = iter(())
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        results = "" if self.report is None else f", {self.report.results:,} results"
        return f"<Rows ({', '.join(self.columns)}) by {self._engine}{results}>"

    def _run(self) -> Generator[pa.Table, None, None]:
        """Runs the plan in another thread, and yields the tables of results here."""
        items: Queue[_Item] = Queue(_WAITING)
        closed = threading.Event()
        thread = threading.Thread(
            target=_work, args=(self._start, items, closed), name="headrace-run", daemon=True
        )
        thread.start()
        try:
            with shown_progress(self._progress, self._plan) as show:
                while True:
                    match items.get():
                        case Progress() as progress:
                            show(progress)
                        case RunReport() as report:
                            self.report = report
                            return
                        case BaseException() as error:
                            raise error
                        case table:
                            yield table
        finally:
            closed.set()
            _empty(items)
            thread.join()


def _work(run: Callable[..., RunReport], items: Queue[_Item], closed: threading.Event) -> None:
    """Runs a plan, and delivers its results, progress and report, or its error.

    It holds no reference to the `Rows`, so that rows that nobody reads any more end their run.
    """

    def deliver(item: _Item) -> None:
        while not closed.is_set():
            try:
                return items.put(item, timeout=_POLL_SECONDS)
            except Full:
                continue

    def note(progress: Progress) -> None:
        if not items.full():  # the next one says more
            deliver(progress)

    try:
        output = ToFunction(lambda _, rows: deliver(rows))
        deliver(run(output=output, on_progress=note, cancelled=closed))
    except BaseException as error:  # the reader raises it
        deliver(error)


def _empty(items: Queue[_Item]) -> None:
    try:
        while True:
            items.get_nowait()
    except Empty:
        pass
