"""LIMIT and SKIP in a WITH without DISTINCT and aggregates, whose rows may repeat.

The rows are a bag there: two matches with the same columns are two rows, which both count. The
query means the same with its rows numbered, so that no two are equal. Where two matches at most
can be left::

    WITH a, r.w AS w ORDER BY w LIMIT 2

    WITH a, r.w AS w, count(*) AS rows UNWIND [0, 1] AS digit
    WITH a, w, rows, digit AS number WHERE number < rows
    WITH DISTINCT a, w, number ORDER BY w LIMIT 2
    WITH a, w

The last WITH closes no rule, so the clauses after it count a row for each number. Each digit of
greater numbers is an UNWIND of its own, which keeps the rules few. A key that is not a column
becomes one up to the limit. So do the variables that tell rows apart behind a WITH with DISTINCT or
aggregates, and no rows are numbered there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..query.atoms import Location
from . import errors
from .clauses import Item, Match, Projection, Single, Sorted, Unwind, With
from .distinct_rows import keys_of, with_distinct
from .expression_text import expression_text
from .leaves import HasLabels, Literal, Name, Property, Variable
from .ordering import column_of, rows_of
from .program import Program
from .projections import closes, is_aggregated
from .star_columns import with_star_columns
from .syntax import Call, Comparison, Computed, Exists, Expression, ListOf, MatchCount
from .values import AGGREGATES
from .walking import names_in, with_parts

_BASE: Final = 8
"""The number of digits; each is a rule."""


def with_limited_sets(program: Program, single: Single) -> Single:
    """The query in which a WITH with a limit has DISTINCT, and perhaps numbers of equal rows.

    A RETURN whose order has a key that is not a column becomes such a WITH, and a RETURN behind it.

    Raises:
        QueryError: E-LATER for a key of the order that has patterns over columns, or an aggregate;
            E-SYNTAX for a column without a name.
    """
    single = with_star_columns(_with_last_columns(single), _is_bag)
    clauses: list[Match | With | Unwind] = []
    start: Projection | None = None
    pending: list[Match | With | Unwind] = []
    for clause in single.clauses:
        if not isinstance(clause, With) or not closes(clause.projection):
            clauses.append(clause)
            pending.append(clause)
            continue
        projection = with_distinct(clause.projection, start, pending)
        if not _is_bag(clause.projection) or (projection.distinct and not _has_keys(projection)):
            clauses.append(clause)
            start, pending = projection, []
            continue
        differing = () if projection.distinct else keys_of(start, pending)
        *before, limited, last = _limited(program, clause, differing)
        assert isinstance(limited, With)
        clauses += [*before, limited, last]
        start, pending = limited.projection, [last]
    return replace(single, clauses=tuple(clauses))


def _with_last_columns(single: Single) -> Single:
    """The query with a RETURN whose order has columns alone."""
    result = single.result
    if not (_is_bag(result) and _has_keys(result)):
        return single
    items = tuple(
        replace(item, alias=item.alias or Name(item.name, item.value.at)) for item in result.items
    )
    last = With(replace(result, items=items), None)
    # Constants stay constants of the RETURN, for they tell the queries of UNION ALL apart.
    passed = zip(items, _passed_on(items, result.at), strict=True)
    columns = _projection(
        [item if isinstance(item.value, Literal) else column for item, column in passed], result.at
    )
    return replace(single, clauses=(*single.clauses, last), result=columns)


def _is_bag(projection: Projection) -> bool:
    """Whether a projection is limited and as written may have equal rows."""
    is_set = projection.distinct or is_aggregated(projection)
    return projection.limit is not None and not is_set


def _has_keys(projection: Projection) -> bool:
    """Whether a key of the order reads anything but columns."""
    names = {item.name for item in projection.items}
    return not projection.is_star and any(
        column_of(projection.items, expression_text(key.value)) is None
        and not names.issuperset(names_in(key.value))
        for key in projection.order
    )


def _limited(
    program: Program, clause: With, differing: Collection[str] | None
) -> Iterator[With | Unwind]:
    """The clauses in place of a WITH; the last but one has the limit, the last one the columns.

    ``differing`` are variables that with the columns tell all rows apart. They are columns up to
    the limit; without them, for None, equal rows have numbers.
    """
    given = clause.projection
    at = given.at
    for item in given.items:
        if item.alias is None and not isinstance(item.value, Variable):
            raise errors.NO_ALIAS.error(item.value.at, item.text)
    keys = dict[str, Item]()
    order = tuple(_key(program, given.items, key, keys) for key in given.order)
    columns = (*given.items, *keys.values())
    for name in sorted(differing or ()):
        if not any(item.value == Variable(Name(name, at)) for item in columns):
            columns += (Item(Variable(Name(name, at)), Name(program.fresh("key"), at), ""),)
    if differing is None:
        number = _column(program.fresh("number"), at)
        yield from _numbered(program, given, columns, number)
        columns = (*_passed_on(columns, at), number)
    limited = _projection(columns, at, distinct=True)
    yield With(replace(limited, order=order, skip=given.skip, limit=given.limit), None)
    yield _with(_passed_on(given.items, at), at, clause.condition)


def _numbered(
    program: Program, given: Projection, items: Sequence[Item], number: Item
) -> Iterator[With | Unwind]:
    """The clauses that give equal rows of ``items`` a ``number`` each, from 0 on."""
    at, columns = given.at, _passed_on(items, given.at)
    rows = _column(program.fresh("rows"), at)
    count = Call(Name("count", at), (), is_star=True)
    yield _with((*items, Item(count, Name(rows.name, at), "")), at)
    before: Expression | None = None
    for step, digits in _places(given):
        digit = Variable(Name(program.fresh("digit"), at))
        yield Unwind(_multiples(step, digits, at), digit.name, at)
        value = digit if before is None else Computed("+", (before, digit), at, 2)
        below = Comparison((number.value, rows.value), (Name("<", at),), 2)
        named = Item(value, Name(number.name, at), "")
        yield _with((*columns, rows, named), at, below)
        if step > 1:
            yield With(_projection((*columns, rows, number), at, distinct=True), None)
        before = number.value


def _places(given: Projection) -> Iterator[tuple[int, int]]:
    """The value of each place of a number, the greatest first, and how many digits it has."""
    assert given.limit is not None
    most = max(1, rows_of(given.limit) + (0 if given.skip is None else rows_of(given.skip)))
    step = 1
    while step * _BASE < most:
        step *= _BASE
    yield step, -(-most // step)
    while step > 1:
        step //= _BASE
        yield step, _BASE


def _multiples(step: int, digits: int, at: Location) -> ListOf:
    return ListOf(tuple(Literal(step * value, at) for value in range(digits)), at)


def _key(program: Program, items: Sequence[Item], key: Sorted, keys: dict[str, Item]) -> Sorted:
    """A key of the order by a column, which is added to ``keys`` if it is none of ``items``."""
    at, text = key.value.at, expression_text(key.value)
    column = column_of(items, text) or keys.get(text)
    if column is None:
        value = _over_matches(key.value, {item.name: item for item in items})
        column = keys[text] = Item(value, Name(program.fresh("key"), at), text)
    return replace(key, value=Variable(Name(column.name, at)))


def _over_matches(of: Expression, columns: Mapping[str, Item]) -> Expression:
    """An expression over columns and variables, with the values of columns for their names.

    Raises:
        QueryError: E-LATER for an aggregate, and for what takes no value in place of a column.
    """
    match of:
        case Variable(name) if name.text in columns:
            return columns[name.text].value
        case Property(name) if name.text in columns:
            value = columns[name.text].value
            if isinstance(value, Variable):
                return replace(of, owner=value.name)
            raise errors.SORTED.error(of.at, expression_text(of))
        case Exists() | MatchCount() | HasLabels():
            raise errors.SORTED.error(of.at, expression_text(of))
        case Call(function) if function.text.lower() in AGGREGATES:
            raise errors.SORTED.error(of.at, expression_text(of))
    return with_parts(of, lambda part: _over_matches(part, columns))


def _column(name: str, at: Location) -> Item:
    return Item(Variable(Name(name, at)), None, name)


def _passed_on(items: Sequence[Item], at: Location) -> tuple[Item, ...]:
    """The columns of items as columns of the next WITH."""
    return tuple(_column(item.name, at) for item in items)


def _projection(items: Sequence[Item], at: Location, *, distinct: bool = False) -> Projection:
    return Projection(tuple(items), distinct, (), None, None, at)


def _with(items: Sequence[Item], at: Location, condition: Expression | None = None) -> With:
    """A WITH that repeats rows."""
    return With(_projection(items, at), condition)
