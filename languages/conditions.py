"""Conditions of a rule: what they look at, what they say of edges, and as predicates.

Everything here is about one rule, before any catalog; types are in
:mod:`languages.condition_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from algebra import scalar
from algebra.predicate import Predicate, PredicateError
from algebra.scalar import Column, Literal
from languages.errors import QueryError
from languages.regular_query import (
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
    Witnessed,
    with_terms,
)

TRUE, FALSE = Both(()), Either(())


def key(reference: Variable | Property) -> str:
    """What a column that holds it is called: no variable has a dot in its name."""
    if isinstance(reference, Variable):
        return reference.name
    return f"{reference.edge}.{reference.name}"


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

    return replace(
        rule,
        variables=tuple(map(leader_of, rule.variables)),
        body=tuple(with_terms(atom, renamed) for atom in rule.body),
        conditions=tuple(_renamed(condition, leader_of) for condition in kept),
        properties=tuple((name, _output(of, leader_of)) for name, of in rule.properties),
    )


def _output(of: Output, name: Callable[[str], str]) -> Output:
    if isinstance(of, Witnessed):
        return of
    if isinstance(of, Aggregated):
        return of if of.argument is None else replace(of, argument=_value_with(of.argument, name))
    return _value_with(of, name)


def _value_with(of: Value, name: Callable[[str], str]) -> Value:
    match of:
        case Variable(old):
            return Variable(name(old))
        case Property(of_what):
            return replace(of, edge=name(of_what))
        case Computed(function, arguments):
            return Computed(function, tuple(_value_with(part, name) for part in arguments))
        case _:
            return of


def _renamed(condition: Condition, name: Callable[[str], str]) -> Condition:
    def value(of: Value) -> Value:
        return _value_with(of, name)

    match condition:
        case Comparison():
            return replace(condition, left=value(condition.left), right=value(condition.right))
        case Negated(part):
            return Negated(_renamed(part, name))
        case Both(parts) | Either(parts):
            return type(condition)(tuple(_renamed(part, name) for part in parts))
        case Missing(of_what):
            return Missing(replace(of_what, edge=name(of_what.edge)))


# -- edges as values ------------------------------------------------------------------------


def written_out(
    condition: Condition,
    edges: Mapping[str, Row],
    origin: Callable[[str], tuple[str, str, tuple[str, ...]]],
    positive: bool = True,
) -> Condition:
    """The condition, or its negation, without edges as values.

    ``origin`` gives the stream, label and properties (``ts`` among them) of each named edge.
    Two edges are one if these, their ends and all properties agree; a property that both lack
    is one on which they agree.
    """
    match condition:
        case Negated(part):
            return written_out(part, edges, origin, not positive)
        case Both(parts) | Either(parts):
            inner = tuple(written_out(part, edges, origin, positive) for part in parts)
            return Both(inner) if isinstance(condition, Both) == positive else Either(inner)
        case Comparison(Variable(one), sign, Variable(other)) if one in edges:
            same = (sign == "=") == positive
            if origin(one) != origin(other):
                return FALSE if same else TRUE
            _, _, names = origin(one)
            differ = _difference(edges[one], edges[other], names, condition.location, same)
            return Both(differ) if same else Either(differ)
        case _:
            return condition if positive else Negated(condition)


def _difference(
    one: Row, other: Row, names: tuple[str, ...], at: Location, same: bool
) -> tuple[Condition, ...]:
    """For each end and property, that it is the same, or that it is not."""
    if one.edge == other.edge:
        return ()
    assert one.edge is not None
    assert other.edge is not None
    found = [
        _ends(left, right, at, same)
        for left, right in ((one.source, other.source), (one.target, other.target))
    ]
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


def _ends(left: Term, right: Term, at: Location, same: bool) -> Condition:
    if left == right:
        return TRUE if same else FALSE
    if isinstance(left, Constant) and isinstance(right, Constant):
        # In one stream a number and its text are one vertex.
        return TRUE if same == (str(left.value) == str(right.value)) else FALSE
    return Comparison(_end(left), "=" if same else "<>", _end(right), at)


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
