"""Translates RETURN and WITH to the heads of rules.

A WITH without DISTINCT, aggregates and LIMIT closes no rule: it only names values, so that later
aggregates count the bindings of the patterns before it. Any other projection closes a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from ...algebra import functions, scalar
from ...algebra.aggregates import DEFINITIONS
from ..query import answers
from ..query import regular_query as rq
from ..query.atoms import Variable
from ..query.regular_query import Condition, Output, Rule
from . import errors
from .bodies import Body, Column
from .clauses import Item, Projection
from .collected import collected, list_of, passed_on
from .conditions import TRUE, decided, null_test
from .expression_text import expression_text
from .functions import NULL
from .known_lists import Lists, is_list
from .leaves import HasLabels, Name, Property
from .leaves import Variable as VariableText
from .list_columns import is_nested, list_value, nested_value
from .lists import columns_of_lists
from .ordering import limit_of
from .points import point_of
from .program import Choices, reading
from .scope import Bound, Edge, KnownList, ListColumn, Node, Path, Value
from .syntax import Call, Comprehension, Exists, Expression, MatchCount, Quantified, Reduced
from .values import AGGREGATES, value_of
from .variables import counted_edge
from .walking import parts_of, with_parts


def aggregates(of: Expression) -> Iterator[Call]:
    """The calls of aggregates in an expression, the outermost ones."""
    if isinstance(of, Call) and of.function.text.lower() in AGGREGATES:
        yield of
    elif not isinstance(of, Exists | MatchCount):
        for part in parts_of(of):
            yield from aggregates(part)


def is_aggregated(projection: Projection) -> bool:
    """Whether a projection has an aggregate."""
    return any(True for item in projection.items for _ in aggregates(item.value))


def computes(projection: Projection) -> bool:
    """Whether a column computes with an aggregate, which takes a rule more."""
    return any(map(_is_computed, projection.items))


def counts(items: Iterable[Item]) -> bool:
    """Whether the multiplicity of bindings matters to some columns."""
    return any(
        call.function.text.lower() not in ("min", "max") and not call.distinct
        for item in items
        for call in aggregates(item.value)
    )


def closes(projection: Projection) -> bool:
    """Whether a WITH closes a rule."""
    limited = projection.limit is not None or projection.skip is not None
    return projection.distinct or is_aggregated(projection) or bool(projection.order) or limited


def are_apart(queries: Sequence[Sequence[Rule]]) -> bool:
    """Whether no row is of two queries, given by the rules of their rows.

    It is so if each two rules of two of them have a column of other constants.
    """
    constants = [[constants_of(rule) for rule in rules] for rules in queries]
    return all(
        any(one[name] != other[name] for name in one.keys() & other.keys())
        for left, right in combinations(constants, 2)
        for one, other in product(left, right)
    )


def constants_of(rule: Rule) -> dict[str, scalar.Scalar | None]:
    """The values of the columns of a rule that are constants."""
    values: dict[str, scalar.Scalar | None] = {}
    for name, of in rule.properties:
        if isinstance(of, scalar.Literal) or of == NULL:
            values[name] = of.value if isinstance(of, scalar.Literal) else None
    return values


def items_of(body: Body, projection: Projection, *, is_last: bool) -> tuple[Item, ...]:
    """The items of a projection, with those that ``*`` stands for; ``is_last`` for RETURN.

    Raises:
        QueryError: E-SYNTAX for ``*`` without variables, and for a repeated name.
    """
    items = tuple(_decided(body, item) for item in projection.items)
    if projection.is_star:
        hidden = columns_of_lists(body.scope) if is_last else set[str]()
        names = [Name(name, projection.at) for name in body.scope if name not in hidden]
        if not names:
            raise errors.NO_COLUMNS.error(projection.at, "*")
        items = (*(Item(VariableText(name), None, name.text) for name in names), *items)
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            raise errors.SAME_COLUMN.error(item.value.at, item.name)
        seen.add(item.name)
    return items


def _decided(body: Body, item: Item) -> Item:
    """A column with truth values in place of its patterns.

    Of an aggregate's column those outside the aggregate stay: the alternatives of the rows that it
    counts do not decide them.
    """
    calls = list(aggregates(item.value))

    def inside(of: Expression) -> Expression:
        return decided(body, of) if of in calls else with_parts(of, inside)

    return replace(item, value=inside(item.value) if calls else decided(body, item.value))


def renamed(body: Body, projection: Projection) -> dict[str, Bound]:
    """The scope after a WITH that closes no rule.

    Raises:
        QueryError: E-SYNTAX for a value without a name.
    """
    scope: dict[str, Bound] = {}
    for item in items_of(body, projection, is_last=False):
        known = body.bound(item.value.name) if isinstance(item.value, VariableText) else None
        if item.alias is None and not isinstance(item.value, VariableText):
            raise errors.NO_ALIAS.error(item.value.at, item.text)
        point = None if known else point_of(body, item.value, value_of)
        list_ = None if known or point else Lists(body, value_of).named(item.value)
        scope[item.name] = known or point or list_ or Value(value_of(body, item.value))
    return scope


@dataclass(frozen=True, slots=True)
class Closed:
    """A rule that a projection closed: its columns, and what they are bound to for later clauses.

    Attributes:
        head: the head of the rules that compute its rows.
        columns: the names of the columns.
        scope: what later clauses find.
    """

    head: str
    columns: tuple[str, ...]
    scope: dict[str, Bound]


def close(
    body: Body, projection: Projection, head: str, inner: str, lists: Mapping[str, str] | None
) -> Closed:
    """Adds the rules of a projection.

    Args:
        body: the body of the rules.
        projection: the projection.
        head: the head of its rows.
        inner: the head of its aggregates, if it needs one.
        lists: the heads of the values of the lists of a WITH that are no columns, by their names.
            None for RETURN, whose lists are columns.

    Raises:
        QueryError: for a projection that is not supported.
    """
    every = items_of(body, projection, is_last=lists is None)
    program, at = body.program, projection.at
    items = every if lists is None else [one for one in every if not _is_list(body, one, lists)]
    limit = limit_of(projection, items)
    scope = {one.name: _later(body, one, one.name) for one in items}
    _check_order(projection, scope)
    if lists is not None:
        scope |= _lists(body, every, items, lists)
    _check_paths(body, items)
    names = tuple(item.name for item in items)
    computed = [item for item in items if _is_computed(item)]
    if not computed:
        columns = [(item.name, _output(body, item)) for item in items]
        if columns or not lists:
            program.add(body.rule(head, columns, at, limit), counted=body.counted)
        return Closed(head, names, scope)
    keys = [item for item in items if item not in computed]
    calls = dict.fromkeys(call for item in computed for call in aggregates(item.value))
    called = {call: f"{expression_text(call)}" for call in calls}
    columns = [(item.name, _output(body, item)) for item in keys]
    columns += [(name, _aggregate(body, call)) for call, name in called.items()]
    program.add(body.rule(inner, columns, at), counted=body.counted)
    own = tuple(name for name, _ in columns)
    after = Body(program, Choices(), counted=False)
    after.names.update(own)
    after.atoms.append(reading(inner, own, at))
    after.scope.update({name: Value(Variable(name)) for name in own})
    after.scope.update({n: _collected(call, n) for call, n in called.items() if _collects(call)})
    after.scope.update({item.name: scope[item.name] for item in keys})
    results: list[Column] = []
    for name, item in zip(names, items, strict=True):
        value = Variable(name) if item in keys else _value(after, _over(item.value, keys, called))
        results.append((name, value))
    program.add(after.rule(head, results, at, limit))
    return Closed(head, names, scope)


def _is_list(body: Body, item: Item, lists: Mapping[str, str]) -> bool:
    return item.name in lists or list_of(body, item.value) is not None


def _lists(
    body: Body, every: Sequence[Item], items: Sequence[Item], lists: Mapping[str, str]
) -> dict[str, Bound]:
    """What the lists are bound to that are no columns; ``items`` are the columns."""
    keys = [one for one in items if not any(aggregates(one.value))]

    def known(of: Expression) -> Sequence[Condition]:
        test = null_test(body, of, False)
        return () if test == TRUE else (test,)

    found: dict[str, Bound] = {}
    for item in every:
        if item.name in lists:
            found[item.name] = collected(body, item, lists[item.name], keys, known)
        elif (members := list_of(body, item.value)) is not None:
            found[item.name] = passed_on(body, members, item, items)
    return found


def _check_order(projection: Projection, scope: Mapping[str, Bound]) -> None:
    """Checks that no key of ORDER BY is a list."""
    for key in projection.order:
        name = key.value.name.text if isinstance(key.value, VariableText) else ""
        if isinstance(scope.get(name), ListColumn):
            raise errors.LISTS.error(key.value.at, name)


def _check_paths(body: Body, items: Sequence[Item]) -> None:
    """Checks that a path stands beside its ends: each row has one of the paths between them."""
    bound = [body.bound(i.value.name) for i in items if isinstance(i.value, VariableText)]
    nodes = {of.variable for of in bound if isinstance(of, Node)}
    for item in items:
        known = body.bound(item.value.name) if isinstance(item.value, VariableText) else None
        if isinstance(known, Path) and not known.shortest and not nodes.issuperset(known.ends):
            raise errors.PATH_ALONE.error(item.value.at, expression_text(item.value))


def _is_computed(item: Item) -> bool:
    """Whether a column computes with an aggregate, or has its lists and maps as such."""
    calls = list(aggregates(item.value))
    return bool(calls) and (calls != [item.value] or _collects_lists(calls[0]))


def _over(
    of: Expression,
    keys: Sequence[Item],
    called: dict[Call, str],
    members: frozenset[str] = frozenset(),
) -> Expression:
    """An expression over the columns of the rule of its aggregates; ``members`` are the names that
    it gives to the members of lists around."""
    match of:
        case VariableText(name) | Property(name) if name.text in members:
            return of
        case Comprehension(variable=variable) | Quantified(variable=variable):
            members |= {variable.text}
        case Reduced(result=result, variable=variable):
            members |= {result.text, variable.text}
    for key in keys:
        if key.value == of:
            return VariableText(Name(key.name, of.at))
    if isinstance(of, Call) and of in called:
        return VariableText(Name(called[of], of.at))
    if isinstance(of, VariableText | Property | Exists | MatchCount | HasLabels):
        raise errors.NOT_A_KEY.error(of.at, expression_text(of))
    return with_parts(of, lambda part: _over(part, keys, called, members))


def _output(body: Body, item: Item) -> Output:
    """The value of a column."""
    value = item.value
    if isinstance(value, Call) and value.function.text.lower() in AGGREGATES:
        return _aggregate(body, value)
    if isinstance(value, VariableText):
        bound = body.bound(value.name)
        if isinstance(bound, Path):
            if bound.optional:
                raise errors.OPTIONAL_PATH.error(value.at, value.name.text)
            if bound.steps is None:
                return rq.Witnessed(bound.name, value.at)
            if bound.steps.relationships:
                raise errors.READ_COLUMN.error(value.at, value.name.text)
            if not bound.shortest:
                raise errors.EMPTY_PATH.error(value.at, value.name.text)
            (node,) = bound.steps.nodes
            return rq.Computed(functions.LIST_OF, (Variable(node),))
    return _value(body, value)


def _value(body: Body, of: Expression) -> rq.Value:
    """The value of a column, which may be a list."""
    list_ = list_value(body, of)
    return value_of(body, of) if list_ is None else list_


def _aggregate(body: Body, of: Call) -> Output:
    shown = of.function.text
    name = AGGREGATES[shown.lower()]
    if of.is_star:
        return answers.aggregate(name, None, of.at, distinct=of.distinct, shown=shown)
    of_percentile = DEFINITIONS[answers.FUNCTIONS[name]].second == "percentile"
    if not 1 <= len(of.arguments) <= (2 if of_percentile else 1):
        raise errors.ONE_ARGUMENT.error(of.at, shown)
    if any(True for argument in of.arguments for _ in aggregates(argument)):
        raise errors.INNER_AGGREGATE.error(of.at, shown)
    argument = of.arguments[0]
    edge = counted_edge(body, argument, distinct=of.distinct) if name == "count" else None
    value = _argument(body, of) if edge is None else edge
    percentile = value_of(body, of.arguments[1]) if len(of.arguments) == 2 else None
    return answers.aggregate(
        name, value, of.at, distinct=of.distinct, second=percentile, shown=shown
    )


def _later(body: Body, item: Item, name: str) -> Bound:
    """What a column is bound to for the clauses after a closed rule."""
    known = body.bound(item.value.name) if isinstance(item.value, VariableText) else None
    if isinstance(known, Edge):
        raise errors.EDGE_COLUMN.error(item.value.at, expression_text(item.value))
    if isinstance(known, Node) and not known.optional:
        return Node(name, known.labels)
    if any(True for _ in aggregates(item.value)):
        has_list = _collects(item.value) or is_list(item.value)
        return ListColumn(Variable(name)) if has_list else Value(Variable(name))
    if (list_ := Lists(body, value_of).named(item.value)) is not None:
        of_nodes = list_.of_nodes if isinstance(list_, ListColumn) else _has_nodes(list_)
        return ListColumn(Variable(name), of_nodes)
    return Value(Variable(name))


def _has_nodes(list_: KnownList) -> bool:
    return all(isinstance(member.bound, Node) for member in list_.members)


def _collects(of: Expression) -> bool:
    return isinstance(of, Call) and of.function.text.lower() == "collect"


def _collects_lists(of: Call) -> bool:
    """Whether a call collects lists or maps."""
    return _collects(of) and len(of.arguments) == 1 and is_nested(of.arguments[0])


def _argument(body: Body, of: Call) -> rq.Value:
    argument, takes_lists = of.arguments[0], of.function.text.lower() in ("collect", "count")
    value = nested_value if takes_lists and is_nested(argument) else value_of
    return value(body, argument)


def _collected(of: Call, name: str) -> ListColumn:
    """The list that a call gives as the column ``name`` of the rule of the aggregates."""
    column = Variable(name)
    return ListColumn(rq.Computed(functions.NESTED, (column,)) if _collects_lists(of) else column)
