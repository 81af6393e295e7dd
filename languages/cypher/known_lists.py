"""Lists of which a rule knows all members that they may have.

They are written out, or on a path with an upper bound, or made of such lists: ``[x IN xs WHERE
condition | value]``, ``xs[1..]``, ``xs + ys``, ``tail(xs)``, ``reverse(xs)``, and ``reduce`` of
lists. A member that a condition chooses is in the list in those rows where the condition is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ...algebra import functions, scalar
from ..query import regular_query as rq
from . import errors
from .bodies import Body
from .constant_lists import constant, written_out
from .expression_text import expression_text
from .functions import NULL
from .leaves import Literal, Name, Quantifier
from .leaves import Variable as VariableText
from .members import on_path
from .path_tests import is_of_nodes, path_of
from .scope import Bound, Edge, KnownList, ListColumn, Member, Node, Path, Value
from .syntax import Call, Comprehension, Computed, Expression, Indexed, ListOf, Reduced, Sliced
from .variables import IDENTITIES, variable_value

MOST_PARTS: Final = 1_000
"""The most functions in a result of ``reduce``."""
ELEMENTS: Final = {"head": 0, "last": -1}
"""The functions of a list that give one member, and its place."""
Choices = list[tuple[rq.Value | None, Bound]]
"""What one member of a list may be: the first of which the condition, if any, is true."""


def is_list(of: Expression) -> bool:
    """Whether an expression is a list by its form."""
    match of:
        case ListOf() | Comprehension() | Sliced():
            return True
        case Computed("+", parts):
            return any(map(is_list, parts))
        case Call(function, arguments) if function.text.lower() in ("tail", "reverse"):
            return any(map(is_list, arguments))
    return written_out(of) is not of


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a body.

    Attributes:
        body: the body.
        value_of: the value of an expression of a body, which is not a list.
    """

    body: Body
    value_of: Callable[[Body, Expression], rq.Value]

    def named(self, of: Expression) -> KnownList | ListColumn | None:
        """The list that an expression is; None for an expression that is none.

        Raises:
            QueryError: E-LATER for members of a list that are not known.
        """
        match of := written_out(of):
            case VariableText(name):
                outer, bound = self.body.is_outer(name), self.body.bound(name)
                if not isinstance(bound, KnownList | ListColumn):
                    return None
                if outer and self.body.around is not None:
                    raise errors.OUTER_VALUE.error(of.at, name.text)
                return bound
            case ListOf(items):
                return KnownList(tuple(Member(self.bound(item)) for item in items))
            case Comprehension():
                return self._comprehension(of)
            case Sliced():
                return KnownList(_whole(self.known(of.members), of).members[_slice(of)])
            case Indexed():
                found = self.choices(of) or []
                member = found[0][1] if len(found) == 1 else None
                return member if isinstance(member, KnownList) else None
            case Computed("+", (left, right)):
                sides = [self.named(side) for side in (left, right)]
                if sides == [None, None]:
                    return None
                parts = zip((left, right), sides, strict=True)
                added = [self._members_beside(side, list_) for side, list_ in parts]
                return KnownList((*added[0], *added[1]))
            case Reduced():
                initial = self.named(of.initial)
                return None if initial is None else self._reduced(of, _known(initial, of.initial))
            case Call(function, (argument,)) if function.text.lower() in ("tail", "reverse"):
                list_ = self.named(argument)
                if list_ is None:
                    return None
                known = _known(list_, argument)
                if function.text.lower() == "tail":
                    return KnownList(_whole(known, of).members[1:])
                return KnownList(known.members[::-1])
            case Call() if (path := path_of(of)) is not None:
                return self._on_path(path, of)
        return None

    def known(self, of: Expression) -> KnownList:
        """The list that an expression is, with its members.

        Raises:
            QueryError: E-LATER for another list, E-TYPE for a value that is not a list.
        """
        return _known(self.named(of), of)

    def _members_beside(
        self, of: Expression, list_: KnownList | ListColumn | None
    ) -> tuple[Member, ...]:
        """The members that ``+`` adds to a list: those of another list, or a value.

        Raises:
            QueryError: E-LATER for a value that may be null, with which the sum is null.
        """
        if list_ is not None:
            return _known(list_, of).members
        bound = self.bound(of)
        if _may_be_null(bound):
            raise errors.ADDED.error(of.at, expression_text(of))
        return (Member(bound),)

    def bound(self, of: Expression) -> Bound:
        """What a member that is written out is."""
        if isinstance(of, VariableText):
            outer, bound = self.body.is_outer(of.name), self.body.bound(of.name)
            is_edge = isinstance(bound, Edge) and not (outer and self.body.around is not None)
            if is_edge or isinstance(bound, Node):
                assert bound is not None
                return bound
        list_ = self.named(of)
        return Value(self.value_of(self.body, of)) if list_ is None else _known(list_, of)

    def in_turn(self, variable: Name, list_: Expression) -> Iterator[tuple[int, Member]]:
        """Binds a name to each member of a list in turn; gives their numbers."""
        for place, member in enumerate(self.known(list_).members):
            with self.body.naming(variable, member.bound):
                yield place, member

    def choices(self, of: Expression) -> Choices | None:
        """What ``xs[place]``, ``head(xs)`` and ``last(xs)`` may be; None for another expression.

        Raises:
            QueryError: E-LATER for a place in a list of chosen members.
        """
        match of:
            case Indexed(members, place):
                known, number = self.known(members), constant(place)
                whole = known.members
                if number is None:
                    return self._at_any(_whole(known, of), place)
                if type(number) is not int:
                    raise errors.PLACE.error(place.at, expression_text(place))
                if number in (0, -1):
                    return _first(whole if number == 0 else whole[::-1])
                whole = _whole(known, of).members
                inside = -len(whole) <= number < len(whole)
                return [(None, whole[number].bound)] if inside else []
            case Call(function, (argument,)) if function.text.lower() in ELEMENTS:
                list_ = self.named(argument)
                if list_ is None:
                    return None
                whole = _known(list_, argument).members
                return _first(whole if function.text.lower() == "head" else whole[::-1])
        return None

    def of_choices(
        self, of: Expression, choices: Choices, value: Callable[[VariableText], rq.Value]
    ) -> rq.Value:
        """The value of what a member of a list is; ``value`` is that of a name of it.

        Raises:
            QueryError: E-SIZE for too many.
        """
        name = Name(expression_text(of), of.at)
        parts: list[rq.Value] = []
        for kept, bound in choices:
            with self.body.naming(name, bound):
                found = value(VariableText(name))
            if kept is None:
                return _case(of, [*parts, found])
            parts += [kept, found]
        return _case(of, [*parts, NULL])

    def size(self, list_: KnownList, of: Expression) -> rq.Value:
        """The number of members of a list."""
        sure = sum(member.kept is None for member in list_.members)
        total: list[rq.Value] = [scalar.Literal(sure)] if sure else []
        one, none = scalar.Literal(1), scalar.Literal(0)
        for member in list_.members:
            if member.kept is not None:
                case = (member.kept, one, none)
                total.append(rq.Computed(functions.CASE_WHEN, case))
        if len(total) > MOST_PARTS:
            raise errors.LONG.error(of.at, expression_text(of)[:60])
        while len(total) > 1:  # pairs of pairs, so that they nest little
            halves = [total[k : k + 2] for k in range(0, len(total), 2)]
            total = [rq.Computed("+", tuple(h)) if len(h) > 1 else h[0] for h in halves]
        return total[0] if total else none

    def reduced(self, of: Reduced) -> rq.Value:
        """The result of ``reduce``.

        Raises:
            QueryError: E-SIZE for a result that is too large.
        """
        so_far = self.value_of(self.body, of.initial)
        for _, member in self.in_turn(of.variable, of.members):
            with self.body.naming(of.result, Value(so_far)):
                found = self.value_of(self.body, of.value)
            if member.kept is not None:
                found = rq.Computed(functions.CASE_WHEN, (member.kept, found, so_far))
            if _parts(found) > MOST_PARTS:
                raise errors.LONG.error(of.at, expression_text(of)[:60])
            so_far = found
        return so_far

    def equal(self, one: KnownList, other: KnownList, of: Expression) -> rq.Value:
        """Whether two lists are equal, with null for unknown.

        Raises:
            QueryError: E-LATER for lists of chosen members, and lists of lists.
        """
        if not (one.is_whole and other.is_whole):
            raise errors.CHOSEN_MEMBERS.error(of.at, expression_text(of))
        if len(one.members) != len(other.members):
            return scalar.Literal(False)
        pairs = zip(one.members, other.members, strict=True)
        tests = [self._alike(left.bound, right.bound, of) for left, right in pairs]
        if len(tests) > functions.MOST_ARGUMENTS:
            raise errors.LONG.error(of.at, expression_text(of)[:60])
        return rq.Computed(functions.ALL_TRUE, tuple(tests)) if tests else scalar.Literal(True)

    def _alike(self, one: Bound, other: Bound, of: Expression) -> rq.Value:
        match one, other:
            case KnownList(), KnownList():
                return self.equal(one, other, of)
            case (KnownList(), value) | (value, KnownList()):
                there = rq.Computed(functions.IS_NOT_NULL, (self.value(value, of),))
                return rq.Computed(functions.CASE_WHEN, (there, scalar.Literal(False), NULL))
        sides = tuple(self.value(bound, of) for bound in (one, other))
        return rq.Computed(functions.EQUAL, sides)

    def value(self, bound: Bound, of: Expression) -> rq.Value:
        """The value of a member of a list."""
        name = Name(expression_text(of), of.at)
        with self.body.naming(name, bound):
            return variable_value(self.body, name)

    def _on_path(self, path: Name, of: Expression) -> KnownList | ListColumn:
        """The nodes or the relationships of a path."""
        outer, bound = self.body.is_outer(path), self.body.bound(path)
        is_own = isinstance(bound, Path) and not (outer and self.body.around is not None)
        if not is_own or not isinstance(bound, Path) or bound.steps is not None:
            return KnownList(tuple(map(Member, on_path(self.body, of) or ())))
        if not bound.shortest:
            raise errors.READ_UNBOUNDED.error(of.at, expression_text(of))
        assert isinstance(of, Call)
        listed = rq.Property(bound.name, of.function.text.lower(), of.at)
        return ListColumn(listed, is_of_nodes(of))

    def _comprehension(self, of: Comprehension) -> KnownList | ListColumn:
        list_ = self.named(of.members)
        if isinstance(list_, ListColumn):
            is_same = of.value is None or _is_identity(of.value, of.variable.text)
            if list_.of_nodes and is_same and of.condition is None:
                return list_
            fault = errors.READ_SHORTEST if list_.of_nodes else errors.CHOSEN_OF_COLUMN
            raise fault.error(of.at, expression_text(of))
        if list_ is None and path_of(of.members) is None:
            raise errors.CHOSEN_OF_COLUMN.error(of.at, expression_text(of))
        members: list[Member] = []
        for _, member in self.in_turn(of.variable, of.members):
            test = None if of.condition is None else self.value_of(self.body, of.condition)
            chosen = member if test is None else _kept_by(member, test)
            if chosen.kept != scalar.Literal(False):
                bound = member.bound if of.value is None else self.bound(of.value)
                members.append(replace(chosen, bound=bound))
        return KnownList(tuple(members))

    def _reduced(self, of: Reduced, initial: KnownList) -> KnownList:
        """A list that ``reduce`` makes."""
        so_far = initial
        members = _whole(self.known(of.members), of)
        for member in members.members:
            with self.body.naming(of.variable, member.bound), self.body.naming(of.result, so_far):
                so_far = self.known(of.value)
            if len(so_far.members) > MOST_PARTS:
                raise errors.LONG.error(of.at, expression_text(of)[:60])
        return so_far

    def _at_any(self, list_: KnownList, place: Expression) -> Choices:
        """The members of a list, each with the condition that it is at a place."""
        number, several = self.value_of(self.body, place), len(list_.members)

        def is_at(place: int) -> rq.Value:
            places = [scalar.Literal(place), scalar.Literal(place - several)]
            tests = tuple(rq.Computed(functions.EQUAL, (number, at)) for at in places)
            return rq.Computed(functions.ANY_TRUE, tests)

        return [(is_at(k), member.bound) for k, member in enumerate(list_.members)]


