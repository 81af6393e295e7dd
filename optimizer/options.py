"""The options of a search."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.limits import DEFAULT_STEPS

DEFAULT_BUDGET_EXPRESSIONS = 50_000
MARGIN = 0.05
"""The margin of planning: the cost constants vary by 2 to 16 % between repeats of a calibration."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one search.

    Without ``prune`` and ``duplicate_free`` the search is the plain, exhaustive one, the reference
    of the tests.

    Attributes:
        disabled_rules: the names of transformation rules that are not applied.
        budget_ms: the most time, in milliseconds; None sets no bound.
        budget_expressions: the most group expressions of the memo; None sets no bound, and then
            the search of a pattern with many joins does not end because it brings no cheaper plan.
        prune: whether alternatives over a cost bound are left out.
        duplicate_free: whether rule applications that could find nothing new are left out.
        cross_products: whether joins are reordered into joins without a shared variable.
        check: whether every invariant of the memo is checked when the search ends.
        parallelism: the number of partitions of the plan.
        simple_budget: the most steps that SIMPLE_PATH may take for an edge.
        margin: the error of the cost constants, as a part of a cost. The plan as written is kept if
            the cheapest plan gains less (:mod:`headrace.optimizer.as_written`); 0 always takes the
            cheapest plan.
        shared_costs: whether the plan of the least shared cost is sought, which counts a sub-plan
            that is used several times once (:mod:`headrace.optimizer.sharing`). Otherwise the cost
            of the plan's tree is minimised.
        evaluate_every: the period, in time units, at whose multiples results have to be right;
            None requires right results at every instant.
    """

    disabled_rules: frozenset[str] = frozenset()
    budget_ms: float | None = None
    budget_expressions: int | None = DEFAULT_BUDGET_EXPRESSIONS
    prune: bool = True
    duplicate_free: bool = True
    cross_products: bool = False
    check: bool = False
    parallelism: int = 1
    simple_budget: int = DEFAULT_STEPS
    margin: float = 0.0
    shared_costs: bool = False
    evaluate_every: int | None = None
