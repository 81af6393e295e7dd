"""The layout of the state of AGGREGATE: the fields of its arrays.

A group is a row of a store of keys, with these further fields: the fields of the group, eight
fields of state for each aggregate, and the open row: a kind and bits for each aggregate. The kinds
are those of the dictionary; the bits of a string are its code. Lists and partial sums are of the
kind :data:`TEXT`, and their bits are their number among the texts of the operator.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .expiring import Expiring
from .ordered import Nodes
from .rows import SET_FIELDS, Rows
from .vertices import STRING

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
# whether its values changed since. A percentile has a place in its bag
# instead of sums.
(
    VALUES, FLOATS, INFINITES, HIGH, LOW, LINK, NUMBER_OF_TEXT, IS_DUE, STATE_FIELDS,
) = range(9)  # fmt: skip
CURSOR, BEFORE = HIGH, LOW

(
    COUNTED, DISTINCT, SUM, MEAN, LEAST, GREATEST, COLLECTED, DIFFERENT, PART, SUM_OF_PARTS,
    MEAN_OF_PARTS, LATEST, DEVIATION, DEVIATION_OF_ALL, SQUARES, DEVIATION_OF_PARTS,
    DEVIATION_OF_ALL_PARTS, INTERPOLATED, NEAREST,
) = range(19)  # fmt: skip
"""The functions. DIFFERENT collects each value once, PART is a partial sum, SQUARES one with the
sum of squares. A DEVIATION is that of a sample, one OF_ALL that of a population. A percentile is
INTERPOLATED between values, or the NEAREST value."""

DEVIATIONS = (DEVIATION, DEVIATION_OF_ALL, DEVIATION_OF_PARTS, DEVIATION_OF_ALL_PARTS)
OF_SUMS = (PART, SQUARES)
"""The functions that write sums as text."""

FUNCTION, COLUMN, TIME, PERCENTILE, CALL_FIELDS = range(5)
"""Fields of an aggregate: its function, its column, the column of times of LATEST, and the number
of a percentile in billionths; EMPTY for none."""

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
        pair: int64[1, LIMBS], space for the sum of two values, or for a root.
        squares: int64[2 * LIMBS + 1], space for a sum of squares.
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
    pair: IntArray
    squares: IntArray
