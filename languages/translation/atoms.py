"""Atoms of rules as relations: the rows of an atom, and the variable of each column.

In: an atom, its required columns, and the relations of the predicates that it reads. Out: a
filtered relation with a name for each column. An edge of several labels is a union over the labels.
If a consumer must identify the edges, one column holds the label of an edge. If an edge may have
either direction, another column holds its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ...algebra.logical import Compute, LogicalExpression, PathSemantics, WScan
from ...algebra.predicate import Predicate
from ...algebra.regex import Regex, Symbol
from ...algebra.scalar import Column, Literal
from ...algebra.scalar import Value as Computed
from ...algebra.values import PropertyType
from ..query.atoms import (
    Atom,
    Constant,
    DerivedAtom,
    EdgeAtom,
    Location,
    PathAtom,
    Row,
    Variable,
    VertexAtom,
)
from ..query.conditions import key, key_of_end, key_text, with_references
from ..query.errors import QueryError
from ..query.regular_query import (
    OWN_LABEL,
    OWN_SOURCE,
    OWN_TARGET,
    Condition,
    Property,
    Rule,
    Value,
)
from ..query.value_columns import ValueColumns, kinds_of
from .answer_algebra import types_of
from .condition_types import vertex
from .filters import predicate
from .inputs import Inputs, Origin
from .join_keys import JoinKeys
from .merged import merged_edges, merged_vertices
from .relations import (
    Relation,
    filtered,
    nothing,
    over,
    projected,
    union,
    vertex_type_of,
    with_columns,
)
from .required_columns import RequiredColumns

_PADDING = Literal(0)
"""The value of a property that the edges of a label lack; another column has the label."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one label of an atom: a relation, its column names, and further columns by name.

    A further column is a constant or a copy of a column.
    """

    relation: Relation
    columns: tuple[str, ...]
    constants: Mapping[str, Computed]


@dataclass(frozen=True, slots=True)
class Atoms:
    """Translates the atoms of a query.

    Attributes:
        inputs: the input labels of the query.
        rules: the rules of each derived predicate.
        relations: the relations of the predicates translated so far.
        path: returns the relation of a path expression at a location, perhaps of a group of atoms
            with different edges.
        semantics: the paths that count.
        values: the columns of derived predicates that hold values.
    """

    inputs: Inputs
    rules: Mapping[str, Sequence[Rule]]
    relations: Mapping[str, Relation]
    path: Callable[[Regex, Location, int | None], Relation]
    semantics: PathSemantics
    values: ValueColumns

    def plain(self, atom: Atom) -> Relation:
        """The rows of terms that an atom matches, before its conditions."""
        if isinstance(atom, VertexAtom):
            scan, vertex_type = self.inputs.vertex_scan(atom)
            return Relation(LogicalExpression(scan), (vertex_type, vertex_type))
        if isinstance(atom, DerivedAtom):
            return self.relations[atom.predicate]
        if isinstance(atom, EdgeAtom):
            return _united(map(self._edges, atom.alternatives), 2)
        if atom.alias is not None:
            return self.relations[atom.alias]
        return self.path(atom.regex, atom.location, atom.different)

    def bound(
        self, atom: Atom, number: int, required: RequiredColumns, keys: JoinKeys
    ) -> tuple[Relation, tuple[str, ...]]:
        """The filtered relation of the atom with this ``number`` in its rule, and the name of each
        column.

        The name of a column is its variable, or
        :func:`headrace.languages.query.conditions.key_of_end` for a term without a variable. A
        property column has its :func:`headrace.languages.query.conditions.key`, or the key of the
        reference with which it is joined. An atom of one vertex keeps one column.
        """
        labels = self._labels(atom)
        ends = _names_of_terms(atom, number)
        names = [*(ends[:1] if self._is_of_one_vertex(atom) else ends)]
        if len(labels) > 1:  # the union carries no constant columns
            names = [n for n, t in zip(names, atom.terms, strict=False) if isinstance(t, Variable)]
            names = names or [ends[0]]
        if isinstance(atom, Row) and atom.edge is not None:
            names += [key(Property(atom.edge, name)) for name in required.kept[number]]
        parts = [self._part(atom, label, number, required, keys) for label in labels]
        if len(parts) == 1:
            relation, columns = parts[0].relation, parts[0].columns
        else:
            columns = tuple(names)
            relation = _united([_arranged(part, columns) for part in parts], len(columns))
        if len(required.own) == 1:  # the rule has one atom, so keep the columns of the head only
            return relation, columns
        kept = {keys.column(name): columns.index(name) for name in reversed(names)}
        binding = tuple(dict.fromkeys(map(keys.column, names)))
        return projected(relation, [kept[name] for name in binding]), binding

    def _labels(self, atom: Atom) -> tuple[Symbol | None, ...]:
        """The labels of an edge, or of a path of a single edge; None for other atoms."""
        if isinstance(atom, EdgeAtom):
            return atom.alternatives
        if isinstance(atom, PathAtom) and isinstance(atom.regex, Symbol) and atom.alias is None:
            return (atom.regex if self.semantics is not PathSemantics.SIMPLE else None,)
        return (None,)

    def _edges(self, label: Symbol) -> Relation:
        relation = self.relations[str(label.ref)]
        return projected(relation, [1, 0]) if label.inverse else relation

    def _part(
        self,
        atom: Atom,
        label: Symbol | None,
        number: int,
        required: RequiredColumns,
        keys: JoinKeys,
    ) -> _Part:
        """The rows of an atom, or of one label of an edge, that satisfy the conditions on the atom
        alone."""
        relation, properties, origin = self._scanned(atom, label, required.scanned[number])
        terms, names = atom.terms, _names_of_terms(atom, number)
        if label is not None and label.inverse:
            terms, names = terms[::-1], names[::-1]
        edge = atom.edge if isinstance(atom, Row) else None
        columns = (*names, *(key(Property(edge, name)) for name in properties if edge is not None))
        relation = with_columns(relation, map(key_text, columns))
        one_vertex = self._is_of_one_vertex(atom)
        values = kinds_of(atom, self.values)
        for column, term in enumerate(terms):
            if isinstance(term, Constant) and not (column and one_vertex):
                value = _constant(term, relation.types[column], values[column], atom.location)
                relation = filtered(relation, Predicate.column_equals(column, value))
            elif isinstance(term, Variable) and not one_vertex:
                if term in terms[:column]:
                    same = Predicate.columns_equal(terms.index(term), column)
                    relation = filtered(relation, same)
                elif values[column] and term.name in keys.shared:
                    relation = filtered(relation, Predicate.column_is_known(column))
        constants: dict[str, Computed] = {}
        if edge is not None and origin is not None:
            own: dict[str, Computed] = {
                OWN_LABEL: Literal(origin.tag),
                OWN_SOURCE: Column(0),
                OWN_TARGET: Column(1),
            }
            constants = {key(Property(edge, name)): value for name, value in own.items()}
        if required.own[number]:
            place = {name: column for column, name in enumerate(columns)}
            place |= {n: of.position for n, of in constants.items() if isinstance(of, Column)}
            conditions = [_of_label(one, edge, origin) for one in required.own[number]]
            relation = filtered(relation, predicate(conditions, place, atom.location))
        return _Part(relation, columns, constants)

    def _scanned(
        self, atom: Atom, label: Symbol | None, requested: Sequence[str]
    ) -> tuple[Relation, tuple[str, ...], Origin | None]:
        """The rows of one label, with its requested properties as columns."""
        plain = self.plain(atom) if label is None else self.relations[str(label.ref)]
        if not requested or not isinstance(atom, Row):
            return plain, (), None
        if label is None:
            (origin,) = self.inputs.origins(atom)
        else:
            origin = self.inputs.origin_of(str(label.ref), atom.location)
        properties = tuple(name for name in requested if name in origin.properties)
        scan = plain.expression.operator
        if not properties or not isinstance(scan, WScan):
            return plain, (), origin
        if origin.merges and isinstance(atom, VertexAtom):
            labels = self.inputs.labels_beside(origin)
            return merged_vertices(scan, origin, labels, properties), properties, origin
        if origin.merges:
            return merged_edges(scan, origin, properties), properties, origin
        types = (*plain.types, *(origin.properties[name] for name in properties))
        scanned = LogicalExpression(replace(scan, properties=properties))
        return Relation(scanned, types), properties, origin

    def _is_of_one_vertex(self, atom: Atom) -> bool:
        """Whether both columns of an atom's relation, and both terms, are the same vertex."""
        if isinstance(atom, VertexAtom):
            return True
        if isinstance(atom, DerivedAtom):
            return False
        if atom.source != atom.target:
            return False
        refs = [None if label is None else str(label.ref) for label in self._labels(atom)]
        rules = [rule for ref in refs for rule in (ref and self.rules.get(ref)) or (None,)]
        return bool(rules) and all(rule and len(set(rule.variables)) == 1 for rule in rules)


