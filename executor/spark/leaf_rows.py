"""WSCAN and FILTER below the exchange: from edges to the tagged rows that a stage takes.

In: a streaming DataFrame of edges (stream, label, src, trg, ts). Out: few large rows
``(partition, rows)``, where ``rows`` is an Arrow stream of (leaf, src, trg, ts).

Selection is Spark SQL, so that the JVM and the source see it. Packing
(:mod:`executor.spark.packing`) costs a pass through a Python worker before the exchange.
An edge's expiry follows from its ts (:meth:`executor.leaves.Leaf.expiry`) and is not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from algebra.physical import WindowScan
from algebra.predicate import Predicate
from catalog.model import VertexType
from executor.leaves import Leaf
from executor.predicates import spark_sql
from executor.spark.packing import PACKED, packed, wire_type


def packed_leaf_rows(edges: DataFrame, leaves: Sequence[Leaf]) -> DataFrame:
    """The rows of all leaves, one group per partition.

    Every group of every batch gets a row, an empty one if need be: a group without rows is
    never called, and would not see time pass.
    """
    return leaf_rows(edges, leaves).mapInArrow(packed, PACKED)


def leaf_rows(edges: DataFrame, leaves: Sequence[Leaf]) -> DataFrame:
    """Rows (leaf, src, trg, ts): an edge once for each leaf that it belongs to."""
    kinds = sorted({leaf.vertex_type for leaf in leaves})
    typed = edges.select(
        "stream", "label", "ts", *(c for i, kind in enumerate(kinds) for c in _vertices(i, kind))
    )
    wire = kinds.index(wire_type(leaves))
    vertices = (sf.col(f"c{2 * wire}").alias("src"), sf.col(f"c{2 * wire + 1}").alias("trg"))
    if len(leaves) == 1:
        chosen = typed.where(_belongs(leaves[0], kinds))
        return chosen.select(sf.lit(0).alias("leaf"), *vertices, "ts")
    numbers = [sf.when(_belongs(leaf, kinds), sf.lit(i)) for i, leaf in enumerate(leaves)]
    number = sf.explode(sf.array_compact(sf.array(*numbers))).alias("leaf")
    return typed.select(number, *vertices, "ts")


def _vertices(position: int, kind: VertexType) -> tuple[Column, Column]:
    """Source and target as columns ``c<2 position>`` and the next, of one type."""
    sql = "bigint" if kind == "integer" else "string"
    return (
        sf.col("src").try_cast(sql).alias(f"c{2 * position}"),
        sf.col("trg").try_cast(sql).alias(f"c{2 * position + 1}"),
    )


def _belongs(leaf: Leaf, kinds: Sequence[VertexType]) -> Column:
    """Whether an edge is one of the leaf's; null counts as no."""
    offset = 2 * kinds.index(leaf.vertex_type)
    types = [kind for kind in kinds for _ in range(2)]

    def holds(predicate: str) -> Column:
        moved = Predicate(predicate).renumbered({0: offset, 1: offset + 1})
        return sf.expr(spark_sql(moved.sql, types))

    def scanned(scan: WindowScan) -> Column:
        of_label = sf.col("label") == scan.label
        return of_label if scan.predicate is None else of_label & holds(scan.predicate)

    selected = reduce(or_, map(scanned, leaf.scan.scans))
    condition = (sf.col("stream") == leaf.scan.stream) & selected
    condition &= sf.col(f"c{offset}").isNotNull() & sf.col(f"c{offset + 1}").isNotNull()
    return reduce(and_, map(holds, leaf.predicates), condition)
