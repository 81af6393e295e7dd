"""Why a kernel stops: it is done, or its Python side has to act before it goes on.

Every kernel returns one of these. The operators' side of it is
:func:`headrace.executor.operators.base.drive`.
"""

from __future__ import annotations

(
    DONE,
    SWEEP_DUE,  # a store is full, or much of it may have expired
    RIGHT_SWEEP_DUE,  # the same of the right store of a join
    EDGES_FULL,
    NODES_FULL,
    POOL_FULL,
    MEMBERS_FULL,
    PAIRS_FULL,
    HEAP_FULL,
    ARENA_FULL,
    LOST_FULL,
    SPACE_FULL,
    OUT_FULL,
    NO_PATH,
    OVER_BUDGET,
) = range(15)
