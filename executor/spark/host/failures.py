"""Translates the failure of a query in Spark into an `ExecutionError`.

In: Spark's exception, whose text may have traces of two languages in it. Out: an error of one line.
"""

from __future__ import annotations

import re

from pyspark.errors import PySparkException

from ....algebra.remedy import Remedy
from .errors import (
    BudgetError,
    ChangedInputError,
    CheckpointFailedError,
    DamagedError,
    ExecutionError,
    InputError,
    SlowStartError,
    SparkFailedError,
)
from .storage import error_in

_REJECTED = re.compile(r"RejectedRowError: (.*)")
_OF_CHECKPOINT = re.compile(
    r"CANNOT_LOAD_STATE_STORE|CHECKPOINT|STDS_FAILED|Incomplete log file|"
    r"(?:batch \d+|/(?:sources|state|offsets|commits)/\S+) (?:doesn't|does not) exist"
)
_OVER_BUDGET = re.compile(r"StepBudgetError: (.*)")
_CHANGED = re.compile(r"ChangedInputError: (.*)")
_DAMAGED = re.compile(r"DamagedError: (.*) is damaged: ")
_LENIENT = Remedy("strict", "run without stopping at such rows")
_SEE_ALL = Remedy("logs", "see all that Spark says")


def failure_of(error: Exception) -> ExecutionError:
    """The error to show for an error of Spark, or of the connection to its JVM."""
    over = _OVER_BUDGET.search(str(error))
    if over is not None:
        return BudgetError.of(over[1])
    rejected = _REJECTED.search(str(error))
    if rejected is not None:
        return InputError(f"A row is not an edge: {rejected[1]}", "Mend it.", _LENIENT)
    changed = _CHANGED.search(str(error))
    if changed is not None:
        return ChangedInputError(changed[1])
    damaged = _DAMAGED.search(str(error))
    if damaged is not None:
        return DamagedError(damaged[1])
    short = error_in(str(error))
    if short is not None:
        return short
    slow = _TIME_OUT.search(str(error))
    if slow is not None and not _OF_A_SOURCE.search(str(error)):
        return SlowStartError(
            f"Spark gave up waiting for one of its own processes ({slow[0]}).",
            "The machine has too much else to do: run less at once. The same command goes on from "
            "there.",
        )
    if isinstance(error, PySparkException):
        what = f"The query failed in Spark: {reason_in(str(error))}"
        if _OF_CHECKPOINT.search(str(error)):
            return CheckpointFailedError(
                what, "Its checkpoint may be damaged: put back a copy of it, or start anew."
            )
    else:
        return SparkFailedError(
            f"Spark's Java process ended unexpectedly ({error}).",
            "Try again: the same run goes on from its checkpoint. If the system ended Java, memory "
            "or processes were short: raise their limits (ulimit, a container's).",
            _SEE_ALL,
        )
    return SparkFailedError(what, "Try again: the same run goes on from its checkpoint.", _SEE_ALL)


_TIME_OUT = re.compile(
    r"Python worker failed to connect back"
    r"|[Tt]imed out (?:while )?waiting for [\w' ]+"
    r"|java\.net\.SocketTimeoutException(?:: [^\n]+)?"
    r"|java\.util\.concurrent\.TimeoutException(?:: [^\n]+)?"
    r"|org\.apache\.spark\.\S*Time[Oo]ut\w*Exception(?:: [^\n]+)?"
    r"|\[CANNOT_OPEN_SOCKET\][^\n]*timed out"
    r"|(?:TimeoutError|socket\.timeout): timed out"
    r"|CANNOT_LOAD_STATE_STORE\.UNRELEASED_THREAD_ERROR"
)
"""The messages of Spark, its JVM and its Python workers when one did not answer another in time.

The expression matches names of classes and error conditions where possible, since these stay the
same when the sentences around them change.
"""

_OF_A_SOURCE = re.compile(r"org\.apache\.(?:kafka|hadoop\.net)|java\.sql\.")
"""Messages of a user's source or broker; its time-outs do not mean a slow start of Spark."""

_GAVE_UP = re.compile(r"in stage \S+ failed (\d+) times, most recent failure: .*?Exception: (.*)")
_OF_JAVA = re.compile(r"^(?:Caused by)?: [\w.]+\.(\w+(?:Exception|Error): .+)$", re.MULTILINE)
_TRACEBACK = re.compile(r"\W*(Return Message:)?\s*Traceback \(most recent call last\).*")


def reason_in(text: str) -> str:
    """The most specific line of Spark's message.

    That is the error of a Python worker, else the reason why a task failed too often, else the last
    cause in Java, else the first line.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        name, separator, _ = line.partition(": ")
        if separator and name.isidentifier() and name.endswith(("Error", "Exception")):
            return line
    gave_up = _GAVE_UP.search(text)
    if gave_up is not None:
        return f"a task failed {gave_up[1]} times, last because of this: {gave_up[2]}"
    causes = _OF_JAVA.findall(text)
    if causes:
        return str(causes[-1])
    return _TRACEBACK.sub("", lines[0]) if lines else text