def with_kept(quantifier: Quantifier, member: Member, test: rq.Value) -> rq.Value:
    """The test of a member of a list that may not have it."""
    if member.kept is None:
        return test
    if quantifier is Quantifier.ALL:
        negated = rq.Computed(functions.LOGICAL_NOT, (member.kept,))
        return rq.Computed(functions.ANY_TRUE, (negated, test))
    return both(member.kept, test)


def _known(list_: KnownList | ListColumn | None, of: Expression) -> KnownList:
    """A list with its members, from what an expression is."""
    if isinstance(list_, KnownList):
        return list_
    if isinstance(of, Literal):
        raise errors.NO_MEMBERS.error(of.at, expression_text(of))
    if path_of(of) is not None:
        raise errors.READ_SHORTEST.error(of.at, expression_text(of))
    raise errors.LISTS.error(of.at, expression_text(of))


def _whole(list_: KnownList, of: Expression) -> KnownList:
    """A list that has all of its members in each row, so that their places are known."""
    if not list_.is_whole:
        raise errors.CHOSEN_MEMBERS.error(of.at, expression_text(of))
    return list_


def _may_be_null(bound: Bound) -> bool:
    """Whether a member may be null: a property or a list is taken as one that may."""
    match bound:
        case Value(scalar.Literal(constant)):
            return constant is None
        case Node():
            return bound.optional
        case _:
            return True


