"""Conditions of a rule: the variables and properties in them, and equal variables.

Every function here works on one rule and needs no catalog; types are in
:mod:`headrace.languages.translation.condition_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .atoms import Atom, Row, Term, Variable, with_terms
from .disjoint_sets import DisjointSets
from .regular_query import (
    Aggregated,
    Both,
    Comparison,
    Computed,
    Condition,
    Either,
    Missing,
    Negated,
    Output,
    Property,
    Rule,
    Value,
    Witnessed,
)

Renaming = Callable[[str], str]


def key(reference: Variable | Property) -> str:
    """The column name of a reference; it is unique, as no variable or edge name has a line end."""
    if isinstance(reference, Variable):
        return reference.name
    return f"{reference.edge}\n{reference.name}"


def key_of_end(atom: int, end: int) -> str:
    """The column name of an atom's end that is not a variable."""
    return f"\n{atom} {end}"


def key_text(name: str) -> str:
    """The name to show for the column of a :func:`key`."""
    edge, line_end, of = name.partition("\n")
    if not edge:
        return "_"
    return f"{edge}.{of or 'label'}" if line_end else name


def named_edges(body: Iterable[Atom]) -> dict[str, Row]:
    """The atoms whose edge or vertex row has a name, by that name."""
    return {atom.edge: atom for atom in body if isinstance(atom, Row) and atom.edge is not None}


def references(condition: Condition) -> Iterator[Variable | Property]:
    """The variables and properties that a condition refers to, with repeats."""
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
    """The comparisons in conditions, at any depth."""
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

    The property of an ``IS NULL`` must be replaced by a property.
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


def with_edge(condition: Condition, old: str, new: str) -> Condition:
    """The condition with another name of an edge."""

    def renamed(of: Variable | Property) -> Value:
        return replace(of, edge=new) if isinstance(of, Property) and of.edge == old else of

    return with_references(condition, renamed)


def value_with_references(of: Value, new: Callable[[Variable | Property], Value]) -> Value:
    """The value with other values in place of its variables and properties."""
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
        time = None if of.time is None else value_with_references(of.time, new)
        return replace(of, argument=value_with_references(of.argument, new), time=time)
    return value_with_references(of, new)


def rule_with_references(rule: Rule, new: Callable[[Variable | Property], Value]) -> Rule:
    """The rule with other values in its conditions and head, and the same atoms."""
    return replace(
        rule,
        conditions=tuple(with_references(condition, new) for condition in rule.conditions),
        properties=tuple((name, output_with_references(of, new)) for name, of in rule.properties),
    )


def with_names(rule: Rule, vertex: Renaming, edge: Renaming = str) -> Rule:
    """The rule with other names of its vertices and edges, and the same column names."""
    edges = named_edges(rule.body)

    def name(of: str) -> str:
        return edge(of) if of in edges else vertex(of)

    def term(of: Term) -> Term:
        return Variable(vertex(of.name)) if isinstance(of, Variable) else of

    def atom(of: Atom) -> Atom:
        moved = with_terms(of, term)
        if isinstance(moved, Row) and moved.edge is not None:
            return replace(moved, edge=edge(moved.edge))
        return moved

    def column(of: Variable | Property) -> Variable | Property:
        return (
            Variable(name(of.name)) if isinstance(of, Variable) else replace(of, edge=name(of.edge))
        )

    def reference(of: Variable | Property) -> Value:
        return column(of)

    renamed = replace(
        rule,
        body=tuple(map(atom, rule.body)),
        negated=tuple(
            replace(of, variables=tuple(map(vertex, of.variables))) for of in rule.negated
        ),
        optional=tuple(replace(of, columns=tuple(map(column, of.columns))) for of in rule.optional),
    )
    return rule_with_references(renamed, reference)


def values_of_output(of: Output) -> tuple[Value, ...]:
    """The values in a column: those of an aggregate, or the value itself; none of a path."""
    if isinstance(of, Witnessed):
        return ()
    return of.values if isinstance(of, Aggregated) else (of,)


def references_in(of: Output) -> Iterator[Variable | Property]:
    """The variables and properties that a column refers to, with repeats."""
    for value in values_of_output(of):
        yield from references_of(value)


def provides(atom: Atom, reference: Variable | Property) -> bool:
    """Whether an atom binds a variable, or has the property of a reference."""
    if isinstance(reference, Property):
        return isinstance(atom, Row) and atom.edge == reference.edge
    return reference in atom.terms


def references_in_rule(rule: Rule) -> Iterator[Variable | Property]:
    """The variables and properties in the conditions and the head of a rule, with repeats."""
    for condition in rule.conditions:
        yield from references(condition)
    for _, of in rule.properties:
        yield from references_in(of)


def properties_of_vertices(rule: Rule) -> Iterator[Property]:
    """The properties of vertices in a rule, with repeats; their owner is a variable."""
    edges = named_edges(rule.body)
    for of in references_in_rule(rule):
        if isinstance(of, Property) and of.edge not in edges and of not in rule.missing:
            yield of


def edges_referenced(rule: Rule) -> set[str]:
    """The edges that the conditions or the head of a rule refer to."""
    names = {r.edge if isinstance(r, Property) else r.name for r in references_in_rule(rule)}
    return names & named_edges(rule.body).keys()


def conjuncts(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conditions, with conjunctions split into their parts."""
    for condition in conditions:
        if isinstance(condition, Both):
            yield from conjuncts(condition.parts)
        else:
            yield condition


def connected(
    conditions: Iterable[Condition],
) -> list[tuple[Variable | Property, Variable | Property]]:
    """The pairs of references that conditions equate, of any type."""
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
    """The rule with one variable for all variables that conditions such as ``x = y`` equate.

    ``x = x`` remains a condition, since it is unknown for a missing value, and so does an equality
    of a variable of an optional part, which is a condition on the rows with the part.
    """
    others = named_edges(rule.body).keys() | {
        of.name for of in rule.missing if isinstance(of, Variable)
    }
    same: DisjointSets[str] = DisjointSets()
    kept: list[Condition] = []
    for condition in conjuncts(rule.conditions):
        match condition:
            case Comparison(Variable(one), "=", Variable(other)) if (
                one != other and not {one, other} & others
            ):
                same.merge(one, other)
            case _:
                kept.append(condition)
    if not same:
        return rule

    variables = tuple(map(same.leader, rule.variables))
    return with_names(replace(rule, variables=variables, conditions=tuple(kept)), same.leader)
