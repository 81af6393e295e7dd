"""Operators over streams with deletions, but for paths: scan, join, coalesce.

In such a stream a row with a negative expiry takes back one row of the same columns: that
with the expiry ``~exp`` (:class:`headrace.executor.batch.Batch`). What is valid at an instant is
the set of the values of which some row was given, not taken back and not expired. So an operator
gives for each row that it takes what follows from it, and takes that back with it: each is a
function of bags, and rows of one instant may come in any order that gives before it takes.
"""

from __future__ import annotations

from ..batch import IntArray
from . import bag
from .bag import EXPIRY, HELD, NEXT, SAID
from .compiling import kernel
from .tables import EMPTY

# Why a kernel stopped. Bags are swept only where no row is half done.
DONE, DUE, OTHER_DUE, OUT_FULL = range(4)

# The header of a scan: the row in work, whether it is begun and which entry is next, results,
# and deletions that found nothing.
ROW, CHAIN, OUT, UNMATCHED, SCAN_FIELDS = range(5)
NOT_BEGUN = -2


@kernel
def _write(out: IntArray, at: int, rows: IntArray, row: int, width: int, ts: int, exp: int) -> None:
    for j in range(width):
        out[j, at] = rows[row, j]
    out[width, at], out[width + 1, at] = ts, exp


@kernel
def retract(
    h: IntArray,
    columns: IntArray,
    ts: IntArray,
    exp: IntArray,
    bag_h: IntArray,
    every: IntArray,
    ends: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    out: IntArray,
) -> int:
    """Edges pass; a deletion (a negative expiry) takes back all open edges of its two ends."""
    width = every.shape[0]
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        now = ts[i]
        if h[CHAIN] == NOT_BEGUN:
            if bag.is_due(bag_h, rows, now):
                return DUE
            if h[OUT] == out.shape[1]:
                return OUT_FULL
            if exp[i] >= 0:
                row = bag.add(bag_h, rows, values, keys, every, ends, columns, i, exp[i], 1)
                _write(out, h[OUT], rows, row, width, now, exp[i])
                h[OUT] += 1
                h[ROW] += 1
                continue
            h[CHAIN] = keys[bag.first_of(rows, keys, ends, columns, i, ends), 1]
            open_rows = 0
            row = h[CHAIN]
            while row != EMPTY:
                if rows[row, width + EXPIRY] > now:
                    open_rows += rows[row, width + HELD]
                row = rows[row, width + NEXT]
            if open_rows == 0:
                h[UNMATCHED] += 1
        while h[CHAIN] != EMPTY:
            row = h[CHAIN]
            expiry = rows[row, width + EXPIRY]
            while expiry > now and rows[row, width + HELD] > 0:
                if h[OUT] == out.shape[1]:
                    return OUT_FULL
                _write(out, h[OUT], rows, row, width, now, ~expiry)
                h[OUT] += 1
                rows[row, width + HELD] -= 1
            h[CHAIN] = rows[row, width + NEXT]
        h[CHAIN] = NOT_BEGUN
        h[ROW] += 1
    return DONE


# The header of a coalescing: the row in work, results, and how many the row may give.
COALESCE_ROW, COALESCE_OUT, COALESCE_NEED, COALESCE_FIELDS = range(4)


@kernel
def _latest(rows: IntArray, first: int, width: int, field: int, now: int) -> int:
    """The largest expiry in a chain of entries whose ``field`` is set; ``now`` if none."""
    latest = now
    row = first
    while row != EMPTY:
        if rows[row, width + field] > 0:
            latest = max(latest, rows[row, width + EXPIRY])
        row = rows[row, width + NEXT]
    return latest


@kernel
def _length(rows: IntArray, first: int, width: int) -> int:
    length = 0
    row = first
    while row != EMPTY:
        length += 1
        row = rows[row, width + NEXT]
    return length


