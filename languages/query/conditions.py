"""Conditions of a rule: what they look at, what they say of edges, and as predicates.

Everything here is about one rule, before any catalog; types are in
:mod:`headrace.languages.translation.condition_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .disjoint_sets import DisjointSets
from .regular_query import (
    Aggregated,
    Atom,
    Both,
    Comparison,
    Computed,
    Condition,
    Either,
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


def provides(atom: Atom, reference: Variable | Property) -> bool:
    """Whether an atom binds a variable at an end, or has the property of a reference."""
    if isinstance(reference, Property):
        return isinstance(atom, Row) and atom.edge == reference.edge
    return reference in (atom.source, atom.target)


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


def connected(
    conditions: Iterable[Condition],
) -> list[tuple[Variable | Property, Variable | Property]]:
    """The references that conditions say are equal, whatever their types are."""
    return [
        (c.left, c.right)
        for c in conditions
        if isinstance(c, Comparison)
        and c.sign == "="
        and isinstance(c.left, Variable | Property)
        and isinstance(c.right, Variable | Property)
    ]


# -- equal variables ------------------------------------------------------------------------


def unified(rule: Rule) -> Rule:
    """The rule with one variable for those that a condition says are one vertex: ``x = y``."""
    edges = named_edges(rule.body)
    same: DisjointSets[str] = DisjointSets()
    kept: list[Condition] = []
    for condition in conjuncts(rule.conditions):
        match condition:
            case Comparison(Variable(one), "=", Variable(other)) if not {one, other} & edges.keys():
                same.merge(one, other)
            case _:
                kept.append(condition)
    if not same:
        return rule

    def renamed(term: Term) -> Term:
        return Variable(same.leader(term.name)) if isinstance(term, Variable) else term

    def reference(of: Variable | Property) -> Value:
        if isinstance(of, Variable):
            return Variable(same.leader(of.name))
        return replace(of, edge=same.leader(of.edge))

    return replace(
        rule,
        variables=tuple(map(same.leader, rule.variables)),
        body=tuple(with_terms(atom, renamed) for atom in rule.body),
        conditions=tuple(with_references(condition, reference) for condition in kept),
        properties=tuple((n, output_with_references(of, reference)) for n, of in rule.properties),
    )
