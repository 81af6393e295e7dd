"""Placements: the distributions and conventions of an operator's inputs and result.

Each operator has a law
(:meth:`headrace.algebra.physical.PhysicalOperator.distribution`): it names the distributions of the
inputs over which the operator gives the right rows, and the distribution of its result. The
executor checks plans by the same law. The search tries the distributions that the law allows and
the operator prefers. Over several partitions rows that Spark SQL computes have the distribution
``any``, as scans leave them. Only scans, and the filters and projections on them, run in Spark SQL.

Rows are hashed by one column: that suffices for every operator here and keeps the goals of a
group linear in its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
    """The distribution of rows over partitions, and the convention that computes them."""

    distribution: Distribution
    convention: Convention = Convention.KERNEL

    def divided(self, parallelism: int) -> float:
        """All rows, divided by those on the busiest partition; on n partitions mostly n or 1."""
        return self.distribution.divisor(parallelism)


@dataclass(frozen=True, slots=True)
class Placement:
    """Places of an operator's inputs over which its result is right, and the result's place."""

    inputs: tuple[Place, ...]
    output: Place


@lru_cache(maxsize=1 << 14)
def placements(
    operator: PhysicalOperator, widths: tuple[int, ...], parallelism: int
) -> tuple[Placement, ...]:
    """All placements of an operator over inputs of these widths, each once."""
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
    """Pairs of input distributions that the operator's law allows and the result's distribution."""
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
    return ANY if derived == NOTHING else replace(derived, columns=derived.columns[:1])
