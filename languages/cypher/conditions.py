"""Translates conditions: tests of values, and patterns that match or do not.

A pattern in a condition is a rule of its own, so that it changes no multiplicity: the body reads
it, or negates it. OR of patterns makes alternatives, each a rule; so does a pattern as a value,
which is true in one and false in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from ...algebra import functions, scalar
from ..parsing.tokens import SIGNS
from ..query import regular_query as rq
from ..query.atoms import Location, Variable
from ..query.regular_query import (
    Both,
    Comparison,
    Condition,
    Either,
    Missing,
    Negated,
    Negation,
)
from . import errors
from .beginnings import begins
from .blocks import Block
from .bodies import Body, require_any
from .collected import parts_of_sum, require_member
from .expression_text import expression_text
from .functions import matched, text_test
from .known_lists import with_kept
from .leaves import HasLabels, Literal, Property, Quantifier, TextTest
from .leaves import Variable as VariableText
from .match_counts import count_of
from .members import of_members
from .patterns import add
from .program import Choices, alternatives
from .scope import Edge, Member, Node, Path, Value
from .shortest_members import by_rows, is_by_rows, require_some, shortest_path_of
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Comprehension,
    Exists,
    Expression,
    Indexed,
    InList,
    Known,
    MatchCount,
    Not,
    NullTest,
    Or,
    Part,
    Pattern,
    Quantified,
    Reduced,
    TextComparison,
)
from .syntax import Comparison as ComparisonText
from .syntax import Node as NodeText
from .values import (
    beside_members,
    in_turn,
    lists_alike,
    lists_of,
    value_of,
)
from .variables import edge_of, presence_of
from .walking import with_parts

TRUE, FALSE = Both(()), Either(())


def match_block(body: Body, block: Block) -> None:
    """Adds the patterns of a block and their conditions to a body."""
    for one in _labels_first((*add(body, block, hold), *block.conditions.others)):
        hold(body, one)


def hold(body: Body, of: Expression, positive: bool = True) -> None:
    """Requires a condition, or with ``positive`` False its negation.

    Raises:
        QueryError: for a condition that is not supported.
    """
    match of:
        case Not(part):
            hold(body, part, positive=not positive)
        case And(parts) | Or(parts) if isinstance(of, And) == positive:
            for part in _labels_first(parts) if positive else parts:
                hold(body, part, positive=positive)
        case And(parts) | Or(parts) if not body.counted and _has_pattern(body, *parts):
            hold(body, parts[body.pick(len(parts))], positive=positive)
        case Or(parts) if positive and body.counted and all(map(_is_pattern, parts)):
            chosen = body.pick(len(parts))
            for other in parts[:chosen]:  # no match is of two alternatives
                hold(body, other, positive=False)
            hold(body, parts[chosen])
        case Quantified() if (path := shortest_path_of(body, of.members)) is not None:
            require_some(body, of, path, hold, positive=positive)
        case Quantified():
            _quantified(body, of, positive=positive)
        case Exists():
            _exists(body, of, positive=positive)
        case InList() if (list_ := by_rows(body, of.members)) is not None:
            require_member(body, of, list_, positive=positive)
        case InList() if (lists := parts_of_sum(body, of.members)) is not None:
            tests = tuple(replace(of, members=list_) for list_ in lists)
            hold(body, Or(tests, 2), positive=positive)
        case HasLabels(name, labels):
            if positive and not body.is_outer(name):
                node = body.node(name)
                if node.optional:
                    raise errors.OPTIONAL_NODE.error(name.at, name.text)
                for label in labels:
                    node = body.with_label(node, label.text, label.at)
                return
            _exists(body, _of_node(of), positive=positive)
        case _:
            _require(body, condition_of(body, decided(body, of)), positive=positive)


def _require(body: Body, test: Condition, *, positive: bool) -> None:
    test = test if positive else _negated(test)
    if test != TRUE:
        body.conditions.append(test)


def _of_node(of: HasLabels) -> Exists:
    """The labels of a node as a pattern."""
    pattern = Pattern((NodeText(of.name, of.labels, (), None, of.name.at),), ())
    return Exists((Part(None, pattern, None, of.name.at),), None, False, of.name.at)


def decided(body: Body, of: Expression) -> Expression:
    """An expression with truth values in place of its patterns.

    The body requires what the alternative says of each of them. No two alternatives have a row in
    common, so that an aggregate may count their rows.
    """
    match of:
        case Exists() | HasLabels():
            return Literal(_decide(body, of), of.at)
        case MatchCount():
            return count_of(body, of, match_block)
        case InList() if is_by_rows(body, of.members):
            return Literal(_decide(body, of), of.at)
        case Quantified() | Comprehension() | Reduced():
            return of
    return with_parts(of, lambda part: decided(body, part))


def _decide(body: Body, of: Exists | HasLabels | InList) -> bool:
    """Whether a pattern has a match, as the alternative says and the body then requires."""
    has_match = body.pick(2) == 0
    hold(body, _of_node(of) if isinstance(of, HasLabels) else of, positive=has_match)
    return has_match


def _labels_first(conditions: Sequence[Expression]) -> Sequence[Expression]:
    """The parts of a conjunction, so that labels are known where properties are read."""
    return sorted(conditions, key=lambda of: not isinstance(of, HasLabels))


def _is_pattern(of: Expression) -> bool:
    return isinstance(of, Exists | HasLabels)


def _has_pattern(body: Body, *parts: Expression) -> bool:
    for of in parts:
        match of:
            case Exists() | HasLabels():
                return True
            case InList() if is_by_rows(body, of.members):
                return True
            case Not(part) | Quantified(condition=part) if _has_pattern(body, part):
                return True
            case And(inner) | Or(inner) if _has_pattern(body, *inner):
                return True
    return False


def _quantified(body: Body, of: Quantified, *, positive: bool) -> None:
    """Requires a condition of each member of a list, or of one that the alternative says."""
    one = of.quantifier is Quantifier.SINGLE
    wanted = positive != (of.quantifier is Quantifier.NONE)
    if not one and positive == (of.quantifier is not Quantifier.ANY):
        for _, member in in_turn(body, of):
            if member.kept is None:
                hold(body, of.condition, positive=wanted)
            else:
                _require(body, _if_kept(body, of, member, positive=wanted), positive=True)
        return
    known = lists_of(body).known(of.members)
    is_value = not known.is_whole or not _has_pattern(body, of.condition)
    if body.counted or is_value or (one and not positive):
        _require(body, condition_of(body, of), positive=positive)
        return
    several = len(known.members)
    if not several:
        body.conditions.append(FALSE)
        return
    chosen = body.pick(several)
    for place, _ in in_turn(body, of):
        if place == chosen:
            hold(body, of.condition, positive=wanted)
        elif one:
            hold(body, of.condition, positive=False)


def _exists(body: Body, test: Exists, *, positive: bool) -> None:
    """Requires that a pattern has a match, or that it has none."""
    block = Block.of_test(test)
    require_match(body, block, test.at, expression_text(test), positive=positive)


def require_match(body: Body, block: Block, at: Location, text: str, *, positive: bool) -> None:
    """Requires that the patterns of a block have a match, or that they have none.

    Raises:
        QueryError: E-LATER for patterns without a node that is bound.
    """

    def build(choices: Choices) -> Body:
        inside = body.inner(choices, counted=False)
        match_block(inside, block)
        return inside

    bodies = alternatives(build)
    without_atoms = [_equalities(inside, at) for inside in bodies]
    if positive and TRUE in without_atoms:
        return
    if not positive:
        body.conditions += (_negated(of) for of in without_atoms if of is not None)
        kinds = zip(bodies, without_atoms, strict=True)
        bodies = [inside for inside, of in kinds if of is None]
    for inside in bodies:
        if not inside.shared():
            fault = errors.ZERO_HOPS if inside.outer else errors.LONE_EXISTS
            raise fault.error(at, text)
    if positive:
        require_any(body, bodies, "exists", at)
        return
    for inside in bodies:
        head, shared = body.program.fresh("negated"), inside.shared()
        body.program.add(inside.rule(head, [(name, Variable(name)) for name in shared], at))
        body.negated.append(Negation(head, shared, at))


def _equalities(inside: Body, at: Location) -> Condition | None:
    """Which nodes from around have to be the same for a match, of patterns of which nothing else is
    required; None for other patterns."""
    inside.bind_nodes()
    if inside.atoms or inside.conditions or inside.negated:
        return None
    pairs = combinations(sorted(inside.outer), 2)
    same = [
        (one, other) for one, other in pairs if inside.same.leader(one) == inside.same.leader(other)
    ]
    return _every([Comparison(Variable(one), "=", Variable(other), at) for one, other in same])


def condition_of(body: Body, of: Expression) -> Condition:
    """A condition; the alternative decides the patterns in it.

    Raises:
        QueryError: for a condition that is not supported, or a value that is none.
    """
    match of:
        case Not(part):
            return _negated(condition_of(body, part))
        case And(parts):
            return _every([condition_of(body, part) for part in parts])
        case Or(parts):
            return _some([condition_of(body, part) for part in parts])
        case ComparisonText():
            return _compared(body, of)
        case InList() if is_by_rows(body, of.members):
            return TRUE if _decide(body, of) else FALSE
        case InList():
            tests = [
                _every([_is_kept(kept, of.at), Comparison(left, "=", right, of.at)])
                for left, right, kept in beside_members(body, of)
            ]
            return tests[0] if len(tests) == 1 else Either(tuple(tests))
        case Quantified(quantifier):
            each = [_of_member(body, of, member) for _, member in in_turn(body, of)]
            return of_members(quantifier, each, _every, _some, _negated)
        case TextComparison(value, TextTest.STARTS, Literal(str() as start)):
            return begins(value_of(body, value), start, of.at)
        case TextComparison(value, test, part):
            sides = value_of(body, value), value_of(body, part)
            return _is_true(text_test(test, *sides), of.at)
        case NullTest(value, is_null):
            return null_test(body, value, is_null)
        case Literal(True):
            return TRUE
        case Literal(False):
            return FALSE
        case (
            Property()
            | Call()
            | Case()
            | Indexed()
            | Reduced()
            | Known()
            | Access()
            | Literal(None)
        ):
            return _is_true(value_of(body, of), of.at)
        case VariableText(name) if isinstance(body.bound(name), Value):
            return _is_true(value_of(body, of), of.at)
        case Exists() | HasLabels():
            return TRUE if _decide(body, of) else FALSE
    raise errors.NOT_CONDITION.error(of.at, expression_text(of))


def _of_member(body: Body, of: Quantified, member: Member) -> Condition:
    """The condition of a member of a list that may not have it."""
    if member.kept is None:
        return condition_of(body, of.condition)
    return _is_true(with_kept(of.quantifier, member, value_of(body, of.condition)), of.at)


def _if_kept(body: Body, of: Quantified, member: Member, *, positive: bool) -> Condition:
    """The condition of a member, or its negation, where the list has the member."""
    test = condition_of(body, of.condition)
    held = test if positive else _negated(test)
    return _some([_negated(_is_kept(member.kept, of.at)), held])


def _is_kept(kept: rq.Value | None, at: Location) -> Condition:
    return TRUE if kept is None else _is_true(kept, at)


def _every(parts: Sequence[Condition]) -> Condition:
    unsure = tuple(part for part in parts if part != TRUE)
    return FALSE if FALSE in unsure else unsure[0] if len(unsure) == 1 else Both(unsure)


def _some(parts: Sequence[Condition]) -> Condition:
    unsure = tuple(part for part in parts if part != FALSE)
    return TRUE if TRUE in unsure else unsure[0] if len(unsure) == 1 else Either(unsure)


def _negated(part: Condition) -> Condition:
    return FALSE if part == TRUE else TRUE if part == FALSE else Negated(part)


def _compared(body: Body, of: ComparisonText) -> Condition:
    tests: list[Condition] = []
    sides: tuple[rq.Value, rq.Value]
    for left, sign, right in zip(of.values, of.signs, of.values[1:], strict=False):
        if (alike := lists_alike(body, left, sign, right)) is not None:
            tests.append(_is_true(alike, left.at))
            continue
        if sign.text not in SIGNS:
            sides = value_of(body, left), value_of(body, right)
            tests.append(_is_true(matched(*sides, sign.at), left.at))
            continue
        edges = edge_of(body, left), edge_of(body, right)
        if edges[0] is not None and edges[1] is not None:
            sides = Variable(edges[0]), Variable(edges[1])
        else:
            sides = value_of(body, left), value_of(body, right)
        tests.append(Comparison(sides[0], SIGNS[sign.text], sides[1], left.at))
    return tests[0] if len(tests) == 1 else Both(tuple(tests))


def _is_true(value: rq.Value, at: Location) -> Condition:
    if isinstance(value, scalar.Literal) and isinstance(value.value, bool):
        return TRUE if value.value else FALSE
    return Comparison(value, "=", scalar.Literal(True), at)


def null_test(body: Body, value: Expression, is_null: bool) -> Condition:
    """Whether a value is null, or not."""
    bound = body.bound(value.name) if isinstance(value, VariableText) else None
    is_there = isinstance(bound, Node | Edge | Path) and not bound.optional
    if is_there or lists_of(body).named(value) is not None:
        return FALSE if is_null else TRUE
    if isinstance(bound, Node) and not is_null:
        return Comparison(Variable(bound.variable), "=", Variable(bound.variable), value.at)
    of = presence_of(body, value) or value_of(body, value)
    if isinstance(of, rq.Property):
        return Missing(of) if is_null else Negated(Missing(of))
    if isinstance(of, Variable) and not is_null:
        return Comparison(of, "=", of, value.at)
    known = rq.Computed(functions.IS_NOT_NULL, (of,))
    return Comparison(known, "=", scalar.Literal(not is_null), value.at)
