"""Calibrates the cost constants on this machine.

In: how much to measure. Out: a :class:`headrace.planning.calibration.Calibration`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from ...costmodel import Constants
from ...planning.calibration import Calibration, Interval, OperatorFit, Origin
from ..machine import machine
from . import measuring
from .fitting import NAMES, Measurement, factor_off, fit, repeated, typical_ratio
from .workloads import workloads

ON_SPARK = ("network", "convert")
"""The constants that are measured on Spark."""

OnStep = Callable[[str, float], None]
"""Called with the next step and the share of the work that is done."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure.

    Attributes:
        share: the share of each workload's rows.
        largest: the most rows valid at an instant in a stream; workloads with more are left out.
        repeats: the repeats of all workloads, each with streams of another seed.
        spark_rows: the rows of each job on Spark; 0 to leave Spark out.
        spark_repeats: the repeats of the jobs on Spark.
    """

    share: float = 1.0
    largest: int = 150_000
    repeats: int = 3
    spark_rows: int = 300_000
    spark_repeats: int = 2


QUICK = Effort(share=0.2, largest=20_000, repeats=1, spark_rows=150_000, spark_repeats=1)


def calibrate(effort: Effort, on_step: OnStep) -> tuple[Calibration, list[Measurement]]:
    """Measures all operators and fits the constants.

    Returns:
        The calibration, and the measurements with the median time of each.

    Raises:
        SparkFailedError: if Spark does not start.
    """
    described = machine()
    in_process = 0.8 if effort.spark_rows else 1.0
    rounds = _in_process(effort, lambda step, done: on_step(step, done * in_process))
    on_spark = _on_spark(effort, lambda step: on_step(step, in_process))
    on_step("fitting", 1.0)
    measurements = repeated(rounds) + (repeated(on_spark) if on_spark else [])
    constants = fitted(measurements)
    # Each round in process is fitted with the median of Spark's measurements, and vice versa.
    alone = [fitted(one) for one in rounds] + [fitted(one) for one in on_spark]
    by_kernels = _covered(rounds[0])
    by_spark = _covered(on_spark[0]) if on_spark else set()
    origins: dict[str, Origin] = {
        name: "kernels" if name in by_kernels else "Spark" if name in by_spark else "default"
        for name in NAMES
    }
    spread = {}
    for name, origin in origins.items():
        of = alone[: len(rounds)] if origin == "kernels" else alone[len(rounds) :]
        if origin != "default":
            values = [getattr(each, name) for each in of]
            spread[name] = Interval(low=min(values), high=max(values))
    return (
        Calibration(
            constants=asdict(constants),
            spread=spread,
            measured_on=origins,
            machine=described,
            operators=tuple(operator_fits(measurements, constants)),
        ),
        measurements,
    )


def fitted(measurements: Sequence[Measurement]) -> Constants:
    """The constants that fit the measurements of the kinds that take part in the fit."""
    return fit([each for each in measurements if each.fitted], Constants())


def operator_fits(measurements: Sequence[Measurement], constants: Constants) -> list[OperatorFit]:
    """The fit of each kind of operator, in the order of the measurements."""
    kinds: dict[str, list[Measurement]] = {}
    for each in measurements:
        kinds.setdefault(each.kind, []).append(each)
    return [
        OperatorFit(
            operator=group[0].kind,
            measurements=len(group),
            ratio=typical_ratio(group, constants),
            worst=max(factor_off(each, constants) for each in group),
            fitted=group[0].fitted,
        )
        for group in kinds.values()
    ]


def _covered(measurements: Sequence[Measurement]) -> set[str]:
    return {name for each in measurements if each.fitted for name in each.coefficients}


def _in_process(effort: Effort, on_step: OnStep) -> list[list[Measurement]]:
    chosen = workloads(effort.share, effort.largest)
    first = {workload.kind: workload for workload in reversed(chosen)}
    total = len(chosen) * effort.repeats + len(first)
    for number, workload in enumerate(first.values()):
        on_step(f"loading {workload.kind}", number / total)
        measuring.measure(replace(workload, rows=1_000), seed=0)
    rounds = []
    for repeat in range(effort.repeats):
        measured = []
        for number, workload in enumerate(chosen):
            on_step(workload.kind, (len(first) + len(chosen) * repeat + number) / total)
            measured.append(measuring.measure(workload, seed=repeat))
        rounds.append([*measured, measuring.measure_sweep(seed=repeat)])
    return rounds


def _on_spark(effort: Effort, on_step: Callable[[str], None]) -> list[list[Measurement]]:
    if not effort.spark_rows:
        return []
    from ...executor.spark.session.options import SessionOptions
    from ...executor.spark.session.session import spark_session
    from .spark import measure

    on_step("starting Spark")
    with spark_session(SessionOptions(cores=1)) as spark:
        return list(measure(spark, effort.spark_rows, effort.spark_repeats, on_step))
