"""Counts the derivations of rows by vertex: one pass over the edges for each label of a relation.

The number of derivations at a vertex tells which vertices have rows at all, and with what
probability a vertex should be sampled. Closures count walks of a few rounds, joins that close a
cycle leave one of its edges out.
"""

from __future__ import annotations

import numpy as np

from ...algebra import regex
from .relations import Edges, Either, Join, Reach, Relation, Wide, width
from .snapshot import Floats, Snapshot

ROUNDS = 3
"""The rounds of a closure that are counted."""
LARGEST = 1e30


def counted(snapshot: Snapshot, relation: Relation, column: int) -> Floats:
    """By vertex the number of derivations of the rows that have it in a column, roughly."""
    if isinstance(relation, Join):
        return _at_variable(snapshot, relation, relation.output[column], {}, set())
    if isinstance(relation, Either) and width(relation) != 2:
        return _sum(snapshot, [counted(snapshot, one, column) for one in relation.inputs])
    return _flow(snapshot, relation, column, np.ones(snapshot.vertices))


def _flow(snapshot: Snapshot, relation: Relation, column: int, values: Floats) -> Floats:
    """By vertex of a column of pairs the sum of the values at the other ends of its pairs."""
    match relation:
        case Edges():
            return snapshot.links(relation, column == 1).adjacency.sums(values)
        case Wide(edges):
            return _flow(snapshot, edges, column, values)
        case Reach(expression, inputs):
            forward = expression if column == 0 else regex.inverse(expression)
            sums = _along(snapshot, forward, inputs, values)
            return np.maximum(sums - values, 0.0) if regex.nullable(forward) else sums
        case Join(_, output):
            at = {output[1 - column]: values}
            return _at_variable(snapshot, relation, output[column], at, set())
        case Either(inputs):
            return _sum(snapshot, [_flow(snapshot, one, column, values) for one in inputs])


def _along(
    snapshot: Snapshot, expression: regex.Regex, inputs: tuple[Relation, ...], values: Floats
) -> Floats:
    """By vertex the sum of the values at the ends of the walks of an expression."""

    def along(part: regex.Regex, ends: Floats) -> Floats:
        return _along(snapshot, part, inputs, ends)

    match expression:
        case regex.Symbol(ref, inverse):
            assert isinstance(ref, int)
            return np.minimum(_flow(snapshot, inputs[ref], int(inverse), values), LARGEST)
        case regex.Concat(parts):
            for part in reversed(parts):
                values = along(part, values)
            return values
        case regex.Alternation(parts):
            return _sum(snapshot, [along(part, values) for part in parts])
        case regex.Optional(part):
            return values + along(part, values)
        case regex.Star(part) | regex.Plus(part):
            ends = values
            for _ in range(ROUNDS - 1):
                ends = values + along(part, ends)
            return ends if isinstance(expression, regex.Star) else along(part, ends)
        case _:
            return np.zeros(snapshot.vertices)


def _at_variable(
    snapshot: Snapshot, join: Join, variable: int, at: dict[int, Floats], passed: set[int]
) -> Floats:
    """By value of a variable the number of derivations of the atoms that are not yet ``passed``.

    ``at`` has a factor for each value of some variables.
    """
    product = at.get(variable, np.ones(snapshot.vertices))
    here = [k for k, b in enumerate(join.bindings) if variable in b and k not in passed]
    passed |= set(here)
    for k in here:
        binding, below = join.bindings[k], join.inputs[k]
        place = binding.index(variable)
        if len(set(binding)) == 2:
            values = _at_variable(snapshot, join, binding[1 - place], at, passed)
            product = product * _flow(snapshot, below, place, values)
        else:
            product = product * counted(snapshot, below, place)
    return np.minimum(product, LARGEST)


def _sum(snapshot: Snapshot, parts: list[Floats]) -> Floats:
    return sum(parts, np.zeros(snapshot.vertices))
