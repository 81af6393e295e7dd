"""Conditions that joins check while they look for results, on the codes of two values.

A check is a part of a residual condition that decides without the others: what fails it fails the
condition. It passes values of types that it does not compare, so the condition decides on them.
"""

from __future__ import annotations

from ..batch import IntArray
from . import vertices
from .compiling import kernel

# A DIFFERENCE is x - y <= bound, of integers; UNEQUAL is x <> y, of vertices.
DIFFERENCE, UNEQUAL = range(2)


@kernel
def passes(kind: int, bound: int, entries: IntArray, x: int, y: int) -> bool:
    """Whether two values, given by their codes, satisfy a check.

    ``entries`` are the entries of the dictionary (:mod:`headrace.executor.kernels.vertices`).
    """
    type_of_x = entries[x, vertices.LENGTH]
    if kind == UNEQUAL:
        return x != y or type_of_x < vertices.INTEGER
    if type_of_x != vertices.INTEGER or entries[y, vertices.LENGTH] != vertices.INTEGER:
        return True
    larger, smaller = entries[x, vertices.START], entries[y, vertices.START]
    difference = larger - smaller
    overflows = (larger < 0) != (smaller < 0) and (difference < 0) != (larger < 0)
    return overflows or difference <= bound
