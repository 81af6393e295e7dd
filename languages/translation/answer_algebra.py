"""The algebra of computed answers: χ and γ over the columns that a rule's body binds.

In: rules, and the columns of the relation of each rule by name
(:func:`headrace.languages.query.conditions.key`). Out: operators over these relations.

An aggregate is over the *set of full bindings* of a rule's body. A full binding has the vertices of
the body, and for each :class:`headrace.languages.query.atoms.EdgeAtom` the columns that
identify its edge: ends, stream, label, time, and all declared properties. So parallel edges count
separately, as in languages with bag semantics. A path counts once for its two ends. A vertex with
several rows counts once, unless the head refers to different values of its properties.
Rules do not share bindings: equal bindings of two rules count twice, so a leading constant column
distinguishes the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...algebra.aggregates import DEFINITIONS, AggregateCall
from ...algebra.logical import Aggregate, Compute
from ...algebra.scalar import Column, Literal, Value, normal, types
from ...algebra.values import EVERY_TYPE, PropertyType, only_type
from ..query.atoms import EdgeAtom, Variable, variables_of
from ..query.conditions import key, references_in
from ..query.regular_query import Aggregated, Property, Rule, Witnessed
from ..query.regular_query import Value as Written
from .filters import scalar_of
from .inputs import Inputs
from .join_keys import JoinKeys

Types = tuple[PropertyType | None, ...]


def with_named_edges(rule: Rule) -> Rule:
    """The rule with a name for each edge; a generated name cannot occur in a text."""
    body = [
        replace(atom, edge=f"\n{number}")
        if isinstance(atom, EdgeAtom) and atom.edge is None
        else atom
        for number, atom in enumerate(rule.body)
    ]
    return replace(rule, body=tuple(body))


def identity(rule: Rule, inputs: Inputs) -> list[Property]:
    """The properties that, with the ends, identify the edges of a rule whose edges have names."""
    return [
        Property(atom.edge, name)
        for atom in rule.body
        if isinstance(atom, EdgeAtom) and atom.edge is not None
        for name in inputs.identity(atom)
    ]


@dataclass(frozen=True, slots=True)
class Columns:
    """A rule, and the columns of the relation that its body binds.

    A column has the :func:`headrace.languages.query.conditions.key` of its reference as name, or
    that of the reference with which it is joined."""

    rule: Rule
    names: tuple[str, ...]
    keys: JoinKeys

    @property
    def place(self) -> dict[str, int]:
        """The column of each reference by its key."""
        place = {name: column for column, name in reversed(list(enumerate(self.names)))}
        joined = self.keys.leader.items()
        return place | {name: place[lead] for name, lead in joined if lead in place}


def bindings(rule: Rule, identity: Sequence[Property], keys: JoinKeys) -> tuple[str, ...]:
    """The columns of a rule's full bindings: the vertices, the properties that identify edges, and
    the properties in the head."""
    names = [*variables_of(rule.body)]
    referenced = [r for _, of in rule.properties for r in references_in(of)]
    names += [key(r) for r in (*identity, *referenced) if isinstance(r, Property)]
    return tuple(dict.fromkeys(map(keys.column, names)))


def computed(columns: Columns) -> Compute:
    """The head of a rule over its columns."""
    values = (of for of in _outputs(columns.rule) if not isinstance(of, Aggregated))
    return Compute(tuple(_value(value, columns) for value in values))


def aggregated(rules: Sequence[Columns]) -> tuple[list[Compute | None], Aggregate]:
    """The computation over the bindings of each rule (None if not needed), and the aggregation
    over all rules.
    """
    referenced = [[*_referenced(columns), *_times(columns)] for columns in rules]
    outputs = _outputs(rules[0].rule)
    if len(rules) == 1:
        bound: list[Value] = [Column(i) for i in range(len(rules[0].names))]
        values = list(dict.fromkeys((*bound, *(v for v in referenced[0] if v is not None))))
        places = [None if value is None else values.index(value) for value in referenced[0]]
        compute = Compute(tuple(values)) if len(values) > len(bound) else None
        return [compute], _aggregate(outputs, places)
    width = max(len(columns.names) for columns in rules)
    computes = [
        Compute(
            (
                Literal(number),
                *(Literal(0) if value is None else value for value in values),
                *(Column(i) for i in range(len(columns.names))),
                *(Literal(0) for _ in range(width - len(columns.names))),
            )
        )
        for number, (values, columns) in enumerate(zip(referenced, rules, strict=True))
    ]
    return [*computes], _aggregate(outputs, range(1, 1 + len(referenced[0])))


def types_of(compute: Compute, inputs: Types) -> Types:
    """The types of computed columns; None for an uncertain type."""
    columns = tuple([EVERY_TYPE if kind is None else frozenset({kind}) for kind in inputs])
    return tuple(only_type(types(value, columns)) for value in compute.values)


def types_of_aggregates(aggregate: Aggregate, inputs: Types) -> Types:
    """The types of the columns of an aggregation."""
    columns: list[PropertyType | None] = [inputs[column] for column in aggregate.keys]
    for call in aggregate.aggregates:
        result = DEFINITIONS[call.function].result
        if result == "value":
            assert call.column is not None
            columns.append(inputs[call.column])
        else:
            columns.append(None if result == "list" else result)
    return tuple(columns[i] for i in aggregate.output)


def _outputs(rule: Rule) -> list[Written | Aggregated]:
    of = {name: o for name, o in rule.properties if not isinstance(o, Witnessed)}
    return [of.get(name, Variable(name)) for name in rule.variables]


def _referenced(columns: Columns) -> list[Value | None]:
    """The key or argument of each column of the head; None if rows are counted.

    ``count(*)`` counts rows, and so does ``count(e)`` of an edge or path, which is never missing.
    """
    values: list[Value | None] = []
    place = columns.place
    for of in _outputs(columns.rule):
        value = of.argument if isinstance(of, Aggregated) else of
        is_column = not isinstance(value, Variable) or value.name in place
        values.append(_value(value, columns) if value is not None and is_column else None)
    return values


def _times(columns: Columns) -> list[Value]:
    """The times of the aggregates that have one."""
    aggregates = (of for of in _outputs(columns.rule) if isinstance(of, Aggregated))
    return [_value(of.time, columns) for of in aggregates if of.time is not None]


def _aggregate(outputs: Sequence[Written | Aggregated], places: Sequence[int | None]) -> Aggregate:
    """``places`` are the columns of keys and arguments in the order of the head, then of times."""
    times = iter(places[len(outputs) :])
    keys: list[int] = []
    calls: list[AggregateCall] = []
    order: list[tuple[bool, int]] = []
    for of, place in zip(outputs, places, strict=False):
        if isinstance(of, Aggregated):
            time = None if of.time is None else next(times)
            call = AggregateCall(of.function, place, time, of.percentile)
            order.append((True, len(calls)))
            calls.append(call)
        else:
            assert place is not None
            order.append((False, len(keys)))
            keys.append(place)
    positions = [number + len(keys) * is_call for is_call, number in order]
    return Aggregate(tuple(keys), tuple(calls), tuple(positions))


def _value(value: Written, columns: Columns) -> Value:
    scalar = scalar_of(value, columns.place)
    return normal(scalar) or scalar
