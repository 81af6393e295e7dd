"""The options of a search."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.limits import DEFAULT_STEPS

DEFAULT_BUDGET_EXPRESSIONS = 50_000


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one search.

    Without ``prune`` and ``duplicate_free`` the search is the plain, exhaustive one, the reference
    of the tests.

    Attributes:
        disabled_rules: transformation rules that are not applied, by name.
        budget_ms: the most time, in milliseconds; None is no bound.
        budget_expressions: the most group expressions of the memo; None is no bound.
        prune: whether alternatives over a cost bound are left out.
        duplicate_free: whether rule applications are left out that could find nothing new.
        cross_products: whether joins are reordered into ones without a shared variable.
        check: whether every invariant of the memo is checked when the search ends.
        parallelism: over how many partitions the plan runs.
        simple_budget: the most steps that SIMPLE_PATH may take for an edge.
        evaluate_every: results have to be right at its multiples alone, in time units; None is at
            every instant.
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
    evaluate_every: int | None = None
