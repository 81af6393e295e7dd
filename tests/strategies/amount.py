"""The number of random examples: fixed by default, more by ``HEADRACE_MORE``.

By default a property is tried on a third of its examples, and on ten or all if a third is less.
They are the same in each run. This keeps the whole suite quick. ``HEADRACE_MORE=1`` tries all
examples, ``HEADRACE_MORE=20`` twenty times as many, and each run draws new ones. The profiles
themselves are registered in ``tests/conftest.py``.
"""

from __future__ import annotations

import os

from hypothesis import settings

MORE = int(os.environ.get("HEADRACE_MORE", "0"))
"""What examples are multiplied with; 0 stands for the default."""

_LEAST = 10


def examples(count: int) -> settings:
    """The settings of a test that has ``count`` examples."""
    return settings(max_examples=count * MORE if MORE else max(min(count, _LEAST), count // 3))
