"""The inputs of a plan: files, live sources, and errors about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.algebra.plan import PhysicalPlan
from headrace.api.wording import COMMAND_LINE
from headrace.catalog import Catalog, from_document, load
from headrace.catalog.model import Source
from headrace.executor.spark.host import errors as spark_errors
from headrace.planning.errors import RunError, StoppedError, UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanRequest
from headrace.running.runs import (
    as_headrace_error,
    files_alone,
    inputs_of_plan,
    read_inputs,
    stream,
)

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "mathoverflow"
CATALOG = load(EXAMPLES / "catalog.yaml")


def planned(text: str, catalog: Catalog | None = None) -> PhysicalPlan:
    return optimize(PlanRequest(text, catalog=catalog)).plan


ONE = planned("Answer(x, y) <- a(x, y) WINDOW 1d")
TWO_CATALOG = from_document(
    {
        "streams": {
            "s": {"labels": {"a": {"rate": 1, "distinct_src": 5, "distinct_trg": 5}}},
            "t": {"labels": {"b": {"rate": 1, "distinct_src": 5, "distinct_trg": 5}}},
        }
    }
)
TWO = planned("Answer(x, z) <- a(x, y), b(y, z) WINDOW 1d", TWO_CATALOG)


def test_inputs_belong_to_the_only_stream() -> None:
    inputs = files_alone(inputs_of_plan(ONE, None, [f"a={EXAMPLES / 'a2q.csv.gz'}"]))
    assert [file.label for file in inputs["input"]] == ["a"]


def test_sources_come_from_the_catalog() -> None:
    plan = planned("Answer(x, y) <- a2q(x, y) WINDOW 1d", CATALOG)
    files = files_alone(inputs_of_plan(plan, CATALOG, ()))["mathoverflow"]
    assert sorted(Path(file.path).name for file in files) == [
        "a2q.csv.gz", "c2a.csv.gz", "c2q.csv.gz",
    ]  # fmt: skip


def test_inputs_are_read_with_the_columns_of_the_catalog(tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    file.write_text("SRC,DST,UNIXTS\n1,2,3\n")
    catalog = from_document(
        {
            "time_unit": "millisecond",
            "streams": {
                "s": {
                    "columns": {"src": "SRC", "trg": "DST", "ts": "UNIXTS"},
                    "label": "a",
                    "vertex_type": "integer",
                    "labels": {"a": {"rate": 1, "distinct_src": 5, "distinct_trg": 5}},
                }
            },
        }
    )
    plan = planned("Answer(x, y) <- a(x, y) WINDOW 1d", catalog)
    (read,) = files_alone(inputs_of_plan(plan, catalog, [str(file)]))["s"]
    assert read.label == "a"
    assert dict(read.columns) == {"src": "SRC", "trg": "DST", "ts": "UNIXTS"}
    assert read.vertex_type == "integer"
    assert read.time_unit == "millisecond"


def test_a_stream_without_inputs_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no input for input"):
        inputs_of_plan(ONE, None, ())


def test_inputs_of_several_streams_are_refused() -> None:
    with pytest.raises(UsageError, match="reads 2 streams"):
        inputs_of_plan(TWO, TWO_CATALOG, [str(EXAMPLES / "a2q.csv.gz")])
    with pytest.raises(UsageError, match="there is no input for s, t"):
        inputs_of_plan(TWO, TWO_CATALOG, ())


GRAPH_CATALOG = from_document(
    {
        "streams": {
            "s": {"labels": {"a": {"rate": 1, "distinct_src": 5, "distinct_trg": 5}}},
            "g": {
                "stored": True,
                "source": {"format": "csv", "path": str(EXAMPLES / "c2a.csv.gz")},
                "columns": {"src": "trg", "trg": "src"},
                "labels": {"k": {"population": 9, "distinct_src": 5, "distinct_trg": 5}},
                "vertex_type": "integer",
            },
        }
    }
)
BESIDE_A_GRAPH = planned("Answer(x, z) <- a(x, y), k(y, z) WINDOW 1d", GRAPH_CATALOG)
A2Q = str(EXAMPLES / "a2q.csv.gz")


def test_streams_and_stored_graphs_have_separate_files() -> None:
    inputs = files_alone(
        inputs_of_plan(BESIDE_A_GRAPH, GRAPH_CATALOG, [A2Q], "src,trg,ts", stored=[A2Q])
    )
    (live,), (graph,) = inputs["s"], inputs["g"]
    assert (live.stored, live.names, live.vertex_type) == (False, ("src", "trg", "ts"), "string")
    assert (graph.stored, graph.names, graph.vertex_type) == (True, None, "integer")
    assert dict(graph.columns) == {"src": "trg", "trg": "src"}
    sources = files_alone(inputs_of_plan(BESIDE_A_GRAPH, GRAPH_CATALOG, [A2Q]))
    assert [(Path(f.path).name, f.stored) for f in sources["g"]] == [("c2a.csv.gz", True)]


def test_missing_or_ambiguous_files_beside_a_stored_graph_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no input for s"):
        inputs_of_plan(BESIDE_A_GRAPH, GRAPH_CATALOG, (), stored=[A2Q])
    with pytest.raises(UsageError, match="there is no input for g") as caught:
        inputs_of_plan(BESIDE_A_GRAPH, None, [A2Q])
    assert "--stored FILE" in caught.value.display(COMMAND_LINE)
    with pytest.raises(UsageError, match="the file does not exist"):
        inputs_of_plan(BESIDE_A_GRAPH, None, [A2Q], stored=["none.csv"])
    streams = {
        name: replace(stream, stored=False, source=Source("csv", (A2Q,)))
        for name, stream in GRAPH_CATALOG.streams.items()
    }
    with pytest.raises(UsageError, match="g is among the stored graphs of the plan"):
        inputs_of_plan(BESIDE_A_GRAPH, Catalog(streams), ())


@pytest.mark.parametrize(
    ("inputs", "columns", "separator", "message"),
    [
        (["no.csv"], None, None, "the file does not exist"),
        (["a=no*.csv"], None, None, "the file does not exist"),
        ([str(EXAMPLES / "a2q.csv.gz")], "src,ts", None, "trg is missing"),
        ([str(EXAMPLES / "a2q.csv.gz")], "src,src,trg", None, "src is given twice"),
        ([], "src,trg,ts", None, "no input files for them to describe"),
        ([], None, ";", "no input files for them to describe"),
    ],
)
def test_wrong_inputs_are_refused_with_the_reason(
    inputs: list[str], columns: str | None, separator: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_inputs(inputs, columns, separator)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (spark_errors.InputError("m", "h"), UsageError),
        (spark_errors.OtherQueryError("m", "h"), UsageError),
        (spark_errors.OutputError("m", "h"), UsageError),
        (spark_errors.UnsafePlanError("m", "h"), UsageError),
        (spark_errors.JavaMissingError("m", "h"), RunError),
        (spark_errors.SparkFailedError("m", "h"), RunError),
        (spark_errors.BudgetError("m", "h"), RunError),
        (spark_errors.CancelledError("m", "h"), StoppedError),
        (spark_errors.StorageError("m", "h"), RunError),
        (spark_errors.ResourceError("m", "h"), RunError),
    ],
)
def test_executor_errors_become_the_right_kind_of_error(
    error: spark_errors.ExecutionError, kind: type[Exception]
) -> None:
    ours = as_headrace_error(error)
    assert type(ours) is kind
    assert ours.display() == "m\n  h"


def test_a_damaged_checkpoint_has_a_code_and_a_remedy() -> None:
    ours = as_headrace_error(spark_errors.DamagedError("/ck/query.json"))
    assert (type(ours), ours.code) == (RunError, "E-CHECKPOINT")
    assert ours.message.startswith("/ck/query.json is damaged")
    assert "start anew" in ours.hint


@pytest.mark.spark
def test_a_session_with_an_unsupported_state_store_is_refused(spark: SparkSession) -> None:
    with pytest.raises(RunError, match="needs the state store RocksDB"):
        stream(spark, ONE, {})


def test_each_error_of_the_executor_is_translated() -> None:
    translated = {
        spark_errors.InputError, spark_errors.OtherQueryError, spark_errors.OutputError,
        spark_errors.UnsafePlanError, spark_errors.JavaMissingError,
        spark_errors.SparkFailedError, spark_errors.BudgetError, spark_errors.CancelledError,
        spark_errors.DamagedError, spark_errors.ResourceError, spark_errors.StorageError,
        spark_errors.SinkError,
    }  # fmt: skip
    assert set(spark_errors.ExecutionError.__subclasses__()) == translated
