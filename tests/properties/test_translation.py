"""The canonical expression has the rows of the query's rules on every snapshot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.logical import WScan
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from tests.oracles.query import Source, text
from tests.oracles.snapshot import Truth
from tests.properties.algebra import rows_of
from tests.properties.catalogs import catalog_of
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.vertices import vertex_cases


def _check(case: Case) -> None:
    query = translate(parse(text(case.query)), catalog_of(case.query, case.integers))
    assert len(query.columns) == len(case.query.columns)
    truth = Truth(case.query, case.edges)
    for instant in truth.changes:
        found = rows_of(query.expression, truth.snapshot(instant))
        assert found == truth.at(instant), text(case.query)


@given(case=cases())
@examples(200)
def test_canonical_expressions_mean_what_the_rules_mean(case: Case) -> None:
    _check(case)


@given(case=property_cases())
@examples(150)
def test_canonical_expressions_over_properties_mean_what_the_rules_mean(case: Case) -> None:
    _check(case)


@given(case=vertex_cases())
@examples(150)
def test_canonical_expressions_over_vertices_mean_what_the_rules_mean(case: Case) -> None:
    _check(case)


@pytest.mark.parametrize("name", NAMED)
def test_canonical_expressions_of_named_queries_mean_what_the_rules_mean(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])))
    @examples(5)
    def check(case: Case) -> None:
        _check(case)

    check()


@given(case=cases())
@examples(100)
def test_scans_have_the_streams_and_windows_of_their_labels(case: Case) -> None:
    query = translate(parse(text(case.query)), catalog_of(case.query, case.integers))
    pending = [query.expression]
    while pending:
        expression = pending.pop()
        pending.extend(expression.inputs)
        if isinstance(expression.operator, WScan):
            scan = expression.operator
            assert scan.window is not None
            window = Source(scan.stream, scan.window.range, scan.window.slide)
            assert case.query.source[scan.label] == window
