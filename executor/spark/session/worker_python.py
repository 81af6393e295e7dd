"""Chooses the Python that runs Spark's workers, and the path on which it finds Headrace.

Without ``PYSPARK_PYTHON`` Spark takes ``python3`` from ``PATH``, which is another Python than the
driver's where no virtual environment is activated. In local mode all workers are on the driver's
machine, so Headrace runs them on the driver's Python with the driver's path. The machines of a
cluster have Pythons of their own; a task checks once that they have the needed modules.
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

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from ..host.errors import ExecutionError
from ..host.failures import reason_in
from ..host.folders import own_folder
from .early_worker import PORT, SOCKET_PATH

NEEDED: Final = ("headrace.executor.spark.stage.partition", "pandas", "pyarrow", "numba")
"""Modules that a stage imports in a worker."""

_NAME: Final = "headrace-python"
_LAUNCHER: Final = """\
#!/bin/sh
{path}# A worker that Spark waits for with a time limit connects before it imports anything.
if [ -n "{port}{socket}" ]
then exec {python} -m headrace.executor.spark.session.early_worker "$@"
fi
exec {python} "$@"
"""

_PATH: Final = """\
# Spark puts archives of its own sources first, which Python compiles again in each process.
set -f
IFS=:
kept=
for entry in $PYTHONPATH
do case $entry in
*/pyspark.zip|*/py4j-*-src.zip|*/spark-core_*.jar) ;;
*) kept=$kept:$entry ;;
esac
done
unset IFS
export PYTHONPATH="${kept#:}"
"""
"""Takes Spark's archives out of the module path, where PySpark is installed in a folder."""


def launcher(folder: Path) -> str:
    """Writes an executable that runs this process's Python as a worker of Spark.

    Returns:
        The path of the executable in ``folder``, or of the Python itself if the folder's file
        system does not allow to execute files.
    """
    file = folder / _NAME
    if not file.exists():
        python = shlex.quote(sys.executable)
        text = _LAUNCHER.format(
            path=_PATH if Path(pyspark.__file__).exists() else "",
            port=f"${PORT}",
            socket=f"${SOCKET_PATH}",
            python=python,
        )
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o700)
    return str(file) if os.access(file, os.X_OK) else sys.executable


def worker_path() -> str:
    """The driver's module path for workers, without the folders of Python's standard library."""
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
    """Makes Spark run the functions that it gets in this block on the driver's Python.

    On a cluster the block changes nothing. Other threads must not hand functions to Spark in the
    meantime.
    """
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
    """Checks that the Python of a cluster's workers has the modules of :data:`NEEDED`.

    Raises:
        ExecutionError: naming the missing modules, and the settings that choose a Python.
    """
    if is_local(context):
        return  # workers run on the driver's Python
    try:
        missing = _missing_modules(context)
    except (PySparkException, Py4JError) as error:
        raise ExecutionError(
            f"The Python of Spark's workers does not run: {reason_in(str(error))}", _REMEDY
        ) from error
    if missing:
        raise ExecutionError(
            f"The Python of Spark's workers, {context.pythonExec}, lacks {', '.join(missing)}.",
            _REMEDY,
        )


_REMEDY = (
    "Install Headrace for the Python that the workers run on, and name that Python in "
    "PYSPARK_PYTHON or spark.pyspark.python before the session is made."
)


def _missing_modules(context: SparkContext) -> list[str]:
    """Runs a task that returns the modules which a worker cannot find."""
    needed = NEEDED

    # Nested, so that Spark sends the function by value: the worker may lack Headrace.
    def missing_here(_: int) -> list[str]:
        from importlib.util import find_spec

        missing = []
        for name in needed:
            try:
                spec = find_spec(name)
            except ModuleNotFoundError:  # a parent package is missing
                spec = None
            if spec is None:
                missing.append(name.partition(".")[0])
        return missing

    results: list[list[str]] = context.parallelize([0], 1).map(missing_here).collect()
    return results[0]


@cache
def _folder() -> Path:
    """A temporary folder that is removed when this process exits."""
    stack = ExitStack()
    folder, _ = stack.enter_context(own_folder())
    atexit.register(stack.close)
    return folder
