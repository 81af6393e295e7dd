"""Calibration: the fit, the measured operators, and the file of constants."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from headrace.catalog import default_catalog
from headrace.costmodel import Characteristics, Constants, CostModel
from headrace.planning.calibration import Calibration, chosen_calibration, load_calibration
from headrace.planning.errors import UsageError
from headrace.running.calibration.calibrate import Effort, calibrate
from headrace.running.calibration.fitting import (
    NAMES,
    Measurement,
    coefficients,
    factor_off,
    fit,
    nnls,
)
from headrace.running.calibration.workloads import workloads
from tests.costmodel.test_costs import EACH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LITTLE = Effort(share=0.0, largest=2_000, repeats=1, spark_rows=0)
TRUE = Constants(0.02, 0.03, 0.1, 0.05, 0.01, 0.002, 0.03, 0.04)


def synthetic(noise: float, seed: int = 1) -> list[Measurement]:
    """Times of twelve operators that use some constants each, with multiplicative noise."""
    rng = np.random.default_rng(seed)
    measurements = []
    for kind in range(12):
        names = rng.permutation(NAMES)[:3]
        for size in range(8):
            actions = {str(name): float(10 ** rng.uniform(-1, 2)) for name in names}
            exact = Measurement(f"kind {kind}", f"size {size}", actions, 1.0).predicted(TRUE)
            time = exact * float(np.exp(rng.normal(0, noise)))
            measurements.append(Measurement(f"kind {kind}", f"size {size}", actions, time))
    return measurements


def test_fit_recovers_the_constants_of_exact_times() -> None:
    constants = fit(synthetic(noise=0.0), Constants())
    assert asdict(constants) == pytest.approx(asdict(TRUE), rel=1e-4)


def test_fit_recovers_the_constants_from_noisy_times() -> None:
    constants = fit(synthetic(noise=0.1), Constants())
    assert asdict(constants) == pytest.approx(asdict(TRUE), rel=0.2)


def test_fit_is_near_the_center_of_contradicting_times() -> None:
    """Over- and under-estimates by the same factor count the same."""
    times = [Measurement("a", str(time), {"push": 1.0}, time) for time in (0.1, 10.0)]
    constants = fit(times, Constants())
    assert constants.push == pytest.approx(1.0, rel=1e-3)
    assert [factor_off(each, constants) for each in times] == pytest.approx([10, 10], rel=1e-2)


def test_constants_without_measurements_keep_their_defaults() -> None:
    constants = fit([Measurement("a", "", {"push": 4.0}, 2.0)], Constants())
    assert constants.push == pytest.approx(0.5)
    assert replace(constants, push=Constants().push) == Constants()
    assert fit([], Constants()) == Constants()


def test_fit_rejects_times_that_are_not_positive() -> None:
    with pytest.raises(ValueError, match="positive time"):
        fit([Measurement("a", "", {"push": 1.0}, 0.0)], Constants())


@pytest.mark.parametrize("seed", range(30))
def test_nnls_satisfies_the_conditions_of_an_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    actions, times = rng.normal(size=(12, 5)), rng.normal(size=12)
    x = nnls(actions, times)
    gradient = actions.T @ (actions @ x - times)
    assert (x >= 0).all()
    assert (gradient >= -1e-8).all()
    assert gradient[x > 0] == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("operator", EACH, ids=lambda operator: operator.op)
@pytest.mark.parametrize("kind", ["saturating", "thesis"])
def test_the_cost_of_every_operator_is_linear_in_the_constants(operator: Any, kind: Any) -> None:
    rows = Characteristics(2.0, 64.0, 128.0, (50.0, 40.0), vertices=60.0)
    model = CostModel(kind, default_catalog(["a", "b"]), constants=TRUE)
    factors = coefficients(model, operator, rows, (rows, rows))
    cost = sum(factor * asdict(TRUE)[name] for name, factor in factors.items())
    assert cost == pytest.approx(model.cost(operator, rows, (rows, rows)))


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    """A calibration over few rows: its numbers mean little."""
    steps: list[str] = []
    measured, _ = calibrate(LITTLE, lambda step, done: steps.append(step))
    assert steps[-1] == "fitting"
    return measured


def test_each_constant_of_the_kernels_is_covered_by_a_measured_operator(
    calibration: Calibration,
) -> None:
    on_spark = {"network", "convert"}
    origins = {name: "default" if name in on_spark else "kernels" for name in NAMES}
    assert calibration.measured_on == origins
    assert set(calibration.spread) == set(NAMES) - on_spark
    assert {fit.operator for fit in calibration.operators if fit.fitted} >= {
        workload.kind for workload in workloads() if workload.fitted
    }


def test_the_constants_are_fitted_to_all_measured_operators_but_trails(
    calibration: Calibration,
) -> None:
    fitted = {fit.operator for fit in calibration.operators if fit.fitted}
    assert {fit.operator for fit in calibration.operators} - fitted == {"TRAIL_PATH"}
    assert {"AGGREGATE", "REPORT", "SEMI_JOIN", "ANTI_JOIN", "MULTIWAY_JOIN"} <= fitted


def test_constants_that_were_not_measured_keep_their_defaults(calibration: Calibration) -> None:
    assert calibration.values.network == Constants().network
    assert calibration.values.convert == Constants().convert


def test_the_calibration_describes_the_machine(calibration: Calibration) -> None:
    wanted = {"date", "processor", "cores", "memory_gb", "packages", "python", "headrace", "commit"}
    assert wanted <= set(calibration.machine)
    assert calibration.origin.startswith("measured on ")


def test_a_stored_calibration_is_read_back(calibration: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "constants.json"
    path.write_text(calibration.to_json(), "utf-8")
    assert load_calibration(path) == calibration
    assert chosen_calibration(str(path)) == calibration


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": "other"}, "it is not a file of cost constants"),
        ({"version": 2}, "version: Input should be 1"),
        ({"constants": {"push": 1.0}}, "is missing"),
        ({"constants": {**asdict(TRUE), "pull": 1.0}}, "the constant pull is unknown"),
        ({"constants": {**asdict(TRUE), "push": -1.0}}, "push is -1.0"),
        ({"constants": {**asdict(TRUE), "push": "much"}}, "constants.push"),
        ({"machine": None}, "machine: "),
    ],
)
def test_foreign_files_are_refused(
    change: dict[str, Any], reason: str, calibration: Calibration, tmp_path: Path
) -> None:
    path = tmp_path / "constants.json"
    path.write_text(json.dumps(json.loads(calibration.to_json()) | change), "utf-8")
    with pytest.raises(UsageError) as refused:
        load_calibration(path)
    assert refused.value.code == "E-CONSTANTS"
    assert str(path) in refused.value.message
    assert reason in refused.value.message


@pytest.mark.parametrize("text", [b'{"format": "headr', b"\xff\xfe", b"[]", b""])
def test_damaged_files_are_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "constants.json"
    path.write_bytes(text)
    with pytest.raises(UsageError, match="cannot be used"):
        load_calibration(path)


def test_a_file_that_is_named_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        chosen_calibration(str(tmp_path / "none.json"))


def test_the_default_file_is_read_if_it_exists(
    calibration: Calibration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    assert chosen_calibration(None) is None
    (tmp_path / "constants.json").write_text(calibration.to_json(), "utf-8")
    assert chosen_calibration(None) == calibration
    assert chosen_calibration("shipped") is None


@pytest.mark.long
@pytest.mark.spark
def test_spark_measures_network_and_convert(spark: SparkSession) -> None:
    from headrace.running.calibration.spark import measure

    steps: list[str] = []
    (measurements,) = measure(spark, 2_000, 1, steps.append)
    assert steps == ["Spark, warming up", "Spark, repeat 1"]
    assert {name for each in measurements for name in each.coefficients} == {"network", "convert"}
    assert all(each.microseconds > 0 for each in measurements)
