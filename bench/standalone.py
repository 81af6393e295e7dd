"""Starts a standalone Spark cluster on loopback: a master and workers, each a process of its own.

The processes run from the jars of the installed PySpark, on free ports. The end of the ``with``
block kills all of them, and what they have started, whatever happens in the block.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil
import pyspark

from headrace.executor.spark.session.jvm import find_java

_HOST: Final = "127.0.0.1"
_START_SECONDS: Final = 90.0
_POLL_SECONDS: Final = 0.2
_DAEMON_OPTIONS: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class ClusterError(Exception):
    """A process of the cluster has ended, or has not started in time."""


@dataclass(slots=True)
class Worker:
    """A worker process of the cluster, which starts an executor for each application.

    Attributes:
        process: the worker; its process group has its executors and their Python workers.
        log: the file of its output.
    """

    process: subprocess.Popen[bytes]
    log: Path

    def executors(self) -> list[psutil.Process]:
        """The JVMs of executors that the worker has started and that still run."""
        return _java_children(self.process.pid)

    def kill(self) -> None:
        """Kills the worker, its executors and their Python workers, as a machine that is lost."""
        _kill(self.process)


@dataclass(slots=True)
class Cluster:
    """A running cluster.

    Attributes:
        master: the address for ``--master``.
        workers: the workers that were started, also those killed since.
    """

    master: str
    workers: list[Worker] = field(default_factory=list)

    def cpu_seconds(self) -> float:
        """The processor time of all living processes of the workers, with their children's."""
        total = 0.0
        for worker in self.workers:
            for process in _tree(worker.process.pid):
                times = process.cpu_times()
                total += times.user + times.system
                total += times.children_user + times.children_system
        return total


@contextmanager
def standalone_cluster(
    folder: Path, workers: int, cores: int = 1, memory: str = "2g"
) -> Iterator[Cluster]:
    """Starts a master and workers, and kills them at the end.

    Args:
        folder: an existing folder for logs and the workers' files.
        workers: the number of worker processes.
        cores: the task slots of each worker.
        memory: the memory that each worker offers for executors, as Spark writes it.

    Raises:
        ClusterError: if a process ends, or is not ready in time; with the end of its log.
    """
    port, page = _free_port(), _free_port()
    master = f"spark://{_HOST}:{port}"
    with ExitStack() as stack:
        arguments = ["--host", _HOST, "--port", str(port), "--webui-port", str(page)]
        process, log = _start(stack, folder, "master", "master.Master", arguments)
        _wait(process, log, page, 0)
        cluster = Cluster(master)
        for number in range(workers):
            name = f"worker-{number}"
            arguments = ["--host", _HOST, "--webui-port", "0", "--cores", str(cores)]
            arguments += ["--memory", memory, "--work-dir", str(folder / name), master]
            cluster.workers.append(Worker(*_start(stack, folder, name, "worker.Worker", arguments)))
        for number, worker in enumerate(cluster.workers):
            _wait(worker.process, worker.log, page, number + 1)
        yield cluster


def _start(
    stack: ExitStack, folder: Path, name: str, kind: str, arguments: list[str]
) -> tuple[subprocess.Popen[bytes], Path]:
    spark = Path(pyspark.__file__).parent
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [spark / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(folder, spark),
            cwd=folder,
            start_new_session=True,
        )
    stack.callback(_kill, process)
    return process, log


def _environment(folder: Path, spark: Path) -> Mapping[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    return {
        **kept,
        "JAVA_HOME": str(find_java().home_for_spark(folder)),
        "SPARK_HOME": str(spark),
        "SPARK_CONF_DIR": str(folder),  # not the settings of some other Spark
        "SPARK_LOCAL_IP": _HOST,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": _DAEMON_OPTIONS,
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",  # its port is not a free one
    }


def _wait(process: subprocess.Popen[bytes], log: Path, page: int, workers: int) -> None:
    """Waits until the master answers and has a number of workers."""
    until = time.monotonic() + _START_SECONDS
    while _alive_workers(page) < workers:
        if process.poll() is not None or time.monotonic() > until:
            what = "did not start in time" if process.poll() is None else "has ended"
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            raise ClusterError(f"{log.stem} {what}:\n{tail}")
        time.sleep(_POLL_SECONDS)


def _alive_workers(page: int) -> int:
    """The number of workers that the master's page names as alive; -1 if it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{_HOST}:{page}/json/", timeout=5) as answer:
            state: Mapping[str, Any] = json.load(answer)
    except (OSError, ValueError):
        return -1
    return sum(worker["state"] == "ALIVE" for worker in state["workers"])


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and all below it, also those in process groups of their own."""
    below = _tree(process.pid)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    for child in below:
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
    process.wait()
    psutil.wait_procs(below, timeout=10)


def _tree(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _java_children(pid: int) -> list[psutil.Process]:
    try:
        return [child for child in psutil.Process(pid).children() if child.name() == "java"]
    except psutil.NoSuchProcess:
        return []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port
