"""Says at the end how much was tried."""

import pytest

from tests.properties.tally import TRIED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TRIED:
        tried = ", ".join(f"{count:,} {what}" for what, count in TRIED.items())
        terminalreporter.write_line(f"properties: {tried}")
