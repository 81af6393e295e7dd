"""The canonical plan: the query as written, before any rule.

Joins are left-deep in their written order, and each keeps the variables that are needed above. Each
path is one automaton. The answer is coalesced, and all rows are on one partition. The plan is
estimated from its own operators; chosen plans are compared with it.
"""

from __future__ import annotations

from ..algebra.deadline import NO_DEADLINE, WITHOUT_PLAN, Deadline
from ..algebra.limits import DEFAULT_STEPS
from ..algebra.logical import (
    Filter,
    LogicalExpression,
    LogicalOperator,
    Path,
    Pattern,
    Project,
    Shortest,
    Trail,
    Union,
)
from ..algebra.physical import (
    Coalesce,
    Exchange,
    PhysicalOperator,
    Retract,
    ToKernel,
)
from ..algebra.properties import SINGLE, Convention, DeliveredProperties, UpdatePattern
from ..costmodel.characteristics import Characteristics
from ..rules.registry import implementations_by_operator
from .cost import CostEstimator
from .emission import emits, emitted
from .errors import CannotPlanError
from .goals import Costed
from .physical_properties import delivered
from .placements import Place
from .steps import Step


class CanonicalPlans:
    """Builds canonical plans under one cost model; equal sub-expressions are built once."""

    def __init__(
        self,
        cost_model: CostEstimator,
        parallelism: int = 1,
        simple_budget: int = DEFAULT_STEPS,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._deadline = deadline
        self._cost_model = cost_model
        self._parallelism = parallelism
        self._rules = implementations_by_operator(simple_budget=simple_budget)
        self._steps: dict[LogicalExpression, Step] = {}

    def plan(self, expression: LogicalExpression) -> Step:
        """The canonical plan of an expression.

        Raises:
            CannotPlanError: if no physical operator computes one of its operators.
            algebra.deadline.OutOfTimeError: if the time is over.
        """
        pending = [expression]
        while pending:
            current = pending[-1]
            missing = [part for part in current.inputs if part not in self._steps]
            if current in self._steps:
                pending.pop()
            elif missing:
                pending.extend(reversed(missing))
            else:
                inputs = tuple(self._steps[part] for part in current.inputs)
                self._steps[current] = self._build(current.operator, inputs)
                pending.pop()
        root = self._on_one_kernel(self._steps[expression])
        return root if root.delivers.coalesced else self._coalesced(root)

    def _build(self, operator: LogicalOperator, inputs: tuple[Step, ...]) -> Step:
        match operator:
            case Pattern():
                return self._left_deep(operator, inputs)
            case Union():
                done = inputs[0]
                for other in inputs[1:]:
                    done = self._step(operator, (done, other))
                return done
            case Path() | Shortest() | Trail():
                form, used = operator.canonical(tuple(range(len(inputs))))
                return self._step(form, tuple(inputs[k] for k in used))
            case _:
                return self._step(operator, inputs)

    def _left_deep(self, pattern: Pattern, inputs: tuple[Step, ...]) -> Step:
        done, bound = inputs[0], pattern.bindings[0]
        if len(inputs) == 1:
            columns = tuple(bound.index(v) for v in pattern.output)
            return self._step(Project(columns), (done,))
        for k in range(1, len(inputs)):
            binding = pattern.bindings[k]
            if k == len(inputs) - 1:
                kept = pattern.output
            else:
                needed = set(pattern.output).union(*pattern.bindings[k + 1 :])
                kept = tuple(v for v in dict.fromkeys((*bound, *binding)) if v in needed)
            operator, _ = Pattern((bound, binding), kept, pattern.names).canonical((0, 1))
            done, bound = self._step(operator, (done, inputs[k])), kept
        return done

    def _step(self, operator: LogicalOperator, inputs: tuple[Step, ...]) -> Step:
        self._deadline.check("the plan of the query as written was costed", WITHOUT_PLAN)
        is_sql = isinstance(operator, Filter) and operator.predicate.in_sql
        if not is_sql or _marked(inputs[0]):
            inputs = tuple(map(self._on_one_kernel, inputs))
        below = tuple(step.estimate for step in inputs)
        estimate = self._cost_model.characteristics(operator, below)
        implemented = (p for rule in self._rules[type(operator)] for p in rule.implement(operator))
        physical = next(implemented, None)
        if physical is None:
            raise CannotPlanError(f"nothing computes {operator}")
        if any(map(_deletes, inputs)):
            physical = physical.over_deletions()
            if physical.ends_deletions:
                inputs = tuple(
                    [
                        step if physical.reads_every_row(k) else self._coalesced(step)
                        for k, step in enumerate(inputs)
                    ]
                )
        return self._priced(physical, inputs, estimate)

    def _coalesced(self, root: Step) -> Step:
        coalesce = Coalesce().over_deletions() if _deletes(root) else Coalesce()
        return self._priced(coalesce, (root,), root.estimate)

    def _on_one_kernel(self, step: Step) -> Step:
        """Hands rows of Spark SQL to a kernel on one partition, deletions as negative tuples."""
        if step.delivers.convention is Convention.SPARK_SQL:
            step = self._priced(ToKernel(), (step,), step.estimate)
        if step.delivers.distribution != SINGLE:
            step = self._priced(Exchange("single"), (step,), step.estimate)
        if _marked(step):
            step = self._priced(Retract(), (step,), step.estimate)
        return step

    def _priced(
        self, operator: PhysicalOperator, inputs: tuple[Step, ...], estimate: Characteristics
    ) -> Step:
        widths = tuple(len(step.estimate.distinct) for step in inputs)
        below = tuple(step.delivers for step in inputs)
        delivers = delivered(operator, widths, below, self._parallelism)
        output, read = emitted(
            operator,
            estimate,
            tuple([step.estimate for step in inputs]),
            tuple([step.delivers.coalesced for step in inputs]),
            widths,
        )
        costed = Costed(self._share(output, delivers), tuple(map(self._share, read, below)))
        local = self._cost_model.cost(operator, *costed)
        cost = sum([step.cost for step in inputs], local)
        emitting = [(step.estimate, step.emits) for step in inputs]
        emission = emits(operator, estimate, emitting, widths)
        saved = self._cost_model.saved(operator, *costed)
        return Step(
            operator, inputs, estimate, local, cost, delivers, emission, costed, saved=saved
        )

    def _share(self, rows: Characteristics, delivers: DeliveredProperties) -> Characteristics:
        """The rows on the busiest partition."""
        return rows.share(Place(delivers.distribution).divided(self._parallelism))


def _marked(step: Step) -> bool:
    return step.delivers.update_pattern is UpdatePattern.MARKED


def _deletes(step: Step) -> bool:
    return step.delivers.update_pattern is UpdatePattern.WITH_DELETIONS
