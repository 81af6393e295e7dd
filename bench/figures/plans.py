"""The plans of a query out of the memo, one of each shape, with the estimates of both models.

In: a query as RQ text, and a cost model of each kind. Out: :class:`Priced` plans. The measured plan
of a shape is the cheapest of the first model. The other model prices the same physical plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.figures.shapes import Shape, shape
from bench.regret.forms import form, forms
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import Estimate
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, SearchResult

Models = Mapping[str, CostModel]
"""Cost models by name."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A plan with the estimates of each model.

    Attributes:
        shape: its joins and paths.
        plan: what runs.
        estimates: by model, the estimates of each node, by node id.
    """

    shape: Shape
    plan: PhysicalPlan
    estimates: Mapping[str, tuple[Estimate, ...]]

    def cost(self, model: str) -> float:
        """The cost of the plan's tree per second."""
        return self.estimates[model][self.plan.root].cumulative_cost


def plans_of_shapes(text: str, models: Models, wanted: Callable[[Shape], bool]) -> list[Priced]:
    """The plan of each wanted shape in the memo, cheapest first by the first model.

    Raises:
        LookupError: if a model has no such plan.
    """
    first, *others = models
    by_shape: dict[Shape, PhysicalPlan] = {}
    for plan in _search(text, models[first]).plans.ranked():
        own = shape(plan)
        if wanted(own):
            by_shape.setdefault(own, plan)
    by_form = {form(plan): own for own, plan in by_shape.items()}
    estimates = {own: {first: _estimates(plan)} for own, plan in by_shape.items()}
    for model in others:
        for plan in _search(text, models[model]).plans.ranked():
            match = by_form.get(form(plan))
            if match is not None:
                estimates[match].setdefault(model, _matched(by_shape[match], plan))
    missing = [own for own in by_shape if len(estimates[own]) < len(models)]
    if missing:
        raise LookupError(f"plans without an estimate of each model: {missing}")
    return [Priced(own, plan, estimates[own]) for own, plan in by_shape.items()]


def operator_of(text: str, models: Models, op: str) -> Priced:
    """The cheapest plan with an operator, cut above this operator.

    The root of a query's plan is often a COALESCE, which is not the operator to measure.

    Raises:
        LookupError: if no plan has the operator.
    """
    for plan in plans_of_shapes(text, models, lambda _: True):
        for node in plan.plan.nodes:
            if node.op == op:
                return _cut(plan, node.id)
    raise LookupError(f"no plan of {text!r} has {op}")


def _cut(plan: Priced, root: int) -> Priced:
    """The sub-plan that ends with a node; all nodes before it must be below it."""
    nodes = plan.plan.nodes[: root + 1]
    cut = plan.plan.model_copy(update={"nodes": nodes, "root": root})
    estimates = {model: each[: root + 1] for model, each in plan.estimates.items()}
    return Priced(plan.shape, cut, estimates)


def _search(text: str, model: CostModel) -> SearchResult:
    query = translate(parse(text, "rq"), model.catalog)
    return Optimizer(model).optimize(query)


def _estimates(plan: PhysicalPlan) -> tuple[Estimate, ...]:
    return tuple(node.estimate for node in plan.nodes)


def _matched(plan: PhysicalPlan, priced: PhysicalPlan) -> tuple[Estimate, ...]:
    """The estimates of another model for the nodes of a plan of the same form."""
    by_form = dict(zip(forms(priced), _estimates(priced), strict=True))
    return tuple(by_form[own] for own in forms(plan))
