"""Symmetric hash join: each arriving row is held, then meets what the other side holds."""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .rows import find_row, hash_in, insert, is_due
from .tables import EMPTY

# Why the kernel stopped. The sides are swept only where no row is half done.
DONE, LEFT_DUE, RIGHT_DUE, OUT_FULL = range(4)

# The header: rows begun on each side, whether one is in work, where it stands, results.
LEFT_ROW, RIGHT_ROW, IN_WORK, PARTNER, OUT, HEADER_LENGTH = range(6)
FROM_LEFT, FROM_RIGHT = 1, 2


@kernel
def _first_partner(
    columns: IntArray,
    i: int,
    own_keys: IntArray,
    other_rows: IntArray,
    other_index: IntArray,
    other_keys: IntArray,
) -> int:
    hashed = hash_in(columns, i, own_keys)
    slot = find_row(other_index, other_rows, other_keys, columns, i, own_keys, hashed)
    return other_index[slot, 1]


@kernel
def _meet(
    h: IntArray,
    columns: IntArray,
    i: int,
    now: int,
    expiry: int,
    sources: IntArray,
    other_rows: IntArray,
    other_width: int,
    out: IntArray,
) -> bool:
    """Writes a result for each partner from ``PARTNER`` on; False when ``out`` is full.

    ``sources[j]`` is the column of the arriving row that is output column ``j``, or -1 - c
    for column c of the partner.
    """
    width = sources.shape[0]
    partner, written = h[PARTNER], h[OUT]
    while partner != EMPTY and written < out.shape[1]:
        if other_rows[partner, other_width] > now:
            for j in range(width):
                source = sources[j]
                if source >= 0:
                    out[j, written] = columns[source, i]
                else:
                    out[j, written] = other_rows[partner, -1 - source]
            out[width, written] = now
            out[width + 1, written] = min(expiry, other_rows[partner, other_width])
            written += 1
        partner = other_rows[partner, other_width + 1]
    h[PARTNER], h[OUT] = partner, written
    return partner == EMPTY


@kernel
def advance(
    h: IntArray,
    left_columns: IntArray,
    left_ts: IntArray,
    left_exp: IntArray,
    left_until: IntArray,
    right_columns: IntArray,
    right_ts: IntArray,
    right_exp: IntArray,
    right_until: IntArray,
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
    """Works through both batches, merged by ts, left first, from where the header stands.

    A row is held as long as its ``until`` says, which is its expiry or earlier; one that is not
    held at all meets the other side all the same.
    """
    while True:
        if h[IN_WORK] == EMPTY:
            left, right = h[LEFT_ROW], h[RIGHT_ROW]
            if left < left_ts.shape[0] and (
                right == right_ts.shape[0] or left_ts[left] <= right_ts[right]
            ):
                if is_due(left_h, left_rows, left_ts[left]):
                    return LEFT_DUE
                h[LEFT_ROW] += 1
                if left_until[left] <= left_ts[left] or insert(
                    left_h, left_rows, left_values, left_index, left_all, left_keys,
                    left_columns, left, left_exp[left], left_until[left],
                ):  # fmt: skip
                    h[IN_WORK] = FROM_LEFT
                    h[PARTNER] = _first_partner(
                        left_columns, left, left_keys, right_rows, right_index, right_keys
                    )
            elif right < right_ts.shape[0]:
                if is_due(right_h, right_rows, right_ts[right]):
                    return RIGHT_DUE
                h[RIGHT_ROW] += 1
                if right_until[right] <= right_ts[right] or insert(
                    right_h, right_rows, right_values, right_index, right_all, right_keys,
                    right_columns, right, right_exp[right], right_until[right],
                ):  # fmt: skip
                    h[IN_WORK] = FROM_RIGHT
                    h[PARTNER] = _first_partner(
                        right_columns, right, right_keys, left_rows, left_index, left_keys
                    )
            else:
                return DONE
        elif h[IN_WORK] == FROM_LEFT:
            i = h[LEFT_ROW] - 1
            if not _meet(
                h, left_columns, i, left_ts[i], left_exp[i],
                left_sources, right_rows, right_all.shape[0], out,
            ):  # fmt: skip
                return OUT_FULL
            h[IN_WORK] = EMPTY
        else:
            i = h[RIGHT_ROW] - 1
            if not _meet(
                h, right_columns, i, right_ts[i], right_exp[i],
                right_sources, left_rows, left_all.shape[0], out,
            ):  # fmt: skip
                return OUT_FULL
            h[IN_WORK] = EMPTY
