"""The metrics of a query, in Spark's own progress.

In: the rows of a plan's last stage, among them the reports of all stages and partitions. Out: the
same rows, observed (``DataFrame.observe``): each progress of the streaming query, and each event
that a ``StreamingQueryListener`` hears, has in ``observedMetrics`` a row ``headrace`` of the query
and a row ``headrace.<id>`` of each operator.

Rows and seconds are of the batch; ``now`` and state are as the batch left them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ....algebra.plan import PhysicalPlan
from ...scans import reached, scan_inputs
from ..exchange.blocks import LATE, REPORT, RESULTS

METRICS: Final = "headrace"
_ROWS: Final = ("rows_in", "rows_out", "dropped")
_STATE: Final = ("state_entries", "state_bytes")


def observed(blocks: DataFrame, plan: PhysicalPlan, name: str = METRICS) -> DataFrame:
    """The rows, counted on their way.

    Args:
        blocks: (kind, rows, payload), as a plan's last stage gives them.
        plan: what runs.
        name: by which the row of the query is found, and those of operators as ``<name>.<id>``.
    """
    below = {scan_input.node for scan_input in scan_inputs(plan)}
    nodes = sorted(reached(plan, below))
    rows = blocks.observe(
        name,
        *(sf.sum(_number("batch", field)).alias(field) for field in ("edges", "rebuilt")),
        *(sf.sum(_rows(kind)).alias(kind) for kind in (RESULTS, LATE)),
        sf.max(_number("now")).alias("now"),
        *(sf.sum(_over(nodes, field)).alias(field) for field in _STATE),
        sf.sum(_over(nodes, "seconds")).alias("seconds"),
    )
    for node in nodes:
        done = [
            sf.sum(_number("batch", "operators", str(node), field)).cast(kind).alias(field)
            for field, kind in [(f, "bigint") for f in (*_ROWS, *_STATE)] + [("seconds", "double")]
        ]
        rows = rows.observe(f"{name}.{node}", *done)
    return rows


def _rows(kind: str) -> Column:
    """How many rows of a kind a block has."""
    return sf.when(sf.col("kind") == kind, sf.col("rows")).otherwise(0)


def _over(nodes: Sequence[int], field: str) -> Column:
    """The sum of a number over all operators."""
    numbers = (_number("batch", "operators", str(node), field) for node in nodes)
    total = reduce(add, (sf.coalesce(number, sf.lit(0.0)) for number in numbers))
    return total if field == "seconds" else total.cast("bigint")


def _number(*path: str) -> Column:
    """A number of a report; null in other rows, and where the report has none."""
    # Keys are written as ['3'], since .3 would be a place in a list.
    place = "$" + "".join(f"['{key}']" for key in path)
    value = sf.get_json_object(sf.col("payload").cast("string"), place)
    kind = "double" if "operators" in path else "bigint"
    return sf.when(sf.col("kind") == REPORT, value.cast(kind))
