"""Optional parts of rules: left joins of a body's rows, and the conditions over missing values.

In: a rule with optional parts, and the translation of rules without. Out: the rows of the rule's
bindings. The atoms of the body are joined first, under the conditions that no optional part
concerns; then each part is joined, in the order of the text; then the other conditions are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ...algebra.logical import Compute, LeftJoin
from ...algebra.predicate import Predicate
from ...algebra.scalar import Column
from ..query.atoms import Variable, VertexAtom, variables_of
from ..query.conditions import (
    conjuncts,
    key,
    key_text,
    named_edges,
    references,
    references_in,
    unified,
)
from ..query.regular_query import Computed, Condition, OptionalPart, Property, Rule
from ..query.value_columns import ValueColumns, values_in
from .answer_algebra import Columns, types_of
from .condition_types import check_outputs, typed
from .edges_in_heads import counted_edges
from .filters import predicate, scalar_of
from .join_keys import JoinKeys
from .joined_types import different
from .relations import Relation, filtered, over, projected

Reference = Variable | Property
Bind = Callable[[Rule, bool], tuple[Columns, Relation]]
"""The columns of a rule's bindings and their relation; with True, all columns that identify a
binding."""


@dataclass(frozen=True, slots=True)
class OptionalParts:
    """The translation of rules with optional parts.

    Attributes:
        rules: the rules of each predicate; a part has one.
        values: the columns of derived predicates that hold values.
        bind: the translation of a rule without optional parts.
    """

    rules: Mapping[str, Sequence[Rule]]
    values: ValueColumns
    bind: Bind

    def bound(self, rule: Rule, *, counted: bool) -> tuple[Columns, Relation]:
        """The columns of a rule's bindings before its negated parts, and their relation.

        A part of which nothing is read is left out, unless bindings are counted.

        Raises:
            QueryError: E-TYPE for values of different types.
        """
        later = [c for c in rule.conditions if not rule.missing.isdisjoint(references(c))]
        head = dict.fromkeys(in_head(rule))
        read = {*head, *(of for condition in later for of in references(condition))}
        read |= {of for part in rule.optional for of in part.key}
        read |= {Variable(name) for part in rule.negated for name in part.variables}
        rows = _rows(*_with_edges(*self.bind(_body(rule, later, read), counted)))
        values = set(values_in(rule.body, self.values))
        for part in rule.optional:
            match = self._match(part, counted)
            values |= {of.name for of in match.values & set(part.own) if isinstance(of, Variable)}
            if counted or not read.isdisjoint(part.own):
                rows = _joined(rows, match, values, None if counted else read)
        types = {name: rows.relation.types[column] for name, column in rows.place.items()}
        check_outputs(rule, types, values)
        conditions = [typed(condition, types, values) for condition in conjuncts(later)]
        relation = rows.relation
        if conditions:
            relation = filtered(relation, predicate(conditions, rows.place, rule.location))
        needed = {rows.names[rows.place[key(of)]] for of in head if key(of) in rows.place}
        names = [name for name in rows.names if name in needed or name not in rows.of_vertices]
        relation = projected(relation, list(map(rows.names.index, names)))
        return Columns(rule, tuple(names), JoinKeys(leader=rows.leader)), relation

    def _match(self, part: OptionalPart, counted: bool) -> _Match:
        (rule,) = self.rules[part.predicate]
        columns, relation = _with_edges(*self.bind(unified(rule), counted))
        places = dict(zip(part.columns, _places(columns), strict=True))
        kinds = zip(part.columns, self.values[part.predicate], strict=True)
        values = {of for of, is_value in kinds if is_value}
        of_vertices = frozenset(map(columns.names.index, _of_vertices(columns)))
        return _Match(part, relation, places, frozenset(values), of_vertices)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a rule's bindings.

    Attributes:
        relation: the rows.
        names: the names of their columns.
        leader: the name of the column of each other reference, by the key of the reference.
        of_vertices: the columns of properties of vertices, which tell no bindings apart unless the
            head has them.
    """

    relation: Relation
    names: tuple[str, ...]
    leader: Mapping[str, str]
    of_vertices: frozenset[str]

    @property
    def place(self) -> dict[str, int]:
        """The column of each reference by its key."""
        place = {name: column for column, name in enumerate(self.names)}
        return place | {name: place[lead] for name, lead in self.leader.items() if lead in place}


@dataclass(frozen=True, slots=True)
class _Match:
    """The rows of an optional part.

    Attributes:
        part: the part.
        relation: the rows.
        places: the column of each column of the part's head.
        values: the columns of the head that hold values, which may be missing.
        of_vertices: the columns of the relation with properties of vertices.
    """

    part: OptionalPart
    relation: Relation
    places: Mapping[Reference, int]
    values: frozenset[Reference]
    of_vertices: frozenset[int]


