"""The fit of cost constants to measured times, with numpy alone.

The cost of an operator is linear in the constants: :func:`coefficients` evaluates its formula with
one constant at 1 and all others at 0. The fit is a non-negative least-squares problem in relative
error; over- and under-estimates by the same factor count the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ...algebra.physical import PhysicalOperator
from ...costmodel import Characteristics, Constants, CostModel

Floats = NDArray[np.float64]

NAMES = tuple(field.name for field in fields(Constants))
"""The names of all constants, in order."""

_NOTHING = Constants(**dict.fromkeys(NAMES, 0.0))
_ROUNDS = 100
_ENOUGH = 1e-9


@dataclass(frozen=True, slots=True)
class Measurement:
    """The processor time of an operator beside the terms of its formula.

    Attributes:
        kind: the measured operator; measurements of a kind weigh as much as those of another.
        workload: the input on which it ran.
        coefficients: by constant, the number of its elementary actions for an input row.
        microseconds: the processor time for an input row.
        fitted: whether the constants are fitted to it; otherwise it is only reported.
    """

    kind: str
    workload: str
    coefficients: Mapping[str, float]
    microseconds: float
    fitted: bool = True

    def predicted(self, constants: Constants) -> float:
        """The time that the formula gives, in microseconds for an input row."""
        values: dict[str, float] = asdict(constants)
        return sum(each * values[name] for name, each in self.coefficients.items())


def coefficients(
    model: CostModel,
    operator: PhysicalOperator,
    output: Characteristics,
    inputs: tuple[Characteristics, ...],
) -> dict[str, float]:
    """The factors of the constants in the cost of an operator per time unit, without zeros."""
    factors = {
        name: replace(model, constants=replace(_NOTHING, **{name: 1.0})).cost(
            operator, output, inputs
        )
        for name in NAMES
    }
    return {name: factor for name, factor in factors.items() if factor}


def fit(measurements: Sequence[Measurement], defaults: Constants) -> Constants:
    """The constants that fit the measurements best; a constant that none has keeps its default.

    The constants minimize the sum of p/m + m/p - 2 over the measurements, with p the predicted and
    m the measured time, by repeated weighted least squares.

    Raises:
        ValueError: if a time is not positive, or no constant has an effect on a measurement.
    """
    covered = [name for name in NAMES if any(name in each.coefficients for each in measurements)]
    if any(not each.microseconds > 0 or not each.coefficients for each in measurements):
        raise ValueError("a measurement needs a positive time and a formula with a constant")
    if not covered:
        return defaults
    counts: dict[str, int] = {}
    for each in measurements:
        counts[each.kind] = counts.get(each.kind, 0) + 1
    share = np.array([1 / counts[each.kind] for each in measurements])
    measured = np.array([each.microseconds for each in measurements])
    actions = np.array([[each.coefficients.get(n, 0.0) for n in covered] for each in measurements])
    solution = nnls(actions * (np.sqrt(share) / measured)[:, None], np.sqrt(share))
    for _ in range(_ROUNDS):
        # The derivative of p/m + m/p by p is (p - m) · (p + m) / (m · p²).
        predicted = np.maximum(actions @ solution, measured * 1e-3)
        weight = np.sqrt(share * (predicted + measured) / (measured * predicted**2))
        better = nnls(actions * weight[:, None], measured * weight)
        # Half steps converge where whole steps would alternate.
        better = (solution + better) / 2
        change = float(np.abs(better - solution).max())
        solution = better
        if change <= _ENOUGH * float(solution.max()):
            break
    return replace(defaults, **dict(zip(covered, map(float, solution), strict=True)))


def nnls(actions: Floats, times: Floats) -> Floats:
    """The x ≥ 0 that minimizes ‖actions · x - times‖ (Lawson and Hanson's active-set method)."""
    count = actions.shape[1]
    scale = np.linalg.norm(actions, axis=0)
    scale[scale == 0] = 1.0
    scaled = actions / scale
    x = np.zeros(count)
    free = np.zeros(count, np.bool_)
    tolerance = 1e-12 * max(1.0, float(np.abs(scaled.T @ times).max(initial=0.0)))
    for _ in range(3 * count):
        gradient = scaled.T @ (times - scaled @ x)
        gradient[free] = -np.inf
        best = int(np.argmax(gradient))
        if gradient[best] <= tolerance:
            break
        free[best] = True
        while True:
            trial = np.zeros(count)
            trial[free] = np.linalg.lstsq(scaled[:, free], times, rcond=None)[0]
            below = free & (trial <= 0)
            if not below.any():
                x = trial
                break
            step = float((x[below] / (x[below] - trial[below])).min())
            x = x + step * (trial - x)
            free &= x > 1e-15
            x[~free] = 0.0
            if not free.any():
                break
    return np.asarray(x / scale, np.float64)


def factor_off(measurement: Measurement, constants: Constants) -> float:
    """The factor between the predicted and the measured time, at least 1."""
    ratio = measurement.predicted(constants) / measurement.microseconds
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")


def typical_ratio(measurements: Sequence[Measurement], constants: Constants) -> float:
    """The geometric mean of predicted over measured times; above 1 for over-estimates."""
    product, count = 1.0, len(measurements)
    for each in measurements:
        product *= (each.predicted(constants) / each.microseconds) ** (1 / count)
    return product


def repeated(rounds: Sequence[Sequence[Measurement]]) -> list[Measurement]:
    """The measurements of several rounds in one: each with the median of its times."""
    return [
        replace(same[0], microseconds=float(np.median([each.microseconds for each in same])))
        for same in zip(*rounds, strict=True)
    ]
