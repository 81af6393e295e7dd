"""How tests wait: for a condition, with a limit that only ends what hangs.

A machine that does much else is ten times slower, so a limit says nothing about how long
something takes. The limits are below that of a whole test (``timeout`` in pyproject.toml), so
that a test that hangs says at which condition.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

PATIENCE: Final = 600.0
"""Seconds after which a condition is taken to never hold."""
LOOK_SECONDS: Final = 0.05


def until(look: Callable[[], T], reason: str | Callable[[], object] = "") -> T:
    """Returns the first true value of ``look``.

    Args:
        look: is called again and again.
        reason: what the failure says, or what is called to learn it.

    Raises:
        AssertionError: if there is none within :data:`PATIENCE`.
    """
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > end:
            said = reason() if callable(reason) else reason
            raise AssertionError(f"the condition did not hold within {PATIENCE:g} s: {said}")
        time.sleep(LOOK_SECONDS)
    return found
