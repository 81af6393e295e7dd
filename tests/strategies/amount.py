"""The number of random examples: fixed by default, more by ``HEADRACE_MORE``.

By default a property is tried on a third of its examples, always the same ones, and on fifteen at
least if it has so many: the whole suite has to be quick. ``HEADRACE_MORE=1`` tries all of them, and
``HEADRACE_MORE=20`` twenty times as many, other ones in each run. The profiles themselves are
registered in ``tests/conftest.py``.
"""

from __future__ import annotations

import os

from hypothesis import settings

MORE = int(os.environ.get("HEADRACE_MORE", "0"))
"""What examples are multiplied with; 0 stands for the default."""

_LEAST = 15


def examples(count: int) -> settings:
    """The settings of a test that has ``count`` examples."""
    return settings(max_examples=count * MORE if MORE else max(min(count, _LEAST), count // 3))
