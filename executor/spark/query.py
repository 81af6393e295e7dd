"""A streaming query in the driver: its start, its end and its failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from .batches import Batches
from .host.clock import SteppedClock
from .host.errors import (
    CancelledError,
    CheckpointFailedError,
    DamagedError,
    SlowStartError,
)
from .host.failures import failure_of
from .results.claims import identity
from .results.sinks import (
    Output,
    ToFile,
    ToFolder,
    ToFunction,
    ToKafka,
    ToSink,
    ToStdout,
    WrittenBySpark,
)
from .session.cleanup import release
from .session.session import stop_within
from .session.settings import location
from .session.turns import Turn

_POLL_SECONDS = 0.1
_LAST_BATCH_SECONDS = 10.0
_STOP_SECONDS = 20.0
_ASKING_SECONDS = 30.0
Ending = Literal["ended", "stopped", "restart"]
"""Why a start of a query is over: its input has ended; somebody stopped it; or it is to be started
again, since the clock was set back or Spark had no time for the start."""

LONGEST_PAUSE_SECONDS = 60.0
"""The longest pause between two attempts at a start for which Spark had no time."""


@contextmanager
def translate_spark_errors(batches: Batches) -> Iterator[None]:
    """Raises errors of Spark inside this block as an `ExecutionError`."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        if error is batches.error:
            raise  # not Spark's: the reader of the results has gone
        # The session must stay, and Py4J quiet, until a batch whose JVM died has ended.
        batches.wait_until_idle(_LAST_BATCH_SECONDS)
        raise failure_of(error) from error


def run_query(
    blocks: DataFrame, batches: Batches, interval: str | None, cancelled: threading.Event
) -> bool:
    """Runs the query that gives ``blocks`` until it ends or is stopped.

    With an interval Spark waits for the next batch by the clock of the machine. If that is set
    back, the query is started again, instead of waiting until the clock is where it was.

    A start for which the machine had no time is tried again, as often as it takes: nothing is wrong
    with the query.

    Returns:
        Whether the query has ended; False if it was stopped by Ctrl-C or ``cancelled``.

    Raises:
        ExecutionError: if it fails.
    """
    attempts = 0
    while True:
        done = batches.batches
        pause = 0.0
        try:
            ending = _run_once(blocks, batches, interval, cancelled)
        except CheckpointFailedError as error:
            damaged = batches.checkpoint.batches.damaged()
            if damaged is None:
                raise
            raise DamagedError(damaged) from error
        except SlowStartError as error:
            attempts = 1 if batches.batches > done else attempts + 1
            batches.wait_for_start(error.message)
            ending, pause = "restart", min(LONGEST_PAUSE_SECONDS, 2.0**attempts)
        finally:
            release(blocks.sparkSession, batches.callbacks)
        if ending != "restart" or _cancelled_within(pause, cancelled):
            return ending == "ended"


def _cancelled_within(seconds: float, cancelled: threading.Event) -> bool:
    """Waits; whether the run was cancelled meanwhile, by Ctrl-C or ``cancelled``."""
    try:
        return seconds > 0 and cancelled.wait(seconds)
    except KeyboardInterrupt:
        return True


def _run_once(
    blocks: DataFrame, batches: Batches, interval: str | None, cancelled: threading.Event
) -> Ending:
    """Starts the query and waits for its end."""
    with Turn() as turn:
        try:
            if not turn.comes(cancelled):
                return "stopped"
            query = _started(blocks, batches, interval)
        except KeyboardInterrupt:
            return "stopped"
        except (PySparkException, Py4JError) as error:
            raise failure_of(error) from error
        clock = None if interval is None else SteppedClock()
        return _wait(query, batches, turn, cancelled, clock)


