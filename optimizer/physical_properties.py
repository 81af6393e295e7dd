"""Which properties an operator asks of its inputs, and which it delivers.

A row stream is *coalesced* if no row lies inside what earlier rows of its value said. S-PATH
over an automaton with one accepting state reports a pair only when its validity grows, so it
delivers that; with several, two states may report the same. A filter keeps what it gets, and
so does a projection that only reorders columns. Joins, unions and projections that drop
columns make duplicates.
"""

from __future__ import annotations

from algebra.physical import (
    Coalesce,
    EmptyRelation,
    FilterRows,
    PhysicalOperator,
    ProjectColumns,
    SPath,
)
from algebra.properties import ANYTHING, DeliveredProperties, RequiredProperties

COALESCED = RequiredProperties(coalesced=True)

Requirements = tuple[RequiredProperties, ...]


def ways_to_deliver(
    operator: PhysicalOperator, widths: tuple[int, ...], required: RequiredProperties
) -> tuple[Requirements, ...]:
    """What to ask of the inputs, in each way, so that the operator delivers ``required``.

    ``widths`` are the inputs' numbers of columns. Enforcers are not asked: they close the
    gap that is left.
    """
    anything = (ANYTHING,) * len(widths)
    if not required.coalesced:
        return (anything,)
    if makes_coalesced(operator):
        return (anything,)
    if passes_coalesced(operator, widths):
        return ((COALESCED,),)
    return ()


def delivered(
    operator: PhysicalOperator,
    widths: tuple[int, ...],
    inputs: tuple[DeliveredProperties, ...],
) -> DeliveredProperties:
    """What the operator delivers over such inputs."""
    coalesced = makes_coalesced(operator) or (
        passes_coalesced(operator, widths) and inputs[0].coalesced
    )
    return DeliveredProperties(coalesced=coalesced)


def makes_coalesced(operator: PhysicalOperator) -> bool:
    """Whether the result is coalesced whatever the inputs are."""
    match operator:
        case Coalesce() | EmptyRelation():
            return True
        case SPath(accepting=accepting):
            return len(accepting) == 1
        case _:
            return False


def passes_coalesced(operator: PhysicalOperator, widths: tuple[int, ...]) -> bool:
    """Whether the result is coalesced if the input is."""
    match operator:
        case FilterRows():
            return True
        case ProjectColumns(columns=columns):
            return set(columns) == set(range(widths[0]))
        case _:
            return False
