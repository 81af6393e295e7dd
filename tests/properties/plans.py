"""The optimizer's plans for random and named cases."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from random import Random

from headrace.algebra.logical import PathSemantics
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult
from tests.oracles.query import text
from tests.properties.catalogs import catalog_of
from tests.properties.tally import TRIED
from tests.strategies.amount import MORE
from tests.strategies.queries import Case

FEW = 30
"""The most plans that are all tried; of more plans a sample of this size is tried."""

THOROUGH = Options(prune=False, check=True, budget_expressions=5_000 if MORE else 2_000)
"""The options of an exhaustive search; the bound ends only the search of a rare huge memo, which
would take up to half a minute, and minutes above 5,000 expressions."""


def optimized(
    case: Case,
    options: Options = THOROUGH,
    statistics: int = 0,
    cost_model: CostModel | None = None,
    deletions: Collection[str] = (),
) -> SearchResult:
    """The optimizer's work on a case; ``statistics`` is the seed of the catalog's.

    The streams named by ``deletions`` have deletions.
    """
    catalog = catalog_of(case.query, case.integers, statistics, deletions)
    known = cost_model or CostModel()
    model = replace(known, catalog=catalog, parallelism=options.parallelism)
    streams = tuple(
        PlanStream(
            name=s.name,
            labels=tuple(s.labels),
            vertex_type=s.vertex_type,
            properties=dict(s.properties),
        )
        for s in catalog.streams.values()
    )
    semantics = PathSemantics(case.query.paths)
    query = translate(parse(text(case.query)), catalog, semantics=semantics)
    TRIED["searches"] += 1
    return Optimizer(model, options).optimize(query, streams, catalog.time_unit)


def plans_of(found: SearchResult, most: int = FEW, seed: int = 0) -> list[PhysicalPlan]:
    """All plans if there are few, else the chosen, the canonical and a uniform sample."""
    if found.plans.count <= most:
        return list(islice(found.plans.ranked(), most + 1))
    return [found.plan, found.canonical_plan, *found.plans.sample(most - 2, seed)]


def read_back(plan: PhysicalPlan) -> PhysicalPlan:
    """The plan after a round trip through JSON text, without indentation, which takes longer."""
    document = plan.to_document()
    again = PhysicalPlan.from_document(json.loads(json.dumps(document)))
    assert again.to_document() == document
    return again


def some_disabled(rule_names: list[str], seed: int) -> Options:
    """Options with about a third of the rules switched off."""
    random = Random(seed)
    disabled = frozenset(name for name in rule_names if random.random() < 1 / 3)
    return replace(THOROUGH, disabled_rules=disabled)
