"""The plans of a query that are measured, and how they are drawn.

In: a query over a catalog. Out: for each cost model the chosen plan, then the plan as written, the
best estimated ones, and a uniform sample, in all of which mirror images are one plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import get_args

from bench.regret.forms import form, mirrors
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog
from headrace.optimizer import SearchResult
from headrace.planning.planner import optimize
from headrace.planning.requests import CostModelKind, PlanningOptions, PlanRequest

MODELS: tuple[CostModelKind, ...] = get_args(CostModelKind)
DEFAULT: CostModelKind = PlanningOptions().cost_model
WRITTEN = "as written"
BEST, SAMPLED = 5, 10
"""The numbers of best estimated and of sampled plans."""

_LOOKED_AT = 60
_DRAWN = 100


@dataclass(slots=True)
class Candidate:
    """A plan with the roles that it has for a query.

    Attributes:
        form: the canonical form.
        plan: the plan that is run.
        roles: ``chosen MODEL``, ``as written``, ``best`` and ``sampled``.
        by_model: the same plan with the estimates of each model that is known to have it.
        repriced: by name, the costs by other estimates of rows, as :meth:`costs` has them.
    """

    form: str
    plan: PhysicalPlan
    roles: list[str] = field(default_factory=list)
    by_model: dict[str, PhysicalPlan] = field(default_factory=dict)
    repriced: dict[str, tuple[float, float]] = field(default_factory=dict)

    def costs(self) -> dict[str, tuple[float, float]]:
        """By model: the cost of the tree, and the cost with shared sub-plans and indexes once."""
        estimated = {
            model: (
                plan.nodes[plan.root].estimate.cumulative_cost,
                sum(node.estimate.cost - (node.estimate.saved or 0.0) for node in plan.nodes),
            )
            for model, plan in self.by_model.items()
        }
        return estimated | self.repriced


@dataclass(frozen=True, slots=True)
class Candidates:
    """The plans of a query by form.

    Attributes:
        plans: the candidates; the plan chosen by the default model first.
        count: the number of physical plans, mirror images counted each.
        search_ms: the milliseconds of the search, by model.
        stop_reason: why the search of the default model ended.
    """

    plans: dict[str, Candidate]
    count: int
    search_ms: Mapping[str, float]
    stop_reason: str


def candidates(text: str, catalog: Catalog, window: tuple[str, str], seed: int) -> Candidates:
    """Searches with each model, and draws the plans from the search of the default one.

    Raises:
        HeadraceError: if the query cannot be planned.
    """
    searches: dict[str, SearchResult] = {}
    for model in MODELS:
        searches[model] = optimize(requested(text, catalog, window, model)).optimization
    chosen: dict[str, Candidate] = {}

    def add(plan: PhysicalPlan, role: str, model: str) -> None:
        candidate = chosen.setdefault(form(plan), Candidate(form(plan), plan))
        if role not in candidate.roles:
            candidate.roles.append(role)
        candidate.by_model.setdefault(model, plan)

    default = searches[DEFAULT]
    for name in sorted(searches, key=lambda name: name != DEFAULT):
        add(searches[name].plan, f"chosen {name}", name)
        add(searches[name].canonical_plan, WRITTEN, name)
    for plan in best_estimated(default, BEST):
        add(plan, "best", DEFAULT)
    for plan in sampled(default, SAMPLED, seed):
        add(plan, "sampled", DEFAULT)
    for name, search in searches.items():
        if name != DEFAULT:
            # The same seed draws the same plans, if both searches ended with the same memo.
            for plan in search.plans.sample(_DRAWN, seed):
                if (same := chosen.get(form(plan))) is not None:
                    same.by_model.setdefault(name, plan)
    return Candidates(
        chosen,
        default.plans.count,
        {model: search.optimize_ms for model, search in searches.items()},
        str(default.stop_reason),
    )


def requested(
    text: str, catalog: Catalog, window: tuple[str, str], model: CostModelKind
) -> PlanRequest:
    """The request for the plan of a query in RQ by a cost model."""
    options = PlanningOptions(window=window[0], slide=window[1], cost_model=model)
    return PlanRequest(text, language="rq", catalog=catalog, options=options)


def best_estimated(search: SearchResult, count: int) -> list[PhysicalPlan]:
    """The cheapest plans of different forms, cheapest first."""
    different: dict[str, PhysicalPlan] = {}
    for plan in islice(search.plans.ranked(), _LOOKED_AT):
        different.setdefault(form(plan), plan)
        if len(different) == count:
            break
    return list(different.values())


def sampled(search: SearchResult, count: int, seed: int) -> list[PhysicalPlan]:
    """Plans of different forms, each form with the same probability.

    A uniform draw has a form with a probability in proportion to its mirror images. So forms are
    drawn from a larger sample, without replacement, in proportion to their occurrences in it over
    their mirror images.
    """
    drawn: dict[str, PhysicalPlan] = {}
    weights: dict[str, float] = {}
    for plan in search.plans.sample(_DRAWN, seed):
        name = form(plan)
        drawn.setdefault(name, plan)
        weights[name] = weights.get(name, 0.0) + 1 / mirrors(plan)
    random = Random(seed)
    # Efraimidis and Spirakis (2006): the largest u^(1/w) are a weighted sample.
    keys = {name: random.random() ** (1 / weight) for name, weight in weights.items()}
    return [drawn[name] for name in sorted(drawn, key=lambda name: -keys[name])[:count]]
