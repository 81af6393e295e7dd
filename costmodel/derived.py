"""Derived relations within their limits: finite numbers, and in `saturating` set semantics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1, inf, log1p, prod

from .characteristics import LARGEST, Characteristics
from .columns import Columns

_EVEN = 1e-9
"""Numbers are taken as Poisson's below this excess of their variance."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of the formulas: to the letter, or within set semantics.

    ``set_semantics``: the saturating model; false is the thesis to the letter.
    ``cap_distinct`` and ``longest_path`` as in :class:`headrace.costmodel.constants.Assumptions`.
    """

    set_semantics: bool
    cap_distinct: bool
    longest_path: int


def combinations(distinct: Sequence[float]) -> float:
    """The number of combinations of the distinct values of some columns."""
    return prod([max(v, 1.0) for v in distinct])


def not_zero(mean: float, excess: float = 0.0) -> float:
    """The probability that a negative binomial number is not 0: 1 - (1 + t)^(-mean/t).

    ``excess``, t, is its variance over its mean, less 1. Without any, the number is Poisson's.
    """
    return -expm1(-mean * log1p(excess) / excess) if excess > _EVEN else -expm1(-mean)


def of_values(rows: Characteristics) -> Characteristics:
    """The characteristics, with at most as many rows valid at an instant as there are values."""
    limit = min(combinations(rows.distinct), rows.most_values)
    if rows.population <= limit:
        return rows
    rate = rows.arrival_rate * limit / rows.population
    return replace(rows, arrival_rate=rate, population=limit)


def derived(
    rate: float,
    validity: float,
    population: float,
    distinct: tuple[float, ...],
    *,
    inputs: Sequence[Characteristics],
    reading: Reading,
    columns: Columns = (),
    most_values: float = inf,
    repeats: float = 1.0,
    different: float = 1.0,
    merges: bool = False,
    in_order: bool = False,
    among: float = inf,
) -> Characteristics:
    """The characteristics of a derived relation within their limits.

    A population above its limit is set to it, the rate goes down with it, the interval
    stays: the population is still rate times interval. Saturating: the factor by which the rate
    goes down is that of the repeats. ``different`` is the share of the rows that the operator
    itself expects to differ. An operator that ``merges`` drops columns of several values, so that
    several of these rows become one value (:func:`different_values`). ``repeats`` are the repeats
    of the input that the operator passes on. Saturating: the values are ``among`` that many.
    """
    limit = min(combinations(distinct), among, LARGEST) if reading.set_semantics else LARGEST
    rows = population * different
    most = min(rows, limit)
    if merges and reading.set_semantics:
        most = different_values(rows, limit)
    if most < population:
        share = most / population
        rate *= share
        population = most
        if reading.set_semantics:
            repeats = min(repeats / share, LARGEST) if share > 0 else 1.0
    if reading.cap_distinct:
        largest = max(population, 1.0)
        distinct = tuple([v if v < largest else largest for v in distinct])
    longest = [i.longest_path for i in inputs if i.longest_path is not None]
    return Characteristics(
        min(rate, LARGEST),
        validity,
        population,
        distinct,
        max(longest) if longest else None,
        min(sum(distinct), max([i.vertices for i in inputs])),
        columns,
        most_values,
        repeats,
        in_order,
    )


def different_values(rows: float, values: float) -> float:
    """The expected number of different values among rows that are drawn from ``values`` values.

    values · (1 - e^(-rows / values)), the limit of Cardenas's values · (1 - (1 - 1/values)^rows)
    for many values (A. F. Cardenas, "Analysis and performance of inverted data base structures",
    CACM 18(5), 1975). It is also the share of rows that COALESCE passes: a row passes if it expires
    after the k other valid rows of its value. That has the probability 1/(k + 1), and with k from a
    Poisson distribution of mean rows / values the expected share is (1 - e^(-k)) / k of that mean.
    """
    if rows <= 1e-9 * values:
        return rows
    return min(-values * expm1(-rows / values), rows)
