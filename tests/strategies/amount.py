"""How much is tried: a fixed amount by default, more by ``HEADRACE_MORE``.

``HEADRACE_MORE=20`` gives every property twenty times its examples, other ones in each
run. The profiles themselves are registered in ``tests/conftest.py``.
"""

from __future__ import annotations

import os

from hypothesis import settings

MORE = int(os.environ.get("HEADRACE_MORE", "0"))
"""What examples are multiplied with; 0 stands for the default: once, and always the same."""


def examples(count: int) -> settings:
    """The settings of a test that tries ``count`` examples by default."""
    return settings(max_examples=count * max(MORE, 1))
