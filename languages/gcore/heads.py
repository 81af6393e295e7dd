"""What a statement answers: an edge between two vertices, or the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from languages.errors import QueryError
from languages.gcore import faults
from languages.gcore.conditions import call_fault, path_fault
from languages.gcore.faults import LATER, Fault
from languages.gcore.scope import Scope
from languages.gcore.syntax import (
    Call,
    Construct,
    Direction,
    Edge,
    Name,
    Node,
    Property,
    Select,
    StoredPath,
)
from languages.regular_query import Atom, Location, Variable

_UNBOUND = Fault("E-SAFE", "no MATCH binds it", "select vertices that patterns bind")
_TAKEN = Fault("E-EDB", "another column has this name", "give one of them another name")


@dataclass(frozen=True, slots=True)
class Head:
    """Variables, what their columns are called (None: as they are), the label if an edge."""

    variables: tuple[Name, ...]
    columns: tuple[str | None, ...]
    label: Name | None
    at: Location

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(name.text for name in self.variables)


def edges_of(construct: Construct) -> list[Head]:
    """The edges that a CONSTRUCT builds, in the order of the text.

    Raises:
        QueryError: E-LATER for stored paths, vertices alone, labels and properties of
            vertices; E-SKOLEM for vertices without a name; E-SYNTAX for an edge without
            just one label.
    """
    heads: list[Head] = []
    for pattern in construct.patterns:
        names = [_built(node) for node in pattern.nodes]
        for left, link, right in zip(names, pattern.links, names[1:], strict=False):
            if isinstance(link, StoredPath):
                raise LATER["path value"].error(link.variable.at, link.variable.text)
            assert isinstance(link, Edge)
            label = _label(link)
            pair = (left, right) if link.direction is Direction.RIGHT else (right, left)
            heads.append(Head(pair, (None, None), label, label.at))
    ends = {name for head in heads for name in head.names}
    for pattern in construct.patterns:
        only = pattern.nodes[0].variable
        if only is not None and only.text not in ends:
            raise LATER["vertices"].error(only.at, only.text)
    return heads


def table_of(select: Select, scope: Scope) -> Head:
    """The columns of a SELECT.

    Raises:
        QueryError: E-LATER for values, E-AGG and E-FUNC for functions, E-SAFE for what
            nothing binds, E-EDB for a name that two columns have.
    """
    variables: list[Name] = []
    columns: dict[str, str] = {}
    for item in select.items:
        value = item.value
        if isinstance(value, Call):
            raise call_fault(value, scope.paths, LATER["aggregate"])
        if isinstance(value, Property):
            text = f"{value.variable.text}.{value.key.text}"
            fault = path_fault(value, scope.paths)
            raise fault or LATER["properties"].error(value.variable.at, text)
        scope.check_vertex(value, _UNBOUND)
        name = item.alias or value
        if columns.setdefault(name.text, value.text) != value.text:
            raise _TAKEN.error(name.at, name.text)
        variables.append(value)
    aliases = tuple((item.alias or item.value) for item in select.items)
    names = tuple(name.text for name in aliases if isinstance(name, Name))
    return Head(tuple(variables), names, None, select.at)


def with_columns(
    head: Head, variables: Sequence[str], atoms: Sequence[Atom], fresh: Iterator[str]
) -> tuple[tuple[str, ...], tuple[Atom, ...]]:
    """A rule's variables and atoms, renamed so that the columns are called as they should.

    Raises:
        QueryError: E-LATER if one variable is to be two columns of different names.
    """
    called: dict[str, str] = {}
    for written, variable, column in zip(head.variables, variables, head.columns, strict=True):
        if column is not None and called.setdefault(variable, column) != column:
            raise LATER["one column"].error(written.at, written.text)
    taken = set(called.values())
    for atom in atoms:
        for term in (atom.source, atom.target):
            if isinstance(term, Variable) and term.name not in called and term.name in taken:
                called[term.name] = next(fresh)

    def renamed(atom: Atom) -> Atom:
        source, target = (
            Variable(called.get(term.name, term.name)) if isinstance(term, Variable) else term
            for term in (atom.source, atom.target)
        )
        return replace(atom, source=source, target=target)

    return tuple(called.get(name, name) for name in variables), tuple(map(renamed, atoms))


def _built(node: Node) -> Name:
    """The variable of a vertex in CONSTRUCT."""
    if node.labels or node.properties:
        at = node.labels[0][0] if node.labels else node.properties[0][0]
        raise LATER["constructed properties"].error(at.at, at.text)
    if node.variable is None:
        raise faults.NEW_VERTEX.error(node.at, "()")
    return node.variable


def _label(edge: Edge) -> Name:
    if edge.properties:
        key = edge.properties[0][0]
        raise LATER["constructed properties"].error(key.at, key.text)
    if len(edge.labels) != 1 or edge.variable is not None:
        raise QueryError(
            "E-SYNTAX",
            "a constructed edge has one label and no variable",
            at=edge.at,
            text="[",
            hint="write -[:label]->",
        )
    return edge.labels[0]
