"""The properties that an operator requires of its inputs, and those that it delivers.

A row stream is *coalesced* if the validity of no row lies within that of earlier rows of its value.
Each operator declares whether it delivers this property, or passes it on
(:mod:`headrace.algebra.physical`).

Distributions are chosen in :mod:`headrace.optimizer.placements`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from ..algebra.logical import Aggregate, EventReport, LogicalExpression, Report, Witness
from ..algebra.physical import (
    PhysicalOperator,
)
from ..algebra.properties import (
    ANY,
    SINGLE,
    Convention,
    DeliveredProperties,
    Distribution,
    RequiredProperties,
    UpdatePattern,
)
from .placements import DIVIDED, Place, Placement, placements

COALESCED = RequiredProperties(coalesced=True)
"""The properties required of an answer."""
COALESCED_ON_ONE = RequiredProperties(distribution=SINGLE, coalesced=True)


@dataclass(frozen=True, slots=True)
class ChildRequirements:
    """The properties required of the inputs, so that an operator delivers its own.

    ``divided`` holds for each input all rows divided by those on the busiest partition,
    ``result_divided`` the same for the rows of the result.
    """

    required: tuple[RequiredProperties, ...]
    divided: tuple[float, ...]
    result_divided: float


def hashable_columns(expression: LogicalExpression) -> int:
    """The number of columns that the rows of a query can be hashed by; its keys if it has keys."""
    operator = expression.operator
    if isinstance(operator, EventReport):
        return 0  # its rows lie on one partition
    if isinstance(operator, Report):
        return hashable_columns(expression.inputs[0])
    return len(operator.keys) if isinstance(operator, Aggregate | Witness) else expression.width


def answers(width: int, parallelism: int) -> tuple[RequiredProperties, ...]:
    """The properties of a complete plan, for a query with ``width`` columns to hash by.

    Without such a column equal rows meet only if all rows are on a single partition.
    """
    if parallelism == 1:
        return (COALESCED,)
    return (COALESCED, COALESCED_ON_ONE) if width else (COALESCED_ON_ONE,)


@lru_cache(maxsize=1 << 14)
def child_requirements(
    operator: PhysicalOperator,
    widths: tuple[int, ...],
    required: RequiredProperties,
    parallelism: int = 1,
    repeats: tuple[bool, ...] = (),
) -> tuple[ChildRequirements, ...]:
    """All the requirements on the inputs under which the operator delivers ``required``.

    ``widths`` are the inputs' numbers of columns. An input that ``repeats`` rows is required both
    coalesced and as it is, unless the operator needs one of these. Enforcers are not
    considered here. ``any`` stands for rows that each lie on one of several partitions, under any
    hash; it does not include rows that all lie on a single partition.
    """
    coalesced = operator.ends_deletions
    if operator.marks is not (required.update_pattern is UpdatePattern.MARKED):
        return ()
    if required.coalesced and not operator.coalesces:
        if not operator.keeps_coalesced(widths):
            return ()
        coalesced = True
    fitting = [
        placement
        for placement in placements(operator, widths, parallelism)
        if placement.output.convention is required.convention
        and _fits(placement.output.distribution, required.distribution, parallelism)
    ]
    placement_of = {_requirements(operator, p, coalesced, parallelism): p for p in fitting}
    droppable = tuple([one and not operator.reads_every_row(k) for k, one in enumerate(repeats)])
    free = not coalesced and any(droppable) and not operator.keeps_coalesced(widths)
    return tuple(
        ChildRequirements(
            variant,
            tuple([place.divided(parallelism) for place in placement.inputs]),
            placement.output.divided(parallelism),
        )
        for inputs, placement in placement_of.items()
        if len(placement_of) == 1 or not any(_covers(other, inputs) for other in placement_of)
        for variant in (_with_coalesced(inputs, droppable) if free else (inputs,))
    )


MOST_COALESCED = 3
"""The most inputs that repeat rows for which COALESCE is tried below one operator."""


def _with_coalesced(
    inputs: tuple[RequiredProperties, ...], repeats: tuple[bool, ...]
) -> Iterator[tuple[RequiredProperties, ...]]:
    """The requirements with none of the inputs that repeat rows coalesced, some, and all."""
    for chosen in coalesced_inputs(repeats):
        yield tuple(
            [
                replace(required, coalesced=True)
                if one and required.convention is Convention.KERNEL
                else required
                for required, one in zip(inputs, chosen, strict=True)
            ]
        )


@lru_cache(maxsize=1024)
def coalesced_inputs(repeats: tuple[bool, ...]) -> tuple[tuple[bool, ...], ...]:
    """The choices of inputs to coalesce, among those that repeat rows."""
    if sum(repeats) > MOST_COALESCED:
        return ((False,) * len(repeats),)
    return tuple(product(*[(False, True) if one else (False,) for one in repeats]))


def _fits(delivered: Distribution, required: Distribution, parallelism: int) -> bool:
    if required == ANY:
        return parallelism == 1 or delivered.spread in DIVIDED
    return delivered == required


def _requirements(
    operator: PhysicalOperator, placement: Placement, coalesced: bool, parallelism: int
) -> tuple[RequiredProperties, ...]:
    return tuple(
        [
            RequiredProperties(
                ANY if parallelism == 1 else place.distribution,
                coalesced and not operator.reads_every_row(k),
                convention=place.convention,
            )
            for k, place in enumerate(placement.inputs)
        ]
    )


def _covers(
    general: tuple[RequiredProperties, ...], special: tuple[RequiredProperties, ...]
) -> bool:
    """Whether one requires the same or less of each input, and less of some."""
    return general != special and all(
        g == s
        or (
            g.distribution == ANY
            and s.distribution.spread in DIVIDED
            and g.convention is s.convention
        )
        for g, s in zip(general, special, strict=True)
    )


def delivered(
    operator: PhysicalOperator,
    widths: tuple[int, ...],
    inputs: tuple[DeliveredProperties, ...],
    parallelism: int = 1,
) -> DeliveredProperties:
    """The properties that the operator delivers over inputs with the given properties.

    Raises:
        ValueError: if the operator cannot run over the inputs.
    """
    places = tuple([Place(i.distribution, i.convention) for i in inputs])
    output = next(
        (p.output for p in placements(operator, widths, parallelism) if p.inputs == places), None
    )
    if output is None:
        raise ValueError(f"{operator.op} cannot run over {', '.join(map(_name, places))}")
    coalesced = operator.coalesces or (operator.keeps_coalesced(widths) and inputs[0].coalesced)
    pattern = operator.update_pattern_over([i.update_pattern for i in inputs])
    return DeliveredProperties(output.distribution, coalesced, pattern, output.convention)


def _name(place: Place) -> str:
    return f"{place.distribution} rows of {place.convention}"
