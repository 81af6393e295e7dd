"""Messages for queries that failed in Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.host.errors import (
    BudgetError,
    ChangedInputError,
    SlowStartError,
    SparkFailedError,
)
from headrace.executor.spark.host.failures import failure_of
from headrace.executor.spark.reading.sources import StoredGraph

STREAM_FAILED = (
    "[STREAM_FAILED] Query [id = f0849b15, runId = 31c62fe7] terminated with exception: "
    "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in "
    "foreach batch sink. Reason: An exception was raised by the Python Proxy. "
    "Return Message: Traceback (most recent call last):\n"
    '  File "clientserver.py", line 645, in _call_proxy\n'
    "    return_value = getattr(self.pool[obj_id], method)(*params)\n"
)
KILLED_AGAIN = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling o118.collectToPython.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 12.0 "
    "failed 4 times, most recent failure: Lost task 1.3 in stage 12.0 (TID 40) (127.0.0.1 executor "
    "driver): org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)\n"
    "\tat org.apache.spark.api.python.BasePythonRunner\n"
)
WITHOUT_A_PORT = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling o239.collectToPython.\n"
    ": org.apache.spark.SparkException: EOFException occurred while reading the port number from "
    "pyspark.daemon's stdout and terminated with code: 137..\n"
    "\tat org.apache.spark.errors.SparkCoreErrors$.eofExceptionWhileReadPortNumberError\n"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            STREAM_FAILED + KILLED_AGAIN,
            "a task failed 4 times, last because of this: "
            "Python worker exited unexpectedly (crashed)",
        ),
        (
            STREAM_FAILED + WITHOUT_A_PORT,
            "SparkException: EOFException occurred while reading the port number from "
            "pyspark.daemon's stdout and terminated with code: 137..",
        ),
        (STREAM_FAILED + "ValueError: 7 is not a vertex\n", "ValueError: 7 is not a vertex"),
        (
            STREAM_FAILED,
            STREAM_FAILED.partition(". Return Message")[0],
        ),
        ("It is so.\nAnd so.", "It is so."),
    ],
)
def test_a_failure_message_has_no_stack_trace(text: str, reason: str) -> None:
    error = failure_of(StreamingQueryException(text))
    assert isinstance(error, SparkFailedError)
    assert error.message == f"The query failed in Spark: {reason}"
    assert "Traceback" not in str(error)


def test_a_lost_jvm_and_an_exhausted_budget_have_their_own_errors() -> None:
    gone = failure_of(ConnectionRefusedError("refused"))
    assert gone.message == "Spark's Java process ended unexpectedly (refused)."
    text = "x\nexecutor.kernels.StepBudgetError: It took too many steps. Give more of them.\n"
    assert isinstance(failure_of(StreamingQueryException(text)), BudgetError)


@pytest.mark.parametrize(
    "text",
    [
        "org.apache.spark.SparkException: Python worker failed to connect back.",
        "It did not work.\n\nJVM stacktrace:\norg.apache.spark.SparkException: Whatever\n"
        "Caused by: java.net.SocketTimeoutException: Accept timed out\n\tat java.base/x",
        "Timed out while waiting for the Python worker to connect back",
        "java.util.concurrent.TimeoutException: Futures timed out after [120 seconds]",
        "org.apache.spark.rpc.RpcTimeoutException: Cannot receive any reply in 120 seconds",
        "org.apache.spark.api.python.StreamingPythonRunner$StreamingPythonRunnerInitialization"
        "TimeoutException: no answer",
        "[CANNOT_OPEN_SOCKET] Can not open socket: [\"tried to connect to ('127.0.0.1', 1), but an "
        'error occurred: timed out"].',
        "[CANNOT_LOAD_STATE_STORE.UNRELEASED_THREAD_ERROR] An error occurred during loading state.",
    ],
)
def test_start_time_outs_are_recognised_in_every_wording(text: str) -> None:
    error = failure_of(StreamingQueryException(STREAM_FAILED + text))
    assert isinstance(error, SlowStartError)
    assert error.message.startswith("Spark gave up waiting for one of its own processes (")
    assert "\n" not in error.message


@pytest.mark.parametrize(
    "text",
    [
        KILLED_AGAIN,
        WITHOUT_A_PORT,
        "ValueError: 7 is not a vertex",
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: "
        "Timed out waiting for a node assignment. Call: describeTopics",
        "java.net.ConnectException: Connection refused",
    ],
)
def test_other_failures_are_not_start_time_outs(text: str) -> None:
    assert not isinstance(failure_of(StreamingQueryException(text)), SlowStartError)


@pytest.mark.parametrize("change", ["appended", "removed"])
def test_a_file_that_changed_under_a_worker_is_named(tmp_path: Path, change: str) -> None:
    path = tmp_path / "k.csv"
    path.write_text("src,trg,label\n2,x,k\n")
    graph = StoredGraph.of("g", [EdgeFile(str(path), stored=True)])
    graph.check_unchanged()
    if change == "removed":
        path.unlink()
    else:
        path.write_text("src,trg,label\n2,x,k\n3,y,k\n")
    with pytest.raises(ChangedInputError) as raised:
        graph.check_unchanged()
    traced = f"{STREAM_FAILED}headrace.executor.spark.host.errors.ChangedInputError: {raised.value}"
    error = failure_of(StreamingQueryException(traced))
    assert isinstance(error, ChangedInputError)
    assert (error.message, error.hint) == (raised.value.message, raised.value.hint)
    assert error.message.startswith(f"{path}: ")
