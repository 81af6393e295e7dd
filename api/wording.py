"""The names of settings in remedies, on the command line and over REST.

The page has names of its own: `web/src/query/remedies.ts`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from ..algebra.remedy import Names

COMMAND_LINE: Final[Names] = MappingProxyType(
    {
        "window": "--window {value}",
        "evaluate": "--evaluate {value}",
        "path_semantics": "--path-semantics {value}",
        "simple_budget": "--simple-budget STEPS",
        "input": "--input FILE",
        "stored": "--stored FILE",
        "vertices": "--vertices FILE",
        "vertex_type": "--vertex-type {value}",
        "catalog": "--catalog FILE",
        "measure": "headrace stats",
        "strict": "without --strict",
        "checkpoint": "--checkpoint FOLDER",
        "output": "--output FOLDER",
        "packages": "--conf spark.jars.packages={value}",
        "logs": "--debug",
    }
)
"""Options of the command line."""

REST: Final[Names] = MappingProxyType(
    {
        "window": "options.window: {value}",
        "evaluate": "options.evaluate: {value}",
        "path_semantics": "options.path_semantics: {value}",
        "simple_budget": "options.simple_budget",
        "catalog": "that of the service",
        "strict": "strict: false",
        "logs": "the log of the service",
    }
)
"""Members of request bodies, and settings of the service's operator."""
