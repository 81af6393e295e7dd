"""Branch and bound over goals: the cheapest plan of each, in tasks on an explicit stack.

::

    OptimizeGroup ──► OptimizeInputs ──► OptimizeGroup (an input, under a bound)
         ├──► Enforce ──► OptimizeInputs (over the same group, with weaker requirements)
         └──► FinishGoal

A task that needs the result of another one pushes itself, then that one, and runs again after it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import islice
from math import inf

from ..algebra.properties import RequiredProperties
from ..memo import GroupId, Memo, Winner
from ..memo.cheapest import cheapest
from .budget import Budget
from .errors import CannotPlanError
from .events import Events
from .explorer import TASKS_PER_CHECK, Explorer
from .goal_table import GoalTable
from .goals import Alternative, Goal

FEW_INPUTS = 16
"""The most inputs of an alternative whose lower bounds are added up before each input is
optimized; for more inputs the sums would take quadratic time."""


class BranchAndBound:
    """Finds winners of the goals of one search.

    Attributes:
        circular: whether an alternative was left out because it reads an active goal.
    """

    def __init__(
        self,
        explorer: Explorer,
        goals: GoalTable,
        budget: Budget,
        events: Events,
        *,
        prune: bool,
    ) -> None:
        self.memo: Memo = explorer.memo
        self.explorer = explorer
        self.goals = goals
        self.budget = budget
        self.events = events
        self.prune = prune
        self.circular = False
        self._stack: list[Task] = []

    def optimize(self, root: GroupId, required: RequiredProperties) -> Winner | None:
        """The cheapest plan, or the best plan within the time; None if the time was too short.

        Raises:
            CannotPlanError: if nothing computes the root.
        """
        while True:
            self.goals.coster.stale = False
            self.circular = False
            goal = self.goals.goal(root, required)
            self.push(OptimizeGroup(goal, inf))
            self._run()
            if self.budget.cut:
                return self.goals.goal(root, required).best
            if not self.goals.coster.stale:
                break
            # Groups changed after they were costed: the memo is explored, only costs are redone.
            self.goals.forget()
        if self.circular:
            self._settle(goal)
        if goal.best is None and not self.budget.cut:
            raise CannotPlanError(f"nothing computes G{self.memo.find(root)} {goal.required}")
        return goal.best

    def optimize_any(
        self, root: GroupId, acceptable: tuple[RequiredProperties, ...]
    ) -> RequiredProperties | None:
        """The acceptable properties under which the root has its cheapest plan.

        Raises:
            CannotPlanError: if nothing computes the root under any of them.
        """
        best: dict[RequiredProperties, Winner] = {}
        # A later search may find groups equal, and forget what an earlier one has costed.
        while len(best) < len(acceptable) and not self.budget.cut:
            for required in acceptable:
                self.optimize(root, required)
            goals = [self.goals.goal(root, required) for required in acceptable]
            best = {goal.required: goal.best for goal in goals if goal.best is not None}
        return min(best, key=lambda required: best[required].cost, default=None)

    def push(self, task: Task) -> None:
        """Puts a task on the stack."""
        self._stack.append(task)

    def _run(self) -> None:
        stack, budget, count = self._stack, self.budget, 0
        while stack and not budget.cut:
            stack.pop().run(self)
            count += 1
            if count % TASKS_PER_CHECK == 0:
                budget.ends_search()
        stack.clear()

    def _settle(self, root: Goal) -> None:
        """Costs every goal below the root again, where groups read each other in a circle.

        Branch and bound leaves out an alternative that reads an active goal, so it may finish goals
        without their cheapest plan. This method collects all alternatives of all goals below the
        root, unpruned. :func:`headrace.memo.cheapest.cheapest` settles the goals in the order of
        their costs: each winner reads goals that were settled before it, so no plan reads itself.
        A winner stays unless another alternative is cheaper.
        """
        goals = [root]
        alternatives: dict[Goal, list[Alternative]] = {}
        for goal in goals:
            if goal in alternatives:
                continue
            if self.budget.ends_search():
                return
            alternatives[goal] = list(self.goals.alternatives(goal))
            goals.extend(below for _, inputs in alternatives[goal] for below in inputs)
        priced = {
            goal: [(choice.local, inputs) for choice, inputs in choices]
            for goal, choices in alternatives.items()
        }
        for settled in cheapest(priced):
            if self.budget.ends_search():
                return
            goal = settled.goal
            assert settled.alternative is not None
            if goal.best is None or settled.cost < goal.best.cost:
                choice, inputs = alternatives[goal][settled.alternative]
                self.goals.set_winner(goal, choice, inputs, settled.cost)
            goal.done = True


class Task(ABC):
    """One step of branch and bound."""

    __slots__ = ()

    @abstractmethod
    def run(self, search: BranchAndBound) -> None:
        """Does the step; may push further tasks."""


@dataclass(slots=True)
class OptimizeGroup(Task):
    """Finds the cheapest plan for a goal that costs at most ``limit``."""

    goal: Goal
    limit: float

    def run(self, search: BranchAndBound) -> None:
        """Explores the group, then tries every alternative, cheap ones first."""
        goal = self.goal
        if goal.done or goal.active or goal.failed >= self.limit:
            return
        group = search.memo.group(goal.group)
        if not group.explored and not search.budget.exploration_over:
            search.explorer.explore(group.id)
            if search.budget.cut:
                return
        goal.active = True
        goal.limit = self.limit
        search.push(FinishGoal(goal))
        search.push(Enforce(goal))
        for alternative in reversed(search.goals.physical_alternatives(goal)):
            search.push(OptimizeInputs(goal, alternative))


@dataclass(slots=True)
class Enforce(Task):
    """Tries the enforcers that close the gap to the goal's requirements."""

    goal: Goal

    def run(self, search: BranchAndBound) -> None:
        """Each enforcer reads a weaker goal of the same group, so it never feeds itself."""
        for alternative in search.goals.enforced_alternatives(self.goal):
            search.push(OptimizeInputs(self.goal, alternative))


