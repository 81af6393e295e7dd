"""Starts a Spark session: quiet, in local mode on loopback only, and removed without a trace.

The session runs in local mode, or on a cluster (:mod:`headrace.executor.spark.session.cluster`).

Spark, its JVM and its Python workers print to a log file in the session's temporary folder; users
see this output only with ``debug``. A query on a user's session needs none of this
(:func:`headrace.executor.spark.stream.stream`).
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from ....algebra.remedy import Remedy
from ..host.errors import PackageError, SparkFailedError
from ..host.failures import reason_in
from ..host.folders import own_folder
from ..host.storage import error_in, limit_in_the_way
from .class_archive import FastStart, fast_start
from .cluster import (
    absolute_files,
    cluster_of,
    network_environment,
    network_settings,
    python_of_cluster,
)
from .jvm import JavaRuntime, find_java
from .options import RECORDING_SECONDS, SessionOptions
from .worker_python import launcher, worker_path

# The default one runs a dozen shell commands for each file that it writes on a local disk.
_FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
# The work is done in Python workers; in the JVM the second compiler costs more than it gains
# (measured: half of all its time in a run of ten million results).
_JVM_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_STOP_SECONDS = 20.0
_LOG_LINES_SHOWN = 15
_LOG_LINES_READ = 1_000
_NOT_STARTED = "Spark did not start"
_UNRESOLVED = re.compile(r"unresolved dependency: ([^\s:]+)")


@contextmanager
def spark_session(
    options: SessionOptions | None = None, held: Sequence[int] = ()
) -> Iterator[SparkSession]:
    """Starts Spark, in local mode or on a cluster; stops it, its JVM and its workers at the end.

    Args:
        options: how Spark is started.
        held: open files (locks) that the JVM inherits and keeps open until it ends.

    Raises:
        JavaMissingError: if there is no Java to run on.
        SparkFailedError: if Spark does not start; with the end of its log.
    """
    options = options or SessionOptions()
    with own_folder() as (folder, lock):
        held, java = (*held, lock), find_java()
        with (
            _environment(folder, options, java),
            _quiet(options),
            _started(folder, options, java, held) as spark,
        ):
            yield spark


def running_session() -> SparkSession | None:
    """The session of this process, if one was started and not stopped."""
    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.builder.getOrCreate()


def jvm_peak_bytes(spark: SparkSession) -> int:
    """The peak memory of the session's JVM in bytes; 0 if the system does not report it."""
    gateway = spark.sparkContext._gateway
    process = None if gateway is None else getattr(gateway, "proc", None)
    if process is None:
        return 0
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    peak = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return 0 if peak is None else int(peak[1]) * 1024


def log_tail(folder: Path, lines: int = _LOG_LINES_SHOWN) -> str:
    """The last lines of Spark's log without Java's stack traces, for an error message."""
    try:
        text = (folder / "spark.log").read_text(errors="replace")
    except OSError:
        return ""
    kept = [line for line in text.splitlines() if not line.startswith("\tat ")]
    return "\n".join(kept[-lines:])


@contextmanager
def _environment(folder: Path, options: SessionOptions, java: JavaRuntime) -> Iterator[None]:
    """Sets the environment that the JVM inherits, and that workers inherit from the JVM."""
    cluster = cluster_of(options)
    settings = {
        **network_environment(cluster),
        "JAVA_HOME": str(java.home_for_spark(folder)),
        "SPARK_CONF_DIR": str(folder),  # not the settings of some other Spark
        "PYSPARK_PYTHON": (
            launcher(folder) if cluster is None else python_of_cluster(options, folder)
        ),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": worker_path(),
    }
    dropped = ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE", "SPARK_MASTER")
    before = {name: os.environ.get(name) for name in (*settings, *dropped)}
    os.environ.update(settings)
    for name in dropped:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _started(
    folder: Path, options: SessionOptions, java: JavaRuntime, held: Sequence[int]
) -> Iterator[SparkSession]:
    if SparkContext._active_spark_context is not None:
        raise SparkFailedError(
            "A Spark session runs in this process already.",
            "Stop it first, or use headrace.stream(...) on it.",
        )
    chosen = {**_settings(folder, options), **absolute_files(options.conf)}
    settings = SparkConf(loadDefaults=False)
    settings.setAll(list(chosen.items()))
    fast = fast_start(java, chosen, folder, records=options.records_classes)
    on_interrupt = _main_thread_handler()
    log = None if options.debug else (folder / "spark.log").open("ab")
    gateway: JavaGateway | None = None
    try:
        try:
            started: dict[str, object] = {"pass_fds": tuple(held)}
            if cluster_of(options) is not None:
                # A relative path of the workers' Python leads to one below the folder.
                started["cwd"] = folder
            if log is not None:
                started.update(stdout=log, stderr=log)
            gateway = _launched(settings, started, fast)
            context = SparkContext(conf=settings, gateway=gateway)
            spark = SparkSession(context)
            if log is not None:
                # Its thread would print a traceback if the JVM died, which the query reports.
                context._accumulatorServer.handle_error = _say_nothing  # type: ignore[method-assign]
        except (PySparkException, Py4JError, OSError) as error:
            missing = _UNRESOLVED.search(log_tail(folder))
            if missing is not None:
                raise PackageError(
                    f"Spark did not start: the package {missing[1]} could not be fetched.",
                    "",
                    Remedy("packages", "Name another package", "GROUP:ARTIFACT:VERSION"),
                ) from error
            messages = f"{error}\n{log_tail(folder, _LOG_LINES_READ)}"
            short = error_in(messages, _NOT_STARTED) or limit_in_the_way(_NOT_STARTED)
            if short is not None:
                raise short from error
            # A Java that has ended tells why in its log alone.
            tail = "" if isinstance(error, Py4JError) else f"\n{log_tail(folder)}"
            raise SparkFailedError(
                f"{_NOT_STARTED}: {reason_in(str(error))}{tail}".rstrip(),
                "",
                Remedy("logs", "See all that it says"),
            ) from error
        finally:
            # SparkContext installs a handler of its own, which would only cancel jobs.
            if on_interrupt is not None:
                signal.signal(signal.SIGINT, on_interrupt)
        yield spark
    finally:
        _stop(gateway, fast)
        if log is not None:
            log.close()


