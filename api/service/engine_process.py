"""The engine: a process with one Spark session, in which queries run side by side.

In: commands from the service, through a pipe. Out: reports. Each query is
:func:`headrace.running.runs.run_plan` in a thread, with its results in a folder and its checkpoint
beside them. After a crash the next engine resumes each query from its checkpoint. The process ends
with its service, or with its JVM.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from ...algebra.plan import PhysicalPlan
from ...catalog.document import from_document
from ...catalog.feedback import feedback_file
from ...catalog.live import LiveSource
from ...documents.runs import ProgressDocument, operator_documents
from ...executor.counters import Counters
from ...executor.spark.host.errors import (
    ExecutionError,
    PackageError,
    ResourceError,
    SinkError,
    SparkFailedError,
    StorageError,
)
from ...executor.spark.reading.replay import LARGEST_SLICE
from ...executor.spark.report import Progress, RunReport
from ...executor.spark.results.sinks import ToFolder
from ...executor.spark.run import RunOptions
from ...executor.spark.session.options import SessionOptions
from ...executor.spark.session.session import spark_session
from ...planning.errors import HeadraceError, RunError, StoppedError
from ...running.feedback import Recorder
from ...running.runs import as_headrace_error, inputs_of_plan, run_plan
from .engine_messages import (
    Began,
    Command,
    Delayed,
    Ended,
    EngineOptions,
    NotStarted,
    Progressed,
    Quit,
    Ready,
    Report,
    Start,
    Stop,
)
from .logs import LOG, to_stderr
from .problems import document_of, problem_document
from .progress import RunProgress
from .query_folder import QueryFolder

GRACE_SECONDS = 10.0
"""The time for runs to finish a micro-batch before the engine ends, in seconds."""
LOCK_SECONDS = 60.0
"""The longest wait for the end of the previous engine's JVM, in seconds."""
LIVE_INTERVAL = "1 second"
"""The default interval over live sources: each micro-batch writes files."""
MOST_SET_ASIDE = 100_000_000
"""The maximum size of the rejected rows, and of the late edges, of live sources, in bytes."""
KEPT_SECONDS = 600.0
"""The time after which a query keeps its measured figures again, in seconds."""
_TRANSIENT = (SparkFailedError, StorageError, ResourceError, SinkError)
"""Errors after which the service starts the query again."""
PROGRESS_SECONDS = 0.2
"""The least time between two progress reports of a query, in seconds."""


