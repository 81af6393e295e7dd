"""The errors of planning."""

from __future__ import annotations

from ..algebra.deadline import Reason


class CannotPlanError(RuntimeError):
    """No complete plan exists; the message names the operator or group that has no plan."""


class SearchCancelledError(Exception):
    """A listing of a memo's plans was cut; a cut search returns a plan instead.

    Attributes:
        reason: why it was cut.
    """

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason: Reason = reason
