"""What the tests of the faces share."""

from __future__ import annotations

import pytest

from tests.api.command import Commands


@pytest.fixture
def headrace(capsys: pytest.CaptureFixture[str]) -> Commands:
    """Runs a command in this process."""
    return Commands(capsys)
