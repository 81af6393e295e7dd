"""Prints the names of the kernels that ``headrace warm`` leaves without code in an empty cache.

Run in a process of its own, in which nothing else has called a kernel:
``python -m tests.running.uncalled``. A kernel that is called from Python is loaded or compiled,
whatever is on disk; code compiles together with all kernels that its text names.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

from numba.core.dispatcher import Dispatcher

from headrace.running.warming import kernels, warm


def named_by(kernel: Any) -> Iterator[Any]:
    """The kernels that the text of a kernel names, also as members of modules."""
    code: CodeType = kernel.py_func.__code__
    for name in code.co_names:
        value = kernel.py_func.__globals__.get(name)
        if isinstance(value, Dispatcher):
            yield value
        for member in code.co_names:
            if isinstance(found := getattr(value, member, None), Dispatcher):
                yield found


def uncalled() -> list[str]:
    """The names of the kernels that no call of ``warm`` reaches."""
    warm()
    every = dict(kernels())
    reached = [k for k in every.values() if k._cache.compiled or k._cache.loaded]
    known = set(map(id, reached))
    while reached:
        for kernel in named_by(reached.pop()):
            if id(kernel) not in known:
                known.add(id(kernel))
                reached.append(kernel)
    return [name for name, kernel in every.items() if id(kernel) not in known]


if __name__ == "__main__":
    print(*uncalled(), sep="\n", end="")
