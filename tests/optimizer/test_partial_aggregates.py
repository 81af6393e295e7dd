"""Where plans group rows before they are exchanged between partitions, or joined."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.algebra.aggregates import AggregateCall
from headrace.algebra.logical import PartialAggregate
from headrace.algebra.physical import AggregateRows
from headrace.algebra.properties import ANY, BROADCAST, SINGLE, hashed
from headrace.catalog.document import from_document
from headrace.costmodel import estimates
from headrace.costmodel.characteristics import Characteristics
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

COUNT = "Answer(count(*) as n) <- a(x, y), b(y, z). WINDOW 60"
REPORTED = "Answer(z, count(*) as n) <- a(x, y), b(y, z). WINDOW 60 EMIT SNAPSHOT EVERY 60"


def is_partial(query: str, rate: float, **options: Any) -> bool:
    """Whether the chosen plan has a partial aggregation."""
    labels = {label: {"rate": rate, "distinct_src": 100, "distinct_trg": 100} for label in "ab"}
    catalog = from_document({"streams": {"s": {"labels": labels}}})
    chosen = PlanningOptions(**{"parallelism": 4} | options)
    plan = optimize(PlanRequest(query, catalog=catalog, options=chosen)).plan
    return any(getattr(node.operator, "partial", None) is True for node in plan.nodes)


@pytest.mark.parametrize(("query", "rate"), [(COUNT, 100), (REPORTED, 10)])
def test_rows_are_grouped_first_where_many_fall_into_few_groups(query: str, rate: float) -> None:
    assert is_partial(query, rate)


def test_rows_are_exchanged_as_they_are_where_few_come_in_a_tick() -> None:
    assert not is_partial(COUNT, 0.01)


def test_rows_are_not_grouped_first_without_partitions_or_per_slide() -> None:
    before = frozenset({"AggregateBeforeJoin"})
    assert not is_partial(COUNT, 100, parallelism=1, disabled_rules=before)
    assert not is_partial(COUNT, 100, evaluate="slide", disabled_rules=before)
    assert not is_partial(COUNT, 100, disabled_rules=before | {"AggregatePartially"})


@pytest.mark.parametrize(("query", "rate"), [(COUNT, 1_000), (REPORTED, 10)])
def test_an_input_is_grouped_before_a_join_where_its_groups_change_less(
    query: str, rate: float
) -> None:
    assert is_partial(query, rate, parallelism=1)
    assert not is_partial(
        query, rate, parallelism=1, disabled_rules=frozenset({"AggregateBeforeJoin"})
    )


def test_no_input_is_grouped_before_a_join_where_few_rows_come_or_per_slide() -> None:
    assert not is_partial(COUNT, 0.01, parallelism=1)
    assert not is_partial(COUNT, 1_000, parallelism=1, evaluate="slide")


def test_a_partial_group_changes_once_in_a_tick_or_period() -> None:
    rows = Characteristics(100.0, 10.0, 1000.0, (5.0, 200.0))
    calls = (AggregateCall("count"),)
    eager = estimates.aggregated_partially(rows, PartialAggregate((0,), calls), 4)
    assert (eager.arrival_rate, eager.population, eager.distinct[-1]) == (20.0, 20.0, 4.0)
    many = estimates.aggregated_partially(rows, PartialAggregate((1,), calls), 4)
    assert (many.arrival_rate, many.population) == (200.0, 800.0)
    reported = estimates.aggregated_partially(rows, PartialAggregate((0,), calls, 10), 4)
    assert (reported.arrival_rate, reported.population) == (2.0, 20.0)


def test_a_partial_aggregate_reads_each_row_on_one_partition() -> None:
    count = AggregateRows((0,), (("count", None),), (0, 1, 2), retracts=True, partial=True)
    least = AggregateRows((0,), (("min", 1),), (0, 1, 2), retracts=True, partial=True)
    assert count.distribution([hashed(0)]) == hashed(0)
    assert count.distribution([hashed(1)]) == ANY
    assert count.distribution([SINGLE]) == SINGLE
    assert least.distribution([ANY]) == ANY
    for operator, where in ((count, ANY), (least.over_deletions(), ANY), (least, BROADCAST)):
        with pytest.raises(ValueError, match="several partitions"):
            operator.distribution([where])


@pytest.mark.parametrize(
    ("operator", "problem"),
    [
        (AggregateRows((0,), (("count", None),), (0, 1, 2), partial=True), "retracted, or for"),
        (
            AggregateRows((0,), (("count", None),), (0, 1), retracts=True, partial=True),
            "the number of their partition",
        ),
        (AggregateRows((0,), (("partial_sum", 1),), (0, 1)), "for partial rows alone"),
        (
            AggregateRows((0,), (("collect", 1),), (0, 1, 2), retracts=True, partial=True),
            "no partial row has a list",
        ),
    ],
)
def test_other_partial_aggregates_are_refused(operator: AggregateRows, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        operator.output_width([2])
