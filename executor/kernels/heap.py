"""A binary heap of pairs (width, item) in the first rows of an int64[capacity, 2]."""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel


@kernel
def push(heap: IntArray, size: int, width: int, item: int) -> None:
    """Adds to a heap of ``size`` pairs (width, item), the widest on top."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above, 0] >= width:
            break
        heap[at, 0], heap[at, 1] = heap[above, 0], heap[above, 1]
        at = above
    heap[at, 0], heap[at, 1] = width, item


@kernel
def pop(heap: IntArray, size: int) -> None:
    """Removes the top of a heap of ``size`` pairs."""
    last = size - 1
    width, item = heap[last, 0], heap[last, 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        if below + 1 < last and heap[below + 1, 0] > heap[below, 0]:
            below += 1
        if heap[below, 0] <= width:
            break
        heap[at, 0], heap[at, 1] = heap[below, 0], heap[below, 1]
        at = below
    heap[at, 0], heap[at, 1] = width, item
