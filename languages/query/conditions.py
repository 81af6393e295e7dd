"""Conditions of a rule: what they look at, what they say of edges, and as predicates.

Everything here is about one rule, before any catalog; types are in
:mod:`headrace.languages.translation.condition_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...algebra import scalar
from ...algebra.predicate import Predicate, PredicateError
from ...algebra.scalar import Column, Literal
from .errors import QueryError
from .regular_query import (
    OWN_LABEL,
    OWN_SOURCE,
    OWN_TARGET,
    Aggregated,
    Atom,
    Both,
    Comparison,
    Computed,
    Condition,
    Constant,
    Either,
    Location,
    Missing,
    Negated,
    Output,
    Property,
    Row,
    Rule,
    Term,
    Value,
    Variable,
    VertexAtom,
    Witnessed,
    with_terms,
)

TRUE, FALSE = Both(()), Either(())


def key(reference: Variable | Property) -> str:
    """What a column that holds it is called: no variable and no edge has a line end in its name."""
    if isinstance(reference, Variable):
        return reference.name
    return f"{reference.edge}\n{reference.name}"


def key_of_end(atom: int, end: int) -> str:
    """What the column of an end of an atom is called that no variable stands for."""
    return f"\n{atom} {end}"


def key_text(name: str) -> str:
    """What people call the column of a :func:`key`."""
    edge, line_end, of = name.partition("\n")
    if not edge:
        return "_"
    return f"{edge}.{of or 'label'}" if line_end else name


def named_edges(body: Iterable[Atom]) -> dict[str, Row]:
    """The atoms of the edges, and of the rows of vertices, that have a name."""
    return {atom.edge: atom for atom in body if isinstance(atom, Row) and atom.edge is not None}


def references(condition: Condition) -> Iterator[Variable | Property]:
    """The variables and properties that a condition looks at, with repeats."""
    match condition:
        case Comparison(left, _, right):
            yield from references_of(left)
            yield from references_of(right)
        case Missing(of):
            yield of
        case Negated(part):
            yield from references(part)
        case Both(parts) | Either(parts):
            for part in parts:
                yield from references(part)


def comparisons(conditions: Iterable[Condition]) -> Iterator[Comparison]:
    """The comparisons in conditions, whatever they are part of."""
    for condition in conditions:
        match condition:
            case Comparison():
                yield condition
            case Negated(part):
                yield from comparisons([part])
            case Both(parts) | Either(parts):
                yield from comparisons(parts)


def references_of(value: Value) -> Iterator[Variable | Property]:
    """The variables and properties in a value, with repeats."""
    match value:
        case Variable() | Property():
            yield value
        case Computed(_, arguments):
            for part in arguments:
                yield from references_of(part)


def with_references(condition: Condition, new: Callable[[Variable | Property], Value]) -> Condition:
    """The condition with other values in place of its variables and properties.

    A property that is asked whether it is missing has to stay a property.
    """
    match condition:
        case Comparison(left, _, right):
            sides = value_with_references(left, new), value_with_references(right, new)
            return replace(condition, left=sides[0], right=sides[1])
        case Missing(of):
            kept = new(of)
            assert isinstance(kept, Property)
            return Missing(kept)
        case Negated(part):
            return Negated(with_references(part, new))
        case Both(parts) | Either(parts):
            return type(condition)(tuple(with_references(part, new) for part in parts))


def value_with_references(of: Value, new: Callable[[Variable | Property], Value]) -> Value:
    """The value with others in place of its variables and properties."""
    match of:
        case Variable() | Property():
            return new(of)
        case Computed(function, arguments):
            return Computed(function, tuple(value_with_references(a, new) for a in arguments))
        case _:
            return of


def output_with_references(of: Output, new: Callable[[Variable | Property], Value]) -> Output:
    """A column of a head with other values in place of its variables and properties."""
    if isinstance(of, Witnessed):
        return of
    if isinstance(of, Aggregated):
        if of.argument is None:
            return of
        return replace(of, argument=value_with_references(of.argument, new))
    return value_with_references(of, new)


def value_in(of: Output) -> Value | None:
    """What is looked at: an aggregate's argument, or the value itself; of a path, nothing."""
    if isinstance(of, Witnessed):
        return None
    return of.argument if isinstance(of, Aggregated) else of


