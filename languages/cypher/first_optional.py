"""OPTIONAL MATCH as the first clause of a query, where it means the same as MATCH.

Where nothing matches, the clause has one row of nulls. No row holds without input, so no rule gives
this row. A query that leaves the row out means the same with MATCH: a later MATCH, UNWIND or WHERE
reads one of the nulls, or all aggregates of a projection without keys skip them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from .clauses import Item, Match, Projection, Single, Unwind, With
from .leaves import HasLabels, Property, Variable
from .projections import aggregates
from .syntax import (
    And,
    Call,
    Comparison,
    Computed,
    Exists,
    Expression,
    InList,
    MatchCount,
    NullTest,
    Or,
    TextComparison,
)
from .walking import variables_of_patterns

_OF_NULLS = ("coalesce", "exists")
"""The functions of one argument that have a value where the argument is null."""


def with_first_match(single: Single) -> Single:
    """The query with MATCH in place of an OPTIONAL MATCH at its beginning, if it means the same."""
    first, later = single.clauses[:1], single.clauses[1:]
    if not first or not isinstance(first[0], Match) or not first[0].is_optional:
        return single
    if not _leaves_out(variables_of_patterns(first[0].parts), later, single.result):
        return single
    return replace(single, clauses=(replace(first[0], is_optional=False), *later))


def _leaves_out(
    nulls: Set[str], clauses: Sequence[Match | With | Unwind], result: Projection
) -> bool:
    """Whether rows in which all of the variables ``nulls`` are null change no row of the answer."""
    for clause in clauses:
        match clause:
            case Match(parts):
                if nulls.isdisjoint(variables_of_patterns(parts)):
                    continue
                if not clause.is_optional:
                    return True
                nulls = nulls | variables_of_patterns(parts)
            case Unwind(members):
                if _is_null(members, nulls):
                    return True
            case With(projection, condition):
                if _skips(projection, nulls):
                    return True
                named = _renamed(projection, nulls)
                if named is None:
                    return False
                nulls = named
                if condition is not None and _is_not_true(condition, nulls):
                    return True
    return _skips(result, nulls)


def _skips(projection: Projection, nulls: Set[str]) -> bool:
    """Whether a projection has no keys, and all of its aggregates skip the nulls."""
    if projection.is_star or not projection.items:
        return False
    return all(_is_skipping(item, nulls) for item in projection.items)


def _is_skipping(item: Item, nulls: Set[str]) -> bool:
    calls = list(aggregates(item.value))
    return bool(calls) and all(
        call.arguments and _is_null(call.arguments[0], nulls) for call in calls
    )


def _renamed(projection: Projection, nulls: Set[str]) -> Set[str] | None:
    """The names of the nulls behind a WITH; None for a LIMIT, which may choose the row of nulls.

    Of an aggregation they are keys, so that the row of nulls changes no other group than theirs.
    """
    if projection.skip is not None or projection.limit is not None:
        return None
    keys = [item for item in projection.items if not any(aggregates(item.value))]
    named = {item.name for item in keys if _is_null(item.value, nulls)}
    return named | nulls if projection.is_star else named


def _is_null(of: Expression, nulls: Set[str]) -> bool:
    """Whether an expression is null if the variables ``nulls`` are."""
    match of:
        case Variable(name) | Property(name):
            return name.text in nulls
        case Computed(_, arguments):
            return any(_is_null(part, nulls) for part in arguments)
        case Call(function, (argument,)):
            return function.text.lower() not in _OF_NULLS and _is_null(argument, nulls)
    return False


def _is_not_true(of: Expression, nulls: Set[str]) -> bool:
    """Whether a condition is false or unknown if the variables ``nulls`` are null."""
    match of:
        case And(parts):
            return any(_is_not_true(part, nulls) for part in parts)
        case Or(parts):
            return all(_is_not_true(part, nulls) for part in parts)
        case Comparison(values):
            return any(_is_null(value, nulls) for value in values)
        case TextComparison(value, _, part):
            return _is_null(value, nulls) or _is_null(part, nulls)
        case InList(value) | NullTest(value, False):
            return _is_null(value, nulls)
        case HasLabels(name):
            return name.text in nulls
        case Exists(parts) | MatchCount(parts):
            return not nulls.isdisjoint(variables_of_patterns(parts))
    return False
