"""Names of a package that are imported when they are first asked for.

To plan a query needs no Spark and no reader of files, and a command line should answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazily(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package whose names stand in modules inside it.

    Args:
        package: the package's ``__name__``.
        homes: the names that each module has, by the module's name relative to the package.
    """
    module_of = {name: module for module, names in homes.items() for name in names}

    def attribute(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
