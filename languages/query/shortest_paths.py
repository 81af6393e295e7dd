"""Shortest paths of rules: their names, and the values that rules read of them.

A value of a path is a :class:`Property` of the path's name: ``length(p)`` is ``p.length``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .atoms import Atom, PathAtom
from .regular_query import Property, Rule

LENGTH: Final = "length"
"""The number of steps of a path."""
NODES: Final = "nodes"
"""The vertices of a path, in their order."""
RELATIONSHIPS: Final = "relationships"
"""The steps of a path, in their order; the path itself."""
PLACE: Final = "place"
"""The place on its path, from 0 on, of the vertex or the step that an atom binds."""
NUMBERS: Final = (LENGTH, PLACE)
VALUES: Final = (LENGTH, NODES, RELATIONSHIPS)
"""The values of every shortest path."""


def shortest_paths(atoms: Iterable[Atom]) -> dict[str, PathAtom]:
    """The atoms of named shortest paths, by their names."""
    return {
        atom.path: atom
        for atom in atoms
        if isinstance(atom, PathAtom) and atom.shortest is not None and atom.path is not None
    }


def lists(rule: Rule) -> dict[str, Property]:
    """The columns of a head that hold the steps or the vertices of shortest paths, by name."""
    paths = shortest_paths(rule.body)
    return {
        name: of
        for name, of in rule.properties
        if isinstance(of, Property) and of.edge in paths and of.name not in NUMBERS
    }