@kernel
def coalesce(
    h: IntArray,
    columns: IntArray,
    ts: IntArray,
    exp: IntArray,
    bag_h: IntArray,
    every: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    out: IntArray,
) -> int:
    """What is said of a value is, at any time, how long the longest of its rows lasts.

    A row that lasts longer than what was said is said. When the last row that lasts as long is
    taken back, all that was said is taken back, and what still holds is said anew.
    """
    width = every.shape[0]
    while h[COALESCE_ROW] < ts.shape[0]:
        i = h[COALESCE_ROW]
        now = ts[i]
        if bag.is_due(bag_h, rows, now):
            return DUE
        first = keys[bag.first_of(rows, keys, every, columns, i, every), 1]
        h[COALESCE_NEED] = _length(rows, first, width) + 1
        if h[COALESCE_OUT] + h[COALESCE_NEED] > out.shape[1]:
            return OUT_FULL
        if exp[i] >= 0:
            said = _latest(rows, first, width, SAID, now)
            row = bag.add(bag_h, rows, values, keys, every, every, columns, i, exp[i], 1)
            if exp[i] > said:
                _write(out, h[COALESCE_OUT], rows, row, width, now, exp[i])
                h[COALESCE_OUT] += 1
                rows[row, width + SAID] = 1
        else:
            bag.take(rows, values, every, columns, i, ~exp[i])
            holds = _latest(rows, first, width, HELD, now)
            if holds < _latest(rows, first, width, SAID, now):
                again = EMPTY
                row = first
                while row != EMPTY:
                    expiry = rows[row, width + EXPIRY]
                    if rows[row, width + SAID] != 0 and expiry > now:
                        _write(out, h[COALESCE_OUT], rows, row, width, now, ~expiry)
                        h[COALESCE_OUT] += 1
                    rows[row, width + SAID] = 0
                    if holds > now and expiry == holds:
                        again = row
                    row = rows[row, width + NEXT]
                if again != EMPTY:
                    _write(out, h[COALESCE_OUT], rows, again, width, now, holds)
                    h[COALESCE_OUT] += 1
                    rows[again, width + SAID] = 1
        h[COALESCE_ROW] += 1
    return DONE


# The header of a join: rows begun on each side, which side's is in work, the partner that is
# next and how often it was met, results.
LEFT_ROW, RIGHT_ROW, IN_WORK, PARTNER, MET, JOIN_OUT, JOIN_FIELDS = range(7)
FROM_LEFT, FROM_RIGHT = 1, 2


@kernel
def _take_in(
    h: IntArray,
    bag_h: IntArray,
    every: IntArray,
    key_columns: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    columns: IntArray,
    i: int,
    exp: int,
    other_key_columns: IntArray,
    other_rows: IntArray,
    other_keys: IntArray,
) -> None:
    """Holds a row, or takes one back, and finds the first of its partners."""
    if exp >= 0:
        bag.add(bag_h, rows, values, keys, every, key_columns, columns, i, exp, 1)
    elif bag.take(rows, values, every, columns, i, ~exp) == EMPTY:
        return
    h[PARTNER] = other_keys[
        bag.first_of(other_rows, other_keys, other_key_columns, columns, i, key_columns), 1
    ]
    h[MET] = 0


@kernel
def _meet(
    h: IntArray,
    columns: IntArray,
    i: int,
    now: int,
    exp: int,
    sources: IntArray,
    other_rows: IntArray,
    out: IntArray,
) -> bool:
    """Writes a result for each partner, as often as it is held; False when ``out`` is full."""
    width, other = sources.shape[0], other_rows.shape[1] - bag.ROW_FIELDS
    gives = exp >= 0
    expiry = exp if gives else ~exp
    while h[PARTNER] != EMPTY:
        partner = h[PARTNER]
        there = other_rows[partner, other + EXPIRY]
        while there > now and h[MET] < other_rows[partner, other + HELD]:
            at = h[JOIN_OUT]
            if at == out.shape[1]:
                return False
            for j in range(width):
                source = sources[j]
                if source >= 0:
                    out[j, at] = columns[source, i]
                else:
                    out[j, at] = other_rows[partner, -1 - source]
            out[width, at] = now
            out[width + 1, at] = min(expiry, there) if gives else ~min(expiry, there)
            h[JOIN_OUT] += 1
            h[MET] += 1
        h[PARTNER] = other_rows[partner, other + NEXT]
        h[MET] = 0
    return True