def _names_of_terms(atom: Atom, number: int) -> tuple[str, ...]:
    """The names of the columns of an atom's terms; a repeated variable names the first one."""
    terms = atom.terms
    return tuple(
        term.name
        if isinstance(term, Variable) and term not in terms[:column]
        else key_of_end(number, column)
        for column, term in enumerate(terms)
    )


def _constant(
    term: Constant, column: PropertyType | None, is_value: bool, at: Location
) -> str | int:
    """The constant of a term in the type of its column.

    Raises:
        QueryError: E-TYPE if the constant is no vertex, or no value of that type.
    """
    if not is_value:
        return vertex(term, vertex_type_of(column), at)
    fits = ("string",) if isinstance(term.value, str) else ("integer", "number")
    if column is not None and column not in fits:
        raise QueryError(
            "E-TYPE",
            f"the column has values of the type {column}",
            at=at,
            text=repr(term.value),
            hint="compare the column in a condition, with a value of its type",
        )
    return term.value


def _of_label(condition: Condition, edge: str | None, origin: Origin | None) -> Condition:
    """The condition over edges of one label."""

    def of_origin(of: Variable | Property) -> Value:
        if origin is not None and of == Property(edge or "", OWN_LABEL):
            return Literal(origin.tag)
        return of

    return with_references(condition, of_origin)


def _arranged(part: _Part, names: Sequence[str]) -> Relation:
    """The rows of one label, with the columns of these names."""
    place = {name: Column(column) for column, name in enumerate(part.columns)}
    values = tuple(place.get(name) or part.constants.get(name, _PADDING) for name in names)
    columns = [value.position for value in values if isinstance(value, Column)]
    if len(columns) == len(values):
        return projected(part.relation, columns)
    if part.relation.empty:
        return nothing(len(values))
    compute = Compute(values)
    return over(compute, [part.relation], types_of(compute, part.relation.types))


def _united(relations: Iterable[Relation], columns: int) -> Relation:
    """The rows of any of the relations."""
    parts = list(relations)
    return reduce(union, parts) if parts else nothing(columns)
