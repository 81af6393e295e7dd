"""Which Python workers run what.

Spark hands a task to any idle Python worker of a pool, so an index kept in a worker's
memory is often in the wrong process. But workers are pooled by their environment: a stage
whose functions are made under an environment of its own has workers of its own, and with
one partition that is one worker, for as long as Spark keeps it (a minute without work).
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
    """Functions handed to Spark inside this block run in workers of the pool ``name``, or (None)
    of the one that all share, on the driver's Python where that can be.

    The environment is the Spark context's, so other threads wait for the end of the block.
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

    Queries that run one after the other share their workers, and what these have loaded.
    """
    with _LOCK:
        number = next(n for n in count() if n not in _POOLS_IN_USE)
        _POOLS_IN_USE.add(number)
    try:
        yield f"stage-{number}"
    finally:
        with _LOCK:
            _POOLS_IN_USE.remove(number)
