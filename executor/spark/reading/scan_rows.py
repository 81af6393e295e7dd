"""WSCAN and FILTER below the exchange: from edges to the tagged rows that a stage takes.

In: a streaming DataFrame of edges (stream, label, src, trg, ts, and properties as
:mod:`headrace.executor.spark.exchange.columns` calls them). Out: messages, few and large
(:mod:`headrace.executor.spark.exchange.packing`).

Selection is Spark SQL, so that the JVM and the source see it. Packing costs a pass through a
Python worker before the exchange. An edge's expiry follows from its ts
(:meth:`headrace.executor.scans.Leaf.expiry`) and is not sent.
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
from ..exchange.late import SILENT, TOLD, sources_of
from ..exchange.packing import END, NO_STREAM, PACKED, leaf_packer
from ..exchange.wire import leaves_of, text_or_integers

ArrivalOrder = Literal["in order", "replayed", "live"]
"""How edges arrive: sorted by ts over all streams; or each stream out of order by at most its
delay, either replayed from files or live, where a stream may be idle."""


def packed_leaf_rows(
    edges: DataFrame, plan: PhysicalPlan, stage: Stage, arrival: ArrivalOrder
) -> DataFrame:
    """The rows of all leaves as messages to the partitions of the first stage."""
    of_ports = leaves_of(plan, stage)
    distinct = tuple(dict.fromkeys(of_ports))
    flows = [
        (distinct.index(leaf), flow) for leaf, flow in zip(of_ports, stage.inputs, strict=True)
    ]
    if arrival == "in order":
        pack = leaf_packer(flows, distinct, plan.parallelism)
        return leaf_rows(edges, distinct).mapInArrow(pack, PACKED)
    streams = [stream.name for stream in streams_read(plan)]
    pack = leaf_packer(flows, distinct, plan.parallelism, streams)
    rows = waiting_rows(edges, distinct, streams, sources_of(plan), clock=arrival == "live")
    return rows.mapInArrow(pack, PACKED)


def leaf_rows(edges: DataFrame, leaves: Sequence[Leaf]) -> DataFrame:
    """Rows (leaf, src, trg, ts, and properties that leaves give): an edge once for each leaf
    that it belongs to, and the end of the input once
    (:data:`headrace.executor.spark.exchange.packing.END`)."""
    columns = _Columns.of(leaves)
    typed = edges.select("stream", "label", "ts", *columns.selected())
    given = columns.given(leaves)
    is_end = sf.col("stream").isNull()
    if len(leaves) == 1:
        chosen = typed.where(columns.belongs(leaves[0]) | is_end)
        return chosen.select(sf.when(is_end, END).otherwise(0).alias("leaf"), *given)
    numbers = [sf.when(is_end, sf.lit(END))]
    numbers += [sf.when(columns.belongs(leaf), sf.lit(i)) for i, leaf in enumerate(leaves)]
    number = sf.explode(sf.array_compact(sf.array(*numbers))).alias("leaf")
    return typed.select(number, *given)


def waiting_rows(
    edges: DataFrame,
    leaves: Sequence[Leaf],
    streams: Sequence[str],
    sources: Sequence[tuple[str, str]],
    *,
    clock: bool,
) -> DataFrame:
    """Rows as of :func:`leaf_rows` with what the watermark and late edges need.

    An edge of no leaf has a row too, of leaf -1 and with nothing but its time. Three more columns:
    :data:`headrace.executor.spark.exchange.late.TOLD`; ``of``, the number of the edge's stream
    (stored graphs have none); ``clock``, when its batch began, in milliseconds: Spark writes it
    down before, so that a batch that is run again has the same.
    """
    columns = _Columns.of(leaves)
    typed = edges.select("stream", "label", "ts", *columns.selected())
    numbers = [sf.when(columns.belongs(leaf), sf.lit(i)) for i, leaf in enumerate(leaves)]
    found = sf.posexplode_outer(sf.array_compact(sf.array(*numbers))).alias("place", "number")
    started = sf.unix_millis(sf.current_timestamp()) if clock else sf.lit(None).cast("bigint")
    source = _first_of(
        [
            (sf.col("stream") == stream) & (sf.col("label") == label)
            for stream, label in sources
        ]
    )  # fmt: skip
    number = _first_of([sf.col("stream") == stream for stream in streams])
    tagged = typed.select(
        found,
        *columns.given(leaves),
        source.alias("source"),
        sf.coalesce(number, sf.lit(NO_STREAM)).alias("of"),
        started.alias("clock"),
    )
    chosen = sf.col("number").isNotNull()
    given = [
        sf.col(name) if name == "ts" else sf.when(chosen, sf.col(name)).alias(name)
        for name in ("src", "trg", "ts", *carried(leaves).values())
    ]
    speaks = sf.when(sf.col("place") == 0, sf.col("source"))
    return tagged.select(
        sf.coalesce(sf.col("number"), sf.lit(-1)).alias("leaf"),
        *given,
        sf.coalesce(speaks, sf.lit(SILENT)).alias(TOLD),
        "of",
        "clock",
    )


def _first_of(conditions: Sequence[Column]) -> Column:
    """The position of the condition that holds."""
    return sf.coalesce(*(sf.when(holds, sf.lit(i)) for i, holds in enumerate(conditions)))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns ``c0``, ``c1``, ... that predicates look at: ends in each type, properties.

    ``sources`` are the names in the DataFrame of edges, by field.
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

    def selected(self) -> Iterator[Column]:
        """The columns, from those of edges."""
        for field, source in self.sources.items():
            column = sf.col(source)
            if source in ("src", "trg"):
                column = column.try_cast(SQL_TYPES[field[1]])
            yield column.alias(self.name(field))

    def given(self, leaves: Sequence[Leaf]) -> list[Column]:
        """The columns that go to the stage."""
        travels = text_or_integers(frozenset(leaf.vertex_type for leaf in leaves))
        ends = [sf.col(self.name((end, travels))).alias(end) for end in ("src", "trg")]
        held = [sf.col(self.name(f)).alias(column) for f, column in carried(leaves).items()]
        return [*ends, sf.col("ts"), *held]

    def belongs(self, leaf: Leaf) -> Column:
        """Whether an edge is one of the leaf's; null counts as no."""
        positions = {i: self._position(field) for i, field in enumerate(leaf.fields)}
        types = [kind for _, kind in self.sources]

        def holds(predicate: str) -> Column:
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
