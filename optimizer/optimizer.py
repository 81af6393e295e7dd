"""The optimizer: wires the memo, the rules, the cost model and the search together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..algebra.deadline import Deadline
from ..algebra.logical import LogicalQuery
from ..algebra.plan import PhysicalPlan, PlanStream
from ..algebra.properties import RequiredProperties
from ..memo import GroupId, Memo, MemoError
from ..rules.registry import enabled_rules, idle_rules
from .budget import StopReason
from .canonical import CanonicalPlans
from .cost import CostEstimator
from .entry import Entry
from .events import Listener, RuleStatistics
from .extraction import winning_plan
from .greedy import start_order
from .normalization import absent_operators, normalized
from .options import Options
from .physical_properties import answers, hashable_columns
from .plans import Plans
from .search import Search
from .steps import Step, plan_of, shared_cost
from .trace import Recorder, Trace, Tracing


@dataclass(frozen=True)
class Optimization:
    """The outcome of a search.

    ``best`` are the steps of the chosen plan, found for the root under ``required`` (None if
    it is the one that the search started from). ``cost`` is its tree cost, ``shared_cost``
    that with shared sub-plans counted once, ``canonical_cost`` the tree cost of
    ``canonical_plan``, the query as written. ``rules`` are statistics by rule name. ``root``
    is the memo's group of the whole query. ``trace`` is how the search went, if asked for.
    """

    plan: PhysicalPlan
    best: Step
    required: RequiredProperties | None
    cost: float
    shared_cost: float
    canonical_plan: PhysicalPlan
    canonical_cost: float
    memo: Memo
    root: GroupId
    physical_expressions: int
    stop_reason: StopReason
    optimize_ms: float
    rules: Mapping[str, RuleStatistics]
    plans: Plans
    search: Search
    trace: Trace | None = None


class Optimizer:
    """Finds the cheapest plan of a query under a cost model and options."""

    def __init__(self, cost_model: CostEstimator, options: Options | None = None) -> None:
        self._cost_model = cost_model
        self._options = options or Options()

    def optimize(
        self,
        query: LogicalQuery,
        streams: tuple[PlanStream, ...] = (),
        time_unit: str = "second",
        listeners: Sequence[Listener] = (),
        *,
        trace: bool | Tracing = False,
        cancelled: Callable[[], bool] | None = None,
        deadline: Deadline | None = None,
    ) -> Optimization:
        """The cheapest plan of a canonical query.

        ``streams`` go into the plan as they are; costs are per ``time_unit``. With
        a ``trace`` the outcome says what each step of the search did. ``cancelled`` is asked
        often; once it says so the best complete plan found until then is returned. A ``deadline``
        that began earlier takes the place of it and of the options' ``budget_ms``.

        Raises:
            algebra.predicate.PredicateError: for a predicate that is not allowed.
            rules.registry.UnknownRuleError: if a rule is to be disabled that does not exist.
            optimizer.CannotPlanError: if nothing computes the query.
            algebra.deadline.OutOfTimeError: if there is no time to come to any plan.
        """
        options = self._options
        if deadline is None:
            deadline = Deadline(options.budget_ms, cancelled)
        rules = enabled_rules(options.disabled_rules)
        expression = normalized(query.expression, rules, deadline)
        idle = idle_rules(absent_operators(expression))
        options = replace(options, disabled_rules=options.disabled_rules | idle)
        search = Search(self._cost_model, options, listeners, deadline)
        recorder = None
        if trace:
            recorder = Recorder(search.memo, Tracing() if trace is True else trace)
            search.listeners = (*search.listeners, recorder)
        parallelism = options.parallelism
        canonical = CanonicalPlans(
            self._cost_model, parallelism, options.simple_budget, deadline
        ).plan(query.expression)
        entry = Entry(search.memo, search.side.flat, start_order(search), deadline)
        root = entry.insert(expression)
        acceptable = answers(hashable_columns(expression), parallelism)
        known: list[tuple[Step, RequiredProperties | None]] = []
        if search.budget.interruptible:
            # What is left to return if there is no time to cost what exploring finds.
            start = search.optimize_unexplored(root, acceptable)
            known.append((winning_plan(search, root, start), None))
            search.forget_costs()
        if (found := search.optimize_any(root, acceptable)) is not None:
            known.insert(0, (winning_plan(search, root, found), found))
        best, required = min(known, key=lambda plan: plan[0].cost)
        if self._options.check:
            search.memo.check(None if search.cut else search.alternatives)
            if required is not None and not required.satisfied_by(best.delivers):
                raise MemoError(f"the plan delivers {best.delivers}, not {required}")
        made = partial(
            plan_of,
            columns=query.columns,
            streams=streams,
            time_unit=time_unit,
            parallelism=parallelism,
            semantics=query.semantics,
            evaluate_every=options.evaluate_every,
        )
        return Optimization(
            plan=made(best),
            best=best,
            required=required,
            cost=best.cost,
            shared_cost=shared_cost(best),
            canonical_plan=made(canonical),
            canonical_cost=canonical.cost,
            memo=search.memo,
            root=search.memo.find(root),
            physical_expressions=search.physical_expressions,
            stop_reason=search.budget.stop_reason,
            optimize_ms=search.budget.elapsed_ms(),
            rules={e.rule.name: e.statistics for e in search.entries},
            plans=Plans(search, root, made),
            search=search,
            trace=None if recorder is None else recorder.trace,
        )
