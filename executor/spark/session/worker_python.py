"""Which Python runs the workers of our functions, and where it finds Headrace.

Spark takes ``python3`` from ``PATH`` unless ``PYSPARK_PYTHON`` says otherwise: another Python than
the driver's where no virtual environment is activated. In local mode all workers are on the
driver's machine, so they run on its Python, with its path. On a cluster the machines have Pythons
of their own, which are asked once for what they lack.
"""

from __future__ import annotations

import atexit
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from ..host.errors import ExecutionError
from ..host.failures import reason_in
from ..host.folders import own_folder
from .early_worker import PORT, SOCKET_PATH

NEEDED: Final = ("headrace.executor.spark.stage.partition", "pandas", "pyarrow", "numba")
"""Modules that the work of a stage imports."""

_NAME: Final = "headrace-python"
_LAUNCHER: Final = """\
#!/bin/sh
# A worker that Spark waits for with a time limit connects before it imports anything.
if [ -n "{port}{socket}" ]
then exec {python} -m headrace.executor.spark.session.early_worker "$@"
fi
exec {python} "$@"
"""


def launcher(folder: Path) -> str:
    """An executable in ``folder`` that runs this process's Python as a worker of Spark.

    It is the Python itself where the folder is on a file system from which nothing can be run.
    """
    file = folder / _NAME
    if not file.exists():
        python = shlex.quote(sys.executable)
        text = _LAUNCHER.format(port=f"${PORT}", socket=f"${SOCKET_PATH}", python=python)
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o700)
    return str(file) if os.access(file, os.X_OK) else sys.executable


def worker_path() -> str:
    """The driver's module path for workers on the same Python, without what is the Python's own."""
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    entries = [os.path.abspath(entry) for entry in sys.path if entry]
    others = [
        entry
        for entry in entries
        if os.path.exists(entry) and not any(Path(entry).is_relative_to(of) for of in own)
    ]
    return os.pathsep.join(dict.fromkeys(others))


@contextmanager
def drivers_python(context: SparkContext) -> Iterator[None]:
    """Functions that are handed to Spark inside this block run on the driver's Python, if their
    workers are on its machine. Other threads must not hand any to it meanwhile."""
    if not is_local(context) or not sys.executable:
        yield
        return
    environment = context.environment
    python, path = context.pythonExec, environment.get("PYTHONPATH")
    if Path(python).name != _NAME or not Path(python).exists():
        context.pythonExec = launcher(_folder())
    environment["PYTHONPATH"] = worker_path()
    try:
        yield
    finally:
        context.pythonExec = python
        if path is None:
            del environment["PYTHONPATH"]
        else:
            environment["PYTHONPATH"] = path


def is_local(context: SparkContext) -> bool:
    """Whether all workers are on this machine."""
    return str(context.master).startswith("local")


def check_workers(context: SparkContext) -> None:
    """Raises unless the Python of a cluster's workers has what our functions need.

    Raises:
        ExecutionError: naming what is missing, and the settings that choose a Python.
    """
    if is_local(context):
        return  # they are of the driver's own
    try:
        lacking = _lacking(context)
    except (PySparkException, Py4JError) as error:
        raise ExecutionError(
            f"The Python of Spark's workers does not run: {reason_in(str(error))}", _REMEDY
        ) from error
    if lacking:
        raise ExecutionError(
            f"The Python of Spark's workers, {context.pythonExec}, lacks {', '.join(lacking)}.",
            _REMEDY,
        )


_REMEDY = (
    "Install Headrace for the Python that the workers run on, and name that Python in "
    "PYSPARK_PYTHON or spark.pyspark.python before the session is made."
)


def _lacking(context: SparkContext) -> list[str]:
    """The modules that a worker cannot find; asked by a task."""
    needed = NEEDED

    def ask(_: int) -> list[str]:  # nested, so that it is sent by value: no worker needs Headrace
        from importlib.util import find_spec

        missing = []
        for name in needed:
            try:
                found = find_spec(name)
            except ModuleNotFoundError:  # of a package above it
                found = None
            if found is None:
                missing.append(name.partition(".")[0])
        return missing

    answers: list[list[str]] = context.parallelize([0], 1).map(ask).collect()
    return answers[0]


@cache
def _folder() -> Path:
    """A temporary folder of this process, which goes with it."""
    stack = ExitStack()
    folder, _ = stack.enter_context(own_folder())
    atexit.register(stack.close)
    return folder
