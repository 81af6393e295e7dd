"""The optimizer: from a canonical query to the result of its search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from ..algebra.deadline import Deadline
from ..algebra.logical import LogicalQuery
from ..algebra.plan_parts import PlanStream
from ..algebra.properties import RequiredProperties
from ..memo import GroupId, MemoError
from ..rules.multiway_rules import PatternToMultiway
from ..rules.registry import enabled_rules, idle_rules, normalization_rules
from .as_written import KeptAsWritten, as_written, error_of_difference, kept_as_written
from .canonical import CanonicalPlans
from .cost import CostEstimator
from .entry import Entry
from .events import Listener
from .extraction import winning_plan
from .goals import Goal
from .greedy import StartOrder
from .normalization import absent_operators, has_cycle, normalized
from .options import Options
from .physical_properties import answers, hashable_columns
from .plans import Plans
from .query_atoms import query_atoms
from .result import SearchResult, SearchSpace
from .search import Search
from .selection import Chosen, chosen
from .sharing import least_shared
from .steps import Step, plan_of, shared_cost
from .trace import Recorder, Tracing


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
    ) -> SearchResult:
        """The cheapest plan of a canonical query, or the plan as written within the margin.

        The options say which cost is minimised.

        Args:
            query: the query.
            streams: the streams that the plan declares.
            time_unit: the unit of costs and rates.
            listeners: receive each event of the search.
            trace: whether the result has a trace, or the limits of the trace.
            cancelled: polled during the search; once it returns true, the search returns the best
                complete plan so far.
            deadline: a deadline that began earlier; replaces ``cancelled`` and the options'
                ``budget_ms``.

        Raises:
            algebra.predicate_syntax.PredicateError: for a predicate that is not allowed.
            rules.registry.UnknownRuleError: if the options disable a rule that does not exist.
            optimizer.CannotPlanError: if no physical operators compute the query.
            algebra.deadline.OutOfTimeError: if the time is over before there is any plan.
        """
        options = self._options
        if deadline is None:
            deadline = Deadline(options.budget_ms, cancelled)
        rules = enabled_rules(options.disabled_rules)
        before = [r for r in normalization_rules() if r.name not in options.disabled_rules]
        expression = normalized(query.expression, rules, deadline, before=before)
        retractions = options.evaluate_every is None  # per slide, none are read
        idle = idle_rules(
            absent_operators(expression),
            cycles=has_cycle(expression),
            partitions=options.parallelism > 1 and retractions,
            retractions=retractions,
        )
        options = replace(options, disabled_rules=options.disabled_rules | idle)
        recorder = Recorder(Tracing() if trace is True else trace) if trace else None
        if recorder is not None:
            listeners = (*listeners, recorder)
        search = Search(self._cost_model, options, listeners, deadline)
        memo, budget = search.memo, search.budget
        canonical = CanonicalPlans(
            self._cost_model, options.parallelism, options.simple_budget, deadline
        ).plan(query.expression)
        order = StartOrder(search.coster, options, budget)
        at_once = PatternToMultiway.name not in self._options.disabled_rules
        entry = Entry(memo, search.algebra.flat, order, deadline, at_once=at_once)
        root = entry.insert(expression)
        acceptable = answers(hashable_columns(expression), options.parallelism)
        if order.has_many_joins:
            search.explore_while_it_gains(root, acceptable)
        best, kept, physical_expressions = _chosen(
            search, root, acceptable, canonical, reordered=order.reordered
        )
        space = SearchSpace(memo, search.goals)
        if options.check:
            memo.check(None if budget.cut else space.alternatives)
            delivers = best.plan.delivers
            if best.required is not None and not best.required.satisfied_by(delivers):
                raise MemoError(f"the plan delivers {delivers}, not {best.required}")
        document = partial(
            plan_of,
            columns=query.columns,
            streams=streams,
            time_unit=time_unit,
            parallelism=options.parallelism,
            semantics=query.semantics,
            evaluate_every=options.evaluate_every,
            query=query_atoms(query),
        )
        return SearchResult(
            plan=document(best.plan),
            best=best.plan,
            required=best.required,
            canonical_plan=document(canonical),
            canonical_cost=canonical.cost,
            canonical_shared_cost=shared_cost(canonical),
            memo=memo,
            root=memo.find(root),
            space=space,
            physical_expressions=physical_expressions,
            stop_reason=budget.stop_reason,
            circular=search.branch_and_bound.circular,
            optimize_ms=budget.elapsed_ms(),
            rules=search.rules.statistics,
            plans=Plans(search.explorer, search.coster, budget, root, document),
            shared_costs=options.shared_costs,
            winners=best.winners,
            kept_as_written=kept,
            trace=None if recorder is None else recorder.trace,
        )


def _chosen(
    search: Search,
    root: GroupId,
    acceptable: tuple[RequiredProperties, ...],
    canonical: Step,
    *,
    reordered: bool,
) -> tuple[Chosen, KeptAsWritten | None, int]:
    """The plan that a search chooses, why it is the one as written, and the size of the search.

    A search that was cut, or that began with joins in another order than they were written
    (``reordered``), may know only plans that cost more than the ``canonical`` one, which is then
    chosen. A complete search compares the plan as written by the estimates of the memo instead,
    which may differ from those of the canonical plan. The size is the number of physical operators
    over groups that branch and bound priced.
    """
    cost = shared_cost if search.options.shared_costs else attrgetter("cost")
    # The plan to return if the time ends before the explored expressions are costed.
    interruptible = search.budget.interruptible
    plans = [Chosen(search.start_plan(root, acceptable), None)] if interruptible else []
    required = search.branch_and_bound.optimize_any(root, acceptable)
    physical_expressions = search.coster.choices_priced
    kept: KeptAsWritten | None = None
    if required is not None:
        plans.insert(0, Chosen(winning_plan(search.coster, root, required), required))
    if not search.budget.cut:
        roots = [search.goals.goal(root, properties) for properties in acceptable]
        best, kept = _of_least_cost(search, roots, plans[0], cost, reordered=reordered)
        plans = [best]
    best = min(plans, key=lambda one: cost(one.plan))
    only_some = search.budget.cut or reordered
    if only_some and cost(canonical) < cost(best.plan) * (1 - 1e-9):  # ignore rounding errors
        best, kept = Chosen(canonical, None), None
    return best, kept, physical_expressions


def _of_least_cost(
    search: Search,
    roots: list[Goal],
    best: Chosen,
    cost: Callable[[Step], float],
    *,
    reordered: bool,
) -> tuple[Chosen, KeptAsWritten | None]:
    """The plan of the least cost after a whole search, or the plan as written within the margin.

    Args:
        search: the search.
        roots: the goals that the plan may have for its root.
        best: the plan of the cheapest tree.
        cost: the cost that the search minimises, per time unit.
        reordered: whether the memo does not have the joins as written.
    """
    options, goals = search.options, search.goals
    if options.shared_costs:
        selection = least_shared(goals, roots, search.budget.out_of_time)
        if selection is not None:
            # Within the error of the model, the plan with the cheaper tree depends less on sharing.
            shared = chosen(search.coster, selection)
            error = error_of_difference(shared.plan, best.plan, options.margin)
            if cost(shared.plan) < cost(best.plan) * (1 - 1e-9) - error:
                best = shared
    if options.margin and not reordered:
        written = as_written(search.memo, goals, roots)
        if written is not None:
            instead = kept_as_written(goals, written, best.plan, options.margin, cost)
            if instead is not None:
                return instead
    return best, None
