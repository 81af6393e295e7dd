"""Lists that a WITH collects and later clauses read by their values.

The values of such a list are rows of a rule of their own, behind the keys of the WITH. ``x IN xs``
is an atom of this rule or its negation, and ``UNWIND xs AS x`` an atom that binds ``x``. The values
of a list that ``+`` joins are the rows of several rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..query.atoms import Variable
from ..query.regular_query import Comparison, Condition, Negation
from . import errors
from .bodies import Body
from .clauses import Item, Unwind
from .expression_text import expression_text
from .joined_lists import summands
from .leaves import Variable as VariableText
from .program import reading
from .scope import Members, Node, Value
from .syntax import Call, Expression, InList
from .values import value_of


def list_of(body: Body, of: Expression) -> Members | None:
    """The list that an expression names; None if it names none that a WITH collects."""
    bound = body.bound(of.name) if isinstance(of, VariableText) else None
    return bound if isinstance(bound, Members) else None


def collected(
    body: Body,
    item: Item,
    head: str,
    keys: Sequence[Item],
    known: Callable[[Expression], Sequence[Condition]],
) -> Members:
    """Adds the rules of the values of a list, or of lists that ``+`` joins; ``known`` returns the
    conditions of a value not to be null.

    Raises:
        QueryError: E-LATER for a key that is not a node, or may be null, and for ``+`` of a value
            that is not such a list.
    """
    names = tuple(key.name for key in keys)
    columns = [(key.name, Variable(_node_of(body, key, item).variable)) for key in keys]
    parts: list[Members] = []
    for part in summands(item.value):
        if isinstance(part, Call):
            (argument,) = part.arguments
            labels, repeats = _labels(body, argument), not part.distinct
            value, conditions, atoms = value_of(body, argument), known(argument), []
        else:
            members = list_of(body, part)
            if members is None:
                value_of(body, part)  # raises its own error for a name that is not bound
                raise errors.LISTS.error(part.at, expression_text(part))
            labels, repeats = members.of_nodes, members.repeats
            value, conditions = Variable(body.new(None)), ()
            atoms = [reading(members.rows, (*members.keys, value.name), part.at)]
        with body.under(atoms, conditions):
            body.program.add(body.rule(head, [*columns, (item.name, value)], part.at))
        parts.append(Members(head, names, labels, repeats))
    labels = _common([part.of_nodes for part in parts])
    return Members(head, names, labels, len(parts) > 1 or parts[0].repeats)


def _labels(body: Body, of: Expression) -> tuple[str, ...] | None:
    """The labels of a node; None for another value."""
    node = body.bound(of.name) if isinstance(of, VariableText) else None
    return node.labels if isinstance(node, Node) else None


def _common(labels: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """The labels that the members of all lists have; None if not all of them are nodes."""
    known = [of for of in labels if of is not None]
    if len(known) < len(labels):
        return None
    return tuple(one for one in known[0] if all(one in others for others in known))


def _node_of(body: Body, key: Item, list_: Item) -> Node:
    bound = body.bound(key.value.name) if isinstance(key.value, VariableText) else None
    if not isinstance(bound, Node) or bound.optional:
        raise errors.LIST_OF_VALUES.error(list_.value.at, list_.name)
    return bound


def passed_on(body: Body, members: Members, item: Item, items: Sequence[Item]) -> Members:
    """A list that is a column of another WITH, whose columns have to be its keys as well.

    Raises:
        QueryError: E-LATER if they are not.
    """
    names: dict[str, str] = {}
    for one in items:
        bound = body.bound(one.value.name) if isinstance(one.value, VariableText) else None
        if isinstance(bound, Node):
            names.setdefault(bound.variable, one.name)
    if not names.keys() >= set(members.keys):
        raise errors.LIST_OF_VALUES.error(item.value.at, item.name)
    return replace(members, keys=tuple(names[key] for key in members.keys))


def require_member(body: Body, of: InList, members: Members, *, positive: bool) -> None:
    """Requires that a value is in a list, or that it is not.

    Raises:
        QueryError: E-LATER for a value that is not in a list and may be null.
    """
    value = value_of(body, of.value)
    bound = body.bound(of.value.name) if isinstance(of.value, VariableText) else None
    if isinstance(bound, Node) and bound.optional:
        raise errors.OPTIONAL_NODE.error(of.value.at, expression_text(of.value))
    if not positive and not isinstance(bound, Node):
        raise errors.NOT_IN_LIST.error(of.value.at, expression_text(of.value))
    if not isinstance(value, Variable):
        name = Variable(body.new(None))
        body.conditions.append(Comparison(name, "=", value, of.at))
        value = name
    variables = (*members.keys, value.name)
    if positive:
        body.atoms.append(reading(members.rows, variables, of.at))
    else:
        body.negated.append(Negation(members.rows, variables, of.at))


def parts_of_sum(body: Body, of: Expression) -> list[Expression] | None:
    """The lists that ``+`` joins, or the one that an expression names; None if any part of the sum
    is not a list that a WITH collects."""
    parts = list(summands(of))
    return parts if all(list_of(body, part) is not None for part in parts) else None


def unwind_list(body: Body, clause: Unwind, members: Members) -> None:
    """Binds the variable of a clause to each value of a list.

    Raises:
        QueryError: E-LATER if an aggregate counts the values and may have to count one repeatedly.
    """
    if members.repeats and body.counted:
        raise errors.REPEATED_LIST.error(clause.members.at, expression_text(clause.members))
    own = body.new(clause.variable)
    body.atoms.append(reading(members.rows, (*members.keys, own), clause.at))
    labels = members.of_nodes
    bound = Value(Variable(own)) if labels is None else Node(own, labels)
    body.scope[clause.variable.text] = bound
