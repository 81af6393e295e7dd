"""What can go wrong in planning."""


class CannotPlanError(RuntimeError):
    """No complete plan exists; the message says what nothing computes."""


class SearchCancelledError(Exception):
    """Looking at a memo's plans was cancelled; a search itself ends with a plan instead."""
