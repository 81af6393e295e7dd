"""The groups of AGGREGATE: the valid values of each key, and their aggregates."""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from . import exact_sums, ordered, ranks
from .aggregate_layout import (
    BEFORE,
    CHANGED,
    COLLECTED,
    COLUMN,
    COUNTED,
    CURSOR,
    DEVIATION,
    DEVIATION_OF_ALL,
    DEVIATION_OF_ALL_PARTS,
    DEVIATION_OF_PARTS,
    DEVIATIONS,
    DIFFERENT,
    DISTINCT,
    DUE,
    EXPIRIES,
    FLOATS,
    FUNCTION,
    GREATEST,
    GROUP,
    GROUP_FIELDS,
    HIGH,
    INFINITES,
    INTERPOLATED,
    IS_CHANGED,
    IS_DUE,
    LATEST,
    LEAST,
    LIMBS_USED,
    LINK,
    LOW,
    MEAN,
    MEAN_OF_PARTS,
    NEAREST,
    NUMBER_OF_TEXT,
    PART,
    PERCENTILE,
    RENEWAL,
    ROWS,
    SQUARES,
    STATE_FIELDS,
    SUM,
    SUM_OF_PARTS,
    TEXT,
    TIME,
    UNTIL,
    VALUES,
    Aggregates,
)
from .aggregate_sums import add_number, add_part
from .compiling import kernel
from .deviations import deviation
from .expiring import is_full
from .ordered import BITS, KIND, LEFT, RIGHT
from .rows import append, find_value, hash_in, row_at
from .stops import DONE, GROUPS_FULL, LIMBS_FULL, NODES_FULL, SWEEP_DUE
from .store import COUNT
from .tables import EMPTY
from .vertices import BOOLEAN, INTEGER, LENGTH, MISSING, NUMBER, START, STRING


@kernel
def full(state: Aggregates) -> int:
    """The array that may not have enough space for another row of a batch; DONE if all have."""
    h, groups, calls = state.header, state.groups, state.calls.shape[0]
    if is_full(state.values):
        return SWEEP_DUE
    if groups.header[COUNT] == groups.rows.shape[0]:
        return GROUPS_FULL
    if state.bags.header[ordered.USED] + 2 * calls + 1 > state.bags.nodes.shape[0]:
        return NODES_FULL
    if h[LIMBS_USED] + calls > state.limbs.shape[0]:
        return LIMBS_FULL
    return DONE


@kernel
def group_of(state: Aggregates, keys: IntArray, i: int) -> int:
    """The group of key ``i``; a new one without rows if there is none."""
    groups, width = state.groups, state.groups.columns.shape[0]
    hashed = hash_in(keys, i, groups.columns)
    slot = find_value(groups, keys, i, hashed)
    group = row_at(groups.values, slot)
    if group != EMPTY:
        return group
    group = append(groups, keys, i, FOREVER, hashed, slot, 0)
    for field in range(width + ROWS, groups.rows.shape[1]):
        groups.rows[group, field] = 0
    groups.rows[group, width + EXPIRIES] = EMPTY
    for call in range(state.calls.shape[0]):
        at = width + GROUP_FIELDS + call * STATE_FIELDS
        groups.rows[group, at + LINK] = EMPTY
        if state.calls[call, FUNCTION] in (INTERPOLATED, NEAREST):
            groups.rows[group, at + CURSOR] = EMPTY
    return group


@kernel
def change(state: Aggregates, group: int, row: int, sign: int) -> None:
    """Adds a value to its group (``sign`` 1), or removes it (-1)."""
    groups, width = state.groups, state.groups.columns.shape[0]
    groups.rows[group, width + ROWS] += sign
    mark(state, group)
    entries, columns = state.bags.entries, state.values.columns
    for call in range(state.calls.shape[0]):
        at = width + GROUP_FIELDS + call * STATE_FIELDS
        function, column = state.calls[call, FUNCTION], state.calls[call, COLUMN]
        kind, bits = BOOLEAN, 1
        if column != EMPTY:
            kind, bits = _kind_and_bits(entries, columns[row, column])
        if kind == MISSING:
            continue
        if function == COUNTED:
            groups.rows[group, at + VALUES] += sign
        elif function in (SUM, MEAN, PART):
            add_number(state, group, at, kind, bits, sign, False)
            if function == PART:
                make_due(state, group, at)
        elif function in (DEVIATION, DEVIATION_OF_ALL, SQUARES):
            add_number(state, group, at, kind, bits, sign, True)
            if function == SQUARES:
                make_due(state, group, at)
        elif function in (SUM_OF_PARTS, MEAN_OF_PARTS):
            if kind == STRING:
                add_part(state, group, at, bits, sign, False)
        elif function in (DEVIATION_OF_PARTS, DEVIATION_OF_ALL_PARTS):
            if kind == STRING:
                add_part(state, group, at, bits, sign, True)
        elif function in (INTERPOLATED, NEAREST):
            if kind in (INTEGER, NUMBER):
                _change_ranks(state, group, at, kind, bits, sign)
        elif function == LATEST:
            _change_pair(state, group, at, kind, bits, columns[row, state.calls[call, TIME]], sign)
        else:
            used, root = state.bags.header[ordered.USED], groups.rows[group, at + LINK]
            exact = function in (COLLECTED, DIFFERENT)
            if sign > 0:
                root = ordered.add(state.bags, root, kind, bits, exact)
            else:
                root = ordered.take(state.bags, root, kind, bits, exact)
            groups.rows[group, at + LINK] = root
            groups.rows[group, at + VALUES] += state.bags.header[ordered.USED] - used
            if exact:
                make_due(state, group, at)


