"""AGGREGATE: a row for each combination of keys, over the distinct valid rows.

All input rows of one ts are one change. A result row ends at a tick only if all arrivals and
expiries of that tick together change its values. So a result row is returned only after application
time has *passed* its end.

The state is a function of the valid input and of the *open* result rows: the begin of an open row
does not follow from the valid input. So the open rows are extra state in a checkpoint
(:meth:`AggregateOperator.extra_state`). With a period no row is open between two reports.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ...algebra.physical import AggregateRows
from ..batch import FOREVER, Batch, IntArray, lasting
from ..dictionary import Dictionary
from .accumulators import Accumulator, accumulator
from .valid_values import ValidValues, Value, next_multiple, values_of

Row = tuple[Any, ...]
"""The values of the aggregates of one group."""


@dataclass(slots=True)
class _Group:
    """The valid rows of one key.

    Attributes:
        accumulators: one for each aggregate.
        rows: the number of valid rows.
        open: the aggregates of the open result row; None if there is none.
        since: the begin of the open row, in ticks.
    """

    accumulators: tuple[Accumulator, ...]
    rows: int = 0
    open: Row | None = None
    since: int = 0

    def row(self) -> Row | None:
        return tuple([a.result() for a in self.accumulators]) if self.rows else None


@dataclass(slots=True)
class _Lines:
    """Result rows: keys, aggregates and validity."""

    keys: list[Value] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    ts: list[int] = field(default_factory=list)
    exp: list[int] = field(default_factory=list)

    def add(self, key: Value, row: Row, ts: int, exp: int) -> None:
        self.keys.append(key)
        self.rows.append(row)
        self.ts.append(ts)
        self.exp.append(exp)


class AggregateOperator:
    """Holds the valid rows with their aggregated values, and a group for each key.

    Over deletions the input is coalesced, so a retraction ends the validity of its value.
    """

    def __init__(self, operator: AggregateRows, dictionary: Dictionary) -> None:
        self._operator = operator
        self._dictionary = dictionary
        # count(*) reads no column: it counts each row.
        self._looked_at = sorted({c for _, c in operator.aggregates if c is not None})
        place = {column: i for i, column in enumerate(self._looked_at)}
        self._places = [None if c is None else place[c] for _, c in operator.aggregates]
        self._held = ValidValues()
        self._arguments: dict[Value, Row] = {}
        self._groups: dict[Value, _Group] = {}
        self._changed: dict[Value, None] = {}
        self._at: int | None = None
        self._lines = _Lines()

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The result rows that end before the largest ts of the input rows."""
        (batch,) = inputs
        if len(batch):
            self._dictionary.hold(batch.columns[list(self._operator.keys)], lasting(batch.exp))
        arguments = self._decoded(batch)
        rows = zip(values_of(batch), arguments, batch.ts.tolist(), batch.exp.tolist(), strict=True)
        for value, looked_at, ts, exp in rows:
            if ts != self._at:
                self._pass(ts)
            if exp < 0:
                if self._held.remove(value):
                    self._leave(value)
            elif self._held.add(value, exp):
                self._arguments[value] = looked_at
                self._enter(value, looked_at)
        return self._results(wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The result rows that end before ``now``; at the end of the input, all open rows."""
        if self._at is not None:
            self._pass(now)
            if now == FOREVER:
                self._end()
        return self._results(wanted)

    def _decoded(self, batch: Batch) -> list[Row]:
        """The aggregated values of each row."""
        if not self._looked_at or not len(batch):
            return [()] * len(batch)
        columns = [self._dictionary.decode(batch.columns[c]).to_pylist() for c in self._looked_at]
        return list(zip(*columns, strict=True))

    # -- rows come and go ----------------------------------------------------------------------

    def _key(self, value: Value) -> Value:
        return tuple([value[column] for column in self._operator.keys])

    def _enter(self, value: Value, looked_at: Row) -> None:
        key = self._key(value)
        group = self._groups.get(key)
        if group is None:
            calls = self._operator.aggregates
            group = self._groups[key] = _Group(tuple([accumulator(f) for f, _ in calls]))
        group.rows += 1
        for place, kept in zip(self._places, group.accumulators, strict=True):
            argument = True if place is None else looked_at[place]
            if argument is not None:
                kept.add(argument)
        self._changed[key] = None

    def _leave(self, value: Value) -> None:
        key = self._key(value)
        group = self._groups[key]
        looked_at = self._arguments.pop(value)
        group.rows -= 1
        for place, kept in zip(self._places, group.accumulators, strict=True):
            argument = True if place is None else looked_at[place]
            if argument is not None:
                kept.remove(argument)
        self._changed[key] = None

    # -- time passes ---------------------------------------------------------------------------

    def _pass(self, now: int) -> None:
        """Advances application time to ``now`` and drops the rows that expire until then."""
        if self._at is None:
            self._at = now
        while (first := self._held.first()) <= now and first < FOREVER:
            self._settle(first)
            for value in self._held.expired(first):
                self._leave(value)
        if now < FOREVER:
            self._settle(now)

    def _settle(self, now: int) -> None:
        """Closes all changes before ``now``, and reports at the multiples of the period."""
        assert self._at is not None
        if now <= self._at:
            return
        every = self._operator.every
        self._close(self._at)
        if every is not None:
            for tick in range(next_multiple(self._at, every), now, every):
                if not self._groups:
                    break
                self._emit_open(tick, tick + every)
        self._at = now

    def _close(self, now: int) -> None:
        """Ends the open rows of the groups that changed at ``now``, and opens their new rows."""
        for key in self._changed:
            group = self._groups[key]
            row = group.row()
            if row != group.open:
                if group.open is not None and self._operator.every is None:
                    self._lines.add(key, group.open, group.since, now)
                group.open, group.since = row, now
            if row is None:
                del self._groups[key]
        self._changed.clear()

    def _emit_open(self, ts: int, exp: int) -> None:
        for key, group in self._groups.items():
            if group.open is not None:
                self._lines.add(key, group.open, ts, exp)

    def _end(self) -> None:
        """Emits the open rows at the end of the input: they never expire."""
        assert self._at is not None
        self._close(self._at)
        every = self._operator.every
        for key, group in self._groups.items():
            assert group.open is not None
            since = group.since if every is None else next_multiple(self._at, every)
            self._lines.add(key, group.open, since, FOREVER)
            group.open = None
        self._at = FOREVER

    # -- results -------------------------------------------------------------------------------

    def _results(self, wanted: bool) -> Batch:
        lines, self._lines = self._lines, _Lines()
        output = self._operator.output
        if not wanted or not lines.ts:
            return Batch.empty(len(output))
        ts, exp = np.array(lines.ts, np.int64), np.array(lines.exp, np.int64)
        keys = np.array(lines.keys, np.int64).reshape(len(ts), len(self._operator.keys)).T
        values = list(zip(*lines.rows, strict=True))
        columns = np.empty((len(output), len(ts)), np.int64)
        for i, place in enumerate(output):
            if place < len(keys):
                columns[i] = keys[place]
            else:
                columns[i] = codes_of(values[place - len(keys)], exp, self._dictionary)
        order = np.argsort(ts, kind="stable")
        return Batch(columns, ts, exp).take(order)

    # -- state ---------------------------------------------------------------------------------

    def extra_state(self) -> bytes | None:
        """The open rows; None with a period, which leaves no row open."""
        if self._operator.every is not None:
            return None
        keys = [key for key, group in self._groups.items() if group.open is not None]
        codes = np.array(keys, np.int64).reshape(len(keys), len(self._operator.keys)).T
        columns = [self._dictionary.decode(own).to_pylist() for own in codes]
        values = zip(*columns, strict=True) if columns else iter([()] * len(keys))
        groups = (self._groups[key] for key in keys)
        rows = [[*v, g.since, *(g.open or ())] for v, g in zip(values, groups, strict=True)]
        return zlib.compress(json.dumps(rows).encode(), 1)

    def restore(self, state: bytes, now: int) -> None:
        """Restores the :meth:`extra_state` of ``now``, after a replay of the input valid then."""
        rows = json.loads(zlib.decompress(state))
        width = len(self._operator.keys)
        until = np.full(len(rows), now + 1, np.int64)
        columns = [
            codes_of([row[i] for row in rows], until, self._dictionary).tolist()
            for i in range(width)
        ]
        keys = list(zip(*columns, strict=True)) if columns else [()] * len(rows)
        for group in self._groups.values():
            group.open = None
        for key, row in zip(keys, rows, strict=True):
            if key not in self._groups:
                calls = self._operator.aggregates
                self._groups[key] = _Group(tuple([accumulator(f) for f, _ in calls]))
            group = self._groups[key]
            group.since, group.open = row[width], tuple(row[width + 1 :])
        self._changed = dict.fromkeys(self._groups)
        self._at = now

    def tick(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired rows."""

    def purge(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired rows."""

    @property
    def entries(self) -> int:
        """Rows and groups held."""
        return len(self._held) + len(self._groups)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory for state, in bytes."""
        return self._held.nbytes + 200 * len(self._arguments) + 500 * len(self._groups)


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
