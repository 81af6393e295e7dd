"""Default limits of operators, in a module that the command line imports without the algebra."""

from __future__ import annotations

from typing import Final

DEFAULT_STEPS: Final = 1_000_000
"""Steps that SIMPLE_PATH may take for one edge, if nothing else is said."""
