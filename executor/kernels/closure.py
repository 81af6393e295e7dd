"""SLIDE_PATH: the targets that roots reach over the product graph, as bit sets.

The graph is in compressed rows: node p has the arcs ``heads[starts[p] : starts[p + 1]]``. An arc
counts if its width is at least a level. Tarjan's algorithm finds each strongly connected component
after its successors. So the targets of a component are the union of those of its successors: for
each arc one operation on 64 targets at a time.
"""

from __future__ import annotations

from numpy import uint64
from numpy.typing import NDArray

from ..batch import IntArray
from .compiling import kernel

Bits = NDArray[uint64]

# Rows of `work`, with a number for each product node: Tarjan's low link, its discovery number, the
# stack of open nodes, the call stack, and the next arc to follow.
LOW, NUMBER, STACK, CALLS, AT, WORK_FIELDS = range(6)
UNSEEN = -1


@kernel
def reach(
    roots: IntArray,
    states: int,
    starts: IntArray,
    heads: IntArray,
    widths: IntArray,
    level: int,
    accepting: IntArray,
    first: int,
    component: IntArray,
    work: IntArray,
    reached: Bits,
) -> None:
    """Sets ``reached[component[p]]`` for each product node p that a root reaches.

    Bit b is set if the component has or reaches an accepting node of vertex ``first + b``.
    """
    words = reached.shape[1]
    low, number, stack, calls, at = work[LOW], work[NUMBER], work[STACK], work[CALLS], work[AT]
    number[:] = UNSEEN
    component[:] = UNSEEN
    numbered = components = held = 0
    for root in roots:
        if number[root * states] != UNSEEN:
            continue
        depth, node = 0, root * states
        calls[0], at[node] = node, starts[node]
        number[node] = low[node] = numbered
        numbered += 1
        stack[held] = node
        held += 1
        while depth >= 0:
            node = calls[depth]
            arc = at[node]
            if arc < starts[node + 1]:
                at[node] = arc + 1
                if widths[arc] < level:
                    continue
                to = heads[arc]
                if number[to] == UNSEEN:
                    number[to] = low[to] = numbered
                    numbered += 1
                    stack[held] = to
                    held += 1
                    depth += 1
                    calls[depth], at[to] = to, starts[to]
                elif component[to] == UNSEEN:
                    low[node] = min(low[node], number[to])
                continue
            depth -= 1
            if depth >= 0:
                low[calls[depth]] = min(low[calls[depth]], low[node])
            if low[node] < number[node]:
                continue
            # The node is the root of a component: pop its members, then add what they reach.
            own = reached[components]
            own[:] = 0
            below = held
            while True:
                below -= 1
                member = stack[below]
                component[member] = components
                bit = member // states - first
                if accepting[member % states] != 0 and 0 <= bit < 64 * words:
                    own[bit >> 6] |= uint64(1) << uint64(bit & 63)
                if member == node:
                    break
            for k in range(below, held):
                for arc in range(starts[stack[k]], starts[stack[k] + 1]):
                    if widths[arc] >= level:
                        other = component[heads[arc]]
                        if other != components:
                            for word in range(words):
                                own[word] |= reached[other, word]
            held = below
            components += 1


@kernel
def report(
    roots: IntArray,
    begin: int,
    states: int,
    component: IntArray,
    reached: Bits,
    component_before: IntArray,
    reached_before: Bits,
    done: Bits,
    codes: IntArray,
    first: int,
    now: int,
    level: int,
    out: IntArray,
    written: int,
) -> tuple[int, int]:
    """Writes the new pairs of the roots from ``begin`` on.

    A pair is new if the root reaches the target now, did not before the slide, and the pair is not
    ``done``. Written pairs become ``done``. Stops at a root whose targets may not fit into ``out``.

    Returns the root to continue with, and the number of rows written.
    """
    words = reached.shape[1]
    for k in range(begin, roots.shape[0]):
        if written + 64 * words > out.shape[1]:
            return k, written
        node = roots[k] * states
        now_in, was_in = component[node], component_before[node]
        for word in range(words):
            bits = reached[now_in, word] & ~done[k, word]
            if bits == 0:
                continue
            done[k, word] |= bits
            bits &= ~reached_before[was_in, word]
            target = first + 64 * word
            while bits != 0:
                if bits & uint64(1):
                    out[0, written], out[1, written] = codes[roots[k]], codes[target]
                    out[2, written], out[3, written] = now, level
                    written += 1
                bits >>= uint64(1)
                target += 1
    return roots.shape[0], written