class OptimizeInputs(Task):
    """Adds up the cost of one alternative; optimizes its inputs under the remaining bound."""

    __slots__ = ("alternative", "goal", "priced", "total")

    def __init__(self, goal: Goal, alternative: Alternative) -> None:
        self.goal = goal
        self.alternative = alternative
        # The number of first inputs with plans, and the cost including them, so that a later run of
        # the task does not add them up again.
        self.priced = 0
        self.total = alternative.choice.local

    def run(self, search: BranchAndBound) -> None:
        """Adds costs in the order of the inputs, as everywhere: equal plans have equal sums."""
        goal, prune = self.goal, search.prune
        choice, inputs = self.alternative
        limit = goal.limit if prune else inf
        best = inf if goal.best is None else goal.best.cost
        total = self.total
        missing: Goal | None = None
        for below in islice(inputs, self.priced, None):
            if below.done and below.best is not None:
                total += below.best.cost
                if missing is None:
                    self.priced, self.total = self.priced + 1, total
            elif below.active:
                search.circular = True
                return
            else:
                total += max(below.failed, 0.0)
                missing = missing or below
            # Floating-point addition is monotone, so an alternative pruned here could not have won.
            if total == inf or (prune and (total > limit or total >= best)):
                search.events.pruned(goal, self.alternative, total, min(limit, best))
                return
            if missing is not None and len(inputs) > FEW_INPUTS:
                break
        if missing is None:
            # A choice without inputs has not been compared with the limit yet.
            if total < best and not (prune and total > limit):
                search.goals.set_winner(goal, choice, inputs, total)
            else:
                search.events.pruned(goal, self.alternative, total, min(limit, best))
            return
        allowed = inf
        if prune and min(limit, best) < inf:
            bound = min(limit, best)
            others = total - max(missing.failed, 0.0)
            allowed = max(bound - others, 0.0) + bound * 1e-9  # rounding must not cut a winner
        if missing.failed >= allowed:
            search.events.pruned(goal, self.alternative, total, min(limit, best))
            return
        search.push(self)
        search.push(OptimizeGroup(missing, allowed))


@dataclass(slots=True)
class FinishGoal(Task):
    """Marks a goal as solved, or as failed under its cost bound."""

    goal: Goal

    def run(self, search: BranchAndBound) -> None:
        """A plan within the bound is the cheapest of all; without one the goal keeps the bound."""
        goal = self.goal
        goal.active = False
        if goal.best is not None:
            goal.done = True
        else:
            goal.failed = max(goal.failed, goal.limit)
