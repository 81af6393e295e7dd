"""Negated parts of rules: the anti-join of a body's rows with the rows of each part."""

from __future__ import annotations

from collections.abc import Mapping

from ...algebra.logical import AntiJoin
from ...algebra.predicate import Predicate
from ..query.conditions import key_text
from ..query.regular_query import Rule
from ..query.value_columns import ValueColumns, values_in
from .join_keys import JoinKeys
from .joined_types import different
from .relations import Relation, filtered, over, projected


def without_matches(
    relation: Relation,
    rule: Rule,
    columns: tuple[str, ...],
    keys: JoinKeys,
    *,
    relations: Mapping[str, Relation],
    values: ValueColumns,
) -> Relation:
    """The rows of a rule's body, with these columns, that match none of its negated parts.

    ``relations`` has the relations of the parts by their predicates, ``values`` the columns of
    predicates that hold values. A value that is missing matches nothing.

    Raises:
        QueryError: E-TYPE for values of different types, or of several types.
    """
    own_values = values_in(rule.body, values)
    for negation in rule.negated:
        part = relations[negation.predicate]
        if relation.empty or part.empty:
            continue
        key: dict[int, int] = {}
        for own, name in enumerate(negation.variables):
            column = columns.index(keys.column(name))
            is_value = values[negation.predicate][own]
            one, other = relation.types[column], part.types[own]
            if (is_value or name in own_values) and (one is None or one != other):
                raise different(name, one, other, negation.location)
            if is_value:
                part = filtered(part, Predicate.column_is_known(own))
            if column in key:  # conditions equate two variables
                part = filtered(part, Predicate.columns_equal(key[column], own))
            key.setdefault(column, own)
        part = projected(part, list(key.values()))
        anti = AntiJoin.on(len(columns), tuple(key), tuple(map(key_text, columns)))
        relation = over(anti, [relation, part], relation.types)
    return relation
