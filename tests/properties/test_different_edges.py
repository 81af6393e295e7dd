"""Every plan of queries with `DIFFERENT EDGES` gives the oracle's results."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import get_args

from hypothesis import assume, event, given, note
from hypothesis import strategies as st

from headrace.algebra.logical import PathSemantics
from headrace.languages import parse
from headrace.languages.query.errors import QueryError
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Options, SearchResult
from tests.oracles.query import Paths, text
from tests.oracles.snapshot import Truth
from tests.properties.algebra import rows_of
from tests.properties.catalogs import catalog_of
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of
from tests.properties.test_deletions import check, deleting
from tests.properties.test_per_slide import judge as judge_per_slide
from tests.properties.test_per_slide import per_slide
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.counted import counted_cases
from tests.strategies.different import different
from tests.strategies.existence import existence_cases
from tests.strategies.labels import label_cases
from tests.strategies.negation import negated_cases
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases
from tests.strategies.stored import stored_cases

SEEDS = st.integers(0, 9_999)
ROWS = st.sampled_from([1, 3, 1000])
PATHS = st.sampled_from(get_args(Paths))
FEW = replace(THOROUGH, budget_expressions=150)
"""The residuals of many edges make large memos."""

RICH_CASES = st.one_of(
    cases(),
    property_cases(),
    label_cases(),
    counted_cases(),
    root_cases(),
    existence_cases(),
    stored_cases(cases()),
)


def searched(
    case: Case, options: Options = FEW, seed: int = 0, deletions: Collection[str] = ()
) -> SearchResult:
    """The optimizer's work on a case whose paths stand for few sequences of edges."""
    note(text(case.query))
    try:
        return optimized(case, options, seed, deletions=deletions)
    except QueryError as error:
        assume(error.code != "E-SIZE")
        raise


@given(case=st.one_of(RICH_CASES, negated_cases()), paths=PATHS, seed=SEEDS)
@examples(60)
def test_canonical_expressions_mean_what_the_rules_mean(
    case: Case, paths: Paths, seed: int
) -> None:
    case = different(case, seed)
    case = replace(case, query=replace(case.query, paths=paths))
    note(text(case.query))
    catalog = catalog_of(case.query, case.integers)
    try:
        query = translate(parse(text(case.query)), catalog, semantics=PathSemantics(paths))
    except QueryError as error:
        assume(error.code != "E-SIZE")
        raise
    truth = Truth(case.query, case.edges)
    for instant in truth.changes[::2]:
        rows = rows_of(query.expression, truth.snapshot(instant))
        event("rows" if rows else "no rows")
        assert rows == truth.at(instant)


@given(case=cases(), paths=PATHS, seed=SEEDS)
@examples(6)
def test_plans_of_random_queries(case: Case, paths: Paths, seed: int) -> None:
    case = different(case, seed)
    case = replace(case, query=replace(case.query, paths=paths))
    check_plans(case, plans_of(searched(case, seed=seed), most=4, seed=seed))


@given(case=RICH_CASES, seed=SEEDS, partitions=st.sampled_from([1, 1, 3]), rows=ROWS)
@examples(8)
def test_results_of_random_queries(case: Case, seed: int, partitions: int, rows: int) -> None:
    case = different(case, seed)
    options = replace(FEW, parallelism=partitions)
    truth = Truth(case.query, case.edges)
    for plan in plans_of(searched(case, options, seed), most=3, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=st.one_of(cases(), property_cases(), root_cases()), seed=SEEDS)
@examples(4)
def test_results_over_deletions(case: Case, seed: int) -> None:
    of = deleting(different(case, seed, bounded=True), seed)
    found = plans_of(searched(of.case, deletions=of.streams), most=3, seed=seed)
    check(of, [read_back(plan) for plan in found])


@given(case=negated_cases(), seed=SEEDS)
@examples(3)
def test_results_with_not(case: Case, seed: int) -> None:
    of = deleting(different(case, seed, bounded=True), seed)
    of = replace(of, deletions=(), streams=frozenset())
    found = plans_of(searched(of.case), most=3, seed=seed)
    check(of, [read_back(plan) for plan in found])


@given(case=cases(), seed=SEEDS, rows=ROWS)
@examples(3)
def test_results_per_slide(case: Case, seed: int, rows: int) -> None:
    case = different(case, seed)
    for plan in plans_of(searched(case, per_slide(case)), most=3, seed=seed):
        judge_per_slide(case, plan, lines_of(case, read_back(plan), rows))
