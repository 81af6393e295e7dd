"""Measured figures change plans and never answers."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hypothesis import given, note
from hypothesis import strategies as st

from headrace.catalog.figures import FeedbackFile, Figures, Measured, RelationFigures
from headrace.costmodel import CostModel
from headrace.costmodel.feedback import Feedback
from headrace.optimizer import Options, SearchResult
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, read_back
from tests.properties.running import judge, lines_of
from tests.strategies.amount import examples
from tests.strategies.circles import circular_cases
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases


class _All(FeedbackFile):
    """Names one source for all relations."""

    def source_of(self, scans: object) -> str:
        return "source"


def measured_at_random(found: SearchResult, random: Random) -> Measured:
    """Any figures for most groups of a search, from next to nothing to more than there can be."""

    def figures() -> Figures | None:
        if random.random() < 0.3:
            return None
        rate, population = (10 ** random.uniform(-12, 12) for _ in range(2))
        if random.random() < 0.1:
            rate = random.choice([0.0, 5e-324, 1e308])
        held = None if random.random() < 0.2 else random.choice([population, 0.0, 1e308])
        return Figures(rate, held, random.random(), "S_PATH", 1, 0.0)

    measured = {}
    for group in found.space.groups():
        assert group.estimate.relation is not None
        one = RelationFigures(figures(), figures(), 1.0)
        if one.distinct or one.derived:
            measured[group.estimate.relation.identity, "source"] = one
    return measured


@given(
    case=cases() | circular_cases(longest=8) | property_cases(),
    parallelism=st.sampled_from([1, 1, 3]),
    seed=st.integers(0, 999),
)
@examples(60)
def test_plans_over_any_measured_figures_give_the_results_of_the_oracle(
    case: Case, parallelism: int, seed: int
) -> None:
    note(text(case.query))
    options = Options(parallelism=parallelism, budget_expressions=400)
    found = optimized(case, options, seed)
    measured = measured_at_random(found, Random(seed))
    feedback = Feedback(_All(Path("nowhere"), {}), measured)
    again = optimized(case, options, seed, CostModel(feedback=feedback))
    for group in again.space.groups():
        assert group.estimate.relation is not None
        kept = measured.get((group.estimate.relation.identity, "source"))
        assert group.estimate.measured == kept
    truth = Truth(case.query, case.edges)
    for plan in [again.plan, *again.plans.sample(2, seed)]:
        judge(truth, plan, lines_of(case, read_back(plan), 3))