def _started(blocks: DataFrame, batches: Batches, interval: str | None) -> StreamingQuery:
    batches.begun = False
    writer = blocks.writeStream.foreachBatch(batches)
    writer = writer.option("checkpointLocation", location(batches.checkpoint.spark))
    if interval is not None:
        writer = writer.trigger(processingTime=interval)
    elif not batches.live:
        writer = writer.trigger(availableNow=True)
    return writer.start()


def described(output: Output, also: WrittenBySpark | None = None) -> str:
    """The output in the manifest of a checkpoint, with a second output if there is one."""
    if also is not None:
        return f"{described(output)} and {described(also)}"
    match output:
        case ToFolder(path, file_format) | ToFile(path, file_format):
            return f"{identity(path)} ({file_format})"
        case ToStdout(file_format):
            return f"- ({file_format})"
        case ToFunction():
            return "a function"
        case ToKafka(topic=topic):
            return f"the topic {topic}"  # the addresses of brokers may change
        case ToSink(sink):
            return f"the sink {sink.name} ({sink.format} {sink.path})"


def stopped(batches: Batches) -> CancelledError:
    """The error that tells the caller of a run that it was stopped before its end."""
    return CancelledError(
        f"Stopped after {batches.batches} batches and {batches.found} results.",
        "The same command goes on from there.",
    )


def _wait(
    query: StreamingQuery,
    batches: Batches,
    turn: Turn,
    cancelled: threading.Event,
    clock: SteppedClock | None,
) -> Ending:
    """Waits for the end of a query where Ctrl-C is heard, not in a call of the JVM."""
    ended = threading.Event()
    failures: list[Exception] = []

    def watch() -> None:
        try:
            query.awaitTermination()
        except (PySparkException, Py4JError, OSError) as error:
            failures.append(error)
        finally:
            ended.set()

    threading.Thread(target=watch, daemon=True, name="headrace-watch").start()
    try:
        ending = _watch(query, batches, turn, cancelled, ended=ended, clock=clock)
    except KeyboardInterrupt:
        ending = "stopped"
    if ending != "ended":
        stop_within(_STOP_SECONDS, query.stop)
    if ending == "stopped":
        batches.wait_until_idle(_LAST_BATCH_SECONDS)
    if ending == "ended" and batches.error is not None:
        raise batches.error
    if ending == "ended" and failures:
        raise failure_of(failures[0]) from failures[0]
    return ending


def _watch(
    query: StreamingQuery,
    batches: Batches,
    turn: Turn,
    cancelled: threading.Event,
    *,
    ended: threading.Event,
    clock: SteppedClock | None,
) -> Ending:
    """Polls a query until it has ended or has to be stopped; returns the reason."""
    until: float | None = None
    while not ended.wait(_POLL_SECONDS):
        if turn.held:
            if batches.begun or _waits_for_data(query):
                turn.give_back()
                batches.note_start()
            elif turn.is_long():
                turn.give_back()
        if batches.finished:
            query.stop()  # only a query with an interval would wait for more
        elif cancelled.is_set():
            until = until or time.monotonic() + _ASKING_SECONDS
            if time.monotonic() > until or not _asks(query, batches):
                return "stopped"
        elif clock is not None and clock.was_set_back() and _waits(query):
            return "restart"
    return "ended"


def _waits(query: StreamingQuery) -> bool:
    """Whether Spark is between two batches."""
    try:
        return not query.status["isTriggerActive"]
    except (PySparkException, Py4JError, OSError):
        return False


def _asks(query: StreamingQuery, batches: Batches) -> bool:
    """Whether the driver may be asking a Python process for the state's schema.

    It does so before the first batch. A query that is stopped meanwhile leaves that process behind
    until the session ends.
    """
    try:
        return not batches.begun and bool(query.status["isDataAvailable"])
    except (PySparkException, Py4JError, OSError):
        return False


def _waits_for_data(query: StreamingQuery) -> bool:
    """Whether a query has started and its sources have nothing for a first batch."""
    try:
        return str(query.status["message"]).startswith("Waiting")
    except (PySparkException, Py4JError, OSError):
        return False
