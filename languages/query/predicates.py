"""The predicates that rules read and derive, and their renaming."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from itertools import count

from ...algebra import regex
from .atoms import Atom, BinaryAtom, DerivedAtom, EdgeAtom, VertexAtom, with_labels
from .regular_query import Output, Rule, Witnessed


def predicates(atom: Atom) -> tuple[str, ...]:
    """The labels of edges and derived predicates that an atom reads."""
    if isinstance(atom, VertexAtom):
        return ()
    if isinstance(atom, DerivedAtom):
        return (atom.predicate,)
    if isinstance(atom, EdgeAtom):
        return tuple(map(str, atom.refs))
    return tuple(map(str, regex.refs(atom.regex)))


def aliases(rules: Iterable[Rule]) -> dict[str, BinaryAtom]:
    """The atoms by alias; an alias is also a predicate."""
    return {
        atom.alias: atom
        for rule in rules
        for atom in rule.body
        if isinstance(atom, BinaryAtom) and atom.alias is not None
    }


def read_by(rules: Iterable[Rule]) -> set[str]:
    """The labels of edges and derived predicates that the bodies of rules read."""
    rules = tuple(rules)
    names = {name for rule in rules for atom in rule.body for name in predicates(atom)}
    return names | parts_by(rules)


def parts_by(rules: Iterable[Rule]) -> set[str]:
    """The heads of the rules of negated and optional parts."""
    rules = tuple(rules)
    negated = {part.predicate for rule in rules for part in rule.negated}
    return negated | {part.predicate for rule in rules for part in rule.optional}


def derived_by(rules: Sequence[Rule]) -> set[str]:
    """The predicates that rules define: their heads, and names given by ``as``."""
    return {rule.head for rule in rules} | aliases(rules).keys()


def first_free(base: str, taken: Set[str]) -> str:
    """The first name of ``base``, ``base_2``, ... that is not taken."""
    names = (base if number == 1 else f"{base}_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def with_predicates(rule: Rule, called: Callable[[str], str], *, vertices: bool = False) -> Rule:
    """The rule with renamed predicates and edge labels; ``vertices`` renames vertex labels too."""

    def atom(of: Atom) -> Atom:
        if isinstance(of, VertexAtom):
            return with_labels(of, called) if vertices else of
        if isinstance(of, DerivedAtom):
            return replace(of, predicate=called(of.predicate))
        alias = None if of.alias is None else called(of.alias)
        if isinstance(of, EdgeAtom):
            return replace(with_labels(of, called), alias=alias)
        path = regex.substitute(of.regex, lambda s: regex.Symbol(called(str(s.ref)), s.inverse))
        return replace(of, regex=path, alias=alias)

    def output(of: Output) -> Output:
        return replace(of, path=called(of.path)) if isinstance(of, Witnessed) else of

    return replace(
        rule,
        head=called(rule.head),
        body=tuple(map(atom, rule.body)),
        properties=tuple((name, output(of)) for name, of in rule.properties),
        negated=tuple(replace(of, predicate=called(of.predicate)) for of in rule.negated),
        optional=tuple(replace(of, predicate=called(of.predicate)) for of in rule.optional),
    )
