"""Paths over sets of labels and over chosen edges: every plan gives the oracle's results."""

from hypothesis import given, note
from hypothesis import strategies as st

from headrace.languages import parse
from headrace.languages.rq import printer
from headrace.languages.translation.canonical import translate
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.algebra import rows_of
from tests.properties.catalogs import catalog_of
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge, lines_of
from tests.strategies.amount import examples
from tests.strategies.labels import label_cases
from tests.strategies.queries import Case


@given(case=label_cases())
@examples(60)
def test_canonical_expressions_over_sets_of_labels_mean_what_the_query_means(case: Case) -> None:
    parsed = parse(text(case.query))
    assert parse(printer.text(parsed)) == parsed
    query = translate(parsed, catalog_of(case.query, case.integers))
    truth = Truth(case.query, case.edges)
    for instant in truth.changes:
        found = rows_of(query.expression, truth.snapshot(instant))
        assert found == truth.at(instant), text(case.query)


@given(case=label_cases(), seed=st.integers(0, 999))
@examples(8)
def test_plans_over_sets_of_labels_give_the_results_of_the_oracle(case: Case, seed: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=6, seed=seed):
        judge(truth, plan, lines_of(case, plan, 3))
