"""Advice about the layout of a file, with the names of the interface that described the file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

Origin = Literal["options", "arguments", "catalog"]
"""What describes a file: options of the command line, arguments of the Python API, a catalog."""

Part = Literal["separator", "columns", "label", "time_unit", "vertex_type"]
"""A part of the description of a file."""

_SETTINGS: Final[Mapping[Origin, Mapping[Part, str]]] = MappingProxyType(
    {
        "options": MappingProxyType(
            {
                "separator": "--sep '{value}'",
                "columns": "--columns {value}",
                "label": "--input {value}=FILE",
                "time_unit": "--time-unit {value}",
                "vertex_type": "--vertex-type {value}",
            }
        ),
        "arguments": MappingProxyType(
            {
                "separator": "separator='{value}'",
                "columns": "columns='{value}'",
                "label": "inputs='{value}=FILE'",
                "time_unit": "time_unit='{value}'",
                "vertex_type": "vertex_type='{value}'",
            }
        ),
        "catalog": MappingProxyType(
            {
                "separator": "options: {{sep: '{value}'}}",
                "columns": "columns: {value}",
                "label": "label: {value}",
                "time_unit": "time_unit: {value}",
                "vertex_type": "vertex_type: {value} in the catalog",
            }
        ),
    }
)


def setting(origin: Origin, part: Part, value: str) -> str:
    """A part of a description as an interface writes it.

    >>> setting("options", "time_unit", "millisecond"), setting("arguments", "separator", ";")
    ('--time-unit millisecond', "separator=';'")
    """
    return _SETTINGS[origin][part].format(value=value)
