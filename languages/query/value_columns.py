"""Columns of derived predicates that hold values, and the checks of the atoms that read them.

In: the rules of a query. Out: for each derived predicate which of its columns are values. A column
is a value if a rule computes it, takes it from a value column or from an optional part, or if it is
an edge; the other columns are vertices. A value may be missing, and a path never goes over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from .atoms import Atom, DerivedAtom, EdgeAtom, PathAtom, Variable
from .conditions import named_edges
from .errors import QueryError
from .predicates import aliases, predicates
from .regular_query import Rule

ValueColumns = Mapping[str, tuple[bool, ...]]
"""For each derived predicate, whether each of its columns holds values."""


def value_columns(rules: Sequence[Rule], order: Iterable[str]) -> ValueColumns:
    """The value columns of the predicates in ``order``, each after its dependencies."""
    known: dict[str, tuple[bool, ...]] = {}
    atoms = aliases(rules)
    rules_of: dict[str, list[Rule]] = {}
    for rule in rules:
        rules_of.setdefault(rule.head, []).append(rule)
    for name in order:
        if name in rules_of:
            kinds = [_of_head(rule, known) for rule in rules_of[name]]
            known[name] = tuple(map(any, zip(*kinds, strict=True)))
        elif name in atoms:
            known[name] = kinds_of(atoms[name], known)
    return known


def kinds_of(atom: Atom, known: ValueColumns) -> tuple[bool, ...]:
    """Whether each term of an atom is a value."""
    if reads_columns(atom):
        (name,) = predicates(atom)
        return known.get(name, (False,) * len(atom.terms))
    return (False,) * len(atom.terms)


def values_in(body: Iterable[Atom], known: ValueColumns) -> frozenset[str]:
    """The variables of a body that are values and never vertices."""
    values: set[str] = set()
    vertices: set[str] = set()
    for atom in body:
        for term, is_value in zip(atom.terms, kinds_of(atom, known), strict=True):
            if isinstance(term, Variable):
                (values if is_value else vertices).add(term.name)
    return frozenset(values - vertices)


def reads_columns(atom: Atom) -> TypeGuard[EdgeAtom | DerivedAtom]:
    """Whether an atom reads one label or predicate, with its columns in their order."""
    if isinstance(atom, EdgeAtom):
        return len(atom.labels) == 1 and not atom.labels[0].inverse
    return isinstance(atom, DerivedAtom)


def check_columns(rules: Sequence[Rule], order: Iterable[str]) -> None:
    """Checks that atoms read derived predicates with the columns that these have.

    ``order`` has the predicates, each after its dependencies.

    Raises:
        QueryError: E-ARITY for another number of columns, and for a path over values.
    """
    width = {rule.head: len(rule.variables) for rule in rules} | dict.fromkeys(aliases(rules), 2)
    reading = [(atom, name) for rule in rules for atom in rule.body for name in predicates(atom)]
    for atom, name in reading:
        columns = 2 if isinstance(atom, PathAtom) else len(atom.terms)
        if columns != width.get(name, 2):
            raise _other_width(atom, name, width.get(name))
    known = value_columns(rules, order)
    for atom, name in reading:
        if any(known.get(name, ())) and not reads_columns(atom):
            raise QueryError(
                "E-ARITY",
                f"column {known[name].index(True) + 1} of {name} holds values, and paths and "
                "alternatives relate vertices",
                at=atom.location,
                text=name,
                hint=f"read it as {_atom(name, 2)}, or derive pairs of vertices from it",
            )


def _other_width(atom: Atom, name: str, width: int | None) -> QueryError:
    """The error for an atom with another number of terms than its predicate has columns."""
    if width is None:
        reason = f"an atom of a label relates two vertices, this one has {len(atom.terms)} terms"
        hint = "write label(source, target), or label(vertex); only heads may have other arities"
    else:
        columns = "one column" if width == 1 else f"{width} columns"
        reason = f"{name} has {columns} in its rule, and {len(atom.terms)} here"
        hint = f"write {_atom(name, width)}"
    return QueryError("E-ARITY", reason, at=atom.location, text=name, hint=hint)


def _of_head(rule: Rule, known: ValueColumns) -> tuple[bool, ...]:
    computed = dict(rule.properties)
    values = values_in(rule.body, known) | named_edges(rule.body).keys()

    def kinds() -> Iterator[bool]:
        for name in rule.variables:
            of = computed.get(name, Variable(name))
            yield not isinstance(of, Variable) or of.name in values or of in rule.missing

    return tuple(kinds())


def _atom(name: str, columns: int) -> str:
    terms = ("x", "y")[:columns] if columns <= 2 else [f"x{i + 1}" for i in range(columns)]
    return f"{name}({', '.join(terms)})"