def references_in(of: Output) -> Iterator[Variable | Property]:
    """The variables and properties that a column looks at, with repeats."""
    value = value_in(of)
    if value is not None:
        yield from references_of(value)


def edges_looked_at(rule: Rule) -> set[str]:
    """The edges that the conditions or the head of a rule look at."""
    looked_at = [reference for one in rule.conditions for reference in references(one)]
    names = {r.edge if isinstance(r, Property) else r.name for r in looked_at}
    columns = [reference for _, of in rule.properties for reference in references_in(of)]
    names |= {r.edge if isinstance(r, Property) else r.name for r in columns}
    return names & named_edges(rule.body).keys()


def conjuncts(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conditions, one for each part of a conjunction."""
    for condition in conditions:
        if isinstance(condition, Both):
            yield from conjuncts(condition.parts)
        else:
            yield condition


# -- equal variables ------------------------------------------------------------------------


def unified(rule: Rule) -> Rule:
    """The rule with one variable for those that a condition says are one vertex: ``x = y``."""
    edges = named_edges(rule.body)
    leader: dict[str, str] = {}

    def leader_of(name: str) -> str:
        while name in leader:
            name = leader[name]
        return name

    kept: list[Condition] = []
    for condition in conjuncts(rule.conditions):
        match condition:
            case Comparison(Variable(one), "=", Variable(other)) if not {one, other} & edges.keys():
                first, second = leader_of(one), leader_of(other)
                if first != second:
                    leader[second] = first
            case _:
                kept.append(condition)
    if not leader:
        return rule

    def renamed(term: Term) -> Term:
        return Variable(leader_of(term.name)) if isinstance(term, Variable) else term

    def reference(of: Variable | Property) -> Value:
        if isinstance(of, Variable):
            return Variable(leader_of(of.name))
        return replace(of, edge=leader_of(of.edge))

    return replace(
        rule,
        variables=tuple(map(leader_of, rule.variables)),
        body=tuple(with_terms(atom, renamed) for atom in rule.body),
        conditions=tuple(with_references(condition, reference) for condition in kept),
        properties=tuple((n, output_with_references(of, reference)) for n, of in rule.properties),
    )


# -- edges as values ------------------------------------------------------------------------


Origins = Mapping[str, Collection[str]]
"""Of an edge the labels that it may have, by their tags, each with the properties of its edges."""


def written_out(
    condition: Condition,
    edges: Mapping[str, Row],
    origins: Callable[[str], Origins],
    positive: bool = True,
) -> Condition:
    """The condition, or its negation, without edges as values.

    ``origins`` are those of each named edge; ``ts`` is one of the properties. Two edges are one
    if their labels, ends and all properties agree; a property that both lack is one on which
    they agree.
    """
    match condition:
        case Negated(part):
            return written_out(part, edges, origins, not positive)
        case Both(parts) | Either(parts):
            inner = tuple(written_out(part, edges, origins, positive) for part in parts)
            return Both(inner) if isinstance(condition, Both) == positive else Either(inner)
        case Comparison(Variable(one), sign, Variable(other)) if one in edges:
            same = (sign == "=") == positive
            first, second = origins(one), origins(other)
            common = first.keys() & second.keys()
            if not common:
                return FALSE if same else TRUE
            names = sorted({name for tag in common for name in first[tag]})
            differ = _difference(edges[one], edges[other], names, condition.location, same)
            tags = [_tag(edges[name], origins(name)) for name in (one, other)]
            if not all(isinstance(tag, Literal) for tag in tags) and one != other:
                label = Comparison(tags[0], "=" if same else "<>", tags[1], condition.location)
                differ = (label, *differ)
            return Both(differ) if same else Either(differ)
        case _:
            return condition if positive else Negated(condition)


def _tag(edge: Row, origins: Origins) -> Value:
    """What tells the label of an edge."""
    if len(origins) == 1:
        return Literal(next(iter(origins)))
    assert edge.edge is not None
    return Property(edge.edge, OWN_LABEL)


def _difference(
    one: Row, other: Row, names: Sequence[str], at: Location, same: bool
) -> tuple[Condition, ...]:
    """For each end and property, that it is the same, or that it is not."""
    if one.edge == other.edge:
        return ()
    assert one.edge is not None
    assert other.edge is not None
    ends = zip(_ends_of(one), _ends_of(other), strict=True)
    found = [_ends(left, right, at, same) for left, right in ends]
    for name in names:
        left, right = Property(one.edge, name), Property(other.edge, name)
        compared = Comparison(left, "=" if same else "<>", right, at)
        if name == "ts":
            found.append(compared)
        elif same:
            found.append(Either((compared, Both((Missing(left), Missing(right))))))
        else:
            one_is = Both((Missing(left), Negated(Missing(right))))
            other_is = Both((Negated(Missing(left)), Missing(right)))
            found.append(Either((compared, one_is, other_is)))
    return tuple(found)


def _ends_of(edge: Row) -> tuple[Value, Value]:
    """The source and the target of the edge itself."""
    source, target = map(_end, (edge.source, edge.target))
    if isinstance(edge, VertexAtom):
        return source, target
    if edge.is_undirected:
        assert edge.edge is not None
        return Property(edge.edge, OWN_SOURCE), Property(edge.edge, OWN_TARGET)
    return (target, source) if edge.alternatives[0].inverse else (source, target)


def _ends(left: Value, right: Value, at: Location, same: bool) -> Condition:
    if left == right:
        return TRUE if same else FALSE
    if isinstance(left, Literal) and isinstance(right, Literal):
        # In one stream a number and its text are one vertex.
        return TRUE if same == (str(left.value) == str(right.value)) else FALSE
    return Comparison(left, "=" if same else "<>", right, at)


def _end(term: Term) -> Value:
    return Literal(term.value) if isinstance(term, Constant) else term


# -- as predicates --------------------------------------------------------------------------


def predicate(conditions: Iterable[Condition], place: Mapping[str, int], at: Location) -> Predicate:
    """The conjunction over columns: ``place`` says which of them holds a reference's :func:`key`.

    Raises:
        QueryError: E-SIZE if it is too large.
    """
    try:
        return Predicate(_sql(Both(tuple(conditions)), place)).normal
    except PredicateError as error:
        raise QueryError(
            "E-SIZE",
            "the conditions are too large",
            at=at,
            hint=str(error).splitlines()[0][:200],
        ) from None


def _sql(condition: Condition, place: Mapping[str, int]) -> str:
    match condition:
        case Comparison(left, sign, right):
            sides = (scalar.text(scalar_of(side, place)) for side in (left, right))
            return f" {sign} ".join(sides)
        case Missing(of):
            return f"c{place[key(of)]} IS NULL"
        case Negated(part):
            return f"NOT ({_sql(part, place)})"
        case Both(parts):
            return " AND ".join(f"({_sql(part, place)})" for part in parts) or "TRUE"
        case Either(parts):
            return " OR ".join(f"({_sql(part, place)})" for part in parts) or "FALSE"


def scalar_of(value: Value, place: Mapping[str, int]) -> scalar.Value:
    """The value over columns: ``place`` says which of them holds a reference's :func:`key`."""
    match value:
        case Literal():
            return value
        case Variable() | Property():
            return Column(place[key(value)])
        case Computed(function, arguments):
            return scalar.Call(function, tuple(scalar_of(part, place) for part in arguments))
