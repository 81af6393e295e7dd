"""Joins and repeated edges from measured statistics: the degrees of vertices, and pairs.

System R's 1 / max(V1, V2) takes the degrees of two ends as uniform and independent. The catalog's
joint statistics have the sum of the products of the degrees instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import expm1, inf, log1p, sqrt

from ..catalog.model import End, Joint, LabelStatistics
from .characteristics import Characteristics
from .columns import Column, Columns
from .derived import combinations, different_values, not_zero
from .selectivity import equal_columns

MOST_ENDS = 16
"""The most ends of a column of a union that has joint statistics."""
_REPEATED = 0.999
"""Edges are taken as without repeats above this share of distinct pairs."""
_ALL_KEYS = 1 - 1e-12
"""The largest share of keys that are valid, of which a number of draws follows."""
_UNSEEN = 0.5
"""The assumed shared values of columns that share none in the measured part of the stream."""
_STEPS = 60
"""The halvings of the search for a number of pairs; more than the precision of a float."""


def matches(
    left: Characteristics,
    right: Characteristics,
    shared: Sequence[tuple[int, int]],
    output: Sequence[tuple[int, int]],
) -> tuple[float, tuple[float, ...], Columns]:
    """The selectivity of a join, and the distinct values and statistics of its columns.

    Joined columns are taken as independent of each other, and so are the degrees of a vertex in
    different columns of one input.

    Args:
        left: the left input.
        right: the right input.
        shared: the positions of the joined columns among the left columns and then the right ones.
        output: the two positions of each column of the result, equal unless it is joined.
    """
    values = left.distinct + right.distinct
    if not (left.columns or right.columns):
        selectivity = 1.0
        for i, j in shared:
            selectivity *= equal_columns(values[i], values[j])
        return selectivity, tuple([min(values[i], values[j]) for i, j in output]), ()
    columns = _padded(left) + _padded(right)
    selectivity = 1.0
    joined = {}
    for i, j in shared:
        match, joined[i, j] = _match((values[i], values[j]), columns[i], columns[j])
        selectivity *= match
    distinct = tuple([joined.get((i, j), min(values[i], values[j])) for i, j in output])
    return selectivity, distinct, tuple([columns[i] for i, _ in output])


def matched_share(
    left: Characteristics, right: Characteristics, shared: Sequence[tuple[int, int]]
) -> float:
    """The share of the rows of an input whose key is valid in another one, which has keys alone.

    The d valid ones of V keys are those of n = -V·ln(1 - d/V) drawn rows (Cardenas), of which a row
    meets n·s on average, s being the selectivity. A share c of the rows on the left has a key that
    occurs on the right at all, and such a row meets k = n·s/c. With Poisson numbers 1 - e^-k of
    them meet any. Rows are more uneven by the skew of degrees: with negative binomial numbers of
    the same mean, which vary 1 + t times as much as Poisson's, t = n·(skew - 1)/V, it is
    1 - (1 + t)^(-k/t).

    Args:
        left: the input whose rows are matched.
        right: the keys; all of its columns are joined.
        shared: the joined positions, on the left and on the right.
    """
    keys = combinations(right.distinct)
    rows = -keys * log1p(-min(right.population / keys, _ALL_KEYS))
    columns, others = _padded(left), _padded(right)
    partners, common, skew = rows, 1.0, 1.0
    for i, j in shared:
        values, pair = (left.distinct[i], right.distinct[j]), (columns[i], others[j])
        partners *= _match(values, *pair)[0]
        common *= _common_rows(values, *pair)
        if len(shared) == 1:
            skew = _skew(keys, others[j])
    uneven = rows * (skew - 1) / keys
    return common * not_zero(partners / common, uneven)


def _skew(values: float, column: Column | None) -> float:
    """The mean square of the rows of a value over the square of their mean; 1 if unknown.

    With joint statistics it is V times the probability that two rows of the column meet.
    """
    if column is None:
        return 1.0
    joint = _joint(column, column)
    return max(values * joint[0] if joint is not None else column.skew or 1.0, 1.0)


def _common_rows(values: tuple[float, float], left: Column | None, right: Column | None) -> float:
    """The share of the rows on the left with a value that occurs on the right at all.

    Without joint statistics the values of one column contain those of the other. With them, the
    share of the values is known. Frequent values are shared more often, so that of the rows lies
    between it and 1: their geometric mean is taken.
    """
    of_left = max(values[0], 1.0)
    joint = None if left is None or right is None else _joint(left, right)
    if joint is None:
        return min(max(values[1], 1.0) / of_left, 1.0)
    return min(sqrt(max(joint[1], _UNSEEN) / of_left), 1.0)


def chosen(source: Characteristics, positions: Sequence[int]) -> Columns:
    """The statistics of some columns."""
    return tuple([source.columns[i] for i in positions]) if source.columns else ()


def united(inputs: Sequence[Characteristics]) -> Columns:
    """The statistics of the columns of a union: the ends of its inputs, by their share of rows."""
    if len(inputs) == 1:
        return inputs[0].columns
    population = sum(one.population for one in inputs)
    if not population or not all(one.columns for one in inputs):
        return ()
    shares = [one.population / population for one in inputs]
    rows = zip(*(one.columns for one in inputs), strict=True)
    columns = tuple([_united(row, shares) for row in rows])
    return columns if any(columns) else ()


def _padded(source: Characteristics) -> Columns:
    return source.columns or (None,) * len(source.distinct)


def _match(
    values: tuple[float, float], left: Column | None, right: Column | None
) -> tuple[float, float]:
    """The selectivity of the join of two columns, and the distinct values of the joined column.

    With joint statistics of all ends, the selectivity is their mean, weighted by the rows of the
    ends. Without, it is 1 / max(V1, V2), multiplied by the fourth root of the product of the degree
    skews: the mean, in logarithms, of independent degrees and of the same degrees at both ends.
    """
    selectivity, both = equal_columns(*values), min(values)
    if left is None or right is None or not (left.ends and right.ends):
        return selectivity, both
    joint = _joint(left, right)
    if joint is not None:
        selectivity, shared = joint
        return selectivity, min(both, max(shared, 1.0))
    if left.skew is not None and right.skew is not None:
        hubs = (max(left.skew, 1.0) * max(right.skew, 1.0)) ** 0.25
        selectivity = min(selectivity * hubs, 1.0)
    return selectivity, both


def _joint(left: Column, right: Column) -> tuple[float, float] | None:
    """The selectivity and the shared vertices of two columns; None if some ends lack them."""
    catalog = left.catalog
    if catalog is None or not catalog.joint:
        return None
    selectivity = shared = 0.0
    for one, of_left in left.ends:
        for other, of_right in right.ends:
            joint: Joint | None = catalog.joint_of(one, other)
            if joint is None:
                return None
            selectivity += of_left * of_right * joint.selectivity
            shared += joint.shared
    return selectivity, shared


def _united(columns: Sequence[Column | None], shares: Sequence[float]) -> Column | None:
    """The column of a union, of which each input has a share of the rows; None if unknown."""
    weights: dict[End, float] = {}
    catalog = None
    for column, share in zip(columns, shares, strict=True):
        if column is None or not column.ends:
            return None
        catalog = column.catalog
        for end, weight in column.ends:
            weights[end] = weights.get(end, 0.0) + share * weight
    if len(weights) > MOST_ENDS:
        return None
    return Column(tuple(weights.items()), catalog=catalog)


def distinct_pairs_within(statistics: LabelStatistics, edges: float) -> float:
    """The distinct pairs among a number of edges of a label; infinite if repeats are unknown.

    N measured edges had D distinct pairs. If each edge is one of U equally likely pairs, then
    D = U·(1 - e^(-N/U)); the solution U gives the expected pairs among other numbers of edges.
    """
    if statistics.distinct_pairs is None or statistics.rates is None:
        return inf
    return _pairs(statistics.rates.edges, statistics.distinct_pairs, edges)


@lru_cache(maxsize=4096)
def _pairs(measured: float, distinct: float, edges: float) -> float:
    if not distinct or distinct >= _REPEATED * measured:
        return inf
    # (1 - e^-x) / x falls from 1 to 0 as x = N/U grows; it is at most 1 / x.
    low, high = 0.0, measured / distinct
    for _ in range(_STEPS):
        x = (low + high) / 2
        if -expm1(-x) / x > distinct / measured:
            low = x
        else:
            high = x
    universe = measured / high
    return max(different_values(edges, universe), 1.0)
