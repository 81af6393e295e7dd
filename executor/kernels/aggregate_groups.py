"""The groups of AGGREGATE: the valid values of each key, and their aggregates.

A group is a row of a store of keys, with these further fields: the fields of the group, six fields
of state for each aggregate, and the open row: a kind and bits for each aggregate. The kinds are
those of the dictionary; the bits of a string are its code. Lists and partial sums are of the kind
:data:`TEXT`, and their bits are their number among the texts of the operator.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from . import exact_sums, ordered
from .compiling import kernel
from .expiring import Expiring, is_full
from .ordered import BITS, KIND, LEFT, RIGHT, Nodes
from .rows import SET_FIELDS, Rows, append, find_value, hash_in, row_at
from .stops import DONE, GROUPS_FULL, LIMBS_FULL, NODES_FULL, SWEEP_DUE
from .store import COUNT
from .tables import EMPTY
from .vertices import BOOLEAN, INTEGER, LENGTH, MISSING, NUMBER, START, STRING

# The header: the current row of the batch; the results written, and the space needed for more; the
# period, or 0; the renewal (the ticks at whose multiples rows expire that are given at once and
# retracted when they end), or 0 if rows are given when they are final; whether a time was told, and
# the present time; whether the changes at the present time are closed, and then the next tick to
# report; the number of changed groups; the rows of limbs in use, the first free one, and the rows
# from which on none was ever used; and the number of texts to write.
(
    ROW, OUT, NEED, EVERY, RENEWAL, STARTED, AT, CLOSED, TICK, CHANGED, LIMBS_USED, LIMBS_FREE,
    LIMBS_TOP, DUE, HEADER_FIELDS,
) = range(15)  # fmt: skip

# Fields of a group: the number of its valid rows; whether it has an open row, and since when;
# whether it changed at the present time; and if rows are retracted, the root of the bag of the
# expiries that its valid rows ask for, and the expiry with which the open row was given.
(
    ROWS, IS_OPEN, SINCE, IS_CHANGED, EXPIRIES, UNTIL, GROUP_FIELDS,
) = range(SET_FIELDS, SET_FIELDS + 7)  # fmt: skip

# State of an aggregate in a group: the number of values (of different ones in a bag), of floats
# and of infinite floats; the sum of the integers divided by 2^32, and the sum of the rests; the row
# of limbs or the root of the bag; and of a list or partial sum, its number among the texts, and
# whether its values changed since.
(
    VALUES, FLOATS, INFINITES, HIGH, LOW, LINK, NUMBER_OF_TEXT, IS_DUE, STATE_FIELDS,
) = range(9)  # fmt: skip

(
    COUNTED, DISTINCT, SUM, MEAN, LEAST, GREATEST, COLLECTED, DIFFERENT, PART, SUM_OF_PARTS,
    MEAN_OF_PARTS, LATEST,
) = range(12)  # fmt: skip
"""The functions; DIFFERENT collects each value once, PART is a partial sum."""

FUNCTION, COLUMN, TIME, CALL_FIELDS = range(4)
"""Fields of an aggregate: its function, its column, and the column of times of LATEST; EMPTY for
none."""

TEXT = STRING + 1
"""The kind of lists and partial sums, beside those of the dictionary."""

GROUP, VALUE_FIELDS = range(2)
"""The field of a value with its group, and the number of such fields."""


class Aggregates(NamedTuple):
    """The state of the operator.

    Attributes:
        header: int64[HEADER_FIELDS].
        values: the valid values.
        groups: the store of groups.
        changed: the groups that changed at the present time.
        bags: the bags of the functions that compare values, and of expiries.
        limbs: the exact sums of floats.
        calls: int64[aggregates, CALL_FIELDS].
        fresh: space for the aggregates of a group.
        scratch: space for a sum.
    """

    header: IntArray
    values: Expiring
    groups: Rows
    changed: IntArray
    bags: Nodes
    limbs: IntArray
    calls: IntArray
    fresh: IntArray
    scratch: IntArray


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
        groups.rows[group, width + GROUP_FIELDS + call * STATE_FIELDS + LINK] = EMPTY
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
            _add_number(state, group, at, kind, bits, sign)
            if function == PART:
                make_due(state, group, at)
        elif function in (SUM_OF_PARTS, MEAN_OF_PARTS):
            if kind == STRING:
                _add_part(state, group, at, bits, sign)
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
def _add_number(state: Aggregates, group: int, at: int, kind: int, bits: int, sign: int) -> None:
    """Adds ``sign`` times a number to a sum; ignores other values."""
    rows = state.groups.rows
    if kind == INTEGER:
        rows[group, at + HIGH] += sign * (bits >> 32)
        rows[group, at + LOW] += sign * (bits & 0xFFFFFFFF)
    elif kind == NUMBER:
        rows[group, at + FLOATS] += sign
        if exact_sums.is_infinite(bits):
            rows[group, at + INFINITES] += sign
        else:
            if rows[group, at + LINK] == EMPTY:
                rows[group, at + LINK] = _new_limbs(state)
            exact_sums.add_float(state.limbs, rows[group, at + LINK], bits, sign)
    else:
        return
    rows[group, at + VALUES] += sign
    _free_limbs(state, group, at)


@kernel
def _add_part(state: Aggregates, group: int, at: int, code: int, sign: int) -> None:
    """Adds ``sign`` times a partial sum: numbers in decimal digits, with spaces between.

    They are the fields of a state from VALUES to LOW, and then pairs of a limb and its value. Any
    other text is that of no values: the plan may come from elsewhere.
    """
    rows, entries, strings = state.groups.rows, state.bags.entries, state.bags.strings
    start, end = entries[code, START], entries[code, START] + entries[code, LENGTH]
    for k in range(start, end):
        if not (0x30 <= strings[k] <= 0x39 or strings[k] == 0x20 or strings[k] == 0x2D):
            return
    if start == end:
        return
    field, number, direction, limb = 0, 0, 1, 0
    for k in range(start, end + 1):
        byte = strings[k] if k < end else 0x20
        if byte == 0x2D:
            direction = -1
        elif byte != 0x20:
            number = 10 * number + (byte - 0x30)
        else:
            number *= direction
            if field <= LOW - VALUES:
                rows[group, at + VALUES + field] += sign * number
            elif (field - LOW + VALUES) % 2 == 1:
                limb = number
            elif 0 <= limb < exact_sums.LIMBS:
                if rows[group, at + LINK] == EMPTY:
                    rows[group, at + LINK] = _new_limbs(state)
                state.limbs[rows[group, at + LINK], limb] += sign * number
            field, number, direction = field + 1, 0, 1
    _free_limbs(state, group, at)


@kernel
def _free_limbs(state: Aggregates, group: int, at: int) -> None:
    """Frees the limbs of a sum without floats."""
    h, rows = state.header, state.groups.rows
    if rows[group, at + FLOATS] == 0 and rows[group, at + LINK] != EMPTY:
        state.limbs[rows[group, at + LINK], 0] = h[LIMBS_FREE]
        h[LIMBS_FREE] = rows[group, at + LINK]
        h[LIMBS_USED] -= 1
        rows[group, at + LINK] = EMPTY


@kernel
def _new_limbs(state: Aggregates) -> int:
    """A row of limbs that are 0."""
    h = state.header
    at = h[LIMBS_FREE]
    if at == EMPTY:
        at = h[LIMBS_TOP]
        h[LIMBS_TOP] += 1
    else:
        h[LIMBS_FREE] = state.limbs[at, 0]
    h[LIMBS_USED] += 1
    for k in range(exact_sums.LIMBS):
        state.limbs[at, k] = 0
    return at


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
        elif function in (COLLECTED, DIFFERENT, PART):
            fresh[2 * call], fresh[2 * call + 1] = TEXT, rows[group, at + NUMBER_OF_TEXT]
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
