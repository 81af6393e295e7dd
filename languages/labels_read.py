"""Which labels a query reads from streams."""

from __future__ import annotations

from languages.checks import aliases, predicates
from languages.regular_query import RegularQuery, VertexAtom


def input_labels(query: RegularQuery) -> tuple[str, ...]:
    """The labels of edges that a query reads from streams, in the order of their first use."""
    derived = {rule.head for rule in query.rules} | set(aliases(query.rules))
    derived |= dict(query.label_sets).keys()
    own = dict(query.leaves)
    used = [name for rule in query.rules for atom in rule.body for name in predicates(atom)]
    used = [own[name].label if name in own else name for name in used]
    return tuple(name for name in dict.fromkeys(used) if name not in derived)


def vertex_labels(query: RegularQuery) -> tuple[str, ...]:
    """The labels of vertices that a query reads, in the order of their first use."""
    atoms = (atom for rule in query.rules for atom in rule.body)
    return tuple(dict.fromkeys(a.predicate for a in atoms if isinstance(a, VertexAtom)))
