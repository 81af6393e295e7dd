"""Completes parsed rules: unnamed heads, edge aliases, and `_`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from ..query.conditions import edges_referenced
from ..query.predicates import first_free, read_by
from ..query.regular_query import Atom, EdgeAtom, Rule, Term, Variable, variables_of, with_terms
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


def with_names_for_anonymous(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """The atoms with a fresh variable (``_1``, ``_2``, ...) for each ``_``."""
    used = set(variables_of(atoms))
    numbers = iter(n for n in range(1, 2 * len(atoms) + len(used) + 1) if f"_{n}" not in used)

    def named(term: Term) -> Term:
        return Variable(f"_{next(numbers)}") if term == ANONYMOUS else term

    return tuple(with_terms(atom, named) for atom in atoms)
