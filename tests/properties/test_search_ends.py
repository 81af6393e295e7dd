"""Every search ends by itself, after a number of steps and not of seconds.

A search calls its `cancelled` function at every binding, goal and round, so the number of calls
bounds its steps. A search without end is cancelled by that number, and reports the cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.deadline import Deadline
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.planning.planner import plan_translated
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.planning.translating import translate_query
from tests.oracles.query import text
from tests.properties.catalogs import catalog_of
from tests.strategies.amount import examples
from tests.strategies.circles import circular_cases
from tests.strategies.queries import Case, cases
from tests.strategies.views import view_cases

MOST_STEPS = 100_000
"""The most calls of ``cancelled``: thirty times the calls of the largest of these searches."""


@dataclass
class Steps:
    """Cancels after a number of calls."""

    asked: int = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > MOST_STEPS


def searched(case: Case, parallelism: int, seed: int, *, prune: bool = True) -> SearchResult:
    catalog = catalog_of(case.query, case.integers, seed)
    query = translate(parse(text(case.query)), catalog)
    model = CostModel(catalog=catalog, parallelism=parallelism)
    options = Options(
        disabled_rules=frozenset({"ForestToMultiway"}),  # a search without pruning has all of them
        parallelism=parallelism,
        budget_expressions=1000,
        prune=prune,
    )
    return Optimizer(model, options).optimize(query, cancelled=Steps())


@pytest.mark.long
@given(
    case=circular_cases() | cases() | view_cases(),
    parallelism=st.sampled_from([2, 3, 4, 8]),
    seed=st.integers(0, 999),
)
@examples(40)
def test_a_search_over_partitions_ends(case: Case, parallelism: int, seed: int) -> None:
    note(text(case.query))
    found = searched(case, parallelism, seed)
    assert found.stop_reason in ("complete", "budget_expressions")


@pytest.mark.long
@given(case=circular_cases(), parallelism=st.sampled_from([1, 2, 5]), seed=st.integers(0, 999))
@examples(25)
def test_circles_settle_on_the_cheapest_plan(case: Case, parallelism: int, seed: int) -> None:
    note(text(case.query))
    found = searched(case, parallelism, seed)
    if found.stop_reason != "complete":
        return
    found.memo.check(found.space.alternatives)
    thorough = searched(case, parallelism, seed, prune=False)
    assert found.cost == pytest.approx(thorough.cost, rel=1e-12)
    assert found.required is not None
    assert found.reasons()


TURNED_CLOSURES = """
GRAPH VIEW vH0 AS (
  CONSTRUCT (w)-[:H0]->(y) MATCH (y)-/<((:b _))*>/->(z), (k1)-/<(:a^)!>/->(w) WHERE (k1) = 'v4')
GRAPH VIEW vH1 AS (
  CONSTRUCT (x)-[:H1]->(z) MATCH (z)-/<(:H0)+>/->(x) ON vH0)
SELECT u, w
MATCH (k2)-[:H1]->(u) ON vH1, (u)-[:H0]->(w) ON vH0 WHERE (k2) = 'v4' AND (u) < (w)
UNION SELECT u, w
MATCH (u)-/<(:H1)+>/->(w) ON vH1, (w)-[:H1]->(y) ON vH1, (w)-/<(:b)*>/->(x)
UNION SELECT u, w
MATCH (u)-/<((:H1)^)*{1..}>/->(w) ON vH1, ()-[:a]->(u), (u)-[e11:a]->(u), (u)-[e12:b]->(u)
EMIT ON EXIT EVERY (10)
"""


@pytest.mark.parametrize("parallelism", range(1, 9))
def test_winners_with_one_choice_over_other_inputs_settle(parallelism: int) -> None:
    """Rows hashed by either column serve a report: one choice, two alternatives."""
    few = LabelStatistics(rate=1.0, distinct_src=5000.0, distinct_trg=3.0, vertices=5000.0)
    labels = {"a": few, "b": replace(few, rate=0.5, distinct_src=1.0, vertices=3.0)}
    catalog = Catalog({"s": Stream("s", labels)})
    options = PlanningOptions(window="10", parallelism=parallelism)
    request = PlanRequest(TURNED_CLOSURES, language="gcore", catalog=catalog, options=options)
    found = plan_translated(
        translate_query(request), deadline=Deadline(cancelled=Steps())
    ).optimization
    assert found.stop_reason == "complete"
    assert found.circular
    found.memo.check(found.space.alternatives)
