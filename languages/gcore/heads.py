"""The result of a statement: an edge between two vertices, or the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ...algebra.aggregates import DEFINITIONS
from ..query import answers
from ..query import regular_query as rq
from ..query.atoms import Location, PathAtom, Variable, variables_of
from ..query.conditions import named_edges, with_names
from ..query.errors import QueryError
from . import errors
from .errors import LATER, Fault
from .scope import Scope
from .syntax import Call, Construct, Direction, Edge, Item, Name, Node, Select, StoredPath, Value
from .values import call_fault, path_fault, place_of, referenced, value_of

_UNBOUND = Fault("E-SAFE", "no MATCH binds it", "select vertices that patterns bind")
_TAKEN = Fault("E-EDB", "another column has this name", "give one of them another name")


@dataclass(frozen=True, slots=True)
class Column:
    """A vertex or value, and the name of the column (None for the default name).

    ``names`` are the variables in the value.
    """

    value: Name | rq.Output
    called: str | None
    at: Location
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The columns of an answer, and its label if the answer is an edge."""

    columns: tuple[Column, ...]
    label: Name | None
    at: Location

    @property
    def vertices(self) -> tuple[str, ...]:
        """The vertices among the columns."""
        return tuple(c.value.text for c in self.columns if isinstance(c.value, Name))

    @property
    def paths(self) -> tuple[Column, ...]:
        """The paths among the columns."""
        return tuple(c for c in self.columns if isinstance(c.value, rq.Witnessed))

    @property
    def referenced(self) -> tuple[Name, ...]:
        """The edges and vertices in the values of the other columns."""
        others = (c for c in self.columns if not isinstance(c.value, Name | rq.Witnessed))
        return tuple(name for column in others for name in column.names)

    @property
    def outputs(self) -> tuple[tuple[str, rq.Output], ...]:
        """The columns that are not vertices, without repeated names."""
        return tuple(
            {
                column.called: column.value
                for column in self.columns
                if not isinstance(column.value, Name) and column.called is not None
            }.items()
        )

    @property
    def variables(self) -> frozenset[str]:
        """All variables that must be bound."""
        return frozenset(name.text for column in self.columns for name in column.names)


def edges_of(construct: Construct) -> list[Head]:
    """The edges that a CONSTRUCT builds, in the order of the text.

    Raises:
        QueryError: E-LATER for stored paths and isolated vertices; E-SKOLEM for anonymous
            vertices; E-SYNTAX for labels and properties of vertices, and for an edge without
            exactly one label.
    """
    heads: list[Head] = []
    for pattern in construct.patterns:
        names = [_built(node) for node in pattern.nodes]
        for left, link, right in zip(names, pattern.links, names[1:], strict=False):
            pair = (left, right) if link.direction is Direction.RIGHT else (right, left)
            ends = tuple(Column(end, None, end.at, (end,)) for end in pair)
            if isinstance(link, StoredPath):
                at = link.variable.at
                heads.append(Head((*ends, _path(link.variable, None)), Name("Answer", at), at))
                continue
            assert isinstance(link, Edge)
            label = _label(link)
            heads.append(Head(ends, label, label.at))
    connected = {name for head in heads for name in head.vertices}
    for pattern in construct.patterns:
        only = pattern.nodes[0].variable
        if only is not None and only.text not in connected:
            raise LATER["vertices"].error(only.at, only.text)
    return heads


def _path(name: Name, called: Name | None) -> Column:
    """The column of a path."""
    text = name.text if called is None else called.text
    return Column(rq.Witnessed(name.text, name.at), text, name.at, (name,))


def with_paths(head: Head, alias: Callable[[str], str]) -> Head:
    """The head with the names of its paths replaced by those in rules."""
    columns = (
        replace(column, value=replace(column.value, path=alias(column.value.path)))
        if isinstance(column.value, rq.Witnessed)
        else column
        for column in head.columns
    )
    return replace(head, columns=tuple(columns))


def check_paths(head: Head, rule: rq.Rule) -> None:
    """Checks that the body has the paths of the head, and the ends of each constructed path.

    Raises:
        QueryError: E-LATER for a path of an OPTIONAL block, E-PATHVAR for other ends.
    """
    of_alias = {atom.alias: atom for atom in rule.body if isinstance(atom, PathAtom)}
    for column in head.paths:
        assert isinstance(column.value, rq.Witnessed)
        (name,) = column.names
        atom = of_alias.get(column.value.path)
        if atom is None:
            raise LATER["optional path"].error(name.at, name.text)
        ends = tuple(map(Variable, rule.variables[:2]))
        if head.label is not None and ends != (atom.source, atom.target):
            raise errors.OTHER_ENDS.error(name.at, name.text)


