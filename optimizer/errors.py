"""The errors of planning."""


class CannotPlanError(RuntimeError):
    """No complete plan exists; the message names the operator or group that has no plan."""


class SearchCancelledError(Exception):
    """A listing of a memo's plans was cancelled; a cancelled search returns a plan instead."""
