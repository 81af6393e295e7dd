"""The reasons for which a kernel stops: it is done, or the operator has to act before it resumes.

:func:`headrace.executor.operators.base.drive` runs the action for each reason.
"""

from __future__ import annotations

(
    DONE,
    SWEEP_DUE,  # a store is full, or many of its entries may have expired
    RIGHT_SWEEP_DUE,  # SWEEP_DUE for the right store of a join
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
    GROUPS_FULL,
    LIMBS_FULL,
    LISTS_DUE,  # lists have to be written before the changes of an instant are closed
    TEXTS_FULL,  # the dictionary has no room for the texts of a kernel
) = range(19)
