"""Counts the derivations of rows by vertex: one pass over the edges for each label of a relation.

The number of derivations at a vertex tells which vertices have rows at all, and with what
probability a vertex should be sampled. Closures count walks of a few rounds, joins that close a
cycle leave one of its edges out.
"""

from __future__ import annotations

import numpy as np

from ...algebra import regex
from .arrays import Floats
from .relations import Edges, Either, Join, Reach, Relation, Wide, width
from .snapshot import Snapshot

ROUNDS = 3
"""The rounds of a closure that are counted."""
LARGEST = 1e30


def counted(snapshot: Snapshot, relation: Relation, column: int) -> Floats:
    """By vertex the number of derivations of the rows that have it in a column, roughly."""
    if isinstance(relation, Join):
        return _at_variable(snapshot, relation, relation.output[column], {}, set())
    if isinstance(relation, Either) and width(relation) != 2:
        return _sum(snapshot, [counted(snapshot, one, column) for one in relation.inputs])
    return _flow(snapshot, relation, column, None)


def _flow(snapshot: Snapshot, relation: Relation, column: int, values: Floats | None) -> Floats:
    """By vertex of a column of pairs the sum of the values at the other ends of its pairs.

    Without ``values`` each end has the value 1; these sums are kept for other relations.
    """
    if values is not None:
        return _flow_of(snapshot, relation, column, values)
    key = (relation, column)
    sums = snapshot.flows_of_ones.get(key)
    if sums is None:
        sums = snapshot.flows_of_ones[key] = _flow_of(snapshot, relation, column, None)
    return sums


def _flow_of(snapshot: Snapshot, relation: Relation, column: int, values: Floats | None) -> Floats:
    match relation:
        case Edges():
            adjacency = snapshot.links(relation, column == 1).adjacency
            return adjacency.degrees.astype(float) if values is None else adjacency.sums(values)
        case Wide(edges):
            return _flow(snapshot, edges, column, values)
        case Reach(expression, inputs):
            forward = expression if column == 0 else regex.inverse(expression)
            sums = _along(snapshot, forward, inputs, values)
            if not regex.nullable(forward):
                return sums
            return np.maximum(sums - (1.0 if values is None else values), 0.0)
        case Join(_, output, _):
            at = {} if values is None else {output[1 - column]: values}
            return _at_variable(snapshot, relation, output[column], at, set())
        case Either(inputs):
            return _sum(snapshot, [_flow(snapshot, one, column, values) for one in inputs])


def _along(
    snapshot: Snapshot,
    expression: regex.Regex,
    inputs: tuple[Relation, ...],
    values: Floats | None,
) -> Floats:
    """By vertex the sum of the values, by default 1, at the ends of the walks of an expression.

    The sums of ones are kept, since paths of one query have many parts in common.
    """
    if values is not None or isinstance(expression, regex.Symbol):
        return _along_parts(snapshot, expression, inputs, values)
    key = _own(expression, inputs)
    sums = snapshot.walks_of_ones.get(key)
    if sums is None:
        sums = snapshot.walks_of_ones[key] = _along_parts(snapshot, expression, inputs, None)
    return sums


def _own(
    expression: regex.Regex, inputs: tuple[Relation, ...]
) -> tuple[regex.Regex, tuple[Relation, ...]]:
    """An expression with the inputs that it reads, numbered in their order."""
    numbered: dict[Relation, int] = {}

    def symbol(old: regex.Symbol) -> regex.Regex:
        assert isinstance(old.ref, int)
        below = inputs[old.ref]
        return regex.Symbol(numbered.setdefault(below, len(numbered)), old.inverse)

    own = regex.substitute(expression, symbol)
    return own, tuple(numbered)


def _along_parts(
    snapshot: Snapshot,
    expression: regex.Regex,
    inputs: tuple[Relation, ...],
    values: Floats | None,
) -> Floats:
    def along(part: regex.Regex, ends: Floats | None) -> Floats:
        return _along(snapshot, part, inputs, ends)

    own = 1.0 if values is None else values
    match expression:
        case regex.Symbol(ref, inverse):
            assert isinstance(ref, int)
            return np.minimum(_flow(snapshot, inputs[ref], int(inverse), values), LARGEST)
        case regex.Concat(parts):
            others = parts[1] if len(parts) == 2 else regex.Concat(parts[1:])
            return along(parts[0], along(others, values))
        case regex.Alternation(parts):
            return _sum(snapshot, [along(part, values) for part in parts])
        case regex.Optional(part):
            return own + along(part, values)
        case regex.Star(part) | regex.Plus(part):
            ends = values
            for _ in range(ROUNDS - 1):
                ends = own + along(part, ends)
            if isinstance(expression, regex.Plus):
                return along(part, ends)
            return snapshot.ones if ends is None else ends
        case _:
            return np.zeros(snapshot.vertices)


def _at_variable(
    snapshot: Snapshot, join: Join, variable: int, at: dict[int, Floats], passed: set[int]
) -> Floats:
    """By value of a variable the number of derivations of the atoms that are not yet ``passed``.

    ``at`` has a factor for each value of some variables.
    """
    product = _beside(snapshot, join, variable, at, passed)
    return snapshot.ones if product is None else product


def _beside(
    snapshot: Snapshot, join: Join, variable: int, at: dict[int, Floats], passed: set[int]
) -> Floats | None:
    """As :func:`_at_variable`; None for 1 at each value."""
    product = at.get(variable)
    here = [k for k, b in enumerate(join.bindings) if variable in b and k not in passed]
    passed |= set(here)
    for k in here:
        below = join.inputs[k]
        binding = join.bindings[k][:2] if isinstance(below, Wide) else join.bindings[k]
        place = binding.index(variable)
        if len(set(binding)) == 2:
            values = _beside(snapshot, join, binding[1 - place], at, passed)
            factor = _flow(snapshot, below, place, values)
        else:
            factor = counted(snapshot, below, place)
        product = factor if product is None else product * factor
    return None if product is None else np.minimum(product, LARGEST)


def _sum(snapshot: Snapshot, parts: list[Floats]) -> Floats:
    return sum(parts, np.zeros(snapshot.vertices))
