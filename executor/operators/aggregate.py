"""AGGREGATE: a row for each combination of keys, over the distinct valid rows.

All input rows of one ts are one change. A result row ends at a tick only if all arrivals and
expiries of that tick together change its values. So a result row is returned only after application
time has *passed* its end, or, by :class:`RetractingAggregate`, its begin.

The state is a function of the valid input and of the *open* result rows: the begin of an open row
does not follow from the valid input. So a checkpoint has the open rows, too, and each micro-batch
stores their changes (:meth:`AggregateOperator.open_row_changes`). With a period no row is open
between two reports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ...algebra.aggregates import COLLECTING, DEVIATIONS, PARTIAL_SUMS, Function, percentile_units
from ...algebra.physical import AggregateRows
from ..batch import FOREVER, Batch, IntArray, lasting
from ..dictionary import Dictionary
from ..kernels import aggregate as kernel
from ..kernels import aggregate_layout as layout
from ..kernels import stops, vertices
from ..kernels.rows import FREED, PREVIOUS, TOP, Input
from ..kernels.tables import EMPTY
from .aggregate_state import Bags, ExactSums, Groups
from .aggregate_texts import Texts
from .base import Results, drive
from .valid_values import ValidValues

_FUNCTIONS: Final[dict[Function, int]] = {
    "count": layout.COUNTED,
    "count_distinct": layout.DISTINCT,
    "sum": layout.SUM,
    "avg": layout.MEAN,
    "min": layout.LEAST,
    "max": layout.GREATEST,
    "collect": layout.COLLECTED,
    "collect_distinct": layout.DIFFERENT,
    "latest": layout.LATEST,
    "partial_sum": layout.PART,
    "sum_partial": layout.SUM_OF_PARTS,
    "avg_partial": layout.MEAN_OF_PARTS,
    "stddev": layout.DEVIATION,
    "stddev_pop": layout.DEVIATION_OF_ALL,
    "percentile_cont": layout.INTERPOLATED,
    "percentile_disc": layout.NEAREST,
    "partial_squares": layout.SQUARES,
    "stddev_partial": layout.DEVIATION_OF_PARTS,
    "stddev_pop_partial": layout.DEVIATION_OF_ALL_PARTS,
}
_WRITTEN: Final = COLLECTING | PARTIAL_SUMS
_OF_SQUARES: Final = DEVIATIONS | {"partial_squares"}
"""The functions whose values are texts of the operator."""


class RetractingAggregate:
    """Holds the valid rows, and a group for each key with the aggregates of its rows.

    Over deletions the input is coalesced, so a retraction ends the validity of its value. A row is
    given after the instant of its begin and retracted when it ends, so no row is open: the given
    rows follow from the valid input, and from the rows that expired at the present time.

    A given row expires at the first multiple of ``renewal`` after all rows of its group, and is
    given anew when that changes. So its expiry follows from the valid input too, and a rebuilt
    operator retracts exactly the row that its consumers hold.

    Args:
        operator: the aggregation.
        width: the number of columns of the input.
        dictionary: the dictionary of the codes in rows.
        renewal: in ticks; 0 gives a row when it is final.
        partition: the number of the partition, which partial rows have.
    """

    def __init__(
        self,
        operator: AggregateRows,
        width: int,
        dictionary: Dictionary,
        renewal: int,
        partition: int = 0,
    ) -> None:
        self._operator = operator
        self._partition = dictionary.constant(partition) if operator.partial else EMPTY
        self._dictionary = dictionary
        # count(*) reads no column: it counts each row.
        looked_at = {column for call in operator.calls for column in call.columns}
        self._held_columns = sorted({*operator.keys, *looked_at})
        calls = operator.calls
        self._calls: IntArray = np.full((len(calls), layout.CALL_FIELDS), EMPTY, np.int64)
        for call, fields in zip(calls, self._calls, strict=True):
            fields[layout.FUNCTION] = _FUNCTIONS[call.function]
            fields[layout.COLUMN : layout.COLUMN + len(call.columns)] = call.columns
            if call.percentile is not None:
                fields[layout.PERCENTILE] = percentile_units(call.percentile)
        self._values = ValidValues(width, layout.VALUE_FIELDS)
        self._groups = Groups(len(operator.keys), len(calls))
        self._bags = Bags()
        squares = any(call.function in _OF_SQUARES for call in calls)
        self._sums = ExactSums(squares=squares)
        self._texts = Texts()
        self._fresh: IntArray = np.empty(2 * len(calls), np.int64)
        self._h: IntArray = np.zeros(layout.HEADER_FIELDS, np.int64)
        self._h[layout.EVERY] = operator.every or 0
        self._h[layout.RENEWAL] = renewal
        self._h[layout.LIMBS_FREE] = EMPTY

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The result rows that end, or the changes, before the largest ts of the input rows."""
        (batch,) = inputs
        if not len(batch):
            return Batch.empty(len(self._operator.output))
        self._dictionary.hold(batch.columns[self._held_columns], lasting(batch.exp))
        keys = batch.columns[list(self._operator.keys)]
        rows = Input(*batch.arrays)
        self._h[layout.ROW] = 0
        return self._driven(lambda out: kernel.take(self._state, rows, keys, out), wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The result rows that end, or the changes, before ``now``; all at the end of the input."""
        if not self._h[layout.STARTED] or self._h[layout.AT] == FOREVER:
            return Batch.empty(len(self._operator.output))
        if now < FOREVER:
            return self._driven(lambda out: kernel.pass_time(self._state, now, out), wanted)
        return self._driven(lambda out: kernel.end(self._state, out), wanted)

    def _driven(self, step: Callable[[IntArray], int], wanted: bool) -> Batch:
        h, width = self._h, len(self._operator.keys) + len(self._fresh)
        results = Results(width, wanted)

        def take() -> None:
            results.drain(h, layout.OUT, layout.NEED)

        remedies = {
            stops.OUT_FULL: take,
            stops.SWEEP_DUE: self._values.enlarge,
            stops.GROUPS_FULL: self._groups.enlarge,
            stops.NODES_FULL: self._bags.enlarge,
            stops.LIMBS_FULL: self._sums.enlarge,
            stops.LISTS_DUE: lambda: self._texts.renew(self._state, self._dictionary),
        }
        drive(lambda: step(results.buffer), remedies)
        h[layout.NEED] = 0
        take()
        rows = results.batch()
        self._written(rows)
        batch = self._results(rows)
        self._texts.drop_replaced()
        return batch

    def _written(self, rows: Batch) -> None:
        """Does nothing: rows that are given follow from the input."""

    @property
    def _state(self) -> layout.Aggregates:
        return layout.Aggregates(
            self._h,
            self._values.expiring,
            self._groups.arrays,
            self._groups.changed,
            self._bags.arrays(self._dictionary),
            self._sums.limbs,
            self._calls,
            self._fresh,
            self._sums.scratch,
            self._sums.pair,
            self._sums.squares,
        )

    def _results(self, rows: Batch) -> Batch:
        """The output columns, with codes for the kinds and bits of aggregates; sorted by ts."""
        output, width = self._operator.output, len(self._operator.keys)
        if not len(rows):
            return Batch.empty(len(output))
        rows = rows.take(np.argsort(rows.ts, kind="stable"))
        columns, until = np.empty((len(output), len(rows)), np.int64), lasting(rows.exp)
        for i, place in enumerate(output):
            if place < width:
                columns[i] = rows.columns[place]
            elif place == width + len(self._calls):
                columns[i] = self._partition
            else:
                at = width + 2 * (place - width)
                values = rows.columns[at : at + 2]
                columns[i] = self._codes(place - width, values[0], values[1], until)
        return Batch(columns, rows.ts, rows.exp)

    def _codes(self, call: int, kinds: IntArray, bits: IntArray, until: IntArray) -> IntArray:
        """The codes of the values of an aggregate."""
        if self._operator.aggregates[call][0] in _WRITTEN:
            return self._dictionary.encode(self._texts.texts(bits), until)
        return _codes_of_bits(kinds, bits, until, self._dictionary)

    def tick(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired rows."""

    def purge(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired rows."""

    @property
    def entries(self) -> int:
        """Rows and groups held."""
        return self._values.entries + self._groups.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        parts = (self._values, self._groups, self._bags, self._sums, self._texts)
        return sum(part.nbytes for part in parts)


class AggregateOperator(RetractingAggregate):
    """Gives a row when it is final.

    Attributes:
        records_changes: whether to record the keys of rows that end, for :meth:`open_row_changes`.
    """

    def __init__(
        self, operator: AggregateRows, width: int, dictionary: Dictionary, partition: int = 0
    ) -> None:
        super().__init__(operator, width, dictionary, 0, partition)
        self.records_changes = False
        self._ended: list[IntArray] = []
        self._stored_until = EMPTY

    def _written(self, rows: Batch) -> None:
        """Records the keys of rows that end."""
        if self.records_changes and len(rows) and self._operator.every is None:
            self._ended.append(rows.columns[: len(self._operator.keys)].copy())

    def open_row_changes(self) -> Batch | None:
        """The open rows that ended or began since the last call; None with a period."""
        if self._operator.every is not None:
            return None
        width, groups = len(self._operator.keys), self._groups.arrays.rows
        used = groups[: self._groups.header[TOP]]
        # Changes are closed in the order of time: a row that began since the last call has a begin
        # at or after the time of that call.
        begun = used[used[:, width + layout.SINCE] >= self._stored_until]
        begun = begun[
            (begun[:, width + PREVIOUS] != FREED) & (begun[:, width + layout.IS_OPEN] != 0)
        ]
        ended = np.concatenate([np.empty((width, 0), np.int64), *self._ended], axis=1)
        self._ended.clear()
        if self._h[layout.STARTED]:
            self._stored_until = int(self._h[layout.AT])
        return self._changes(ended, begun)

    def _changes(self, ended: IntArray, begun: IntArray) -> Batch:
        """The keys of ended rows and the groups of begun ones as rows."""
        width, gone = len(self._operator.keys), ended.shape[1]
        total = gone + len(begun)
        columns = np.empty((width + len(self._calls), total), np.int64)
        columns[:width, :gone], columns[:width, gone:] = ended, begun[:, :width].T
        until = np.full(total, max(0, self._stored_until), np.int64)
        if gone:
            columns[width:, :gone] = self._dictionary.encode(pa.nulls(1), until[:1])
        values = begun[:, self._groups.open_fields]
        for k in range(len(self._calls)):
            kinds, bits = values[:, 2 * k], values[:, 2 * k + 1]
            columns[width + k, gone:] = self._codes(k, kinds, bits, until[gone:])
        ts, exp = np.zeros(total, np.int64), np.zeros(total, np.int64)
        ts[gone:], exp[gone:] = begun[:, width + layout.SINCE], FOREVER
        return Batch(columns, ts, exp)

    def restore_open_rows(self, rows: Batch, now: int) -> None:
        """Restores the open rows of ``now``, after a replay of the input valid then.

        The values of the rows are held in the dictionary until after ``now``.
        """
        width = len(self._operator.keys)
        keys = np.require(rows.columns[:width], np.int64, ["C", "W"])
        since = np.require(rows.ts, np.int64, ["C", "W"])
        opened = np.empty((len(rows), len(self._fresh)), np.int64)
        for k, codes in enumerate(rows.columns[width:]):
            opened[:, 2 * k], opened[:, 2 * k + 1] = self._bits_of(k, codes)
        self._h[layout.ROW] = 0
        self._driven(lambda _: kernel.reopen(self._state, keys, since, opened, now), wanted=False)
        self._ended.clear()
        self._stored_until = now

    def _bits_of(self, call: int, codes: IntArray) -> tuple[IntArray, IntArray]:
        """The kinds and bits of the values of an aggregate, as in an open row."""
        if self._operator.aggregates[call][0] in COLLECTING:
            texts: list[Any] = self._dictionary.decode(codes).to_pylist()
            numbers: IntArray = np.array([self._texts.add(text) for text in texts], np.int64)
            return np.full(len(codes), layout.TEXT), numbers
        kinds = self._dictionary.kinds(codes)
        bits = self._dictionary.table[codes, vertices.START]
        return kinds, np.where(kinds == vertices.STRING, codes, bits)


def codes_of(values: Sequence[Any], until: IntArray, dictionary: Dictionary) -> IntArray:
    """The codes of values of mixed types."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1:
        return dictionary.encode(pa.array(list(values)), until)
    codes = np.empty(len(values), np.int64)
    for kind in kinds:
        own = np.array([type(value) is kind for value in values])
        chosen = [value for value in values if type(value) is kind]
        codes[own] = dictionary.encode(pa.array(chosen), until[own])
    return codes


def _codes_of_bits(
    kinds: IntArray, bits: IntArray, until: IntArray, dictionary: Dictionary
) -> IntArray:
    """The codes of values from their kinds and bits; of a string, the bits are its code."""
    codes = np.where(kinds == vertices.STRING, bits, EMPTY)
    dictionary.hold(codes[codes != EMPTY], until[codes != EMPTY])
    for kind in np.unique(kinds[codes == EMPTY]).tolist():
        own = kinds == kind
        codes[own] = dictionary.encode(_array_of(kind, bits[own]), until[own])
    return codes


def _array_of(kind: int, bits: IntArray) -> pa.Array[Any]:
    if kind == vertices.NUMBER:
        return pa.array(bits.view(np.float64), pa.float64())
    if kind == vertices.BOOLEAN:
        return pa.array(bits != 0, pa.bool_())
    return pa.array(bits, pa.int64()) if kind == vertices.INTEGER else pa.nulls(len(bits))
