"""A streaming query of ours in the driver: its options, its start, its end, its failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from .batches import Batches
from .checkpoint import Work
from .host.clock import SteppedClock
from .host.errors import (
    CancelledError,
    CheckpointFailedError,
    DamagedError,
    SlowStartError,
)
from .host.failures import failure_of
from .reading.replay import LARGEST_SLICE
from .results.claims import identity
from .results.sinks import NOTE, Output, ToFile, ToFolder, ToFunction, ToStdout
from .session.cleanup import let_go
from .session.session import SessionOptions, stop_within
from .session.settings import location
from .session.turns import Turn

_POLL_SECONDS = 0.1
_LAST_BATCH_SECONDS = 10.0
_STOP_SECONDS = 20.0
_ASKING_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 60.0
"""Between two attempts at a start for which Spark had no time; the first pauses are shorter."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a plan is run.

    ``checkpoint``: the folder to take the run up from, or to keep it in; without one the
    run can be taken up only where its output is a folder or a file. ``rejected``: the file
    for rows that are no edges (default: beside the results). ``interval``: at most one
    micro-batch in so much time, such as ``"10 seconds"``; without one as fast as it goes.
    ``speed`` replays files at so many time units of the stream per second of the clock: a
    micro-batch per ``interval`` (one second unless said) takes what the stream has in that time,
    and spans in which it has nothing are left out. ``most_set_aside``: how many bytes a run over
    live sources keeps of rows that are no edges, and as many of edges that came too late; the
    oldest go (default: all is kept). Of ``session`` the number of partitions is the plan's.
    """

    checkpoint: Path | None = None
    rejected: Path | None = None
    strict: bool = False
    interval: str | None = None
    speed: float | None = None
    largest_slice: int = LARGEST_SLICE
    most_set_aside: int | None = None
    session: SessionOptions = field(default_factory=SessionOptions)


@contextmanager
def failures_told(batches: Batches) -> Iterator[None]:
    """What Spark raises inside this block is raised as an `ExecutionError`."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        if error is batches.error:
            raise  # not Spark's: whoever reads the results has gone
        # A batch whose JVM died must not find its session stopped, nor log when nobody is quiet.
        batches.wait_until_idle(_LAST_BATCH_SECONDS)
        raise failure_of(error) from error


def complete(
    blocks: DataFrame, batches: Batches, interval: str | None, cancelled: threading.Event
) -> None:
    """Runs the query that gives ``blocks`` to its end, if it has one.

    With an interval Spark waits for the next batch by the clock of the machine. So the query is
    started again if that is set back, instead of waiting until it is as late as before.

    A start for which the machine had no time is made again, as often as it takes: nothing is wrong
    with the query.

    Raises:
        CancelledError: on Ctrl-C or ``cancelled``, when the query has been stopped.
        ExecutionError: if it fails.
    """
    attempts = 0
    while True:
        done = batches.batches
        try:
            if _run_once(blocks, batches, interval, cancelled):
                return
            continue  # the clock was set back
        except CheckpointFailedError as error:
            damaged = batches.work.batches.damaged()
            if damaged is None:
                raise
            raise DamagedError(damaged) from error
        except SlowStartError as error:
            attempts = 1 if batches.batches > done else attempts + 1
            batches.wait_for_start(error.message)
            pause = min(LONGEST_PAUSE_SECONDS, 2.0**attempts)
        finally:
            let_go(blocks.sparkSession, batches.callbacks)
        try:
            stopped = cancelled.wait(pause)
        except KeyboardInterrupt:
            stopped = True
        if stopped:
            raise _stopped(batches)


def _run_once(
    blocks: DataFrame, batches: Batches, interval: str | None, cancelled: threading.Event
) -> bool:
    """Starts the query and waits for its end.

    Returns whether the query is at its end; if not, it was stopped since the clock was set back.
    """
    with Turn() as turn:
        try:
            if not turn.comes(cancelled):
                raise KeyboardInterrupt
            query = _started(blocks, batches, interval)
        except KeyboardInterrupt:
            raise _stopped(batches) from None
        except (PySparkException, Py4JError) as error:
            raise failure_of(error) from error
        clock = None if interval is None else SteppedClock()
        return _wait(query, batches, turn, cancelled, clock)


def _started(blocks: DataFrame, batches: Batches, interval: str | None) -> StreamingQuery:
    batches.begun = False
    writer = blocks.writeStream.foreachBatch(batches)
    writer = writer.option("checkpointLocation", location(batches.work.spark))
    if interval is not None:
        writer = writer.trigger(processingTime=interval)
    elif not batches.live:
        writer = writer.trigger(availableNow=True)
    return writer.start()


def described(output: Output) -> str:
    """What a checkpoint remembers of an output."""
    match output:
        case ToFolder(path, file_format) | ToFile(path, file_format):
            return f"{identity(path)} ({file_format})"
        case ToStdout(file_format):
            return f"- ({file_format})"
        case ToFunction():
            return "a function"


def set_aside(output: Output, work: Work, rejected: Path | None, what: str) -> Path:
    """Where rows that are set aside go: beside the results, or beside the file that somebody
    chose for rows that are no edges."""
    match output:
        case _ if rejected is not None:
            return rejected.with_name(f"{rejected.name}.{what}.jsonl")
        case ToFolder(path):
            return path / NOTE / f"{what}.jsonl"
        case ToFile(path):
            return path.with_name(f"{path.name}.{what}.jsonl")
        case _:
            return work.folder / f"{what}.jsonl"


def _stopped(batches: Batches) -> CancelledError:
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
) -> bool:
    """Waits for the end of a query where Ctrl-C is heard, not in a call of the JVM.

    Returns whether the query is at its end; if not, it was stopped since the clock was set back.
    """
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
    until: float | None = None
    try:
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
                    raise KeyboardInterrupt
            elif clock is not None and clock.was_set_back() and _waits(query):
                stop_within(_STOP_SECONDS, query.stop)
                return False
    except KeyboardInterrupt:
        stop_within(_STOP_SECONDS, query.stop)
        batches.wait_until_idle(_LAST_BATCH_SECONDS)
        raise _stopped(batches) from None
    if batches.error is not None:
        raise batches.error
    if failures:
        raise failure_of(failures[0]) from failures[0]
    return True


def _waits(query: StreamingQuery) -> bool:
    """Whether Spark is between two batches."""
    try:
        return not query.status["isTriggerActive"]
    except (PySparkException, Py4JError, OSError):
        return False


def _asks(query: StreamingQuery, batches: Batches) -> bool:
    """Whether the driver may be asking a Python process which state there is, for the first batch:
    one that is interrupted in that leaves the process behind, for as long as the session lives."""
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
