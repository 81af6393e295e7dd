"""WSCAN and FILTER below the exchange: edges become the tagged rows that the first stage reads.

In: a streaming DataFrame of edges (stream, label, src, trg, ts, and properties in the columns that
:mod:`headrace.executor.spark.exchange.columns` names). Out: a few large messages
(:mod:`headrace.executor.spark.exchange.packing`).

Spark SQL does the selection, so that the JVM and the source can apply it early. Packing costs one
pass through a Python worker before the exchange. Messages carry no expiry: the stage computes the
expiry of an edge from its ts (:meth:`headrace.executor.scans.Leaf.expiry`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ....algebra.physical import WindowScan
from ....algebra.plan import PhysicalPlan
from ....algebra.predicate import Predicate
from ...predicates import spark_sql
from ...scans import OWN_TIME, Field, Leaf
from ...stages import Stage
from ...watermarks import streams_read
from ..exchange.columns import SQL_TYPES, carried, columns_of
from ..exchange.late import LATE_SOURCE, NO_SOURCE, sources_of
from ..exchange.packing import END, NO_STREAM, PACKED, leaf_packer
from ..exchange.wire import leaves_of, text_or_integers

ArrivalOrder = Literal["in order", "replayed", "live"]
"""How edges arrive.

In order: sorted by ts over all streams. Replayed: from files, each stream out of order by at most
its delay. Live: like replayed, but a stream may also be idle.
"""


def packed_leaf_rows(
    edges: DataFrame, plan: PhysicalPlan, stage: Stage, arrival: ArrivalOrder
) -> DataFrame:
    """Packs the rows of all leaves into messages to the partitions of the first stage."""
    by_port = leaves_of(plan, stage)
    # Two inputs of the stage may read the same leaf: its rows are selected once.
    distinct = tuple(dict.fromkeys(by_port))
    flows = [(distinct.index(leaf), flow) for leaf, flow in zip(by_port, stage.inputs, strict=True)]
    if arrival == "in order":
        pack = leaf_packer(flows, distinct, plan.parallelism)
        return leaf_rows(edges, distinct).mapInArrow(pack, PACKED)
    streams = [stream.name for stream in streams_read(plan)]
    pack = leaf_packer(flows, distinct, plan.parallelism, streams)
    rows = waiting_rows(edges, distinct, streams, sources_of(plan), clock=arrival == "live")
    return rows.mapInArrow(pack, PACKED)


def leaf_rows(edges: DataFrame, leaves: Sequence[Leaf]) -> DataFrame:
    """Returns one row for each pair of an edge and a leaf that selects it.

    The columns are leaf (a position in ``leaves``), src, trg, ts and the properties in the output
    of leaves. One more row marks the end of the input: its leaf is
    :data:`headrace.executor.spark.exchange.packing.END`.
    """
    columns = _Columns.of(leaves)
    typed = edges.select("stream", "label", "ts", *columns.typed())
    sent = columns.sent(leaves)
    is_end = sf.col("stream").isNull()  # a row without a stream marks the end of the input
    if len(leaves) == 1:
        selected = typed.where(columns.selects(leaves[0]) | is_end)
        return selected.select(sf.when(is_end, END).otherwise(0).alias("leaf"), *sent)
    numbers = [sf.when(is_end, sf.lit(END))]
    numbers += [sf.when(columns.selects(leaf), sf.lit(i)) for i, leaf in enumerate(leaves)]
    number = sf.explode(sf.array_compact(sf.array(*numbers))).alias("leaf")
    return typed.select(number, *sent)


def waiting_rows(
    edges: DataFrame,
    leaves: Sequence[Leaf],
    streams: Sequence[str],
    sources: Sequence[tuple[str, str]],
    *,
    clock: bool,
) -> DataFrame:
    """Returns the rows of :func:`leaf_rows`, with columns for the watermark and late edges.

    An edge that no leaf selects has a row too, since it moves the watermark: its leaf is -1, and
    src, trg and the properties are null.

    Three columns are added:

    - :data:`headrace.executor.spark.exchange.late.LATE_SOURCE`.
    - ``of``: the position of the edge's stream in ``streams``, or
      :data:`headrace.executor.spark.exchange.packing.NO_STREAM` for a stored graph.
    - ``clock``: the start of the micro-batch in milliseconds, or null without ``clock``. Spark logs
      the start before it runs the batch, so a batch that is run again has the same.
    """
    columns = _Columns.of(leaves)
    typed = edges.select("stream", "label", "ts", *columns.typed())
    numbers = [sf.when(columns.selects(leaf), sf.lit(i)) for i, leaf in enumerate(leaves)]
    exploded = sf.posexplode_outer(sf.array_compact(sf.array(*numbers))).alias("copy", "number")
    started = sf.unix_millis(sf.current_timestamp()) if clock else sf.lit(None).cast("bigint")
    source = _first_of(
        [
            (sf.col("stream") == stream) & (sf.col("label") == label)
            for stream, label in sources
        ]
    )  # fmt: skip
    number = _first_of([sf.col("stream") == stream for stream in streams])
    tagged = typed.select(
        exploded,
        *columns.sent(leaves),
        source.alias("source"),
        sf.coalesce(number, sf.lit(NO_STREAM)).alias("of"),
        started.alias("clock"),
    )
    selected = sf.col("number").isNotNull()
    sent = [
        sf.col(name) if name == "ts" else sf.when(selected, sf.col(name)).alias(name)
        for name in ("src", "trg", "ts", *carried(leaves).values())
    ]
    # Of the rows of an edge the first alone reports the edge if it is late.
    late_source = sf.when(sf.col("copy") == 0, sf.col("source"))
    return tagged.select(
        sf.coalesce(sf.col("number"), sf.lit(-1)).alias("leaf"),
        *sent,
        sf.coalesce(late_source, sf.lit(NO_SOURCE)).alias(LATE_SOURCE),
        "of",
        "clock",
    )


def _first_of(conditions: Sequence[Column]) -> Column:
    """The position of the first condition that holds; null if none does."""
    return sf.coalesce(*(sf.when(holds, sf.lit(i)) for i, holds in enumerate(conditions)))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns ``c0``, ``c1``, ... that predicates read: the ends in each type, and properties.

    ``sources`` maps each field to the name of its column in the DataFrame of edges.
    """

    sources: Mapping[Field, str]

    @staticmethod
    def of(leaves: Sequence[Leaf]) -> _Columns:
        kinds = sorted({leaf.vertex_type for leaf in leaves})
        ends: dict[Field, str] = {(end, kind): end for kind in kinds for end in ("src", "trg")}
        return _Columns({**ends, **columns_of(leaves), (OWN_TIME, "integer"): "ts"})

    def name(self, field: Field) -> str:
        """The column of a field."""
        return f"c{self._position(field)}"

    def _position(self, field: Field) -> int:
        return list(self.sources).index(field)

    def typed(self) -> Iterator[Column]:
        """The columns in their types, computed from the columns of edges."""
        for field, source in self.sources.items():
            column = sf.col(source)
            if source in ("src", "trg"):
                column = column.try_cast(SQL_TYPES[field[1]])
            yield column.alias(self.name(field))

    def sent(self, leaves: Sequence[Leaf]) -> list[Column]:
        """The columns that go to the stage."""
        vertex_type = text_or_integers(frozenset(leaf.vertex_type for leaf in leaves))
        ends = [sf.col(self.name((end, vertex_type))).alias(end) for end in ("src", "trg")]
        properties = [sf.col(self.name(f)).alias(column) for f, column in carried(leaves).items()]
        return [*ends, sf.col("ts"), *properties]

    def selects(self, leaf: Leaf) -> Column:
        """Whether the leaf selects an edge; null counts as no."""
        positions = {i: self._position(field) for i, field in enumerate(leaf.fields)}
        types = [kind for _, kind in self.sources]

        def holds(predicate: str) -> Column:
            # A predicate counts the leaf's columns; here it reads those of all leaves.
            moved = Predicate(predicate).renumbered(positions)
            return sf.expr(spark_sql(moved.sql, types))

        def scanned(scan: WindowScan) -> Column:
            of_label = sf.col("label") == scan.label
            return of_label if scan.predicate is None else of_label & holds(scan.predicate)

        selected = reduce(or_, map(scanned, leaf.scan.scans))
        condition = (sf.col("stream") == leaf.scan.stream) & selected
        for field in leaf.fields[:2]:
            condition &= sf.col(self.name(field)).isNotNull()
        return reduce(and_, map(holds, leaf.predicates), condition)