def _body(rule: Rule, later: Sequence[Condition], read: Set[Reference]) -> Rule:
    """The rule without its parts and later conditions; its head has what is read of the body."""
    edges, vertices = named_edges(rule.body), set(variables_of(rule.body))
    own = vertices | (edges.keys() & counted_edges(rule))
    variables = [of.name for of in read if isinstance(of, Variable) and of.name in own]
    properties = {
        key(of): of
        for of in read - rule.missing
        if isinstance(of, Property) and (of.edge in edges or of.edge in vertices)
    }
    return replace(
        rule,
        variables=(*sorted(variables), *sorted(properties)),
        conditions=tuple([one for one in rule.conditions if one not in later]),
        properties=tuple(sorted(properties.items(), key=lambda item: item[0])),
        negated=(),
        optional=(),
    )


def _with_edges(columns: Columns, relation: Relation) -> tuple[Columns, Relation]:
    """The rows with a column for each edge in the head of their rule, which is computed."""
    edges = [(name, of) for name, of in columns.rule.properties if isinstance(of, Computed)]
    if not edges or relation.empty:
        return columns, relation
    values = [scalar_of(of, columns.place) for _, of in edges]
    compute = Compute((*map(Column, range(len(columns.names))), *values))
    names = (*columns.names, *(name for name, _ in edges))
    relation = over(compute, [relation], types_of(compute, relation.types))
    return replace(columns, names=names), relation


def _places(columns: Columns) -> list[int]:
    """The column of each column of a head, of which those that are computed have their names."""
    outputs, place = dict(columns.rule.properties), columns.place
    references_of_head = (outputs.get(name, Variable(name)) for name in columns.rule.variables)
    return [
        place[key(of)] if isinstance(of, Variable | Property) else place[name]
        for name, of in zip(columns.rule.variables, references_of_head, strict=True)
    ]


def _rows(columns: Columns, relation: Relation) -> _Rows:
    """The rows of a body, each column once."""
    kept = {name: place for place, name in reversed(list(enumerate(columns.names)))}
    leader = dict(columns.keys.leader)
    for name, place in zip(columns.rule.variables, _places(columns), strict=True):
        leader.setdefault(name, columns.names[place])
    relation = projected(relation, list(kept.values()))
    return _Rows(relation, tuple(kept), leader, _of_vertices(columns))


def _of_vertices(columns: Columns) -> frozenset[str]:
    """The names of the columns of properties of vertices."""
    rows = {atom.edge for atom in columns.rule.body if isinstance(atom, VertexAtom)} - {None}
    return frozenset([name for name in columns.names if name.partition("\n")[0] in rows])


def in_head(rule: Rule) -> Iterator[Reference]:
    """What the columns of a head refer to."""
    outputs = dict(rule.properties)
    for name in rule.variables:
        if name in outputs:
            yield from references_in(outputs[name])
        else:
            yield Variable(name)


def _joined(rows: _Rows, match: _Match, values: Set[str], read: Set[Reference] | None) -> _Rows:
    """The left join of rows with those of a part.

    Args:
        rows: the rows of the body and the parts before.
        match: the rows of the part.
        values: the variables that are no vertices.
        read: what is read of the part; None keeps all of its columns.

    Raises:
        QueryError: E-TYPE for values of different types, or of several types.
    """
    part, relation, place = match.part, match.relation, rows.place
    compared: dict[int, int] = {}
    for of in part.key:
        column, own, name = place[key(of)], match.places[of], key(of)
        one, other = rows.relation.types[column], relation.types[own]
        is_value = of in match.values
        if not relation.empty and (is_value or name in values) and (one is None or one != other):
            raise different(name, one, other, part.location)
        if is_value:  # a missing value matches nothing
            relation = filtered(relation, Predicate.column_is_known(own))
        if column in compared:  # conditions equate two variables
            relation = filtered(relation, Predicate.columns_equal(compared[column], own))
        compared.setdefault(column, own)
    names = {key(of): match.places[of] for of in part.own if read is None or of in read}
    if read is None:
        known = {*match.places.values()}
        others = (c for c in range(len(relation.types)) if c not in known)
        names |= {f"\n{part.predicate} {column}": column for column in others}
    types = (*rows.relation.types, *[relation.types[column] for column in names.values()])
    relation = projected(relation, [*compared.values(), *names.values()])
    whole = (*rows.names, *names)
    join = LeftJoin.on(
        len(rows.names), [*compared, *[None] * len(names)], tuple(map(key_text, whole))
    )
    of_vertices = {key(of) for of in part.own if match.places[of] in match.of_vertices}
    return replace(
        rows,
        relation=over(join, [rows.relation, relation], types),
        names=whole,
        of_vertices=rows.of_vertices | of_vertices,
    )
