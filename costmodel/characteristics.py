"""The characteristics by which the cost model describes a relation (thesis 6.3).

Glossary of the thesis's symbols, used elsewhere only where a formula is shown to people:
r = ``arrival_rate``; v = ``validity``; r·v = ``population``; V(S, x) = ``distinct``;
omega, beta = range and slide of a window; f = selectivity; k = states of the minimal DFA;
n = vertices of the snapshot graph (at most ``vertices``); m = ``longest_path``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Self

from .columns import Columns

if TYPE_CHECKING:
    from ..algebra.identity import Relation
    from ..catalog.figures import RelationFigures
    from .sampling.relations import OnSample

LARGEST = 1e100
"""The cap of rates and populations; its square is still a finite float."""


@dataclass(frozen=True, slots=True)
class Characteristics:
    """Estimates of one relation; they belong to a memo group.

    Attributes:
        arrival_rate: rows per time unit; 0 for a stored graph.
        validity: the mean length of validity in time units; ``inf`` for a stored graph.
        population: rows valid at an instant; a separate field so that 0 · inf is never computed.
        distinct: for each column the number of distinct values of its domain.
        longest_path: the edges of the longest path over this relation; None if unknown.
        vertices: the distinct vertices of the domain over all columns; ``inf`` if unknown.
        columns: the measured statistics of the columns; empty if no column has any.
        most_values: the different rows valid at an instant; ``inf`` if unknown.
        repeats: the rows that an operator which does not coalesce emits for each row of the
            relation, over coalesced inputs; at least 1. The other figures count a row as
            COALESCE passes it on.
        in_order: whether rows expire in the order of their arrival, as the edges of a window do.
        on_sample: what the relation is on a sample of the stream; None if that is unknown.
        relation: the rows that are estimated; None outside a query.
        measured: the figures of earlier runs that the estimates are; None for other estimates.
        retracted: the share of the rows that are retracted before they expire.
    """

    arrival_rate: float
    validity: float
    population: float
    distinct: tuple[float, ...]
    longest_path: int | None = None
    vertices: float = inf
    columns: Columns = ()
    most_values: float = inf
    repeats: float = 1.0
    in_order: bool = field(default=False, compare=False)
    on_sample: OnSample | None = field(default=None, compare=False, repr=False)
    relation: Relation | None = field(default=None, compare=False, repr=False)
    measured: RelationFigures | None = field(default=None, compare=False, repr=False)
    retracted: float = 0.0

    @property
    def derivation_rate(self) -> float:
        """The rows per time unit that are emitted before COALESCE, over coalesced inputs."""
        return min(self.arrival_rate * self.repeats, LARGEST)

    def emitted(self, factor: float) -> Self:
        """The rows with those that repeat others, ``factor`` rows for each distinct one."""
        if factor == 1:
            return self
        return replace(
            self,
            arrival_rate=min(self.arrival_rate * factor, LARGEST),
            population=min(self.population * factor, LARGEST),
            most_values=min(self.most_values, self.population),
            repeats=1.0,
        )

    def loaded(self, spread: float) -> Self:
        """Spreads the one-time arrival of a stored relation evenly over ``spread`` time units.

        Costs are computed from the returned characteristics. Other relations are returned as they
        are.
        """
        if self.arrival_rate or not self.population or self.validity < inf:
            return self
        return replace(self, arrival_rate=self.population / spread)

    def share(self, partitions: float) -> Self:
        """The part of the relation on one partition, if it is spread evenly over as many."""
        if partitions == 1:
            return self
        return replace(
            self,
            arrival_rate=self.arrival_rate / partitions,
            population=self.population / partitions,
            most_values=self.most_values / partitions,
        )
