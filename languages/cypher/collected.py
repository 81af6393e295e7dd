"""Lists that a WITH collects and later clauses read by their values.

The values of such a list are rows of a rule of their own, behind the keys of the WITH. ``x IN xs``
is an atom of this rule or its negation, and ``UNWIND xs AS x`` an atom that binds ``x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..query.atoms import Variable
from ..query.regular_query import Comparison, Condition, Negation
from . import errors
from .bodies import Body
from .clauses import Item, Unwind
from .expression_text import expression_text
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
    body: Body, item: Item, head: str, keys: Sequence[Item], known: Sequence[Condition]
) -> Members:
    """Adds the rule of the values of a list; ``known`` says which of them are not null.

    Raises:
        QueryError: E-LATER for a key that is not a node, or may be null.
    """
    assert isinstance(item.value, Call)
    (argument,) = item.value.arguments
    names = tuple(key.name for key in keys)
    columns = [(key.name, Variable(_node_of(body, key, item).variable)) for key in keys]
    node = body.bound(argument.name) if isinstance(argument, VariableText) else None
    value = value_of(body, argument)
    body.conditions += known
    body.program.add(body.rule(head, [*columns, (item.name, value)], item.value.at))
    del body.conditions[len(body.conditions) - len(known) :]
    labels = node.labels if isinstance(node, Node) else None
    return Members(head, names, labels, not item.value.distinct)


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
