"""Lazy imports of a package's exported names.

Planning a query needs neither Spark nor file readers; without their imports the command line starts
much faster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazily(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Returns a ``__getattr__`` for a package, which imports each name at its first use.

    The name is then an attribute of the package, so each name is looked up here once.

    Args:
        package: the package's ``__name__``.
        homes: the names that each module defines, by the module's name relative to the package.
    """
    module_of = {name: module for module, names in homes.items() for name in names}

    def attribute(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