@kernel
def _kind_and_bits(entries: IntArray, code: int) -> tuple[int, int]:
    """The kind and the bits of a value; the bits of a string are its code."""
    kind = min(entries[code, LENGTH], STRING)
    return kind, code if kind == STRING else entries[code, START]


@kernel
def _change_pair(
    state: Aggregates, group: int, at: int, kind: int, bits: int, time: int, sign: int
) -> None:
    """Adds ``sign`` times a value with the code of its time to the pairs of LATEST."""
    bags, rows = state.bags, state.groups.rows
    first_kind, first = _kind_and_bits(bags.entries, time)
    if first_kind == MISSING:
        return
    root = rows[group, at + LINK]
    if sign > 0:
        rows[group, at + LINK] = ordered.add_pair(bags, root, first_kind, first, kind, bits)
    else:
        rows[group, at + LINK] = ordered.take_pair(bags, root, first_kind, first, kind, bits)
    rows[group, at + VALUES] += sign


@kernel
def _change_ranks(state: Aggregates, group: int, at: int, kind: int, bits: int, sign: int) -> None:
    """Adds ``sign`` times a number to the values of a percentile; the place among them follows."""
    rows = state.groups.rows
    place = rows[group, at + LINK], rows[group, at + CURSOR], rows[group, at + BEFORE]
    if sign > 0:
        root, cursor, before = ranks.add(state.bags, place, kind, bits)
    else:
        root, cursor, before = ranks.take(state.bags, place, kind, bits)
    rows[group, at + LINK], rows[group, at + CURSOR] = root, cursor
    rows[group, at + BEFORE] = before
    rows[group, at + VALUES] += sign


@kernel
def make_due(state: Aggregates, group: int, at: int) -> None:
    """Notes that a text has to be written anew; ``at`` is the first field of its state."""
    if state.groups.rows[group, at + IS_DUE] == 0:
        state.groups.rows[group, at + IS_DUE] = 1
        state.header[DUE] += 1


