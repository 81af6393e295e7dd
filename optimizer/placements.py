"""Placements: how the rows of an operator lie over partitions, and what computes them.

Each operator has its law, over which inputs it gives the right rows and how its result lies then
(:meth:`headrace.algebra.physical.PhysicalOperator.distribution`); the executor checks plans by the
same law. Of what the law allows the search tries the distributions that the operator prefers. Over
one partition every row lies on it. Over several, what Spark SQL computes lies *any*how, as scans
leave it; only scans, and the filters and projections on them, run in Spark SQL.

Rows are hashed by one column: that suffices for every operator here and keeps the goals of a
group linear in its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..algebra.physical import PhysicalOperator
from ..algebra.properties import (
    ANY,
    DIVIDED,
    NOTHING,
    SINGLE,
    Convention,
    Distribution,
    distributions,
    hashed,
)

__all__ = ["DIVIDED", "Place", "Placement", "distributions", "hashed", "placements"]


@dataclass(frozen=True, slots=True)
class Place:
    """How rows lie over partitions, and what computes them."""

    distribution: Distribution
    convention: Convention = Convention.KERNEL

    def divided(self, parallelism: int) -> int:
        """Over how many partitions the rows are divided."""
        return parallelism if self.distribution.spread in DIVIDED else 1


@dataclass(frozen=True, slots=True)
class Placement:
    """Places of an operator's inputs over which it gives the right rows, and that of those."""

    inputs: tuple[Place, ...]
    output: Place


@lru_cache(maxsize=1 << 14)
def placements(
    operator: PhysicalOperator, widths: tuple[int, ...], parallelism: int
) -> tuple[Placement, ...]:
    """All placements of an operator over inputs of so many columns, each once."""
    results: list[Placement] = []
    as_scanned = ANY if parallelism > 1 else SINGLE
    for below, here in operator.conventions:
        if below is Convention.SPARK_SQL:
            inputs = (Place(as_scanned, below),) * len(widths)
            results.append(Placement(inputs, Place(as_scanned, here)))
        else:
            results += [
                Placement(tuple([Place(d, below) for d in inputs]), Place(output, here))
                for inputs, output in _lawful(operator, widths, parallelism)
            ]
    return tuple(results)


def _lawful(
    operator: PhysicalOperator, widths: tuple[int, ...], parallelism: int
) -> Iterator[tuple[tuple[Distribution, ...], Distribution]]:
    """Distributions of the inputs that the law of the operator allows, and that of the result."""
    several = parallelism > 1
    tried = operator.input_distributions(widths) if several else iter([(SINGLE,) * len(widths)])
    for inputs in tried:
        try:
            output = operator.distribution(inputs)
        except ValueError:
            continue
        yield inputs, _goal(output) if several else SINGLE


def _goal(derived: Distribution) -> Distribution:
    """A distribution in the form in which the search names it: hashed by one column."""
    return ANY if derived == NOTHING else Distribution(derived.spread, derived.columns[:1])
