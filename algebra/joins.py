"""Joins of several atoms as graphs: their shared variables and who is beside whom."""

from __future__ import annotations

from collections.abc import Sequence

Bindings = Sequence[Sequence[int]]
"""The variables of the columns of each atom."""


def join_variables(bindings: Bindings) -> frozenset[int]:
    """The variables that two or more atoms bind."""
    seen: set[int] = set()
    shared: set[int] = set()
    for binding in bindings:
        shared |= seen.intersection(binding)
        seen.update(binding)
    return frozenset(shared)


def connected_to(bindings: Bindings, variable: int) -> frozenset[int]:
    """The variables that some atom binds together with a variable."""
    return frozenset(v for b in bindings if variable in b for v in b if v != variable)


def is_connected(bindings: Bindings) -> bool:
    """Whether no two groups of atoms share no variable."""
    waiting = [set(binding) for binding in bindings]
    reached = waiting.pop() if waiting else set()
    while True:
        near = [binding for binding in waiting if binding & reached]
        if not near:
            return not waiting
        waiting = [binding for binding in waiting if not binding & reached]
        reached = reached.union(*near)


def is_cyclic(bindings: Bindings) -> bool:
    """Whether shared variables form a cycle, where atoms share at most two variables each.

    The atoms have to be connected. Atoms over the same two variables form no cycle.
    """
    shared = join_variables(bindings)
    pairs = {frozenset(shared.intersection(binding)) for binding in bindings}
    return sum(len(pair) == 2 for pair in pairs) >= len(shared) > 0


def is_forest(bindings: Bindings) -> bool:
    """Whether the graph of atoms and variables, with an edge between an atom and each of its
    variables, has no cycle. Then no join of some of the atoms has one either."""
    reached: list[set[int]] = []
    for binding in bindings:
        own = set(binding)
        near = [variables for variables in reached if variables & own]
        if any(len(variables & own) > 1 for variables in near):
            return False
        reached = [variables for variables in reached if not variables & own]
        reached.append(own.union(*near))
    return True


def first_orders(bindings: Bindings) -> tuple[tuple[int, ...], ...]:
    """For each atom an order of the shared variables that it lacks.

    Each variable is beside an earlier one; of several the one with the smallest number is first.
    """
    shared = join_variables(bindings)
    beside = {v: connected_to(bindings, v) for v in shared}
    orders = []
    for binding in bindings:
        bound = shared.intersection(binding)
        missing = sorted(shared - bound)
        order: list[int] = []
        while missing:
            following = next((v for v in missing if beside[v] & bound), missing[0])
            missing.remove(following)
            order.append(following)
            bound |= {following}
        orders.append(tuple(order))
    return tuple(orders)
