"""Numbers for rows: equal valid rows have one number, different valid rows have different ones."""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .rows import EXPIRY, Input, Rows, append, find_value, hash_in, is_due, row_at
from .stops import DONE, SWEEP_DUE
from .tables import EMPTY

# The header: the current row.
ROW, HEADER_FIELDS = range(2)


@kernel
def advance(h: IntArray, batch: Input, held: Rows, numbers: IntArray) -> int:
    """Sets ``numbers`` to the place of each row in a set; a row keeps its place while it is valid.

    Resumes from the header. Returns the reason of the stop.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    at = held.columns.shape[0] + EXPIRY
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        if is_due(held, ts[i]):
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        slot = find_value(held, columns, i, hashed)
        row = row_at(held.values, slot)
        if row == EMPTY:
            row = append(held, columns, i, exp[i], hashed, slot, hashed)
        else:
            held.rows[row, at] = max(exp[i], held.rows[row, at])
        numbers[i] = row
        h[ROW] += 1
    return DONE