def work(connection: Connection[Any, Any], home: Path, options: EngineOptions) -> None:
    """The main function of the process."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C ends the service, which then ends the engine
    to_stderr(debug=options.debug)
    send = _sender(connection)
    session = SessionOptions(
        cores=max(2, os.cpu_count() or 1),
        debug=options.debug,
        master=options.master,
        packages=options.packages,
        # Fair scheduling: a query with large micro-batches does not delay the others.
        conf={"spark.scheduler.mode": "FAIR", **options.conf},
        records_classes=options.records_classes,
    )
    try:
        with _locked(home / "engine.lock") as lock, spark_session(session, held=[lock]) as spark:
            send(Ready())
            _Runs(spark, send).serve(connection)
    except ExecutionError as error:
        missing = isinstance(error, PackageError) and bool(session.packages)
        send(NotStarted(document_of(as_headrace_error(error)), for_packages=missing))
    except Exception:
        LOG.exception("fault in the engine")


class _Runs:
    """The runs of the engine, and its Spark session."""

    def __init__(self, spark: SparkSession, send: Callable[[Report], None]) -> None:
        self._spark = spark
        self._send = send
        self._running: dict[str, _Run] = {}

    def serve(self, connection: Connection[Any, Any]) -> None:
        """Executes commands until the service ends the engine, or the service has ended."""
        with suppress(EOFError, OSError):
            while not isinstance(command := _received(connection), Quit):
                # Drop ended runs: an engine runs for a long time.
                self._running = {id_: run for id_, run in self._running.items() if run.is_alive()}
                if isinstance(command, Start):
                    run = self._running[command.query] = _Run(command, self._spark, self._send)
                    run.start()
                elif (running := self._running.get(command.query)) and running.is_of(command):
                    running.cancelled.set()
        until = time.monotonic() + GRACE_SECONDS
        for run in self._running.values():
            run.cancelled.set()
        for run in self._running.values():
            run.join(max(0.0, until - time.monotonic()))


class _Run(threading.Thread):
    """The thread of a run of a query."""

    def __init__(self, command: Start, spark: SparkSession, send: Callable[[Report], None]) -> None:
        super().__init__(name=f"headrace-query-{command.query}", daemon=True)
        self.cancelled = threading.Event()
        self._command = command
        self._spark = spark
        self._send = send
        self._reported_at = 0.0
        self._pending: Progress | None = None
        self._delayed = False
        self._kept_at = time.monotonic()
        self._measured: tuple[Mapping[int, Counters], int] | None = None

    @cached_property
    def _plan(self) -> PhysicalPlan:
        return PhysicalPlan.from_document(self._command.plan)

    @cached_property
    def _progress(self) -> RunProgress:
        return RunProgress(self._plan.time_unit)

    @cached_property
    def _recorder(self) -> Recorder:
        command = self._command
        catalog = from_document(command.catalog)
        file = None if command.figures is None else feedback_file(catalog, command.figures)
        return Recorder(self._plan, file, command.query)

    def is_of(self, command: Stop) -> bool:
        """Returns whether a command is for this run, not for an earlier run of the query."""
        return command.run == self._command.run

    def run(self) -> None:
        """Runs the query and reports how it ended; keeps the measured figures before."""
        query, number = self._command.query, self._command.run
        try:
            report = self._run_plan()
        except StoppedError:
            self._report_pending()
            self._keep_figures()
            self._send(Ended(query, number, "stopped"))
        except HeadraceError as error:
            if isinstance(error, RunError) and not _answers(self._spark):
                os._exit(1)  # no query can run without the JVM: let another engine resume them
            self._report_pending()
            if isinstance(error, RunError) and self.cancelled.is_set():
                self._send(Ended(query, number, "stopped"))  # the stop interrupted a micro-batch
                return
            transient = isinstance(error.__cause__, _TRANSIENT)
            self._send(
                Ended(query, number, "interrupted" if transient else "failed", document_of(error))
            )
        except Exception as error:
            detail = f"a fault of Headrace: {type(error).__name__}"
            problem = problem_document(500, detail, code="E-INTERNAL")
            self._send(Ended(query, number, "failed", problem, traceback.format_exc()))
        else:
            self._report_end(report)
            self._keep_figures()
            self._send(Ended(query, number, "finished"))

    def _run_plan(self) -> RunReport:
        command = self._command
        inputs = inputs_of_plan(self._plan, from_document(command.catalog), [])
        folder = QueryFolder(command.folder)
        self._send(Began(command.query, command.run))
        live = any(isinstance(source, LiveSource) for source in inputs.values())
        return run_plan(
            self._plan,
            inputs,
            ToFolder(folder.results),
            RunOptions(
                checkpoint=folder.checkpoint,
                rejected=folder.rejected,
                strict=command.strict,
                speed=command.speed,
                interval=command.interval or (LIVE_INTERVAL if live else None),
                largest_slice=command.largest_batch or LARGEST_SLICE,
                most_set_aside=MOST_SET_ASIDE,
                also=command.output,
            ),
            spark=self._spark,
            on_progress=self._on_progress,
            cancelled=self.cancelled,
        )

    def _on_progress(self, progress: Progress) -> None:
        if progress.phase == "waiting":
            self._delayed = True
            error = RunError(
                progress.reason,
                hint="The service starts the query again as soon as Spark has time.",
            )
            self._send(Delayed(self._command.query, self._command.run, document_of(error)))
            return
        if self._delayed:
            self._delayed = False
            self._send(Began(self._command.query, self._command.run))
        self._pending = progress
        if time.monotonic() - self._reported_at >= PROGRESS_SECONDS:
            self._report_pending()

    def _report_pending(self) -> None:
        progress, self._pending = self._pending, None
        if progress is None:
            return
        self._reported_at = time.monotonic()
        self._report(self._progress.so_far(progress), progress)

    def _report_end(self, report: RunReport) -> None:
        self._report_pending()
        self._report(self._progress.at_end(report), report)

    def _keep_figures(self) -> None:
        """Keeps what the run measured so far, in place of what it measured earlier."""
        self._kept_at = time.monotonic()
        if self._measured is not None:
            counters, ticks = self._measured
            warning = self._recorder.keep(counters, ticks)
            if warning is not None:
                LOG.warning("figures not kept", extra={"reason": warning})

    def _report(self, progress: ProgressDocument, run: Progress | RunReport) -> None:
        if run.ticks:
            self._measured = run.operators, run.ticks
        if time.monotonic() - self._kept_at >= KEPT_SECONDS:
            self._keep_figures()
        operators = operator_documents(self._plan, run.operators, run.ticks)
        self._send(
            Progressed(
                self._command.query,
                self._command.run,
                progress.to_json(),
                [operator.to_json() for operator in operators],
            )
        )


def _sender(connection: Connection[Any, Any]) -> Callable[[Report], None]:
    """Returns a thread-safe function that sends a report; it does nothing without a service."""
    lock = threading.Lock()

    def send(report: Report) -> None:
        with lock, suppress(OSError):
            connection.send(report)

    return send


def _received(connection: Connection[Any, Any]) -> Command:
    command: Command = connection.recv()
    return command


def _answers(spark: SparkSession) -> bool:
    """Returns whether the JVM of a session answers."""
    try:
        spark.sparkContext._jvm.System.nanoTime()  # type: ignore[union-attr]
    except (Py4JError, OSError, AttributeError, TypeError):
        return False
    return True


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Locks the data directory for this process and its JVM, and yields the open file."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    until = time.monotonic() + LOCK_SECONDS
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > until:
                    raise SparkFailedError(
                        f"Another engine holds {path}.", "End the service of that engine."
                    ) from error
                time.sleep(0.1)
        yield handle
    finally:
        os.close(handle)