def _launched(
    settings: SparkConf, started: dict[str, object], fast: FastStart | None
) -> JavaGateway:
    """Starts the JVM; if it does not start with its archive, then without."""
    if fast is not None:
        os.environ["SPARK_HOME"] = str(fast.home)
        try:
            return launch_gateway(settings, dict(started))  # type: ignore[no-untyped-call]
        except PySparkException:
            fast.forget()
        finally:
            del os.environ["SPARK_HOME"]
    return launch_gateway(settings, dict(started))  # type: ignore[no-untyped-call]


def _settings(folder: Path, options: SessionOptions) -> dict[str, str]:
    cores = options.cores or max(2, min(os.cpu_count() or 1, options.partitions + 1))
    packages = {"spark.jars.packages": ",".join(options.packages)} if options.packages else {}
    return {
        **packages,
        **network_settings(cluster_of(options)),
        # The second number is how often a task may fail; the plain local[N] allows one.
        "spark.master": options.master or f"local[{cores},4]",
        "spark.app.name": "headrace",
        "spark.driver.memory": options.memory,
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} {_JVM_OPTIONS}",
        "spark.executor.extraJavaOptions": _JVM_OPTIONS,  # of a cluster
        "spark.local.dir": str(folder / "local"),
        # A worker imports numpy, pyarrow and numba before it answers; Spark's 15 seconds are too
        # few for that on a machine with much else to do (seen at a load of eight on two cores).
        "spark.python.authenticate.socketTimeout": "180s",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Finished work that Spark keeps for its page; by default a thousand each.
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "1000",
        "spark.sql.ui.retainedExecutions": "20",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(options.partitions),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.streaming.checkpointFileManagerClass": _FILE_MANAGER,
    }


_LOGGERS_OF_PY4J = (None, "py4j", "py4j.clientserver", "py4j.java_gateway")


@contextmanager
def _quiet(options: SessionOptions) -> Iterator[None]:
    """Keeps Py4J from logging that a JVM died: the query reports it.

    Py4J logs to the root logger and to the loggers of its modules. A logger of a module may hand a
    record to a handler of the root without passing the root's filters.
    """

    def not_of_py4j(record: logging.LogRecord) -> bool:
        return options.debug or "py4j" not in Path(record.pathname).parts

    loggers = [logging.getLogger(name) for name in _LOGGERS_OF_PY4J]
    for logger in loggers:
        logger.addFilter(not_of_py4j)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(not_of_py4j)


def _say_nothing(request: object, client_address: object) -> None:
    """In place of a traceback on stderr."""


def _main_thread_handler() -> signal._HANDLER:
    if threading.current_thread() is threading.main_thread():
        return signal.getsignal(signal.SIGINT)
    return None


def stop_within(seconds: float, stop: Callable[[], None]) -> None:
    """Has Spark stop something and waits at most ``seconds`` for it.

    A JVM that is gone, or does not answer, must not keep this process from ending.
    """

    def ask() -> None:
        with suppress(Py4JError, PySparkException, OSError):
            stop()

    asking = threading.Thread(target=ask, daemon=True, name="headrace-stop")
    asking.start()
    asking.join(seconds)


def _stop(gateway: JavaGateway | None, fast: FastStart | None) -> None:
    """Stops Spark and waits for its JVM to go, so that a restart finds nothing in its way."""
    if gateway is not None and fast is not None:
        stop_within(RECORDING_SECONDS, partial(fast.record, gateway))
    context = SparkContext._active_spark_context
    session = SparkSession._instantiatedSession
    if session is not None:
        stop_within(_STOP_SECONDS, session.stop)
    elif context is not None:
        stop_within(_STOP_SECONDS, context.stop)
    # Else a later session of this process would use the connection to the JVM ended here.
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
    if gateway is not None:
        _end(gateway)
    if fast is not None:
        fast.finish()


def _end(gateway: JavaGateway) -> None:
    """Ends the JVM and waits for its end."""
    process: subprocess.Popen[bytes] = gateway.proc
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    if process.stdin is not None:
        process.stdin.close()  # the JVM ends when it sees this
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
