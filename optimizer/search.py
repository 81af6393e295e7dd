"""One search: its parts, each built over earlier parts, so that calls go one way.

::

    BranchAndBound ──► GoalTable ──► Coster ───────► AlgebraOperators ──► Groups
          │                │                               ▲                 ▲
          │                └───► Events                    │                 │
          └──► Explorer ───────► Agenda ──► RuleTable      └───── Memo ──────┘

The memo tells its listeners of each change: the flattened forms and time bounds of the algebra, the
coster, the events and the agenda. None of them calls the memo back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.deadline import NO_DEADLINE, Deadline
from ..algebra.properties import RequiredProperties
from ..memo import GroupId, Groups, Memo
from ..rules.rule import Context
from .agenda import Agenda
from .algebra_operators import AlgebraOperators
from .branch_and_bound import BranchAndBound
from .budget import Budget
from .composed_paths import ComposedPaths
from .cost import CostEstimator
from .coster import Coster
from .events import Events, Listener
from .explorer import Explorer
from .extraction import winning_plan
from .goal_table import GoalTable
from .intermediates import LargeIntermediates
from .options import Options
from .rule_table import RuleTable
from .steps import Step

FIRST = 500
"""The expressions after which a search that cannot be complete compares its plans first."""
LEAST_GAIN = 0.01
"""The part of a cost by which a plan has to be cheaper for the search to go on."""
DIVIDED = 0.5
"""The part of the time in which plans are compared; the comparison takes time too."""


class Search:
    """The parts of one search; ``branch_and_bound`` finds winners."""

    def __init__(
        self,
        cost_model: CostEstimator,
        options: Options,
        listeners: Sequence[Listener] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self.options = options
        groups = Groups()
        self.algebra = AlgebraOperators(
            groups,
            paths_of_labels="PathOfLabel" not in options.disabled_rules,
            late=options.evaluate_every or 0,
        )
        flat = self.algebra.flat
        self.rules = RuleTable(options)
        self.budget = Budget(options, deadline)
        self.events = Events(listeners)
        self.coster = Coster(groups, self.algebra, cost_model.for_search(), options)
        agenda = Agenda(groups, self.rules)
        self.memo = Memo(
            groups, self.algebra, (flat, self.algebra.times, self.coster, self.events, agenda)
        )
        context = Context(
            self.memo,
            flat,
            cross_products=options.cross_products,
            duplicate_free=options.duplicate_free,
            composition=ComposedPaths(self.coster) if options.prune else None,
            has_mirror_images=options.duplicate_free
            and "PatternCommute" not in options.disabled_rules,
            intermediates=LargeIntermediates(self.coster) if options.prune else None,
        )
        self.explorer = Explorer(context, agenda, self.budget, self.events)
        self.goals = GoalTable(self.coster, self.events)
        self.branch_and_bound = BranchAndBound(
            self.explorer, self.goals, self.budget, self.events, prune=options.prune
        )

    def explore_while_it_gains(
        self, root: GroupId, acceptable: tuple[RequiredProperties, ...]
    ) -> None:
        """Explores a group until a doubling of the memo brings no cheaper plan.

        The reason is then ``no_gain``. With a bound of time, its second half is not divided.

        Raises:
            CannotPlanError: if nothing computes the root.
        """
        most, cost = FIRST, self.start_plan(root, acceptable).cost
        while not self.explorer.explore(root, most):
            if self.budget.has_passed(DIVIDED):
                return
            before, cost = cost, self.start_plan(root, acceptable).cost
            if cost > before * (1 - LEAST_GAIN):
                self.explorer.stop()
                self.budget.end_exploration("no_gain")
                return
            most *= 2

    def start_plan(self, root: GroupId, acceptable: tuple[RequiredProperties, ...]) -> Step:
        """The cheapest plan of the memo as it is, without exploration and without a time limit.

        All costs are forgotten afterwards.

        Raises:
            CannotPlanError: if nothing computes the root.
        """
        unbounded = Budget(self.options, NO_DEADLINE)
        unbounded.exploration_over = True
        silent = Events()
        goals = GoalTable(self.coster, silent)
        solver = BranchAndBound(self.explorer, goals, unbounded, silent, prune=self.options.prune)
        required = solver.optimize_any(root, acceptable)
        assert required is not None  # nothing cuts this search
        plan = winning_plan(self.coster, root, required)
        self.goals.forget()
        return plan
