"""Estimates from a sample of the stream, and those that follow from others."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot


@dataclass(frozen=True, slots=True)
class Sampled:
    """An estimate of a relation from a sample.

    Attributes:
        population: the number of rows valid at an instant.
        rate: the number of different rows, as COALESCE emits them, per time unit.
        distinct: the number of distinct values of each column; infinite for properties, which are
            not counted.
        standard_error: of the population, as a part of it; 0 if all rows were counted.
        repeats: the rows that a join or union emits for each different row.
        unseen: the most rows that are likely where the sampled values have none; 0 if all values
            were counted.
    """

    population: float
    rate: float
    distinct: tuple[float, ...]
    standard_error: float
    repeats: float
    unseen: float = 0.0


def chained(first: Sampled, last: Sampled, common: Sampled) -> Sampled | None:
    """The estimate of a path from those of two shorter ones that overlap.

    The steps behind the common part are taken as independent of those before it, as in a Markov
    table (A. Aboulnaga, A. R. Alameldeen and J. F. Naughton, "Estimating the selectivity of XML
    path expressions for Internet scale applications", VLDB 2001). A pair lasts as long as those of
    the shorter path that is renewed more often.

    Args:
        first: all but the last steps.
        last: all but the first steps.
        common: the steps that both have.

    Returns:
        None where one of them has no rows.
    """
    parts = first, last, common
    if not all(part.population for part in parts):
        return None
    population = first.population * last.population / common.population
    renewals = max(part.rate / part.population for part in (first, last))
    return Sampled(
        population,
        population * renewals,
        (min(first.distinct[0], population), min(last.distinct[1], population)),
        hypot(*[part.standard_error for part in parts]),
        max(first.repeats, last.repeats),
    )
