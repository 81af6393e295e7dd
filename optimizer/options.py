"""What a caller may ask of the search."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.physical import DEFAULT_STEPS

DEFAULT_BUDGET_EXPRESSIONS = 50_000


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one search.

    ``budget_expressions`` bounds the group expressions of the memo and ``budget_ms`` the
    time (:mod:`headrace.optimizer.budget`); None is no bound. ``prune`` is branch and bound;
    ``duplicate_free`` leaves out rule applications that could find nothing new. Without either
    the search is the plain, exhaustive one, the reference of the tests. ``cross_products``
    lets joins be reordered into ones without a shared variable. ``check`` looks at every
    invariant of the memo when the search ends. ``parallelism`` is the number of partitions
    that the plan is made for. ``simple_budget``: the steps that SIMPLE_PATH may take for an edge.
    ``evaluate_every``: results are to be right at its multiples alone; None: at every instant.
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
