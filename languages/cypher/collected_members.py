"""``[x IN collect(y) WHERE condition | value]`` as an aggregate.

``collect`` leaves nulls out, so that it has the chosen values by itself: ``collect(CASE WHEN
condition THEN value END)``, where no value is null. Its order is that of the values, as the members
of ``collect`` have no order in Cypher.
"""

from __future__ import annotations

from dataclasses import replace

from .leaves import Literal, Name, Property, Variable
from .syntax import And, Call, Case, Comprehension, Expression, NullTest, depth_of
from .variables import IDENTITIES
from .walking import conjuncts, names_in, with_parts


def of_collected(of: Comprehension, collect: Call) -> Call | None:
    """The aggregate that gives the members of a list of what is collected; None if it cannot."""
    if len(collect.arguments) != 1:
        return None
    (argument,) = collect.arguments
    name, value = of.variable, Variable(of.variable) if of.value is None else of.value
    tests = [test for test in (of.condition, value) if test is not None]
    if None in {read for test in tests for read in names_in(test)}:
        return None
    if not _is_never_null(value, of) or (collect.distinct and not _is_member(value, name)):
        return None
    there: Expression = NullTest(Variable(name), False)
    if of.condition is not None:
        there = And((there, of.condition), 1 + max(depth_of(there), depth_of(of.condition)))
    chosen = Case(None, ((there, value),), None, of.at, of.depth)
    found = _with_argument(chosen, name, argument)
    return None if found is None else replace(collect, arguments=(found,))


def _is_member(value: Expression, name: Name) -> bool:
    """Whether a value is the member itself, or the identifier of the node that it is."""
    match value:
        case Call(function, (argument,)) if function.text.lower() in IDENTITIES:
            value = argument
    return isinstance(value, Variable) and value.name == name


def _is_never_null(value: Expression, of: Comprehension) -> bool:
    """Whether the value of a member that is not null is never null."""
    if isinstance(value, Literal):
        return value.value is not None
    known = () if of.condition is None else conjuncts(of.condition)
    return _is_member(value, of.variable) or NullTest(value, False) in known


def _with_argument(of: Expression, name: Name, argument: Expression) -> Expression | None:
    """An expression with what is collected in place of the name of a member; None if it reads a
    property of what is not the name of a node."""
    is_node = isinstance(argument, Variable)
    fits = True

    def changed(part: Expression) -> Expression:
        nonlocal fits
        match part:
            case Variable(read) if read == name:
                return argument
            case Property(owner) if owner == name:
                fits &= is_node
                node = argument.name if isinstance(argument, Variable) else owner
                return replace(part, owner=node)
            case Comprehension(variable) if variable == name:
                fits = False
        return with_parts(part, changed)

    found = changed(of)
    return found if fits else None