@kernel
def join(
    h: IntArray,
    left_columns: IntArray,
    left_ts: IntArray,
    left_exp: IntArray,
    right_columns: IntArray,
    right_ts: IntArray,
    right_exp: IntArray,
    left_h: IntArray,
    left_rows: IntArray,
    left_values: IntArray,
    left_index: IntArray,
    left_all: IntArray,
    left_keys: IntArray,
    left_sources: IntArray,
    right_h: IntArray,
    right_rows: IntArray,
    right_values: IntArray,
    right_index: IntArray,
    right_all: IntArray,
    right_keys: IntArray,
    right_sources: IntArray,
    out: IntArray,
) -> int:
    """Works through both batches, merged by ts, left first, from where the header stands."""
    while True:
        if h[IN_WORK] == EMPTY:
            left, right = h[LEFT_ROW], h[RIGHT_ROW]
            if left < left_ts.shape[0] and (
                right == right_ts.shape[0] or left_ts[left] <= right_ts[right]
            ):
                if bag.is_due(left_h, left_rows, left_ts[left]):
                    return DUE
                h[LEFT_ROW] += 1
                h[IN_WORK] = FROM_LEFT
                _take_in(
                    h, left_h, left_all, left_keys, left_rows, left_values, left_index,
                    left_columns, left, left_exp[left], right_keys, right_rows, right_index,
                )  # fmt: skip
            elif right < right_ts.shape[0]:
                if bag.is_due(right_h, right_rows, right_ts[right]):
                    return OTHER_DUE
                h[RIGHT_ROW] += 1
                h[IN_WORK] = FROM_RIGHT
                _take_in(
                    h, right_h, right_all, right_keys, right_rows, right_values, right_index,
                    right_columns, right, right_exp[right], left_keys, left_rows, left_index,
                )  # fmt: skip
            else:
                return DONE
        elif h[IN_WORK] == FROM_LEFT:
            i = h[LEFT_ROW] - 1
            if not _meet(
                h, left_columns, i, left_ts[i], left_exp[i], left_sources, right_rows, out
            ):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        else:
            i = h[RIGHT_ROW] - 1
            if not _meet(
                h, right_columns, i, right_ts[i], right_exp[i], right_sources, left_rows, out
            ):
                return OUT_FULL
            h[IN_WORK] = EMPTY


# The header of a set of edges: the row in work, changes.
EDGE_ROW, EDGE_OUT, EDGE_FIELDS = range(3)


@kernel
def changes_of_edges(
    h: IntArray,
    columns: IntArray,
    ts: IntArray,
    exp: IntArray,
    bag_h: IntArray,
    every: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    out: IntArray,
) -> int:
    """Writes a row where the longest row of a value changes: with its expiry if that grew, with
    ``~expiry`` if it shrank (``~0``: there is none left). ``out`` has room for all.
    """
    width = every.shape[0]
    while h[EDGE_ROW] < ts.shape[0]:
        i = h[EDGE_ROW]
        now = ts[i]
        if bag.is_due(bag_h, rows, now):
            return DUE
        slot = bag.first_of(rows, keys, every, columns, i, every)
        before = _latest(rows, keys[slot, 1], width, HELD, now)
        if exp[i] >= 0:
            row = bag.add(bag_h, rows, values, keys, every, every, columns, i, exp[i], 1)
            if exp[i] > before:
                _write(out, h[EDGE_OUT], rows, row, width, now, exp[i])
                h[EDGE_OUT] += 1
        else:
            row = bag.take(rows, values, every, columns, i, ~exp[i])
            after = _latest(rows, keys[slot, 1], width, HELD, now)
            if row != EMPTY and after < before:
                _write(out, h[EDGE_OUT], rows, row, width, now, ~after if after > now else ~0)
                h[EDGE_OUT] += 1
        h[EDGE_ROW] += 1
    return DONE
