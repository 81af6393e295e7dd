"""What a query counts, in Spark's own progress.

In: the rows of a plan's last stage, among them the reports of all stages and partitions. Out: the
same rows, observed (``DataFrame.observe``): each progress of the streaming query, and each event
that a ``StreamingQueryListener`` hears, has in ``observedMetrics`` a row ``headrace`` of the query
and a row ``headrace.<id>`` of each operator.

Values are of the query since it began, over restarts; state is as it is now. What a batch did is
the difference to the one before.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from algebra.plan import PhysicalPlan
from executor.leaves import leaves, reached
from executor.spark.processor import REPORT

METRICS: Final = "headrace"
OF_QUERY: Final = ("edges", "results", "late", "rebuilt")
OF_OPERATOR: Final = ("rows_in", "rows_out", "dropped", "state_entries", "state_bytes")


def observed(blocks: DataFrame, plan: PhysicalPlan, name: str = METRICS) -> DataFrame:
    """The rows, counted on their way.

    Args:
        blocks: (kind, rows, payload), as a plan's last stage gives them.
        plan: what runs.
        name: by which the row of the query is found, and those of operators as ``<name>.<id>``.
    """
    below = {leaf.node for leaf in leaves(plan)}
    nodes = sorted(reached(plan, below))
    state = [
        sf.sum(sum((_number(f"operators.{n}.{kind}", 0) for n in nodes), sf.lit(0))).alias(kind)
        for kind in ("state_entries", "state_bytes")
    ]
    seconds = sum((_number(f"operators.{n}.seconds", 0, "double") for n in nodes), sf.lit(0.0))
    rows = blocks.observe(
        name,
        *(sf.sum(_number(field)).alias(field) for field in OF_QUERY),
        sf.max(_number("now")).alias("now"),
        *state,
        sf.sum(seconds).alias("seconds"),
    )
    for node in nodes:
        counted = [sf.sum(_number(f"operators.{node}.{f}")).alias(f) for f in OF_OPERATOR]
        spent = sf.sum(_number(f"operators.{node}.seconds", kind="double")).alias("seconds")
        rows = rows.observe(f"{name}.{node}", *counted, spent)
    return rows


def _number(path: str, missing: int | None = None, kind: str = "bigint") -> Column:
    """A number of a report; null in other rows, and ``missing`` where the report has none."""
    # Keys are written as ['3'], since .3 would be a place in a list.
    place = "$" + "".join(f"['{key}']" for key in path.split("."))
    found = sf.get_json_object(sf.col("payload").cast("string"), place).cast(kind)
    return sf.when(
        sf.col("kind") == REPORT, found if missing is None else sf.coalesce(found, sf.lit(missing))
    )
