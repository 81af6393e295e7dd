"""How a search came to its plan, step by step."""

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
    """A physical operator over groups, the rule that proposed it, and the id of the expression that
    it computes (null for an enforcer)."""

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
    """A cheaper plan of a group; ``before`` is the cost of the plan that it replaces."""

    cost: float
    local: float
    inputs: tuple[PlanInput, ...]
    before: float | None
    again: bool


class Pruned(Choice, _AtGoal):
    """A pruned alternative: it costs ``cost``, or at least that if not ``exact``, and only plans
    below ``bound`` are of use."""

    cost: float
    exact: bool
    bound: float


class SeenMember(Document):
    """An expression as it was at a step; ``inputs`` are the groups that it reads."""

    id: int
    group: int
    text: str
    inputs: tuple[int, ...]


class Merged(Document):
    """A merge: ``group`` was found to be equal to ``into``, and became part of it."""

    into: int
    group: int


class RuleStep(Document):
    """The query enters, or a rule adds expressions that are equal to others.

    ``changed`` are expressions over other groups since some were ``merged``, ``removed`` those
    that came to be others, ``known`` those that the rule found although they were there.
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
    """A rule found only expressions that were in the memo; all are named by their ids."""

    step: int
    kind: Literal["known"]
    rule: str
    group: int
    matched: tuple[int, ...]
    known: tuple[int, ...]


class PlanStep(Document):
    """A cheaper plan was found for a group."""

    step: int
    kind: Literal["plan"]
    plan: PlanFound


class LeftStep(Document):
    """An alternative was pruned."""

    step: int
    kind: Literal["left"]
    left: Pruned


class ForgetStep(Document):
    """Groups were merged after they were costed: all winners are dropped and costed anew."""

    step: int
    kind: Literal["forget"]


class RuleMeaning(Document):
    """The rewrite of a rule; ``number`` is that of the thesis, null for a rule of Headrace."""

    number: int | None
    algebra: str


Step = RuleStep | KnownStep | PlanStep | LeftStep | ForgetStep


class Steps(Document):
    """The steps of a search; ``more`` were not kept, ``known`` times a rule found nothing new,
    and ``left`` alternatives were pruned."""

    steps: tuple[Step, ...]
    more: int
    known: int
    left: int
    rules: dict[str, RuleMeaning]
    symbols: dict[str, str]


def steps_document(planned: Planned, trace: recorded.Trace) -> Steps:
    """The steps of a traced search, each with its changes."""
    names = Names(planned.catalog.time_unit)
    tried = planned.optimization.rules
    return Steps(
        steps=tuple(_step(delta, names) for delta in trace.deltas),
        more=trace.more,
        known=trace.known,
        left=trace.pruned,
        rules={
            rule.name: RuleMeaning(number=rule.number, algebra=_algebra(rule))
            for rule in transformation_rules()
            if rule.name in tried and tried[rule.name].bindings
        },
        symbols=dict(notation.SYMBOLS),
    )


def choice_document(choice: ChosenOperator, inputs: Sequence[GroupId], names: Names) -> Choice:
    """A physical operator over the groups of its inputs."""
    return Choice(
        text=names.over(choice, inputs),
        rule=choice.rule,
        source=choice.source if choice.source >= 0 else None,
    )


def _algebra(rule: TransformationRule) -> str:
    """The rewrite of a rule: the first line of its docstring."""
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
