"""WSCAN and FILTER below the exchange: from edges to the tagged rows that a stage takes.

In: a streaming DataFrame of edges (stream, label, src, trg, ts). Out: messages, few and large
(:mod:`executor.spark.packing`).

Selection is Spark SQL, so that the JVM and the source see it. Packing costs a pass through a
Python worker before the exchange. An edge's expiry follows from its ts
(:meth:`executor.leaves.Leaf.expiry`) and is not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from algebra.physical import WindowScan
from algebra.plan import PhysicalPlan
from algebra.predicate import Predicate
from catalog.model import VertexType
from executor.leaves import Leaf
from executor.predicates import spark_sql
from executor.spark.packing import PACKED, leaf_packer
from executor.spark.wire import leaves_of, text_or_integers
from executor.stages import Stage


def packed_leaf_rows(edges: DataFrame, plan: PhysicalPlan, stage: Stage) -> DataFrame:
    """The rows of all leaves as messages to the partitions of the first stage."""
    of_ports = leaves_of(plan, stage)
    distinct = tuple(dict.fromkeys(of_ports))
    flows = [
        (distinct.index(leaf), flow) for leaf, flow in zip(of_ports, stage.inputs, strict=True)
    ]
    pack = leaf_packer(flows, [leaf.vertex_type for leaf in distinct], plan.parallelism)
    return leaf_rows(edges, distinct).mapInArrow(pack, PACKED)


def leaf_rows(edges: DataFrame, leaves: Sequence[Leaf]) -> DataFrame:
    """Rows (leaf, src, trg, ts): an edge once for each leaf that it belongs to."""
    kinds = sorted({leaf.vertex_type for leaf in leaves})
    typed = edges.select(
        "stream", "label", "ts", *(c for i, kind in enumerate(kinds) for c in _vertices(i, kind))
    )
    wire = kinds.index(text_or_integers(frozenset(kinds)))
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
