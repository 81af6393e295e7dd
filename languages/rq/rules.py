"""Completes parsed rules: unnamed heads, edge aliases, and `_`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import count

from ..query.atoms import (
    Atom,
    BinaryAtom,
    DerivedAtom,
    EdgeAtom,
    Term,
    Variable,
    VertexAtom,
    variables_of,
    with_terms,
)
from ..query.conditions import edges_referenced
from ..query.errors import QueryError
from ..query.predicates import derived_by, first_free, read_by, with_predicates
from ..query.regular_query import Rule
from .steps import MARK

ANONYMOUS = Variable("_")
ANSWER = f"{MARK}Answer"
"""The head of a rule without a name: ``?x, ?y <- ...``."""


def with_named_answer(rules: Sequence[Rule]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules with a name for unnamed heads, and that name if it is generated.

    The name is ``Answer``, or another name if the text reads a label ``Answer``.
    """
    heads = {rule.head for rule in rules}
    read = read_by(rules)
    name = "Answer" if "Answer" in heads else first_free("Answer", read | heads)
    named = [replace(r, head=name) if r.head == ANSWER else r for r in rules]
    return tuple(named), () if name in heads or ANSWER not in heads else (name,)


def with_named_parts(rules: Sequence[Rule]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules with names for the heads of negated and optional parts (``negated``,
    ``optional``, ``negated_2``, ...), and these names."""
    taken = read_by(rules) | derived_by(rules)
    names: dict[str, str] = {}
    for rule in rules:
        for part in rule.parts:
            kind = "negated" if part in rule.negated else "optional"
            names[part.predicate] = first_free(kind, taken)
            taken.add(names[part.predicate])
    if not names:
        return tuple(rules), ()
    named = tuple(with_predicates(rule, lambda name: names.get(name, name)) for rule in rules)
    return named, tuple(names.values())


def with_aliases(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules with aliases of edges.

    In ``label(x, y) as d``, ``d`` names the edge. If a rule reads ``d`` or has the head ``d``, then
    ``d`` is also a predicate, like the name of a closure.
    """
    read = read_by(rules)
    read |= {rule.head for rule in rules}

    def named(atom: Atom, referenced: Set[str]) -> Atom:
        if not isinstance(atom, EdgeAtom) or atom.edge not in read:
            return atom
        return replace(atom, alias=atom.edge, edge=atom.edge if atom.edge in referenced else None)

    return tuple(
        replace(rule, body=tuple(named(atom, edges_referenced(rule)) for atom in rule.body))
        for rule in rules
    )


def with_derived_vertices(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules with an atom of a derived predicate for ``Rich(x)``, if a rule has such a head.

    A rule that reads a vertex label of the name of its own head keeps that label, and so do its
    negated and optional parts, whose rules come after it.

    Raises:
        QueryError: E-ARITY for a named atom of a derived predicate.
    """
    heads = {rule.head for rule in rules if len(rule.variables) == 1}

    def derived(atom: Atom, own: str) -> Atom:
        if not isinstance(atom, VertexAtom) or atom.predicate not in heads - {own}:
            return atom
        turned = DerivedAtom(atom.predicate, (atom.vertex,), atom.location)
        if atom.edge is not None:
            raise unnamed_row(turned)
        return turned

    found: list[Rule] = []
    around: dict[str, str] = {}
    for rule in rules:
        own = around.get(rule.head, rule.head)
        around |= {part.predicate: own for part in rule.parts}
        found.append(replace(rule, body=tuple(derived(atom, own) for atom in rule.body)))
    return tuple(found)


def unnamed_row(atom: DerivedAtom) -> QueryError:
    """The error for a name of a row of a derived predicate."""
    return QueryError(
        "E-ARITY",
        "a row of a derived predicate has no name, and its columns are variables",
        at=atom.location,
        text=atom.predicate,
        hint="leave `as` out, and use the variables of the atom",
    )


def with_names_for_anonymous(atoms: Sequence[Atom], taken: Set[str]) -> tuple[Atom, ...]:
    """The atoms with a fresh variable (``_1``, ``_2``, ...) for each ``_``, none of ``taken``."""
    used = {*variables_of(atoms), *taken}
    numbers = (n for n in count(1) if f"_{n}" not in used)

    def named(term: Term) -> Term:
        return Variable(f"_{next(numbers)}") if term == ANONYMOUS else term

    return tuple(with_terms(atom, named) for atom in atoms)


def in_group(atoms: Sequence[Atom], group: int) -> tuple[Atom, ...]:
    """The atoms, of which edges and paths match different edges; a group includes inner groups."""
    return tuple(
        replace(atom, different=group) if isinstance(atom, BinaryAtom) else atom for atom in atoms
    )


def with_numbered_groups(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """The atoms with groups numbered from 0 on, in the order of their first atoms."""
    groups = (atom.different for atom in atoms if isinstance(atom, BinaryAtom))
    found = dict.fromkeys(group for group in groups if group is not None)
    number = {group: k for k, group in enumerate(found)}
    return tuple(
        replace(atom, different=number[atom.different])
        if isinstance(atom, BinaryAtom) and atom.different is not None
        else atom
        for atom in atoms
    )
