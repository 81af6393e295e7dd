"""Runs on a cluster: its address, the Python of its workers, and the folder that all of them see.

In local mode the tasks run in the driver's JVM. On a cluster they run in *executors*, processes
that the cluster starts, perhaps on other machines. The executors read the input slices of a run,
keep Spark's state and write the results in the checkpoint directory; so they need a folder that
the driver and all executors see under one path.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from ....algebra.remedy import Remedy
from ..host.errors import ExecutionError
from ..host.failures import reason_in
from .options import SessionOptions
from .worker_python import check_workers, is_local, launcher

_LOOPBACK: Final = re.compile(r"^spark://(127\.[\d.]+|localhost):\d+$")
_PYTHON: Final = "spark.pyspark.python"
_FILES: Final = ("spark.archives", "spark.files", "spark.jars", "spark.submit.pyFiles")
"""Settings that list files, which Spark looks for below the JVM's current folder."""
_TASK_SECONDS: Final = 0.2
"""How long a task that looks at a folder lasts, so that each free slot gets one."""


def cluster_of(options: SessionOptions) -> str | None:
    """The address of a session's cluster; None in local mode."""
    master = options.conf.get("spark.master") or options.master
    return None if master is None or master.startswith("local") else master


def network_settings(master: str | None) -> dict[str, str]:
    """The address at which executors reach the driver: loopback if nothing else is needed.

    On a cluster of other machines Spark chooses the address, or the user does with
    ``spark.driver.host``.
    """
    if master is not None and not _LOOPBACK.match(master):
        return {}
    return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def network_environment(master: str | None) -> dict[str, str]:
    """The variable by which a JVM listens on loopback alone, where that suffices."""
    return {"SPARK_LOCAL_IP": "127.0.0.1"} if network_settings(master) else {}


def python_of_cluster(options: SessionOptions, folder: Path) -> str:
    """The Python that executors start as workers.

    A relative path, such as ``./environment/bin/python``, is one in an archive that Spark unpacks
    in the folder of each executor. Spark starts a Python process on the driver too, from the same
    path; so the driver's Python is put there, below ``folder``.

    Args:
        options: may name the Python in ``spark.pyspark.python``.
        folder: the session's temporary folder, which becomes the JVM's current folder.
    """
    python = options.conf.get(_PYTHON) or os.environ.get("PYSPARK_PYTHON") or sys.executable
    if not is_packed(python):
        return python
    file = folder / python
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ExecutionError(
            f"The Python of Spark's workers, {python}, lies above the folder of an executor.",
            "Give its full path, or the path in an archive (./environment/bin/python).",
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(launcher(file.parent))
    return python


def is_packed(python: str) -> bool:
    """Whether a Python lies in an archive, as a relative path with a folder says."""
    return "/" in python and not python.startswith("/")


def absolute_files(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings of Spark, with full paths of the driver's files in place of relative ones."""
    return {
        name: ",".join(map(_absolute, value.split(","))) if name in _FILES else value
        for name, value in conf.items()
    }


def _absolute(file: str) -> str:
    path, mark, name = file.partition("#")
    return f"{os.path.abspath(path)}{mark}{name}" if os.path.exists(path) else file


def check_cluster(context: SparkContext, folder: Path) -> None:
    """Checks that the workers of a cluster have Headrace, and see the folder of a checkpoint.

    In local mode there is nothing to check. On a cluster a task for each slot reads a file that
    the driver has written, and writes one that the driver reads. Executors that join later are not
    checked.

    Raises:
        ExecutionError: naming what is missing, and the machine on which it is.
    """
    if is_local(context):
        return
    check_workers(context)
    token = uuid.uuid4().hex
    place = folder / "seen"
    shutil.rmtree(place, ignore_errors=True)
    try:
        place.mkdir()
        (place / "driver").write_text(token)
        answers = _seen_by_tasks(context, str(place), token)
        for task, (host, failure) in enumerate(answers):
            written = place / f"task-{task}"
            is_seen = written.exists() and written.read_text() == token
            if failure or not is_seen:
                reason = failure or "the driver does not see what the executor writes"
                raise ExecutionError(
                    f"The executor on {host} does not share the checkpoint {folder} with the "
                    f"driver: {reason}.",
                    "All machines of a cluster need the folder under the same path, readable and "
                    "writable for the users of driver and executors.",
                    Remedy("checkpoint", "put the checkpoint into a shared folder"),
                )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _seen_by_tasks(context: SparkContext, place: str, token: str) -> list[tuple[str, str]]:
    """The host of each task, and why the task cannot use a folder; empty if it can."""

    pause = _TASK_SECONDS

    # Nested, so that Spark sends the function by value.
    def look(task: int) -> tuple[str, str]:
        import platform
        import time

        time.sleep(pause)
        try:
            with open(f"{place}/driver") as of_driver:
                if of_driver.read() != token:
                    return platform.node(), "its file there is another one"
            with open(f"{place}/task-{task}", "w") as own:
                own.write(token)
        except OSError as error:
            return platform.node(), str(error)
        return platform.node(), ""

    slots = max(1, context.defaultParallelism)
    try:
        answers: list[tuple[str, str]] = (
            context.parallelize(range(slots), slots).map(look).collect()
        )
    except (PySparkException, Py4JError) as error:
        raise ExecutionError(f"The cluster does not run a task: {reason_in(str(error))}") from error
    return answers
