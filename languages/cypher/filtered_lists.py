"""``size([x IN xs WHERE condition])`` of a list that a WITH collects from an OPTIONAL MATCH.

No operator reads a list, so the OPTIONAL MATCH is matched once more behind the WITH, under the
condition, and its matches are counted. That is the same number where each group of the WITH has
the matches for one row alone: the WITH before the OPTIONAL MATCH has no row twice, and its columns
are the keys of the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .clauses import Item, Match, Projection, Single, With
from .expression_text import expression_text
from .leaves import Name, Variable
from .lists import Clauses, named_lists
from .projections import aggregates
from .syntax import And, Call, Comprehension, Expression, depth_of
from .walking import (
    everywhere,
    names_everywhere,
    renamed_variable,
    variables_of_patterns,
    with_parts,
)


def without_filtered_lists(single: Single) -> Single:
    """The query with counts of other matches in place of the sizes of filtered lists."""
    clauses: Clauses = ()
    for clause in single.clauses:
        found = _count_of(clauses, clause.projection) if isinstance(clause, With) else None
        if found is None or not isinstance(clause, With):
            clauses = (*clauses, clause)
        else:
            clauses = (*clauses, *found.clauses, replace(clause, projection=found.projection))
    found = _count_of(clauses, single.result)
    if found is None:
        return replace(single, clauses=clauses)
    return replace(single, clauses=(*clauses, *found.clauses), result=found.projection)


@dataclass(frozen=True, slots=True)
class _Count:
    """The clauses that count the matches of a filtered list, and a projection with the count."""

    clauses: tuple[Match, With]
    projection: Projection


def _count_of(before: Clauses, projection: Projection) -> _Count | None:
    """The count of the matches of a filtered list; None if the projection has none to count."""
    sizes = [of for of in everywhere(projection) if _is_size(of)]
    match before:
        case (*_, With() as rows, Match(is_optional=True) as optional, With() as grouped):
            pass
        case _:
            return None
    if not sizes or any(size != sizes[0] for size in sizes) or projection.is_star:
        return None
    list_ = _filtered(sizes[0])
    condition = list_.condition
    assert condition is not None
    node = _collected(grouped.projection, list_.members)
    own = variables_of_patterns(optional.parts) - {item.name for item in rows.projection.items}
    hidden = own & names_everywhere(condition) - {list_.variable.text}
    if node not in own or hidden:
        return None
    if not _is_of_one_row(rows.projection, optional, grouped.projection):
        return None
    chosen = renamed_variable(condition, list_.variable.text, node)
    parts = (chosen,) if optional.condition is None else (optional.condition, chosen)
    both = And(parts, 1 + max(map(depth_of, parts))) if len(parts) > 1 else chosen
    count = Call(Name("count", list_.at), (Variable(Name(node, list_.at)),))
    column = Name(expression_text(sizes[0]), list_.at)
    passed = [Name(item.name, item.value.at) for item in grouped.projection.items]
    items = (*(Item(Variable(name), name, "") for name in passed), Item(count, column, ""))
    counts = With(Projection(items, False, (), None, None, list_.at), None)

    def over_count(of: Expression) -> Expression:
        return Variable(column) if of == sizes[0] else with_parts(of, over_count)

    again = replace(optional, condition=both)
    return _Count((again, counts), with_parts(projection, over_count))


def _is_size(of: Expression) -> bool:
    match of:
        case Call(function, (Comprehension(condition=condition),)) if condition is not None:
            return function.text.lower() == "size"
    return False


def _filtered(size: Expression) -> Comprehension:
    assert isinstance(size, Call)
    (list_,) = size.arguments
    assert isinstance(list_, Comprehension)
    return list_


def _collected(projection: Projection, members: Expression) -> str | None:
    """The variable that a list collects, with repeats."""
    name = members.name.text if isinstance(members, Variable) else None
    for item in named_lists(projection):
        match item.value:
            case Call(_, (Variable(node),), distinct=False) if item.name == name:
                return node.text
    return None


def _is_of_one_row(rows: Projection, optional: Match, grouped: Projection) -> bool:
    """Whether each group of the matches belongs to one row, whose names the group still has."""
    known = {item.name for item in rows.items}
    keys = {item.name for item in rows.items if not any(aggregates(item.value))}
    passed = set(_passed(grouped))
    used = variables_of_patterns(optional.parts)
    is_different = rows.distinct or len(keys) < len(known)
    lists = {item.name for item in grouped.items}
    groups = {item.name for item in grouped.items if not any(aggregates(item.value))}
    return (
        is_different
        and not (rows.is_star or grouped.is_star)
        and keys <= passed == groups <= known
        and known & used <= passed
        and lists.isdisjoint(used - known)
    )


def _passed(projection: Projection) -> Iterator[str]:
    """The variables that a projection passes on by their names."""
    for item in projection.items:
        if isinstance(item.value, Variable) and item.value.name.text == item.name:
            yield item.name