def both(one: rq.Value | None, other: rq.Value) -> rq.Value:
    """Whether a member is in a list and satisfies a condition."""
    return other if one is None else rq.Computed(functions.ALL_TRUE, (one, other))


def _kept_by(member: Member, test: rq.Value) -> Member:
    """A member of a list of those that satisfy a condition, which may be unknown."""
    if test == scalar.Literal(True):
        return member
    if test in (NULL, scalar.Literal(False)):
        return replace(member, kept=scalar.Literal(False))
    sure = rq.Computed(functions.FIRST_NOT_NULL, (test, scalar.Literal(False)))
    return replace(member, kept=both(member.kept, sure))


def _first(members: tuple[Member, ...]) -> Choices:
    """What the first of some members may be."""
    sure = next((k for k, member in enumerate(members, 1) if member.kept is None), None)
    return [(member.kept, member.bound) for member in members[:sure]]


def _slice(of: Sliced) -> slice:
    """The places of a slice.

    Raises:
        QueryError: E-LATER for bounds that are not constants.
    """
    bounds: list[int | None] = []
    for bound in (of.start, of.end):
        number = None if bound is None else constant(bound)
        if bound is not None and type(number) is not int:
            raise errors.BOUNDS.error(bound.at, expression_text(bound))
        assert number is None or isinstance(number, int)
        bounds.append(number)
    return slice(*bounds)


def _case(of: Expression, parts: list[rq.Value]) -> rq.Value:
    if len(parts) > 2 * functions.MOST_ARGUMENTS + 1:
        raise errors.LONG.error(of.at, expression_text(of)[:60])
    return parts[0] if len(parts) == 1 else rq.Computed(functions.CASE_WHEN, tuple(parts))


def _is_identity(value: Expression, name: str) -> bool:
    """Whether an expression is the identifier of a node."""
    match value:
        case Call(function, (argument,)) if function.text.lower() in IDENTITIES:
            value = argument
    return isinstance(value, VariableText) and value.name.text == name


def _parts(value: rq.Value) -> int:
    """The number of functions in a value."""
    if not isinstance(value, rq.Computed):
        return 0
    return 1 + sum(map(_parts, value.arguments))