def table_of(select: Select, scope: Scope) -> Head:
    """The columns of a SELECT.

    Raises:
        QueryError: E-LATER for edges and paths, E-AGG for a nested aggregate, E-FUNC for unknown
            functions, E-SAFE for unbound variables, E-SYNTAX for a computed column without a
            name, E-EDB for a repeated column name.
    """
    values = [_selected(item, scope) for item in select.items]
    names, _ = answers.named_columns(
        [_output(value, item) for value, item in zip(values, select.items, strict=True)],
        scope.bound | scope.edges,
    )
    taken: dict[str, Name | rq.Output] = {}
    columns: list[Column] = []
    for value, item, name in zip(values, select.items, names, strict=True):
        at = _place(item)
        if taken.setdefault(name, value) != value:
            raise _TAKEN.error(at if item.alias is None else item.alias.at, name)
        columns.append(Column(value, name, at, tuple(_referenced(item.value))))
    return Head(tuple(columns), None, select.at)


def with_columns(head: Head, rule: rq.Rule, fresh: Iterator[str]) -> rq.Rule:
    """The rule with all columns of the head under their names.

    Raises:
        QueryError: E-LATER for one vertex in two columns of different names.
    """
    vertices = iter(rule.variables)
    called: dict[str, str] = {}
    variables: list[str] = []
    for column in head.columns:
        if isinstance(column.value, Name):
            variable = next(vertices)
            name = column.called or variable
            if called.setdefault(variable, name) != name:
                raise LATER["one column"].error(column.at, column.value.text)
            variables.append(name)
        else:
            assert column.called is not None
            variables.append(column.called)
    taken = set(variables)
    for name in dict.fromkeys(variables_of(rule.body)):
        if name not in called and name in taken:
            called[name] = next(fresh)
    edges = {name: next(fresh) for name in named_edges(rule.body) if name in taken}
    whole = replace(rule, variables=tuple(variables))
    return with_names(whole, lambda n: called.get(n, n), lambda n: edges.get(n, n))


def _selected(item: Item, scope: Scope) -> Name | rq.Output:
    match item.value:
        case Name() as name if name.text in scope.paths:
            return rq.Witnessed(name.text, name.at)
        case Name() as name:
            scope.check_vertex(name, _UNBOUND)
            return name
        case Call(function) as call if function.text.lower() in answers.FUNCTIONS:
            return _aggregated(call, scope)
        case Call(function) as call if function.text.lower() != "abs":
            raise call_fault(call, scope, errors.AGGREGATE_INSIDE)
        case value:
            return value_of(value, scope)


def _aggregated(call: Call, scope: Scope) -> rq.Aggregated:
    """``count(*)``, ``sum(e.amount)``, ``latest(x, e.ts)``, ``percentile_cont(e.amount, 0.5)``."""
    name, at = call.function.text, call.function.at
    takes_two = DEFINITIONS[answers.FUNCTIONS[name.lower()]].second is not None
    if len(call.arguments) > (2 if takes_two else 1):
        raise errors.ONE_ARGUMENT.error(at, name)
    second = _second(call.arguments[1], scope) if len(call.arguments) > 1 else None
    argument = call.arguments[0] if call.arguments else None
    value: rq.Value | None = None
    if isinstance(argument, Name):
        fault = path_fault(argument, scope)
        if fault is not None:
            raise fault
        is_edge = argument.text in scope.edges
        if not (is_edge and name.lower() == "count" and not call.distinct):
            scope.check_vertex(argument, _UNBOUND)
            value = Variable(argument.text)
    elif argument is not None:
        value = value_of(argument, scope)
    if value is None and argument is not None:
        return rq.Aggregated("count", None, at)  # an edge is never missing
    return answers.aggregate(name, value, at, distinct=call.distinct, second=second)


def _second(argument: Name | Value, scope: Scope) -> rq.Value:
    """The second argument of ``latest`` or of a percentile."""
    if isinstance(argument, Name):
        scope.check_vertex(argument, _UNBOUND)
        return Variable(argument.text)
    return value_of(argument, scope)


def _referenced(value: Name | Value) -> Iterator[Name]:
    match value:
        case Name():
            yield value
        case Call(_, arguments):
            for part in arguments:
                yield from _referenced(part)
        case _:
            yield from referenced(value)


def _output(value: Name | rq.Output, item: Item) -> str | answers.Column:
    name = None if item.alias is None else item.alias.text
    if isinstance(value, Name):
        return name or value.text
    place = _place(item)
    if isinstance(value, rq.Witnessed):
        name = name or value.path
    return answers.Column(value, name, place)


def _place(item: Item) -> Location:
    return item.value.at if isinstance(item.value, Name) else place_of(item.value)


def _built(node: Node) -> Name:
    """The variable of a vertex in CONSTRUCT."""
    if node.labels or node.properties:
        at = node.labels[0][0] if node.labels else node.properties[0][0]
        raise errors.CONSTRUCTED.error(at.at, at.text)
    if node.variable is None:
        raise errors.NEW_VERTEX.error(node.at, "()")
    return node.variable


def _label(edge: Edge) -> Name:
    if edge.properties:
        key = edge.properties[0][0]
        raise errors.CONSTRUCTED.error(key.at, key.text)
    if len(edge.labels) != 1 or edge.variable is not None:
        raise QueryError(
            "E-SYNTAX",
            "a constructed edge has one label and no variable",
            at=edge.at,
            text="[",
            hint="write -[:label]->",
        )
    return edge.labels[0]
