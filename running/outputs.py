"""The outputs that a catalog or a user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.plan import PhysicalPlan
from ..catalog.model import Catalog
from ..executor.spark.host.errors import ExecutionError
from .runs import as_headrace_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from ..executor.spark.results.formats import ResultFormat
    from ..executor.spark.results.sinks import Output, WrittenBySpark


def output_of(
    text: str, catalog: Catalog | None = None, result_format: ResultFormat | None = None
) -> Output:
    """Returns the output that a text names, as ``headrace run --output`` does.

    Args:
        text: ``-``, a file, a folder, ``kafka://HOST:PORT/TOPIC``, or ``sink:NAME``.
        catalog: the catalog that declares the named sink.
        result_format: the format of a file, a folder or standard output.

    Raises:
        UsageError: if there is no such output.
    """
    from ..executor.spark.results.sinks import output_of as named

    try:
        return named(text, result_format, None if catalog is None else catalog.sinks)
    except ExecutionError as error:
        raise as_headrace_error(error) from error


def write_stream(
    results: DataFrame, plan: PhysicalPlan, output: WrittenBySpark
) -> DataStreamWriter:
    """Returns Spark's writer of the results of :func:`headrace.stream` to a topic or a named sink.

    The caller adds a checkpoint and a trigger, and starts the query.

    Args:
        results: the DataFrame of ``stream``.
        plan: its plan, which the ids of messages depend on.
        output: the output of :func:`output_of`.
    """
    from ..executor.spark.results.by_spark import stream_writer
    from ..executor.spark.results.formats import ResultShape

    return stream_writer(results, ResultShape.of(plan), output)
