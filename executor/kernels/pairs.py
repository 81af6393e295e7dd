"""Tables of pairs: from (first vertex, last vertex) to an expiry.

PAIR_PATH reports the pairs of such a table alone. A pair is valid while both the path and the entry
of the table are.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from ..counters import ADDED_VALIDITY, Tally
from .compiling import kernel
from .forest import BLOCK, CAPACITY, PAIRS, WITH_DELETIONS, Forest, slot_of
from .tables import EMPTY, find, put


@kernel
def _value(forest: Forest, root: int, code: int, state: int) -> int:
    """The expiry of the widest path from a root to a product node; EMPTY if there is none."""
    nodes, pool = forest.nodes, forest.pool
    node = forest.node_map[find(forest.node_map, code, state), 2]
    if node == EMPTY or nodes[node, CAPACITY] == 0:
        return EMPTY
    slot = slot_of(pool, nodes[node, BLOCK], nodes[node, CAPACITY], root)
    return pool[slot, 1] if pool[slot, 0] == root else EMPTY


@kernel
def take_pair(
    pair: tuple[int, int],
    now: int,
    expiry: int,
    finals: IntArray,
    forest: Forest,
    out: IntArray,
    written: int,
    tally: Tally,
) -> int:
    """Sets the expiry of a pair, and writes the changes of its results.

    The pair may be shortened with deletions alone. Then each accepting state reports its own value,
    the new one and a retraction of the old one. The caller ensures that the table has room for the
    pair, and ``out`` for two rows for each accepting state.

    Returns the number of rows written in total.
    """
    root, code = pair
    pairs, with_deletions = forest.pairs, forest.header[WITH_DELETIONS] != 0
    slot = find(pairs, root, code)
    before = pairs[slot, 2]
    if before == EMPTY:
        forest.header[PAIRS] += 1
    elif before >= expiry and not with_deletions:
        return written
    pairs[slot, 0], pairs[slot, 1], pairs[slot, 2] = root, code, expiry
    widest = now
    for i in range(finals.shape[0]):
        value = _value(forest, root, code, finals[i])
        if value <= now:
            continue
        widest = max(widest, value)
        new, old = min(value, expiry), min(value, before)
        if with_deletions and new != old:
            if new > now:
                out[0, written], out[1, written] = root, code
                out[2, written], out[3, written] = now, new
                written += 1
            if old > now:
                out[0, written], out[1, written] = root, code
                out[2, written], out[3, written] = now, ~old
                written += 1
    shown, reported = min(widest, expiry), max(now, min(widest, before))
    if not with_deletions and shown > reported:
        if shown != FOREVER:
            tally[ADDED_VALIDITY] += shown - reported
        out[0, written], out[1, written] = root, code
        out[2, written], out[3, written] = now, shown
        written += 1
    return written


@kernel
def count_valid_pairs(pairs: IntArray, now: int) -> tuple[int, int]:
    """The number of pairs that :func:`copy_valid_pairs` keeps, and of those that never expire."""
    count = lasting = 0
    for slot in range(pairs.shape[0]):
        if pairs[slot, 2] > now:
            count += 1
            if pairs[slot, 2] == FOREVER:
                lasting += 1
    return count, lasting


@kernel
def copy_valid_pairs(old: IntArray, fresh: IntArray, now: int) -> None:
    """Copies the pairs valid after ``now`` into a fresh table."""
    for slot in range(old.shape[0]):
        if old[slot, 2] > now:
            put(fresh, old[slot, 0], old[slot, 1], old[slot, 2])
