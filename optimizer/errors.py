"""What can go wrong in planning."""


class CannotPlanError(RuntimeError):
    """No complete plan exists; the message says what nothing computes."""
