"""All complete plans of a memo: counted exactly, ranked by cost, sampled uniformly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from random import Random

from ..algebra.plan import PhysicalPlan
from ..memo import GroupExpression, GroupId, PlanSpace, PlanTree
from .coster import Coster
from .explorer import Explorer
from .extraction import plan_of_tree
from .goals import Choice
from .plan_space import PlanGoal, different_space, logical_space, physical_space
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
        check: Callable[[], None],
        root: GroupId,
        document: Callable[[Step], PhysicalPlan],
        *,
        folded: bool = False,
    ) -> None:
        """Plans of the group ``root``.

        ``check`` raises an error that ends the work; ``document`` makes the plan of steps. With
        ``folded`` mirror images and equal-cost duplicates are one plan.
        """
        self._explorer = explorer
        self._memo = explorer.memo
        self._coster = coster
        self._check = check
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
            self._check,
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

    @cached_property
    def logical(self) -> PlanSpace[GroupId, GroupExpression]:
        """The space of logical plans."""
        self._explorer.explore_everything()
        return logical_space(self._memo, self._check)

    @cached_property
    def _physical(self) -> PlanSpace[PlanGoal, Choice]:
        self._explorer.explore_everything()
        space = different_space if self._folded else physical_space
        return space(self._coster, self._check)

    @property
    def _goal(self) -> PlanGoal:
        return PlanGoal(self._memo.find(self._root), coalesced=True)

    def step(self, tree: PlanTree[PlanGoal, Choice]) -> Step:
        """The plan of a tree as steps."""
        return plan_of_tree(self._coster, tree)

    def _document(self, tree: PlanTree[PlanGoal, Choice]) -> PhysicalPlan:
        return self._document_of(self.step(tree))
