"""The properties that an operator requires of its inputs, and those that it delivers.

A row stream is *coalesced* if the validity of no row lies within that of earlier rows of its value.
S-PATH over an automaton with one accepting state reports a pair only when its validity grows, so
its rows are coalesced; with several states, two may report the same. Rows of SIMPLE_PATH and
SLIDE_PATH are always coalesced. A filter passes the property on, and so does a projection that only
reorders columns. Joins, unions and projections that drop columns make duplicates. Over deletions
only COALESCE delivers the property. AGGREGATE, WITNESS and REPORT hold each value of their input
once, whether it comes coalesced or not, and give none twice.

Distributions are chosen in :mod:`headrace.optimizer.placements`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.logical import Aggregate, LogicalExpression, Report, Witness
from ..algebra.physical import (
    AggregateRows,
    Coalesce,
    EmptyRelation,
    Exchange,
    FilterRows,
    PhysicalOperator,
    ProjectColumns,
    ReportRows,
    Rewindow,
    SimplePath,
    SlidePath,
    SPath,
    WitnessPaths,
)
from ..algebra.properties import (
    ANY,
    SINGLE,
    DeliveredProperties,
    Distribution,
    RequiredProperties,
    UpdatePattern,
)
from ..algebra.update_patterns import ends_deletions, marks, update_pattern
from .placements import DIVIDED, Place, Placement, placements

COALESCED = RequiredProperties(coalesced=True)
"""The properties required of an answer."""
COALESCED_ON_ONE = RequiredProperties(distribution=SINGLE, coalesced=True)


_OF_DELETIONS = frozenset({"WSCAN", "AGGREGATE", "REPORT"})
"""Operators that may be where deletions begin or end."""


@dataclass(frozen=True, slots=True)
class ChildRequirements:
    """The properties required of the inputs, so that an operator delivers its own.

    ``divided`` and ``result_divided``: over how many partitions the rows of each input, and of the
    result, are.
    """

    required: tuple[RequiredProperties, ...]
    divided: tuple[int, ...]
    result_divided: int


def hashable_columns(expression: LogicalExpression) -> int:
    """By how many columns the rows of a query can be hashed: by keys, where it has keys."""
    operator = expression.operator
    if isinstance(operator, Report):
        return hashable_columns(expression.inputs[0])
    return len(operator.keys) if isinstance(operator, Aggregate | Witness) else expression.width


def answers(width: int, parallelism: int) -> tuple[RequiredProperties, ...]:
    """The properties under which a plan of so many columns to hash by is a complete one.

    Without a column there is nothing to hash by, and equal rows meet on one partition only.
    """
    if parallelism == 1:
        return (COALESCED,)
    return (COALESCED, COALESCED_ON_ONE) if width else (COALESCED_ON_ONE,)


def child_requirements(
    operator: PhysicalOperator,
    widths: tuple[int, ...],
    required: RequiredProperties,
    parallelism: int = 1,
) -> tuple[ChildRequirements, ...]:
    """All the requirements on the inputs under which the operator delivers ``required``.

    ``widths`` are the inputs' numbers of columns. Enforcers are left out: they close the
    gap that remains. ``any`` stands for rows that each lie on one of several partitions,
    however they were hashed; rows on a single one have to be required.
    """
    asked = False
    if operator.op in _OF_DELETIONS:
        asked = ends_deletions(operator)
        if marks(operator) is not (required.update_pattern is UpdatePattern.MARKED):
            return ()
    elif required.update_pattern is UpdatePattern.MARKED:
        return ()
    if required.coalesced and not makes_coalesced(operator):
        if not passes_coalesced(operator, widths):
            return ()
        asked = True
    fitting = [
        placement
        for placement in placements(operator, widths, parallelism)
        if placement.output.convention is required.convention
        and _fits(placement.output.distribution, required.distribution, parallelism)
    ]
    found = {_requirements(p, asked, required, parallelism): p for p in fitting}
    return tuple(
        ChildRequirements(
            inputs,
            tuple([place.divided(parallelism) for place in placement.inputs]),
            placement.output.divided(parallelism),
        )
        for inputs, placement in found.items()
        if len(found) == 1 or not any(_covers(other, inputs) for other in found)
    )


def _fits(delivered: Distribution, required: Distribution, parallelism: int) -> bool:
    if required == ANY:
        return parallelism == 1 or delivered.spread in DIVIDED
    return delivered == required


def _requirements(
    placement: Placement, coalesced: bool, required: RequiredProperties, parallelism: int
) -> tuple[RequiredProperties, ...]:
    return tuple(
        [
            RequiredProperties(
                ANY if parallelism == 1 else place.distribution,
                coalesced,
                convention=place.convention,
            )
            for place in placement.inputs
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
    """The properties that the operator delivers over such inputs.

    Raises:
        ValueError: if it cannot run over them.
    """
    places = tuple([Place(i.distribution, i.convention) for i in inputs])
    output = next(
        (p.output for p in placements(operator, widths, parallelism) if p.inputs == places), None
    )
    if output is None:
        raise ValueError(f"{operator.op} cannot run over {', '.join(map(_name, places))}")
    coalesced = makes_coalesced(operator) or (
        passes_coalesced(operator, widths) and inputs[0].coalesced
    )
    pattern = update_pattern(operator, [i.update_pattern for i in inputs])
    return DeliveredProperties(output.distribution, coalesced, pattern, output.convention)


def _name(place: Place) -> str:
    return f"{place.distribution} rows of {place.convention}"


def makes_coalesced(operator: PhysicalOperator) -> bool:
    """Whether the result is coalesced whatever the inputs are."""
    match operator:
        case Coalesce() | Rewindow() | EmptyRelation() | SimplePath() | SlidePath():
            return True
        case AggregateRows() | WitnessPaths() | ReportRows():
            return True
        case SPath(accepting=accepting, update_pattern=None):
            return len(accepting) == 1
        case _:
            return False


def passes_coalesced(operator: PhysicalOperator, widths: tuple[int, ...]) -> bool:
    """Whether the result is coalesced if the input is."""
    match operator:
        case FilterRows() | Exchange():
            return True
        case ProjectColumns(columns=columns):
            return set(columns) == set(range(widths[0]))
        case _:
            return False
