"""Extraction of plans from a memo: the winners below a goal, or any plan of the plan space.

Plans are walked by hand: importing networkx would take longer than most searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..algebra.properties import DeliveredProperties, RequiredProperties
from ..memo import Group, GroupId, PlanTree, Winner
from ..memo.deep import Work, finished
from .coster import Coster
from .emission import emits
from .errors import CannotPlanError
from .goals import Choice, GoalKey
from .plan_space import PlanGoal
from .steps import Step


def winning_plan(
    coster: Coster,
    root: GroupId,
    required: RequiredProperties,
    winners: Mapping[GoalKey, Winner] | None = None,
) -> Step:
    """The plan of the winners below a goal: of ``winners``, or of those in the memo.

    Raises:
        CannotPlanError: if a goal has no winner, or winners read each other in a circle; the
            message names the groups that lead to it.
    """
    steps: dict[GoalKey, Step] = {}
    start: GoalKey = (coster.groups.find(root), required)
    # The goals from the root down to the current one, each with its unread inputs.
    path: dict[GoalKey, _Opened] = {}
    _open(coster, start, path, winners)
    while path:
        key, opened = next(reversed(path.items()))
        following = next((goal for goal in opened.missing if goal not in steps), None)
        if following is None:
            inputs = tuple(steps[goal] for goal in opened.below)
            steps[key] = _step(coster, key[0], opened.winner, inputs)
            del path[key]
        elif following in path:
            raise CannotPlanError(f"a plan reads itself: {_chain([*path, following])}")
        else:
            _open(coster, following, path, winners)
    return steps[start]


@dataclass(frozen=True, slots=True)
class _Opened:
    """A goal whose plan is being read: its winner, the goals below, and those not yet read."""

    winner: Winner
    below: tuple[GoalKey, ...]
    missing: Iterator[GoalKey]


def _open(
    coster: Coster,
    key: GoalKey,
    path: dict[GoalKey, _Opened],
    winners: Mapping[GoalKey, Winner] | None,
) -> None:
    of_memo = coster.groups[key[0]].winners
    winner = of_memo.get(key[1]) if winners is None else winners.get(key)
    if winner is None:
        raise CannotPlanError(f"G{key[0]} has no plan for {key[1]}: {_chain([*path, key])}")
    below = tuple(_goal_key(coster, goal) for goal in winner.inputs)
    path[key] = _Opened(winner, below, iter(below))


def delivered_by_winners(coster: Coster) -> dict[GoalKey, DeliveredProperties]:
    """The delivered properties of each winner whose inputs have winners too."""
    goals = {goal: winner for g in coster.groups for goal, winner in _winners(g)}
    delivered: dict[GoalKey, DeliveredProperties] = {}
    begun: set[GoalKey] = set()
    pending = list(goals)
    while pending:
        key = pending[-1]
        winner = goals.get(key)
        if key in delivered or winner is None:
            pending.pop()
            continue
        below = [_goal_key(coster, goal) for goal in winner.inputs]
        missing = [goal for goal in below if goal not in delivered]
        if missing and key not in begun:
            begun.add(key)
            pending += missing
            continue
        pending.pop()
        if not missing:
            choice = winner.choice
            assert isinstance(choice, Choice)
            inputs = tuple(delivered[goal] for goal in below)
            delivered[key] = coster.delivered(choice, inputs)
    return delivered


def plan_of_tree(coster: Coster, tree: PlanTree[PlanGoal, Choice]) -> Step:
    """The plan that a tree of the plan space chooses."""
    return finished(_step_of_tree(coster, tree))


def _step_of_tree(coster: Coster, tree: PlanTree[PlanGoal, Choice]) -> Work[Step]:
    inputs = []
    for below in tree.inputs:
        inputs.append((yield _step_of_tree(coster, below)))
    return chosen_step(coster, tree.goal.group, tree.choice, tuple(inputs))


def chosen_step(coster: Coster, group: GroupId, choice: Choice, inputs: tuple[Step, ...]) -> Step:
    """The step of a choice over its input plans."""
    below = tuple(step.delivers for step in inputs)
    estimate = coster.estimate(group)
    read = [(step.estimate, step.emits) for step in inputs]
    return Step(
        choice.operator,
        inputs,
        estimate,
        choice.local,
        sum([step.cost for step in inputs], choice.local),
        coster.delivered(choice, below),
        emits(choice.operator, estimate, read, coster.widths(choice)),
        choice.costed,
        coster.groups.find(group),
        choice.source,
        choice.rule,
        coster.saved(choice),
    )


def _step(coster: Coster, group: GroupId, winner: Winner, inputs: tuple[Step, ...]) -> Step:
    assert isinstance(winner.choice, Choice)
    return chosen_step(coster, group, winner.choice, inputs)


def _winners(group: Group) -> Iterator[tuple[GoalKey, Winner]]:
    for required, winner in group.winners.items():
        assert isinstance(required, RequiredProperties)
        yield (group.id, required), winner


def _goal_key(coster: Coster, goal: tuple[GroupId, object]) -> GoalKey:
    group, required = goal
    assert isinstance(required, RequiredProperties)
    return coster.groups.find(group), required


def _chain(path: Iterable[GoalKey]) -> str:
    return " → ".join(f"G{group}" for group, _ in path)
