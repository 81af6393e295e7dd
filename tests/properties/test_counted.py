"""Counts of aggregates in both languages: edges for an edge atom, pairs for a path atom."""

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.logical import LogicalQuery
from headrace.languages import parse
from headrace.languages.rq import printer
from headrace.languages.translation.canonical import translate
from tests.languages.gcore import printing
from tests.languages.gcore.printing import Style
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.algebra import rows_of
from tests.properties.catalogs import catalog_of
from tests.properties.plans import THOROUGH, optimized, plans_of
from tests.properties.running import judge, lines_of
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.counted import counted_cases
from tests.strategies.queries import Case

STYLES = st.builds(Style, st.booleans(), st.booleans(), st.booleans(), st.booleans())


def _check(case: Case, found: LogicalQuery) -> None:
    truth = Truth(case.query, case.edges)
    for instant in truth.changes:
        assert rows_of(found.expression, truth.snapshot(instant)) == truth.at(instant)


@given(case=counted_cases())
@examples(300)
def test_an_rq_query_counts_what_the_oracle_counts(case: Case) -> None:
    note(text(case.query))
    parsed = parse(text(case.query))
    assert parse(printer.text(parsed)) == parsed
    _check(case, translate(parsed, catalog_of(case.query, case.integers)))


@given(case=counted_cases(gcore=True), style=STYLES)
@examples(300)
def test_a_gcore_query_counts_what_the_oracle_counts(case: Case, style: Style) -> None:
    window = case.query.source["a"]
    on = f"ON s WINDOW ({window.range}) SLIDE ({window.slide})"
    written = printing.text((), case.query.rules, on, style)
    note(written)
    parsed = parse(written, "gcore")
    if not style.negated:  # RQ has no OR
        assert parse(printer.text(parsed), "rq") == parsed
    _check(case, translate(parsed, catalog_of(case.query, case.integers)))


@pytest.mark.long
@given(case=counted_cases(), seed=st.integers(0, 999))
@examples(60)
def test_all_plans_mean_the_same(case: Case, seed: int) -> None:
    note(text(case.query))
    check_plans(case, plans_of(optimized(case), most=200, seed=seed))


@given(case=counted_cases(), partitions=st.integers(1, 3), seed=st.integers(0, 999))
@examples(60)
def test_plans_with_counts_give_the_results_of_the_oracle(
    case: Case, partitions: int, seed: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options), most=6, seed=seed):
        judge(truth, plan, lines_of(case, plan, 1 + seed % 5))
