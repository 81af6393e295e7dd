"""The limits of a service on the size of queries and answers."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.automaton import AutomatonError, minimal_dfa
from ...algebra.regex import Regex, Symbol, refs, substitute
from ...languages.query.atoms import PathAtom
from ...languages.query.errors import QueryError
from ...planning.translating import Translated


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a query: atoms, states of a path's automaton, and bytes of its answer."""

    atoms: int = 100
    states: int = 256
    answer: int = 50_000_000


def check_size(translated: Translated, limits: Limits) -> None:
    """Refuses a query that is larger than its limits.

    Raises:
        QueryError: E-SIZE, with the place of the first atom beyond them.
    """
    atoms = [atom for rule in translated.regular_query.rules for atom in rule.body]
    if len(atoms) > limits.atoms:
        raise QueryError(
            "E-SIZE",
            f"the query has {len(atoms):,} atoms, but this service plans at most {limits.atoms:,}",
            at=atoms[limits.atoms].location,
        )
    for atom in atoms:
        if not isinstance(atom, PathAtom):
            continue
        try:
            states = minimal_dfa(_numbered(atom.regex)).states
        except AutomatonError as error:
            raise QueryError("E-SIZE", str(error), at=atom.location) from error
        if states > limits.states:
            raise QueryError(
                "E-SIZE",
                f"the path's automaton has {states:,} states, but this service plans at most "
                f"{limits.states:,}",
                at=atom.location,
            )


def _numbered(path: Regex) -> Regex:
    number = {ref: i for i, ref in enumerate(refs(path))}
    return substitute(path, lambda step: Symbol(number[step.ref], step.inverse))
