"""WSCAN and FILTER below the exchange: edges become the tagged rows that the first stage reads.

In: a streaming DataFrame of edges (stream, label, src, trg, ts, and properties in the columns that
:mod:`headrace.executor.spark.exchange.columns` names). Out: a few large messages
(:mod:`headrace.executor.spark.exchange.packing`).

Spark SQL does the selection, so that the JVM and the source can apply it early. Packing costs one
pass through a Python worker before the exchange. Files do not come this way
(:mod:`headrace.executor.spark.reading.slice_rows`). Messages carry no expiry: the
stage computes the expiry of an edge from its ts (:meth:`headrace.executor.scans.ScanInput.expiry`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ....algebra.physical import WindowScan
from ....algebra.plan import PhysicalPlan
from ....algebra.predicate import Predicate
from ...predicates import spark_sql
from ...scans import OWN_TIME, Field, ScanInput
from ...stages import Stage
from ...watermarks import streams_read
from ..exchange.columns import SQL_TYPES, carried, columns_of
from ..exchange.late import LATE_SOURCE, NO_SOURCE, sources_of
from ..exchange.packing import END, NO_STREAM, PACKED, stage_packer
from ..exchange.wire import scan_inputs_of, text_or_integers


def packed_scan_input_rows(
    edges: DataFrame, plan: PhysicalPlan, stage: Stage, *, waits: bool
) -> DataFrame:
    """Packs the rows of all scan inputs into messages to the partitions of the first stage.

    With ``waits`` the edges are live: each stream may be out of order by at most its delay, or
    idle, and rows wait for the watermark. Otherwise the edges are in order.
    """
    distinct = tuple(dict.fromkeys(scan_inputs_of(plan, stage)))
    pack = stage_packer(plan, stage, waits=waits)
    if not waits:
        return scan_input_rows(edges, distinct).mapInArrow(pack, PACKED)
    streams = [stream.name for stream in streams_read(plan)]
    return waiting_rows(edges, distinct, streams, sources_of(plan)).mapInArrow(pack, PACKED)


def scan_input_rows(edges: DataFrame, scan_inputs: Sequence[ScanInput]) -> DataFrame:
    """Returns one row for each pair of an edge and a scan input that selects it.

    The columns are scan_input (a position in ``scan_inputs``), src, trg, ts and the properties in
    the output of scan inputs. One more row marks the end of the input: its scan_input is
    :data:`headrace.executor.spark.exchange.packing.END`.
    """
    columns = _Columns.of(scan_inputs)
    typed = edges.select("stream", "label", "ts", *columns.typed())
    sent = columns.sent(scan_inputs)
    is_end = sf.col("stream").isNull()  # a row without a stream marks the end of the input
    if len(scan_inputs) == 1:
        selected = typed.where(columns.selects(scan_inputs[0]) | is_end)
        return selected.select(sf.when(is_end, END).otherwise(0).alias("scan_input"), *sent)
    numbers = [sf.when(is_end, sf.lit(END))]
    numbers += [
        sf.when(columns.selects(scan_input), sf.lit(i)) for i, scan_input in enumerate(scan_inputs)
    ]
    number = sf.explode(sf.array_compact(sf.array(*numbers))).alias("scan_input")
    return typed.select(number, *sent)


def waiting_rows(
    edges: DataFrame,
    scan_inputs: Sequence[ScanInput],
    streams: Sequence[str],
    sources: Sequence[tuple[str, str]],
) -> DataFrame:
    """Returns the rows of :func:`scan_input_rows`, with columns for the watermark and late edges.

    An edge that no scan input selects has a row too, since it moves the watermark: its scan_input
    is -1, and src, trg and the properties are null.

    Three columns are added:

    - :data:`headrace.executor.spark.exchange.late.LATE_SOURCE`.
    - ``of``: the position of the edge's stream in ``streams``, or
      :data:`headrace.executor.spark.exchange.packing.NO_STREAM` for a stored graph.
    - ``clock``: the start of the micro-batch in milliseconds. Spark logs the start before it runs
      the batch, so a batch that is run again has the same.
    """
    columns = _Columns.of(scan_inputs)
    typed = edges.select("stream", "label", "ts", *columns.typed())
    numbers = [
        sf.when(columns.selects(scan_input), sf.lit(i)) for i, scan_input in enumerate(scan_inputs)
    ]
    exploded = sf.posexplode_outer(sf.array_compact(sf.array(*numbers))).alias("copy", "number")
    started = sf.unix_millis(sf.current_timestamp())
    source = _first_of(
        [
            (sf.col("stream") == stream) & (sf.col("label") == label)
            for stream, label in sources
        ]
    )  # fmt: skip
    number = _first_of([sf.col("stream") == stream for stream in streams])
    tagged = typed.select(
        exploded,
        *columns.sent(scan_inputs),
        source.alias("source"),
        sf.coalesce(number, sf.lit(NO_STREAM)).alias("of"),
        started.alias("clock"),
    )
    selected = sf.col("number").isNotNull()
    sent = [
        sf.col(name) if name == "ts" else sf.when(selected, sf.col(name)).alias(name)
        for name in ("src", "trg", "ts", *carried(scan_inputs).values())
    ]
    # Of the rows of an edge the first alone reports the edge if it is late.
    late_source = sf.when(sf.col("copy") == 0, sf.col("source"))
    return tagged.select(
        sf.coalesce(sf.col("number"), sf.lit(-1)).alias("scan_input"),
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
    def of(scan_inputs: Sequence[ScanInput]) -> _Columns:
        kinds = sorted({scan_input.vertex_type for scan_input in scan_inputs})
        ends: dict[Field, str] = {(end, kind): end for kind in kinds for end in ("src", "trg")}
        return _Columns({**ends, **columns_of(scan_inputs), (OWN_TIME, "integer"): "ts"})

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

    def sent(self, scan_inputs: Sequence[ScanInput]) -> list[Column]:
        """The columns that go to the stage."""
        vertex_type = text_or_integers(
            frozenset(scan_input.vertex_type for scan_input in scan_inputs)
        )
        ends = [sf.col(self.name((end, vertex_type))).alias(end) for end in ("src", "trg")]
        properties = [
            sf.col(self.name(f)).alias(column) for f, column in carried(scan_inputs).items()
        ]
        return [*ends, sf.col("ts"), *properties]

    def selects(self, scan_input: ScanInput) -> Column:
        """Whether the scan input selects an edge; null counts as no."""
        positions = {i: self._position(field) for i, field in enumerate(scan_input.fields)}
        types = [kind for _, kind in self.sources]

        def holds(predicate: str) -> Column:
            # A predicate counts the scan input's columns; here it reads those of all scan inputs.
            moved = Predicate(predicate).renumbered(positions)
            return sf.expr(spark_sql(moved.sql, types))

        def scanned(scan: WindowScan) -> Column:
            of_label = sf.col("label") == scan.label
            return of_label if scan.predicate is None else of_label & holds(scan.predicate)

        selected = reduce(or_, map(scanned, scan_input.scan.scans))
        condition = (sf.col("stream") == scan_input.scan.stream) & selected
        for field in scan_input.fields[:2]:
            condition &= sf.col(self.name(field)).isNotNull()
        return reduce(and_, map(holds, scan_input.predicates), condition)
