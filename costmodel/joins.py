"""Characteristics of joins: formulas 4 and 5 of thesis 6.3.1, and what a join holds and checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

from ..algebra.logical import FilteredPattern, MultiwayPattern, Pattern
from ..algebra.physical import HashJoin, MultiwayJoin
from ..algebra.predicate import Predicate
from .characteristics import LARGEST, Characteristics
from .columns import Column
from .derived import Reading, derived, of_values
from .estimates import filtered, projected
from .joint import matches
from .selectivity import condition


def joined(
    pattern: Pattern, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """Formula 4, PATTERN; more than two inputs are joined from left to right."""
    first, *others = inputs
    result = first
    steps = join_steps(pattern.bindings, pattern.output)
    if not steps:
        (binding,) = pattern.bindings
        return projected(first, tuple(map(binding.index, pattern.output)), reading)
    for step, other in zip(steps, others, strict=True):
        result = join(result, other, step, reading)
    return result


def joined_where(
    pattern: FilteredPattern, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """A FILTER over a PATTERN of all variables, of which a projection keeps some."""
    pairs = joined(pattern.unfiltered, inputs, reading)
    place = {variable: k for k, variable in enumerate(pattern.unfiltered.output)}
    residual = condition(pattern.predicate.renumbered(place))
    kept = tuple(place[variable] for variable in pattern.output)
    return projected(filtered(pairs, residual, reading), kept, reading)


def joined_at_once(
    pattern: MultiwayPattern, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """A PATTERN with an input for each atom, and its residual as a FILTER above."""
    atoms = [inputs[read] for read in pattern.reads]
    if pattern.predicate is None:
        return joined(pattern.atoms, atoms, reading)
    variables = tuple(sorted({v for binding in pattern.bindings for v in binding}))
    rows = joined(replace(pattern.atoms, output=variables), atoms, reading)
    place = {variable: k for k, variable in enumerate(variables)}
    residual = condition(pattern.predicate.renumbered(place))
    kept = tuple(place[variable] for variable in pattern.output)
    return projected(filtered(rows, residual, reading), kept, reading)


def pairs_of(
    join: HashJoin | MultiwayJoin, output: Characteristics, inputs: Sequence[Characteristics]
) -> float:
    """The rows per time unit on which a residual is checked: the results over its selectivity.

    ``inputs`` has an input for each binding of the join.
    """
    if join.residual is None:
        return 0.0
    distinct: dict[int, float] = {}
    columns: dict[int, Column | None] = {}
    for binding, side in zip(join.bindings, inputs, strict=True):
        for variable, values in zip(binding, side.distinct, strict=True):
            distinct[variable] = min(values, distinct.get(variable, values))
        for variable, column in zip(binding, side.columns, strict=False):
            columns.setdefault(variable, column)
    variables = range(1 + max(distinct, default=-1))
    selectivity = condition(Predicate(join.residual)).share(
        tuple([distinct.get(v, 1.0) for v in variables]),
        tuple([columns.get(v) for v in variables]),
    )
    return min(output.arrival_rate / selectivity, LARGEST) if selectivity > 0 else 0.0


def held(join: HashJoin, inputs: Sequence[Characteristics]) -> tuple[float, float]:
    """The rows that each side of a join holds: the valid ones, or those within its horizon."""
    if join.horizon is None:
        return inputs[0].population, inputs[1].population
    kept = []
    for side, horizon in zip(inputs, join.horizon, strict=True):
        within = inf if horizon is None else side.arrival_rate * max(horizon[1] + 1, 0)
        kept.append(min(side.population, within))
    left, right = kept
    return left, right


@dataclass(frozen=True, slots=True)
class JoinStep:
    """One binary join, over the left columns followed by the right ones.

    ``shared`` pairs the positions of the join columns; ``columns[i]`` are the two positions
    of output column ``i``, twice the same unless it is a join column.
    """

    shared: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]

    def dropped(self, width: int) -> set[int]:
        """The columns, of ``width`` columns of both sides, that the result does not have."""
        return set(range(width)).difference(*self.columns)


CONCATENATION = JoinStep(shared=((1, 2),), columns=((0, 0), (3, 3)))
"""The join of a·b: the target of a is the source of b."""


def join(
    left: Characteristics, right: Characteristics, step: JoinStep, reading: Reading
) -> Characteristics:
    """Formulas 4 and 5: rO = f·(v2·r2)·r1 + f·(v1·r1)·r2 (6.7, 6.9), vO = v1·v2 / (v1 + v2).

    f is the product over the shared columns of 1 / max(V1, V2), or of what was measured
    (:func:`headrace.costmodel.joint.matches`); without a shared column it is 1, the cross product.
    The population is f·(v1·r1)·(v2·r2), which is rO·vO and also holds where an input is a stored
    graph; the interval is (6.8, 6.10). Saturating: of equal rows of an input one counts.
    """
    if reading.set_semantics:
        left, right = of_values(left), of_values(right)
    values = left.distinct + right.distinct
    selectivity, distinct, columns = matches(left, right, step.shared, step.columns)
    rate = selectivity * (right.population * left.arrival_rate) + selectivity * (
        left.population * right.arrival_rate
    )
    return derived(
        rate,
        _overlap(left.validity, right.validity),
        selectivity * (left.population * right.population),
        distinct,
        inputs=(left, right),
        reading=reading,
        columns=columns,
        merges=any(values[i] > 1 for i in step.dropped(len(values))),
    )


@lru_cache(maxsize=4096)
def join_steps(
    bindings: tuple[tuple[int, ...], ...], output: tuple[int, ...]
) -> tuple[JoinStep, ...]:
    """The binary joins of a PATTERN, left to right; each keeps the variables needed later."""
    steps = []
    left = bindings[0]
    for number, right in enumerate(bindings[1:], start=2):
        later = {variable for binding in bindings[number:] for variable in binding}
        both = tuple(dict.fromkeys(left + right))
        kept = tuple(v for v in both if v in later or v in output) if later else output
        on_left = {v: i for i, v in enumerate(left)}
        on_right = {v: i for i, v in enumerate(right, start=len(left))}
        first, last = on_right | on_left, on_left | on_right
        steps.append(
            JoinStep(
                tuple((on_left[v], on_right[v]) for v in left if v in on_right),
                tuple((first[v], last[v]) for v in kept),
            )
        )
        left = kept
    return tuple(steps)


def _overlap(left: float, right: float) -> float:
    """v1·v2 / (v1 + v2); the other one where one never ends."""
    if inf in (left, right):
        return min(left, right)
    return left * right / (left + right) if left or right else 0.0
