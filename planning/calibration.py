"""The file of calibrated cost constants: JSON, with the machine on which they were measured."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..costmodel.constants import Constants
from .errors import UsageError

FILE_NAME = "constants.json"
FORMAT: Literal["headrace-constants"] = "headrace-constants"

SHIPPED = "shipped"
"""The name of the constants that Headrace is shipped with, in place of a file."""

Origin = Literal["kernels", "Spark", "default"]
"""What a constant was measured on, or that it was not measured."""


class Interval(BaseModel):
    """The smallest and the largest value of a constant over the repeats, in microseconds."""

    model_config = ConfigDict(frozen=True)

    low: float = Field(ge=0, allow_inf_nan=False)
    high: float = Field(ge=0, allow_inf_nan=False)


class OperatorFit(BaseModel):
    """How the formula of an operator fits its measurements with the fitted constants.

    Attributes:
        operator: the operator.
        measurements: the number of measurements.
        ratio: the geometric mean of estimated over measured times.
        worst: the largest factor between an estimated and a measured time.
        fitted: whether the constants were fitted to these measurements.
    """

    model_config = ConfigDict(frozen=True)

    operator: str
    measurements: int
    ratio: float
    worst: float
    fitted: bool


class Calibration(BaseModel):
    """The cost constants of a machine.

    Attributes:
        format: marks the file.
        version: the version of the format.
        constants: each constant, in microseconds.
        spread: the spread of each measured constant.
        measured_on: the origin of each constant.
        machine: the machine, its software and the date.
        operators: the fit by operator.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal["headrace-constants"] = FORMAT
    version: Literal[1] = 1
    constants: dict[str, float]
    spread: dict[str, Interval] = {}
    measured_on: dict[str, Origin] = {}
    machine: dict[str, Any]
    operators: tuple[OperatorFit, ...] = ()

    @property
    def values(self) -> Constants:
        """The constants for a cost model.

        Raises:
            ValueError: if a constant is unknown, missing, negative or not finite.
        """
        names = set(Constants.__dataclass_fields__)
        if wrong := names ^ set(self.constants):
            kind = "is missing" if min(wrong) in names else "is unknown"
            raise ValueError(f"the constant {min(wrong)} {kind}")
        return Constants(**self.constants)

    @property
    def origin(self) -> str:
        """Where and when the constants were measured, for people."""
        described = self.machine
        date = str(described.get("date", "an unknown date")).partition("T")[0]
        return f"measured on {described.get('processor', 'an unknown machine')}, {date}"

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps(self.model_dump(mode="json"), indent=2) + "\n"


def default_file() -> Path:
    """The file of calibrated constants in the data directory of the user."""
    home = os.environ.get("HEADRACE_HOME")
    folder = Path(home) if home else user_data_path("headrace", appauthor=False)
    return folder / FILE_NAME


def chosen_calibration(file: str | None) -> Calibration | None:
    """The calibration of a file; None for the constants that Headrace is shipped with.

    Args:
        file: the path of a file, or :data:`SHIPPED`; None for the default file, if it exists.

    Raises:
        UsageError: if the file cannot be used.
    """
    if file == SHIPPED:
        return None
    if file is not None:
        return load_calibration(Path(file))
    default = default_file()
    return load_calibration(default) if default.exists() else None


def load_calibration(path: Path) -> Calibration:
    """Reads a file of calibrated constants.

    Raises:
        UsageError: if the file cannot be read, or does not hold constants of this version.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    except ValueError as error:  # bad JSON or bad UTF-8
        raise _refused(path, f"it is not JSON ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _refused(path, "it is not a file of cost constants")
    try:
        calibration = Calibration.model_validate(document)
        _ = calibration.values
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise _refused(path, f"{place}: {first['msg']}") from error
    except ValueError as error:
        raise _refused(path, str(error)) from error
    return calibration


def _refused(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"the cost constants in {path} cannot be used: {reason}",
        code="E-CONSTANTS",
        hint=f"calibrate again, or name {SHIPPED!r} instead of a file",
    )
