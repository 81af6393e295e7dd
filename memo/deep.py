"""Recursion as deep as memory allows: plans are deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")
Work = Generator["Work[Any]", Any, T]
"""A function that yields the calls it makes, is sent their results, and returns its own."""


def finished(work: Work[T]) -> T:
    """Runs a call and all the calls that it makes, without Python's stack; returns its result."""
    stack: list[Work[Any]] = [work]
    result: Any = None
    while stack:
        try:
            call = stack[-1].send(result)
        except StopIteration as done:
            stack.pop()
            result = done.value
        else:
            stack.append(call)
            result = None
    returned: T = result
    return returned
