"""Unions of many parts: the search does not try all their subsets, and its plans cost the same."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import Union, WScan
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.memo import Expression, Group
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.rules import union_rules

PARTS = 7
"""One part more than a union has that is associated in every order."""


def labels(prefix: str, count: int) -> dict[str, LabelStatistics]:
    """Labels with rates that neither rise nor fall."""
    return {
        f"{prefix}{k}": LabelStatistics(
            rate=10.0 * (1 + (7 * k + 3) % 20), distinct_src=1e3, distinct_trg=1e3, vertices=1e3
        )
        for k in range(count)
    }


CATALOG = Catalog({"s": Stream("s", labels("l", 18)), "t": Stream("t", labels("m", 4))})
UNION = "".join(f"U(x, y) <- l{k}(x, y). " for k in range(PARTS))
IN_TURN = [f"{'lm'[k % 2]}{k // 2}" for k in range(PARTS)]
"""Labels of two streams: one scan reads four of them, another one three."""
QUERIES = {
    "scans": UNION + "Answer(x, y) <- U(x, y).",
    "scans of two streams": "".join(f"Answer(x, y) <- {label}(x, y). " for label in IN_TURN),
    "a closure over two streams": f"Answer(x, y) <- x ({'|'.join(IN_TURN)})+ y.",
    "joins of unions": UNION + "Answer(x, y) <- U(x, z), U(z, y), l9(x, y).",
    "joins": "".join(f"Answer(x, y) <- l{k}(x, z), l{k + 9}(z, y). " for k in range(PARTS)),
}


def searched(text: str, budget: int = 50_000) -> SearchResult:
    """The search for a query over windows of ten seconds."""
    query = translate(parse(f"{text} WINDOW 10s SLIDE 1s"), CATALOG)
    options = Options(budget_expressions=budget)
    return Optimizer(CostModel(catalog=CATALOG), options).optimize(query)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * (n == "joins")) for n in QUERIES]
)
def test_plans_cost_the_same_where_not_all_orders_are_tried(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded = searched(QUERIES[name])
    monkeypatch.setattr(union_rules, "MOST_PARTS_REORDERED", 2 * PARTS)
    unbounded = searched(QUERIES[name])
    assert bounded.stop_reason == unbounded.stop_reason == "complete"
    assert bounded.memo.expression_count <= unbounded.memo.expression_count
    # Of unions of joins, only the order of the unions can differ.
    assert bounded.cost <= unbounded.cost * (1.01 if name == "joins" else 1 + 1e-9)


def test_a_closure_over_all_labels_but_one_is_searched_to_the_end() -> None:
    """It has 2^17 unions of some labels."""
    found = searched("Answer(x, y) <- x (s.!l0)+ y.", budget=2_000)
    assert found.stop_reason == "complete"
    assert found.memo.merges == 0
    assert found.cost <= found.canonical_cost * (1 + 1e-9)


def test_a_condition_on_a_large_union_is_searched_to_the_end() -> None:
    found = searched(
        UNION
        + "".join(f"U(x, y) <- l{k}(x, y). " for k in range(PARTS, 16))
        + 'Answer(x, y) <- U(x, y), x = "3".',
        budget=3_000,
    )
    assert found.stop_reason == "complete"
    assert [node.operator.op for node in found.plan.nodes].count("WSCAN_UNION") == 1


def test_a_large_union_can_read_another_union_of_the_query() -> None:
    found = searched(
        "V(x, y) <- l2(x, y). V(x, y) <- l5(x, y). " + UNION + "Answer(x, y) <- U(x, y), V(y, x)."
    )
    assert found.stop_reason == "complete"
    memo = found.memo
    scans = [next(g.id for g in memo.groups if scan_of(g) == (label,)) for label in ("l2", "l5")]
    shared = memo.relation(Expression(Union(), tuple(scans)))
    readers = [e for e in memo.expressions if isinstance(e.operator, Union) and shared in e.inputs]
    assert shared is not None
    assert any(e.rule == "UnionAssociate" for e in readers)


def scan_of(group: Group) -> tuple[str, ...]:
    """The label of a group that is a scan."""
    operator = group.expressions[0].operator
    return (operator.label,) if isinstance(operator, WScan) else ()
