"""Estimates from figures that earlier runs measured of the same relation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .characteristics import LARGEST, Characteristics

if TYPE_CHECKING:
    from ..algebra.identity import Relation
    from ..catalog.figures import FeedbackFile, Measured, RelationFigures

LEAST = 1 / LARGEST
"""The least rate and population of a stream: costs and validities stay finite."""


@dataclass(frozen=True)
class Feedback:
    """Measured figures by relation.

    Attributes:
        file: names the sources of relations.
        measured: the figures of each relation.
    """

    file: FeedbackFile
    measured: Measured
    _sources: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sources", frozenset(source for _, source in self.measured))

    def of(self, relation: Relation) -> RelationFigures | None:
        """The figures of a relation; None if no run measured it."""
        source = self.file.source_of(relation.scans)
        if source is None or source not in self._sources:
            return None  # no figures over these scans: the identity need not be computed
        return self.measured.get((relation.identity, source))

    def refined(self, relation: Relation, estimate: Characteristics) -> Characteristics:
        """The estimate of a relation, with its measured figures in place of the model's.

        If only derivations were measured, the model's number of derivations of a row divides them.
        """
        figures = self.of(relation)
        if figures is None:
            return estimate
        distinct, derived, repeats = figures.distinct, figures.derived, estimate.repeats
        if distinct is not None:
            rate, held = distinct.rate, distinct.population
            if derived is not None and rate:
                repeats = min(max(derived.rate / rate, 1.0), LARGEST)
        else:
            assert derived is not None
            rate, held = derived.rate / repeats, derived.population
            held = None if held is None else held / repeats
        if held is None:
            held = rate * estimate.validity if rate else 0.0  # the validity may be infinite
        population = min(max(held, LEAST), LARGEST)
        validity = estimate.validity
        if estimate.arrival_rate:
            rate = min(max(rate, LEAST), LARGEST)
            validity = min(population / rate, LARGEST)
        else:
            rate = 0.0  # stored graphs alone
        return replace(
            estimate,
            arrival_rate=rate,
            validity=validity,
            population=population,
            distinct=tuple([min(d, max(population, 1.0)) for d in estimate.distinct]),
            most_values=max(estimate.most_values, population),
            repeats=repeats,
            on_sample=estimate.on_sample and replace(estimate.on_sample, standard_error=None),
            measured=figures,
        )
