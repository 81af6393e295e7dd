"""Counts of a batch of rows, for the metrics of operators."""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel


@kernel
def validity_of(ts: IntArray, exp: IntArray) -> tuple[int, float]:
    """The number of rows that never expire, and the validity of the others in ticks.

    A retraction (a negative ``exp``) subtracts what its row would still have had.
    """
    endless, validity = 0, 0.0
    for i in range(exp.shape[0]):
        until, sign = exp[i], 1
        if until < 0:
            until, sign = ~until, -1
        if until == FOREVER:
            endless += sign
        else:
            validity += sign * (until - ts[i])
    return endless, validity
