"""Estimates from measured figures are finite, whatever was measured."""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path

import pytest

from headrace.algebra.identity import Relation
from headrace.algebra.logical import WScan
from headrace.catalog.figures import FeedbackFile, Figures, RelationFigures
from headrace.costmodel.characteristics import LARGEST, Characteristics
from headrace.costmodel.feedback import Feedback


class _All(FeedbackFile):
    """Names one source for all relations."""

    def source_of(self, scans: object) -> str:
        return "source"


def figures(rate: float, held: float | None) -> Figures:
    return Figures(rate, held, 1.0, "S_PATH", 1, 0.0)


STREAM = Characteristics(2.0, 10.0, 20.0, (5.0, 5.0))
STORED = Characteristics(0.0, inf, 20.0, (5.0, 5.0))


@pytest.mark.parametrize("estimate", [STREAM, STORED], ids=["stream", "stored"])
@pytest.mark.parametrize(
    ("distinct", "derived"),
    [
        ((5e-324, 1.0), (1e308, 1.0)),
        ((1e308, None), (5e-324, None)),
        ((0.0, None), (1e308, 1e308)),
        ((0.0, 0.0), (0.0, 0.0)),
        (None, (0.0, None)),
        (None, (1e308, None)),
    ],
)
def test_estimates_by_extreme_figures_are_finite(
    estimate: Characteristics,
    distinct: tuple[float, float | None] | None,
    derived: tuple[float, float | None],
) -> None:
    """Rows that are derived 1e308 times for each different one made costs that were no numbers."""
    relation = Relation(WScan("s", "a", None))
    known = RelationFigures(distinct and figures(*distinct), figures(*derived), 1.0)
    feedback = Feedback(_All(Path("nowhere"), {}), {(relation.identity, "source"): known})
    refined = feedback.refined(relation, estimate)
    emitted = refined.emitted(refined.repeats)
    assert refined.measured == known
    assert 1 <= refined.repeats <= LARGEST
    assert 0 < refined.population <= LARGEST
    assert all(map(isfinite, (refined.arrival_rate, emitted.arrival_rate, emitted.population)))
    assert (refined.arrival_rate == 0) == (estimate is STORED)
