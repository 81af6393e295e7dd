"""All complete plans of a memo: counted exactly, ranked by cost, sampled uniformly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from random import Random

from ..algebra.plan import PhysicalPlan
from ..memo import GroupExpression, GroupId, PlanSpace, PlanTree
from .budget import Budget
from .coster import Coster
from .errors import SearchCancelledError
from .explorer import Explorer
from .extraction import plan_of_tree
from .goals import Choice
from .listing import ListingStop, OnProgress, PlanListing, Watch
from .plan_space import PlanGoal, different_space, logical_space, physical_space, spaces
from .steps import Step


class Plans:
    """The complete plans of one search.

    The first call of a method explores the groups that the search left out, within the budget of
    expressions, which adds to the memo of the search. ``different`` are the same plans without
    mirror images and equal-cost duplicates. Every method raises
    :class:`headrace.optimizer.errors.SearchCancelledError` once the search is cancelled.
    """

    def __init__(
        self,
        explorer: Explorer,
        coster: Coster,
        budget: Budget,
        root: GroupId,
        document: Callable[[Step], PhysicalPlan],
        *,
        folded: bool = False,
    ) -> None:
        """Plans of the group ``root``.

        ``budget`` bounds the work; ``document`` makes the plan of steps. With
        ``folded`` mirror images and equal-cost duplicates are one plan.
        """
        self._explorer = explorer
        self._memo = explorer.memo
        self._coster = coster
        self._budget = budget
        self._root = root
        self._document_of = document
        self._folded = folded

    @cached_property
    def count(self) -> int:
        """The exact number of complete physical plans."""
        return self._physical.count(self._goal)

    @cached_property
    def different(self) -> Plans:
        """The plans, of which mirror images and equal-cost duplicates are one."""
        return Plans(
            self._explorer,
            self._coster,
            self._budget,
            self._root,
            self._document_of,
            folded=True,
        )

    @cached_property
    def logical_count(self) -> int:
        """The exact number of complete logical plans."""
        return self.logical.count(self._memo.find(self._root))

    def ranked(self) -> Iterator[PhysicalPlan]:
        """All plans, cheapest first."""
        return (self._document(tree) for tree in self._physical.ranked(self._goal))

    def sample(self, size: int, seed: int) -> list[PhysicalPlan]:
        """Plans drawn uniformly and independently."""
        drawn = self._physical.sample(self._goal, size, Random(seed))
        return [self._document(tree) for tree in drawn]

    def unrank(self, number: int) -> PhysicalPlan:
        """The plan of a number from 0 to ``count - 1``, in no particular order.

        Raises:
            IndexError: for another number.
        """
        return self._document(self._physical.unrank(self._goal, number))

    def listed(
        self,
        size: int,
        *,
        seed: int | None = None,
        milliseconds: float | None = None,
        progress: OnProgress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> PlanListing:
        """The cheapest different plans, or with a ``seed`` plans drawn from all different ones.

        A listing that is cut, by its time or its caller, has the plans and numbers so far. It never
        raises :class:`headrace.optimizer.errors.SearchCancelledError`.

        Args:
            size: the number of plans; if there are fewer, a ranked list has all.
            seed: the seed of the sample; None to rank.
            milliseconds: the time of the listing; by default as long again as the search was
                allowed.
            progress: receives the progress, at most ten times a second and at each new step.
            cancelled: polled between steps; once it returns true, the listing ends.
        """
        watch = Watch(self._budget.listing(milliseconds, cancelled), progress)
        plans: list[PhysicalPlan] = []
        total = different = bound = None
        stop_reason: ListingStop = "complete"
        try:
            watch.begins("exploring")
            self._explorer.explore_everything(watch.check)
            watch.check()
            every, folded = spaces(self._coster, watch.check)
            watch.begins("pricing")
            folded.prepare(self._goal)
            if seed is None:
                watch.begins("ranking")
                for tree in islice(folded.ranked(self._goal), size):
                    plans.append(self._document(tree))
                    bound = tree.cost
                    watch.adds(bound)
            watch.begins("counting")
            different = folded.count(self._goal)
            if seed is not None:
                watch.begins("sampling")
                random = Random(seed)
                for _ in range(size if different else 0):
                    number = random.randrange(different)
                    plans.append(self._document(folded.unrank(self._goal, number)))
                    watch.adds(None)
            watch.begins("counting")
            total = every.count(self._goal)
        except SearchCancelledError as error:
            stop_reason = error.reason
        if stop_reason == "complete" and self._budget.listing_cut is not None:
            stop_reason = self._budget.listing_cut
        return PlanListing(
            tuple(plans), seed is None, total, different, bound, stop_reason, watch.seconds
        )

    @cached_property
    def logical(self) -> PlanSpace[GroupId, GroupExpression]:
        """The space of logical plans."""
        self._explorer.explore_everything()
        return logical_space(self._memo, self._budget.check)

    @cached_property
    def _physical(self) -> PlanSpace[PlanGoal, Choice]:
        self._explorer.explore_everything()
        space = different_space if self._folded else physical_space
        return space(self._coster, self._budget.check)

    @property
    def _goal(self) -> PlanGoal:
        return PlanGoal(self._memo.find(self._root), coalesced=True)

    def step(self, tree: PlanTree[PlanGoal, Choice]) -> Step:
        """The plan of a tree as steps."""
        return plan_of_tree(self._coster, tree)

    def _document(self, tree: PlanTree[PlanGoal, Choice]) -> PhysicalPlan:
        return self._document_of(self.step(tree))
