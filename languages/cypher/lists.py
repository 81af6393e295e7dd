"""Lists that ``collect`` makes and later clauses take apart again.

No operator reads a list, so the syntax tree is rewritten to one without it, unless clauses only
hand the list on to RETURN. ``size(collect(x))`` is a count, also where a WITH names the list
before; ``head`` and ``last`` of a list, which is in ascending order, are the smallest and the
largest value. ``WITH a, collect(x) AS xs UNWIND xs AS y`` keeps the rows that it groups:
``WITH a, x AS y WHERE y IS NOT NULL``. RETURN collects a list itself where it has all keys of the
WITH.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, TypeVar

from . import errors
from .clauses import Item, Match, Projection, Single, Unwind, With
from .collected_members import of_collected
from .expression_text import expression_text
from .joined_lists import joined_lists, with_sizes_added
from .leaves import HasLabels, Literal, Name, Property, Variable
from .syntax import And, Call, Comprehension, Expression, Indexed, NullTest, Quantified, depth_of
from .values import AGGREGATES
from .walking import changed, everywhere, names_in, with_parts

Clauses = tuple[Match | With | Unwind, ...]
Tree = TypeVar("Tree")
OF_LISTS: Final = {"size": "count", "head": "min", "last": "max"}
"""The functions of a list, and the aggregates of its values with the same results."""


def without_lists(single: Single) -> Single:
    """The query with other aggregates in place of the lists that its clauses take apart."""
    names = {item.name for clause in single.clauses if isinstance(clause, With)
             for item in named_lists(clause.projection)}  # fmt: skip

    def added(of: Expression) -> Expression:
        return with_sizes_added(with_parts(of, added), names)

    found = with_parts(with_parts(single, added), _aggregated)
    clauses, result = found.clauses, found.result
    for place in range(len(clauses)):
        for item in _lists(clauses, place):
            clauses = _unwound(clauses, place, item, result)
        for item in _lists(clauses, place):
            clauses, result = _without_list(clauses, place, item, result)
    if clauses:
        clauses, result = _returned(clauses, result)
    return replace(found, clauses=clauses, result=result)


def _aggregated(of: Expression) -> Expression:
    """``size(collect(x))`` as ``count(x)``, and chosen members of ``collect(x)`` as ``collect``."""
    match of:
        case Call(function, (Comprehension() as chosen,)) if function.text.lower() == "size":
            of = replace(of, arguments=(replace(chosen, value=None),))
    of = with_parts(of, _aggregated)
    match of:
        case Indexed(Call() as list_, Literal(int() as place)) if _called(list_) == "collect":
            if place in (0, -1) and not isinstance(place, bool):
                return _aggregate(list_, OF_LISTS["last" if place else "head"])
        case Comprehension(_, Call() as list_) if _called(list_) == "collect":
            found = of_collected(of, list_)
            if found is None:
                raise errors.CHOSEN_OF_COLLECT.error(of.at, expression_text(of))
            return found
        case Call(function, (Call() as list_,)) if _called(list_) == "collect":
            name = OF_LISTS.get(function.text.lower())
            return of if name is None else _aggregate(list_, name)
    return of


def _called(of: Expression) -> str | None:
    """The function that a call has, in lower case."""
    return of.function.text.lower() if isinstance(of, Call) else None


def _aggregate(list_: Call, name: str) -> Call:
    """Another aggregate of the values of a list; the smallest value needs no DISTINCT."""
    distinct = list_.distinct and name == "count"
    return replace(list_, function=Name(name, list_.function.at), distinct=distinct)


def named_lists(projection: Projection) -> list[Item]:
    """The columns of a WITH that are lists."""
    lists = (i for i in projection.items if i.alias is not None and _called(i.value) == "collect")
    return [one for one in lists if isinstance(one.value, Call) and len(one.value.arguments) == 1]


def columns_of_lists(names: Iterable[str]) -> set[str]:
    """The names of the columns that :func:`without_lists` adds for functions of lists ``names``."""
    return {f"{function}({name})" for name in names for function in OF_LISTS}


def lists_taken_apart(
    projection: Projection, clauses: Sequence[Match | With | Unwind], result: Projection
) -> list[str]:
    """The names of the lists of a WITH that the clauses behind it do not hand on to RETURN."""
    names = [item.name for item in (*named_lists(projection), *joined_lists(projection))]
    return [name for name in names if not _is_returned({name}, clauses, result)]


def _is_returned(
    names: Set[str], clauses: Sequence[Match | With | Unwind], result: Projection
) -> bool:
    """Whether RETURN has a column that is one of the variables."""
    for projection in (clause.projection for clause in clauses if isinstance(clause, With)):
        names = _columns_of(projection, names)
    return bool(_columns_of(result, names))


def _columns_of(projection: Projection, names: Set[str]) -> Set[str]:
    """The columns that are one of the variables."""
    variables = {i.name: i.value for i in projection.items if isinstance(i.value, Variable)}
    columns = {name for name, of in variables.items() if of.name.text in names}
    return columns | names if projection.is_star else columns


def _lists(clauses: Clauses, place: int) -> list[Item]:
    """The columns of the clause at a place that are lists."""
    clause = clauses[place] if place < len(clauses) else None
    return named_lists(clause.projection) if isinstance(clause, With) else []


# -- UNWIND of a list that the WITH before it collects ---------------------------------------


def _unwound(clauses: Clauses, place: int, item: Item, result: Projection) -> Clauses:
    """The clauses with a WITH of single values in place of a WITH and an UNWIND of its list, unless
    anything else needs the groups."""
    before, (clause, *rest) = clauses[:place], clauses[place:]
    assert isinstance(clause, With)
    assert isinstance(item.value, Call)
    unwind = rest[0] if rest else None
    if not isinstance(unwind, Unwind):
        return clauses
    projection, later = clause.projection, rest[1:]
    others = tuple(one for one in projection.items if one is not item)
    is_grouped = any(map(_is_aggregated, others))
    is_read = _reads((clause.condition, *later, result), item.name)
    is_limited = projection.limit is not None or bool(projection.order)
    if not _is_variable(unwind.members, item.name) or is_grouped or is_read or is_limited:
        return clauses
    value = Item(item.value.arguments[0], unwind.variable, unwind.variable.text)
    distinct = item.value.distinct
    known = NullTest(Variable(unwind.variable), False)
    condition = known if clause.condition is None else _both(clause.condition, known)
    single = With(replace(projection, items=(*others, value), distinct=distinct), condition)
    return (*before, single, *later)


def _both(one: Expression, other: Expression) -> And:
    return And((one, other), 1 + max(depth_of(one), depth_of(other)))


def _is_variable(of: Expression, name: str) -> bool:
    return isinstance(of, Variable) and of.name.text == name


def _reads(tree: Any, name: str) -> bool:
    """Whether an expression in a tree reads a variable."""
    return any(
        isinstance(of, Variable | Property) and _variable(of) == name for of in everywhere(tree)
    )


def _variable(of: Variable | Property) -> str:
    return of.name.text if isinstance(of, Variable) else of.owner.text


# -- functions of a list that a WITH names ---------------------------------------------------


def _without_list(
    clauses: Clauses, place: int, item: Item, result: Projection
) -> tuple[Clauses, Projection]:
    """The clauses with a column for each function of a list, and without the list if nothing else
    reads it."""
    before, (clause, *rest) = clauses[:place], clauses[place:]
    assert isinstance(clause, With)
    assert isinstance(item.value, Call)
    end = end_of_scope(rest, item.name)
    seen, later = rest[:end], rest[end:]
    last = [result] if end > len(rest) else []
    trees = (clause.condition, *seen, *last)
    used = [of for of in OF_LISTS if any(_is_of(e, of, item.name) for e in everywhere(trees))]
    columns = [Item(_aggregate(item.value, OF_LISTS[of]), _column(of, item), "") for of in used]
    condition = _over_columns(clause.condition, item, columns)
    after = [_over_columns(one, item, columns) for one in seen]
    last = [_over_columns(one, item, columns) for one in last]
    is_returned = any(one.is_star for one in last)
    if is_returned or _reads((condition, *after, *last), item.name):
        columns.append(item)
        after = [_over_columns(one, item, columns) for one in seen]
    items = _replaced(clause.projection.items, item, columns) or clause.projection.items
    groups = clause.projection.distinct or not any(map(_is_aggregated, items))
    projection = replace(clause.projection, items=items, distinct=groups)
    return (*before, With(projection, condition), *after, *later), (*last, result)[0]


def end_of_scope(clauses: Sequence[Match | With | Unwind], name: str) -> int:
    """The number of the clauses that see a variable, up to a WITH that does not pass it on; one
    more than all if RETURN sees it."""
    for place, clause in enumerate(clauses):
        if isinstance(clause, With) and not clause.projection.is_star:
            items = clause.projection.items
            if not any(one.name == name and _is_variable(one.value, name) for one in items):
                return place + 1
    return len(clauses) + 1


def _is_of(of: Expression, function: str, name: str) -> bool:
    """Whether an expression is a function of a variable."""
    match of:
        case Call(_, (argument,)):
            return _called(of) == function and _is_variable(argument, name)
    return False


def _column(function: str, item: Item) -> Name:
    """The name of the column of a function of a list."""
    return Name(f"{function}({item.name})", item.value.at)


def _over_columns(tree: Tree, item: Item, columns: Sequence[Item]) -> Tree:
    """A tree that reads the columns in place of the list, also where a WITH passes it on."""

    def column(of: Expression) -> Expression:
        if isinstance(of, Quantified) and of.variable.text == item.name:
            return of
        for function in OF_LISTS:
            if _is_of(of, function, item.name):
                return Variable(_column(function, item))
        return with_parts(of, column)

    passed = [Item(Variable(_name(one)), one.alias, "") for one in columns]
    found: Tree = changed(tree, column)
    return replaced_where_passed(found, item.name, passed)


def replaced_where_passed(tree: Tree, name: str, passed: Sequence[Item]) -> Tree:
    """A tree with other columns in place of a variable, where it is a WITH that passes it on."""
    if not isinstance(tree, With):
        return tree
    items = tree.projection.items
    for one in items:
        if _is_variable(one.value, name) and one.name == name:
            items = _replaced(items, one, passed)
    return replace(tree, projection=replace(tree.projection, items=items))


def _name(item: Item) -> Name:
    assert item.alias is not None
    return item.alias


def _replaced(items: Sequence[Item], item: Item, others: Sequence[Item]) -> tuple[Item, ...]:
    """The columns with others in place of one."""
    return tuple(new for one in items for new in (others if one is item else (one,)))


# -- lists of the last WITH that RETURN gives ------------------------------------------------


def _returned(clauses: Clauses, result: Projection) -> tuple[Clauses, Projection]:
    """The clauses and the RETURN that collects the lists of the last WITH."""
    *before, clause = clauses
    lists = _lists(clauses, len(clauses) - 1)
    if not isinstance(clause, With) or not any(_reads(result, one.name) for one in lists):
        return clauses, result
    given = clause.projection
    is_chosen = clause.condition is not None or given.limit is not None or bool(given.order)
    if given.is_star or is_chosen or not _is_over(result, given):
        return clauses, result
    found = _substituted(result, {one.name: one.value for one in given.items})
    return (tuple(before), found) if found is not None else (clauses, result)


def _is_over(result: Projection, given: Projection) -> bool:
    """Whether a RETURN has all keys of the WITH before it as columns, and reads nothing else.

    A pattern could read more: the variables that the WITH leaves out are bound once more.
    """
    columns = {of.name.text for i in result.items if isinstance(of := i.value, Variable)}
    keys = {one.name for one in given.items if not _is_aggregated(one)}
    read = {name for item in result.items for name in names_in(item.value)}
    counts_groups = any(map(_is_aggregated, result.items))
    known = {one.name for one in given.items}
    return keys <= columns and read <= known and not (counts_groups or result.is_star)


def _is_aggregated(item: Item) -> bool:
    return any(_called(of) in AGGREGATES for of in everywhere(item.value))


def _substituted(result: Projection, values: Mapping[str, Expression]) -> Projection | None:
    """A RETURN with values in place of their names; None if it has a property of one that is not
    the name of a node."""
    owners = {of.owner.text for of in everywhere(result) if isinstance(of, Property)}
    bound = {of.variable.text for of in everywhere(result) if isinstance(of, Comprehension)}
    if bound & values.keys() or any(
        not isinstance(of, Variable) for name, of in values.items() if name in owners
    ):
        return None

    def value(of: Expression) -> Expression:
        match of:
            case Variable(name):
                return values.get(name.text, of)
            case Property(owner) if isinstance(node := values.get(owner.text), Variable):
                return replace(of, owner=node.name)
            case HasLabels(name) if isinstance(node := values.get(name.text), Variable):
                return replace(of, name=node.name)
        return with_parts(of, value)

    items = tuple(replace(one, value=_aggregated(value(one.value))) for one in result.items)
    return replace(result, items=items)
