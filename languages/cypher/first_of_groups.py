"""``head(collect(x))`` behind a WITH with ORDER BY: the first row of each group in an order.

In: the syntax tree. Out: a projection with the order, in place of the two WITH, and the rules of
its rows.

No operator orders the rows of groups, so the first row is found column by column. Of the rows of a
group, those with the least value of the first key stay, or with the greatest one. So it goes on
with the next keys, and with the columns that are given. Nulls come last, as in ORDER BY with LIMIT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...algebra import functions, scalar
from ..query import answers
from ..query import regular_query as rq
from ..query.atoms import Location, Variable
from ..query.regular_query import Comparison, Either, Rule
from . import errors
from .clauses import First, Item, Projection, Single, Sorted, With
from .expression_text import expression_text
from .leaves import Name, Property
from .leaves import Variable as VariableText
from .lists import Clauses, end_of_scope, replaced_where_passed
from .program import Program, reading
from .projections import Closed, aggregates, constants_of
from .scope import ListColumn, Members, Node
from .syntax import Call, Expression, MapOf, NullTest, Quantified
from .walking import changed, everywhere, names_in, with_parts

# -- the syntax tree -------------------------------------------------------------------------


def with_first_rows(single: Single) -> Single:
    """The query with the first rows of groups in place of the heads of ordered lists.

    Raises:
        QueryError: E-LATER for a map of which anything but its entries is read, and for an order
            by other values than columns.
    """
    clauses, result = _before_return(single.clauses, single.result)
    for place, clause in enumerate(clauses):
        ordered = clauses[place - 1] if place else None
        if not isinstance(clause, With) or not isinstance(ordered, With) or _is_cut(ordered):
            continue
        projection = _first_rows(clause.projection, ordered.projection.order)
        if projection is None:
            continue
        _check_order(ordered.projection)
        rows = replace(ordered, projection=replace(ordered.projection, order=()))
        first = With(projection, clause.condition)
        clauses = (*clauses[: place - 1], rows, first, *clauses[place + 1 :])
        for name, map_ in _maps(clause.projection):
            clauses, result = _with_entries(clauses, place, name, map_, result)
    return replace(single, clauses=clauses, result=result)


def _before_return(clauses: Clauses, result: Projection) -> tuple[Clauses, Projection]:
    """The clauses with a WITH of the columns of a RETURN that has heads of ordered lists."""
    last = clauses[-1] if clauses else None
    if not isinstance(last, With) or _is_cut(last) or any(_maps(result)):
        return clauses, result
    items = tuple(replace(one, alias=Name(one.name, one.value.at)) for one in result.items)
    given = Projection(items, False, (), None, None, result.at)
    if result.is_star or _first_rows(given, last.projection.order) is None:
        return clauses, result
    columns = [Item(VariableText(Name(i.name, i.value.at)), i.alias, i.text) for i in result.items]
    return (*clauses, With(given, None)), replace(result, items=tuple(columns))


def _check_order(ordered: Projection) -> None:
    """Checks that an order reads only the columns of its WITH.

    Raises:
        QueryError: E-LATER if it reads anything else.
    """
    names = {item.name for item in ordered.items}
    for key in ordered.order:
        if not ordered.is_star and not names.issuperset(names_in(key.value)):
            raise errors.SORTED.error(key.value.at, expression_text(key.value))


def _is_cut(ordered: With) -> bool:
    """Whether a WITH has no order, or only some rows of it."""
    of = ordered.projection
    return not of.order or of.limit is not None or of.skip is not None


def _first_rows(projection: Projection, order: tuple[Sorted, ...]) -> Projection | None:
    """The projection to the first rows of its groups; None if it has other aggregates.

    Raises:
        QueryError: E-SYNTAX for a head without a name.
    """
    keys = [item for item in projection.items if not any(aggregates(item.value))]
    heads = [(i, of) for i in projection.items if (of := _head_of(i.value)) is not None]
    is_other = projection.is_star or bool(projection.order) or projection.limit is not None
    if is_other or not heads or len(keys) + len(heads) < len(projection.items):
        return None
    items = list(keys)
    for item, value in heads:
        if item.alias is None:
            raise errors.NO_ALIAS.error(item.value.at, item.text)
        if isinstance(value, MapOf):
            items += [_entry(item.name, key, of) for key, of in value.values]
        elif len(heads) > 1:  # each head skips its own nulls
            return None
        else:
            items.append(replace(item, value=value))
            order = (Sorted(NullTest(value, True), descending=False), *order)
    first = First(tuple(key.name for key in keys), order)
    return replace(projection, items=tuple(items), distinct=True, first=first)


def _head_of(of: Expression) -> Expression | None:
    """The argument of ``head(collect(x))``."""
    match of:
        case Call(head, (Call(collect, (argument,)),)):
            names = head.text.lower(), collect.text.lower()
            is_head = names == ("head", "collect") and not any(aggregates(argument))
            may_be_null = isinstance(argument, MapOf) and argument.owner is not None
            return argument if is_head and not may_be_null else None
    return None


# -- maps ------------------------------------------------------------------------------------


def _maps(projection: Projection) -> Iterator[tuple[str, MapOf]]:
    """The columns that are heads of lists of maps."""
    for item in projection.items:
        if isinstance(map_ := _head_of(item.value), MapOf):
            yield item.name, map_


def _entry(map_: str, key: Name, value: Expression) -> Item:
    """The column of an entry of a map."""
    return Item(value, Name(f"{map_}.{key.text}", key.at), "")


def _with_entries(
    clauses: Clauses, place: int, name: str, map_: MapOf, result: Projection
) -> tuple[Clauses, Projection]:
    """The clauses that read the entries of a map as columns, from the one at a place on."""
    first, rest = clauses[place], clauses[place + 1 :]
    assert isinstance(first, With)
    end = end_of_scope(rest, name)
    entries = [_entry(name, key, VariableText(Name(f"{name}.{key.text}", key.at)))
               for key, _ in map_.values]  # fmt: skip
    keys = {key.text for key, _ in map_.values}

    def over_entries(tree: Any) -> Any:
        return replaced_where_passed(_over_entries(tree, name, keys), name, entries)

    condition = _over_entries(first.condition, name, keys)
    seen = [over_entries(clause) for clause in rest[:end]]
    is_last = end > len(rest)
    last = over_entries(result) if is_last else result
    for of in everywhere((condition, *seen, *[last] * is_last)):
        if isinstance(of, VariableText | Property) and _variable(of).text == name:
            raise errors.MAP_VALUE.error(of.at, name)
    if is_last and result.is_star:
        raise errors.MAP_VALUE.error(result.at, "*")
    return (*clauses[:place], With(first.projection, condition), *seen, *rest[end:]), last


def _over_entries(tree: Any, name: str, keys: set[str]) -> Any:
    """A tree that reads the columns of the entries of a map."""

    def entry(of: Expression) -> Expression:
        match of:
            case Property(owner, key, more) if owner.text == name and key.text in keys:
                column = Name(f"{name}.{key.text}", of.at)
                return Property(column, more[0], more[1:]) if more else VariableText(column)
            case Quantified(_, variable) if variable.text == name:
                return of
        return with_parts(of, entry)

    return changed(tree, entry)


def _variable(of: VariableText | Property) -> Name:
    return of.name if isinstance(of, VariableText) else of.owner


# -- rules -----------------------------------------------------------------------------------


def with_order_columns(program: Program, projection: Projection) -> Projection:
    """The projection with its order by columns; those that only the order has come last."""
    if projection.first is None:
        return projection
    items, order = list(projection.items), list[Sorted]()
    for key in projection.first.order:
        at = key.value.at
        column = next((item for item in items if item.value == key.value), None)
        if column is None:
            column = Item(key.value, Name(program.fresh("key"), at), "")
            items.append(column)
        order.append(replace(key, value=VariableText(Name(column.name, at))))
    first = replace(projection.first, order=tuple(order))
    return replace(projection, items=tuple(items), first=first)


def first_of_groups(
    program: Program, closed: Closed, projection: Projection, columns: Sequence[str], head: str
) -> Closed:
    """Adds the rules of the first rows of groups.

    Args:
        program: the program.
        closed: all rows.
        projection: their projection, as :func:`with_order_columns` gives it.
        columns: the columns of the first rows.
        head: the head of the first rows.

    Raises:
        QueryError: E-LATER for a group by a value that is not a node, or may be null, and for an
            order by a list.
    """
    assert projection.first is not None
    for item in projection.items:
        is_group = item.name in projection.first.groups
        if is_group and not isinstance(closed.scope[item.name], Node):
            raise errors.LIST_OF_VALUES.error(item.value.at, item.name)
    for key in projection.first.order:
        name = key.value.name.text if isinstance(key.value, VariableText) else ""
        if isinstance(closed.scope.get(name), Members | ListColumn):
            raise errors.LISTS.error(key.value.at, "ORDER BY")
    rows = closed
    keys = _keys(program, closed, projection, columns)
    for number, (name, descends) in enumerate(keys, 1):
        is_last = number == len(keys)
        given = tuple(columns) if is_last else closed.columns
        chosen = Closed(head if is_last else program.fresh("first"), given, closed.scope)
        _choose(program, rows, chosen, projection, name, descends=descends)
        rows = chosen
    scope = {name: of for name, of in closed.scope.items() if name in columns}
    return replace(rows, scope=scope)


def _keys(
    program: Program, closed: Closed, projection: Projection, columns: Sequence[str]
) -> list[tuple[str, bool]]:
    """The columns to choose by, with whether the greatest value is chosen, without constants.

    There is one at least, so that a rule leaves the columns out that only the order has.
    """
    assert projection.first is not None
    order = [(key.value, key.descending) for key in projection.first.order]
    found = {of.name.text: down for of, down in reversed(order) if isinstance(of, VariableText)}
    keys = {of.name.text: found[of.name.text] for of, _ in order if isinstance(of, VariableText)}
    every = keys | {name: False for name in columns if name not in keys}
    constants = [constants_of(rule) for rule in program.rules if rule.head == closed.head]
    differing = [
        (name, down)
        for name, down in every.items()
        if name not in projection.first.groups and any(name not in one for one in constants)
    ]
    return differing or list(every.items())[:1]


def _choose(
    program: Program,
    rows: Closed,
    chosen: Closed,
    projection: Projection,
    name: str,
    *,
    descends: bool,
) -> None:
    """Adds the rules of the rows with the least or greatest value of a column in their group."""
    assert projection.first is not None
    groups, at = projection.first.groups, projection.at
    function = "max" if descends else "min"
    best, column = program.fresh("best"), f"{function}({name})"
    value = answers.aggregate(function, Variable(name), at, distinct=False)
    body = reading(rows.head, rows.columns, at)
    program.add(Rule(best, (*groups, column), (body,), at, properties=((column, value),)))

    is_node = isinstance(rows.scope[name], Node)
    of_best = reading(best, (*groups, name if is_node else column), at)
    conditions = () if is_node else (_is_best(name, column, at),)
    program.add(Rule(chosen.head, chosen.columns, (body, of_best), at, conditions))


def _is_best(name: str, best: str, at: Location) -> rq.Condition:
    """Whether a value is that of ``best``, which is null if all values of the group are."""
    known = rq.Computed(functions.IS_NOT_NULL, (Variable(best),))
    return Either(
        (
            Comparison(Variable(name), "=", Variable(best), at),
            Comparison(known, "=", scalar.Literal(False), at),
        )
    )