@kernel
def change_expiry(state: Aggregates, row: int, sign: int) -> None:
    """Adds the expiry that a value asks for to those of its group (``sign`` 1), or removes it (-1).

    It is the first multiple of the renewal after the value's own expiry, so that values that arrive
    and leave the aggregates as they are seldom have the row given again.
    """
    renewal = state.header[RENEWAL]
    if renewal == 0:
        return
    groups, width = state.groups, state.groups.columns.shape[0]
    expiry, group = state.values.until[row], state.values.own[row, GROUP]
    until = FOREVER if expiry >= FOREVER - renewal else (expiry // renewal + 1) * renewal
    root = groups.rows[group, width + EXPIRIES]
    if sign > 0:
        groups.rows[group, width + EXPIRIES] = ordered.add(state.bags, root, INTEGER, until, False)
        if until > groups.rows[group, width + UNTIL]:
            mark(state, group)
    else:
        groups.rows[group, width + EXPIRIES] = ordered.take(state.bags, root, INTEGER, until, False)


@kernel
def last_expiry(state: Aggregates, group: int) -> int:
    """The largest expiry that the values of a group ask for; there is a value."""
    root = state.groups.rows[group, state.groups.columns.shape[0] + EXPIRIES]
    return state.bags.nodes[ordered.end_of(state.bags, root, RIGHT), BITS]


@kernel
def mark(state: Aggregates, group: int) -> None:
    """Notes that a group changed at the present time."""
    at = state.groups.columns.shape[0] + IS_CHANGED
    if state.groups.rows[group, at] == 0:
        state.groups.rows[group, at] = 1
        state.changed[state.header[CHANGED]] = group
        state.header[CHANGED] += 1


@kernel
def is_same(state: Aggregates, group: int, opened: int) -> bool:
    """Whether the open row of a group equals the aggregates in ``fresh``."""
    rows = state.groups.rows
    for call in range(state.calls.shape[0]):
        at = 2 * call
        kind, bits = rows[group, opened + at], rows[group, opened + at + 1]
        other_kind, other = state.fresh[at], state.fresh[at + 1]
        if kind == other_kind and bits == other:
            continue
        if kind in (MISSING, TEXT) or other_kind == MISSING:
            return False
        if ordered.order(state.bags, kind, bits, other_kind, other) != 0:
            return False
    return True


@kernel
def evaluate(state: Aggregates, group: int) -> None:
    """Sets ``fresh`` to the aggregates of a group."""
    rows, fresh, nodes = state.groups.rows, state.fresh, state.bags.nodes
    for call in range(state.calls.shape[0]):
        at = state.groups.columns.shape[0] + GROUP_FIELDS + call * STATE_FIELDS
        function, values = state.calls[call, FUNCTION], rows[group, at + VALUES]
        fresh[2 * call], fresh[2 * call + 1] = MISSING, 0
        if function in (COUNTED, DISTINCT):
            fresh[2 * call], fresh[2 * call + 1] = INTEGER, values
        elif function in (COLLECTED, DIFFERENT, PART, SQUARES):
            fresh[2 * call], fresh[2 * call + 1] = TEXT, rows[group, at + NUMBER_OF_TEXT]
        elif function in DEVIATIONS:
            bits = _deviation(state, group, at, function)
            if bits != -1:
                fresh[2 * call], fresh[2 * call + 1] = NUMBER, bits
        elif function in (INTERPOLATED, NEAREST):
            if values > 0:
                _evaluate_percentile(state, group, call)
        elif values <= 0 or rows[group, at + INFINITES] != 0:
            continue
        elif function in (LEAST, GREATEST):
            side = LEFT if function == LEAST else RIGHT
            node = ordered.end_of(state.bags, rows[group, at + LINK], side)
            fresh[2 * call], fresh[2 * call + 1] = nodes[node, KIND], nodes[node, BITS]
        elif function == LATEST:
            node = ordered.last_second(state.bags, rows[group, at + LINK])
            fresh[2 * call], fresh[2 * call + 1] = nodes[node, KIND], nodes[node, BITS]
        else:
            high, low = rows[group, at + HIGH], rows[group, at + LOW]
            if function in (SUM, SUM_OF_PARTS) and rows[group, at + FLOATS] == 0:
                high += low >> 32
                if -(1 << 31) <= high < 1 << 31:
                    fresh[2 * call] = INTEGER
                    fresh[2 * call + 1] = (high << 32) | (low & 0xFFFFFFFF)
                continue
            by = values if function in (MEAN, MEAN_OF_PARTS) else 1
            link = rows[group, at + LINK]
            bits = exact_sums.quotient(state.limbs, link, high, low, by, state.scratch)
            if bits != -1:
                fresh[2 * call], fresh[2 * call + 1] = NUMBER, bits


@kernel
def _deviation(state: Aggregates, group: int, at: int, function: int) -> int:
    """The bits of a deviation, 0 for fewer than two values; -1 if it is not finite."""
    rows = state.groups.rows
    values, link = rows[group, at + VALUES], rows[group, at + LINK]
    if rows[group, at + INFINITES] != 0:
        return -1
    if values < 2 or link == EMPTY:
        return 0
    divisor = values - 1 if function in (DEVIATION, DEVIATION_OF_PARTS) else values
    high, low = rows[group, at + HIGH], rows[group, at + LOW]
    spaces = state.scratch, state.squares, state.pair
    return deviation(state.limbs, link, high, low, values, divisor, *spaces)


@kernel
def _evaluate_percentile(state: Aggregates, group: int, call: int) -> None:
    """Sets ``fresh`` to a percentile of a group that has values."""
    rows, fresh, bags = state.groups.rows, state.fresh, state.bags
    at = state.groups.columns.shape[0] + GROUP_FIELDS + call * STATE_FIELDS
    root, values = rows[group, at + LINK], rows[group, at + VALUES]
    share = state.calls[call, PERCENTILE]
    is_nearest = state.calls[call, FUNCTION] == NEAREST
    if is_nearest:
        rank, rest = max(0, (share * values - 1) // ranks.UNITS), 0
    else:
        rank, rest = share * (values - 1) // ranks.UNITS, share * (values - 1) % ranks.UNITS
    place = root, rows[group, at + CURSOR], rows[group, at + BEFORE]
    cursor, before = ranks.moved(bags, place, rank)
    rows[group, at + CURSOR], rows[group, at + BEFORE] = cursor, before
    if is_nearest:
        fresh[2 * call], fresh[2 * call + 1] = bags.nodes[cursor, KIND], bags.nodes[cursor, BITS]
        return
    bits = ranks.between(bags, (root, cursor, before), rank, rest, state.pair, state.scratch)
    if bits != -1:
        fresh[2 * call], fresh[2 * call + 1] = NUMBER, bits
