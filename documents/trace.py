"""The steps of a search."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import getdoc
from typing import Literal

from ..memo import GroupId
from ..notation import operators as notation
from ..notation.names import Names
from ..optimizer import trace as recorded
from ..optimizer.events import AlternativePruned
from ..optimizer.goals import Choice as ChosenOperator
from ..planning.planner import Planned
from ..rules.registry import transformation_rules
from ..rules.rule import TransformationRule
from .model import Document


class Choice(Document):
    """A physical operator over groups.

    ``rule`` is the rule that proposed it, and ``source`` the id of the expression that it
    implements (null for an enforcer).
    """

    text: str
    rule: str
    source: int | None


class _AtGoal(Document):
    group: int
    required: str


class PlanInput(Document):
    """An input of a plan: a group with required properties, and its cost."""

    group: int
    required: str
    cost: float


class PlanFound(Choice, _AtGoal):
    """A new winner of a goal; costs are in microseconds per time unit.

    Attributes:
        cost: the cost of the plan.
        local: the cost of its root operator alone.
        inputs: the goals that the operator reads, with their costs.
        before: the cost of the winner that it replaces; null for the first one.
        again: whether a merge of groups had dropped an earlier winner.
    """

    cost: float
    local: float
    inputs: tuple[PlanInput, ...]
    before: float | None
    again: bool


class Pruned(Choice, _AtGoal):
    """A pruned alternative.

    ``cost`` is its cost if ``exact``, else a lower bound. The search uses only plans that cost less
    than ``bound``.
    """

    cost: float
    exact: bool
    bound: float


class SeenMember(Document):
    """An expression at a step of the search; ``inputs`` are its input groups."""

    id: int
    group: int
    text: str
    inputs: tuple[int, ...]


class Merged(Document):
    """A merge: ``group`` equals ``into``, and became a part of ``into``."""

    into: int
    group: int


class RuleStep(Document):
    """A step that adds expressions: the query enters the memo, or a rule fires.

    Attributes:
        step: the number of the step.
        rule: the rule; null for the query.
        matched: the expressions that the rule matched.
        kind: ``query`` or ``rule``.
        added: the new expressions.
        groups: the ids of the new groups.
        merged: the merges of groups.
        changed: the expressions whose input groups a merge changed.
        removed: the ids of expressions that a merge made equal to others, or cyclic.
        known: the ids of results of the rule that the memo had before.
    """

    step: int
    rule: str | None
    matched: tuple[SeenMember, ...]
    kind: Literal["query", "rule"]
    added: tuple[SeenMember, ...]
    groups: tuple[int, ...]
    merged: tuple[Merged, ...]
    changed: tuple[SeenMember, ...]
    removed: tuple[int, ...]
    known: tuple[int, ...]


class KnownStep(Document):
    """A step without a change: the memo had all results of the rule before.

    Attributes:
        step: the number of the step.
        kind: ``known``.
        rule: the rule.
        group: the group of the first matched expression.
        matched: the ids of the matched expressions.
        known: the ids of the results.
    """

    step: int
    kind: Literal["known"]
    rule: str
    group: int
    matched: tuple[int, ...]
    known: tuple[int, ...]


class PlanStep(Document):
    """A step that finds a cheaper plan for a group."""

    step: int
    kind: Literal["plan"]
    plan: PlanFound


class LeftStep(Document):
    """A step that prunes an alternative."""

    step: int
    kind: Literal["left"]
    left: Pruned


class ForgetStep(Document):
    """A step that drops all winners, because costed groups were merged."""

    step: int
    kind: Literal["forget"]


class RuleMeaning(Document):
    """The rewrite of a rule; ``number`` is its number in the thesis, null for our own rules."""

    number: int | None
    algebra: str


Step = RuleStep | KnownStep | PlanStep | LeftStep | ForgetStep


class Steps(Document):
    """The steps of a search.

    Attributes:
        steps: the recorded steps, in order.
        more: the number of steps that were not recorded.
        known: the number of rule applications without a new expression.
        left: the number of pruned alternatives.
        rules: the rewrites of the rules that matched.
        symbols: the thesis's sign of each operator.
    """

    steps: tuple[Step, ...]
    more: int
    known: int
    left: int
    rules: dict[str, RuleMeaning]
    symbols: dict[str, str]


def steps_document(planned: Planned, trace: recorded.Trace) -> Steps:
    """Converts the trace of a search to a document."""
    names = Names(planned.catalog.time_unit)
    statistics = planned.optimization.rules
    return Steps(
        steps=tuple(_step(delta, names) for delta in trace.deltas),
        more=trace.more,
        known=trace.known,
        left=trace.pruned,
        rules={
            rule.name: RuleMeaning(number=rule.number, algebra=_algebra(rule))
            for rule in transformation_rules()
            if rule.name in statistics and statistics[rule.name].bindings
        },
        symbols=dict(notation.SYMBOLS),
    )


def choice_document(choice: ChosenOperator, inputs: Sequence[GroupId], names: Names) -> Choice:
    """Converts a chosen operator to a document, over its input groups."""
    return Choice(
        text=names.over(choice, inputs),
        rule=choice.rule,
        source=choice.source if choice.source >= 0 else None,
    )


def _algebra(rule: TransformationRule) -> str:
    """Returns the rewrite of a rule: the first line of its docstring."""
    first = (getdoc(type(rule)) or "").partition("\n")[0]
    return " ".join(first.split())


def _step(delta: recorded.Delta, names: Names) -> Step:
    if delta.plan is not None:
        return PlanStep(step=delta.step, kind="plan", plan=_plan_found(delta.plan, names))
    if delta.pruned is not None:
        return LeftStep(step=delta.step, kind="left", left=_pruned(delta.pruned, names))
    if delta.forgets:
        return ForgetStep(step=delta.step, kind="forget")
    if not (delta.added or delta.merged):
        return KnownStep(
            step=delta.step,
            kind="known",
            rule=delta.rule,
            group=delta.matched[0].group,
            matched=tuple(member.id for member in delta.matched),
            known=delta.known,
        )
    return RuleStep(
        step=delta.step,
        rule=delta.rule or None,
        matched=_members(delta.matched, names),
        kind="rule" if delta.rule else "query",
        added=_members(delta.added, names),
        groups=delta.groups,
        merged=tuple(Merged(into=into, group=group) for into, group in delta.merged),
        changed=_members(delta.changed, names),
        removed=delta.removed,
        known=delta.known,
    )


def _members(members: Sequence[recorded.Member], names: Names) -> tuple[SeenMember, ...]:
    return tuple(
        SeenMember(
            id=member.id,
            group=member.group,
            text=names.over(member.operator, member.inputs),
            inputs=member.inputs,
        )
        for member in members
    )


def _plan_found(plan: recorded.PlanFound, names: Names) -> PlanFound:
    winner = plan.winner
    assert isinstance(winner.choice, ChosenOperator)
    choice = choice_document(winner.choice, [group for group, _ in winner.inputs], names)
    return PlanFound(
        group=plan.group,
        required=names.required(plan.required),
        **dict(choice),
        cost=winner.cost,
        local=winner.local,
        inputs=tuple(
            PlanInput(group=group, required=names.required(required), cost=cost)
            for (group, required), cost in zip(winner.inputs, plan.inputs, strict=True)
        ),
        before=plan.before,
        again=plan.again,
    )


def _pruned(pruned: AlternativePruned, names: Names) -> Pruned:
    choice = choice_document(pruned.choice, pruned.choice.inputs, names)
    return Pruned(
        group=pruned.group,
        required=names.required(pruned.required),
        **dict(choice),
        cost=pruned.cost,
        exact=pruned.exact,
        bound=pruned.bound,
    )
