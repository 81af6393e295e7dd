"""Default limits of operators, in a module that the command line imports without the algebra."""

from __future__ import annotations

from typing import Final

DEFAULT_STEPS: Final = 1_000_000
"""The default of the most steps that SIMPLE_PATH takes for one edge."""
