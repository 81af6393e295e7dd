"""The rows that operators emit, from the estimates of groups.

The estimate of a group counts the rows that COALESCE passes on (its *distinct* rate). An operator
that does not coalesce also emits rows whose validity lies within that of earlier rows of their
value (its *derivation* rate). Whether an input is coalesced is a property that an operator may
require (:mod:`headrace.optimizer.physical_properties`), so the search has two goals for a group,
and the cost of an alternative depends only on the goals that it reads:

- a coalesced input emits the distinct rate of its group;
- any other input emits its group's derivations over coalesced inputs.

A join holds different rows, and a row that repeats one changes nothing, so the repeats of a join's
inputs do not multiply those of its result (``derived anew``).

So the cost of an operator leaves out repeats of the inputs of its inputs. The search compares
COALESCE below the operator that would multiply such repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..algebra.physical import PhysicalOperator
from ..costmodel.characteristics import LARGEST, Characteristics
from ..costmodel.joins import extensions

LEAST_REPEATS = 1.1
"""The least rows for each distinct row; below it the two rates count as one."""


def repeating(rows: Characteristics) -> bool:
    """Whether the two rates of the rows differ, so that COALESCE is tried below operators."""
    return rows.repeats >= LEAST_REPEATS


def emitted(
    operator: PhysicalOperator,
    output: Characteristics,
    inputs: tuple[Characteristics, ...],
    coalesced: tuple[bool, ...],
    widths: tuple[int, ...],
) -> tuple[Characteristics, tuple[Characteristics, ...]]:
    """The rows that an operator emits, and the rows that its inputs emit.

    Args:
        operator: the operator.
        output: the estimate of its group.
        inputs: the estimates of the groups that it reads.
        coalesced: for each input whether it is coalesced.
        widths: the numbers of columns of the inputs.
    """
    repeated = [rows.repeats for rows, one in zip(inputs, coalesced, strict=True) if not one]
    repeated = [repeats for repeats in repeated if repeats >= LEAST_REPEATS]
    read = inputs
    if repeated:
        read = tuple(map(_read, inputs, coalesced))
    match operator.repeats(widths):
        case "dropped":
            return output, read
        case "passed":
            return _read(output, coalesced[0]), read
        case "derived":
            own = output.repeats if repeating(output) else 1.0
            return output.emitted(own * prod(repeated)), read
        case "derived anew":
            return output.emitted(output.repeats if repeating(output) else 1.0), read
        case "extended":
            return output.emitted(_extended(output, inputs)), read


def emits(
    operator: PhysicalOperator,
    output: Characteristics,
    inputs: Sequence[tuple[Characteristics, float]],
    widths: tuple[int, ...],
) -> float:
    """The rows that an operator of a plan emits per time unit.

    Args:
        operator: the operator.
        output: the estimate of its group.
        inputs: for each input the estimate of its group, and the rows that its operator emits.
        widths: the numbers of columns of the inputs.

    In contrast to :func:`emitted`, the repeats of all operators below count.
    """
    rule = operator.repeats(widths)
    if rule == "dropped":
        return output.arrival_rate
    if rule == "derived anew":
        return output.derivation_rate
    if rule == "extended":
        return output.arrival_rate * _extended(output, [rows for rows, _ in inputs])
    factor = prod(
        [emitting / rows.arrival_rate if rows.arrival_rate else 1.0 for rows, emitting in inputs]
    )
    if rule == "derived":
        factor *= output.repeats
    return min(output.arrival_rate * factor, LARGEST)


def _extended(output: Characteristics, inputs: Sequence[Characteristics]) -> float:
    """The rows that a semi-join emits for each distinct one."""
    if not repeating(output) or not output.arrival_rate:
        return 1.0
    return max(extensions(output, *inputs) / output.arrival_rate, 1.0)


def _read(rows: Characteristics, coalesced: bool) -> Characteristics:
    return rows if coalesced or not repeating(rows) else rows.emitted(rows.repeats)
