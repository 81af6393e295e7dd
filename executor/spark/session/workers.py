"""Assigns Python workers to stages.

Spark hands a task to any idle Python worker of a pool, so the worker that has an index in memory
often does not get the next task. Spark pools workers by their environment. So a stage whose
functions are made under a separate environment has separate workers. With one partition that is
one worker, which Spark keeps until it has had no work for a minute.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from pyspark.sql import SparkSession

from .worker_python import drivers_python

_POOLS_IN_USE: set[int] = set()  # of this process, like the pools themselves
_LOCK = threading.Lock()
_ENVIRONMENT_LOCK = threading.RLock()
_VARIABLE = "HEADRACE_WORKERS"


@contextmanager
def own_workers(spark: SparkSession, name: str | None) -> Iterator[None]:
    """Runs the functions that are handed to Spark inside this block in the pool ``name``.

    Without a name they run in the pool that all stages share. Workers run the driver's Python where
    that is possible. The environment is the Spark context's, so other threads wait for the end of
    the block.
    """
    environment = spark.sparkContext.environment
    with _ENVIRONMENT_LOCK:
        before = environment.pop(_VARIABLE, None)
        if name is not None:
            environment[_VARIABLE] = name
        try:
            with drivers_python(spark.sparkContext):
                yield
        finally:
            environment.pop(_VARIABLE, None)
            if before is not None:
                environment[_VARIABLE] = before


@contextmanager
def free_pool() -> Iterator[str]:
    """The name of a pool that no other stage uses inside this block.

    Queries that run one after the other share their workers and the modules these have loaded.
    """
    with _LOCK:
        number = next(n for n in count() if n not in _POOLS_IN_USE)
        _POOLS_IN_USE.add(number)
    try:
        yield f"stage-{number}"
    finally:
        with _LOCK:
            _POOLS_IN_USE.remove(number)
