"""The memo after a search: groups with their expressions, goals, alternatives and winners."""

from __future__ import annotations

from ..algebra.plan_parts import NodeProperties
from ..algebra.properties import DeliveredProperties
from ..costmodel.characteristics import Characteristics
from ..memo import Winner as MemoWinner
from ..notation import operators as notation
from ..notation.names import Names
from ..optimizer import SearchResult
from ..optimizer.goals import Choice as ChosenOperator
from ..optimizer.result import FoundAlternative, FoundGoal, FoundGroup
from ..optimizer.steps import in_order
from ..planning.planner import Planned
from .explained import Explained, explained
from .model import Document, finite
from .trace import Choice, choice_document


class MemoExpression(Document):
    """An expression of a group.

    Attributes:
        id: the id of the expression.
        text: the operator over its input groups.
        inputs: the ids of the input groups.
        rule: the rule that added the expression; null for the query as written.
        source: the id of the expression that the rule was applied to, or null.
    """

    id: int
    text: str
    inputs: tuple[int, ...]
    rule: str | None
    source: int | None


class Goal(Document):
    """A group, and the required properties of its rows."""

    group: int
    required: str


class _Required(Document):
    required: str


class Winner(Choice, _Required):
    """The cheapest plan of a group for required properties."""

    cost: float
    local: float
    inputs: tuple[Goal, ...]
    delivers: NodeProperties | None


class GoalAlternative(Choice):
    """An alternative for a goal.

    ``local`` is the cost of the operator alone. ``at_least`` is a lower bound of the cost with
    the inputs, null for an infinite one; it is the cost itself if ``exact``.
    """

    inputs: tuple[Goal, ...]
    local: float
    at_least: float | None
    exact: bool


class MemoGoal(Document):
    """Required properties of a group, and all alternatives (``ways``) for them.

    ``at_least`` is the cost of the winner if the goal is ``done``, else a lower bound.
    """

    required: str
    done: bool
    at_least: float | None
    ways: tuple[GoalAlternative, ...]


class GroupEstimate(Document):
    """The estimates of a group.

    ``rate`` counts rows per time unit. ``interval`` is the mean validity in time units, null if
    rows stay valid. ``population`` counts rows valid at an instant, and ``distinct`` the distinct
    values of each column.
    """

    rate: float
    interval: float | None
    population: float
    distinct: tuple[float, ...]


class Group(Document):
    """A group of the memo: expressions with the same rows.

    Attributes:
        id: the id of the group.
        columns: the number of columns.
        reads: the labels that the group reads, as ``stream.label``.
        estimate: the estimates of its rows.
        expressions: the logical expressions.
        winners: the cheapest plan for each combination of required properties.
        goals: the goals of the search, with their alternatives.
    """

    id: int
    columns: int
    reads: tuple[str, ...]
    estimate: GroupEstimate
    expressions: tuple[MemoExpression, ...]
    winners: tuple[Winner, ...]
    goals: tuple[MemoGoal, ...]


class ChosenNode(Document):
    """The place of a node of the plan in the memo.

    ``expression`` is null for an enforcer. ``required`` is null if the search was cut, and its
    start plan is the cheapest one.
    """

    node: int
    group: int
    required: str | None
    expression: int | None


class Memo(Explained):
    """The stage ``memo``: all groups, and the place of the plan among them.

    ``root`` is the group of the answer, ``chosen`` the place of each node of the plan, and
    ``symbols`` the thesis's sign of each operator. ``chosen`` is empty if the plan is the canonical
    plan of the query as written, which is costed outside the memo.
    """

    root: int
    groups: tuple[Group, ...]
    chosen: tuple[ChosenNode, ...]
    symbols: dict[str, str]


def memo_document(planned: Planned) -> Memo:
    """Builds the document of the stage ``memo``."""
    result = planned.optimization
    names = Names(planned.catalog.time_unit)
    return Memo(
        **dict(explained(planned)),
        root=result.memo.find(result.root),
        groups=tuple(_group(group, names) for group in result.space.groups()),
        chosen=_chosen(result, names),
        symbols=dict(notation.SYMBOLS),
    )


def _group(group: FoundGroup, names: Names) -> Group:
    winners = (
        _winner(names.required(required), winner, names, delivers)
        for required, (winner, delivers) in group.winners.items()
    )
    goals = (_goal(goal, names) for goal in group.goals)
    return Group(
        id=group.id,
        columns=group.width,
        reads=tuple(f"{scan.stream}.{scan.label}" for scan in group.scans),
        estimate=_estimate(group.estimate),
        expressions=tuple(
            MemoExpression(
                id=e.id,
                text=names.over(e.operator, e.inputs),
                inputs=e.inputs,
                rule=e.rule or None,
                source=e.source.id if e.source is not None else None,
            )
            for e in group.expressions
        ),
        winners=tuple(sorted(winners, key=lambda winner: winner.required)),
        goals=tuple(sorted(goals, key=lambda goal: goal.required)),
    )


def _estimate(estimate: Characteristics) -> GroupEstimate:
    return GroupEstimate(
        rate=estimate.arrival_rate,
        interval=finite(estimate.validity),
        population=estimate.population,
        distinct=tuple(estimate.distinct),
    )


def _winner(
    required: str, winner: MemoWinner, names: Names, delivers: DeliveredProperties | None
) -> Winner:
    assert isinstance(winner.choice, ChosenOperator)
    return Winner(
        required=required,
        **dict(choice_document(winner.choice, [group for group, _ in winner.inputs], names)),
        cost=winner.cost,
        local=winner.local,
        inputs=tuple(
            Goal(group=group, required=names.required(required_of_input))
            for group, required_of_input in winner.inputs
        ),
        delivers=None if delivers is None else _delivered(delivers),
    )


def _delivered(delivers: DeliveredProperties) -> NodeProperties:
    return NodeProperties(
        distribution=str(delivers.distribution),
        coalesced=delivers.coalesced,
        update_pattern=delivers.update_pattern,
        convention=delivers.convention,
    )


def _goal(goal: FoundGoal, names: Names) -> MemoGoal:
    return MemoGoal(
        required=names.required(goal.required),
        done=goal.done,
        at_least=finite(goal.at_least),
        ways=tuple(_alternative(alternative, names) for alternative in goal.alternatives),
    )


def _alternative(alternative: FoundAlternative, names: Names) -> GoalAlternative:
    return GoalAlternative(
        **dict(
            choice_document(alternative.choice, [group for group, _ in alternative.inputs], names)
        ),
        inputs=tuple(
            Goal(group=group, required=names.required(required))
            for group, required in alternative.inputs
        ),
        local=alternative.choice.local,
        at_least=finite(alternative.at_least),
        exact=alternative.exact,
    )


def _chosen(result: SearchResult, names: Names) -> tuple[ChosenNode, ...]:
    """Returns the goal and the expression of each node of the plan that belongs to a group."""
    required = result.requirements()
    return tuple(
        ChosenNode(
            node=node,
            group=step.group,
            required=names.required(required[node]) if node in required else None,
            expression=None if step.source is None or step.source < 0 else step.source,
        )
        for node, (step, _) in enumerate(in_order(result.best))
        if step.group is not None
    )
