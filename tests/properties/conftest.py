"""Prints the tally of tried queries, plans and runs at the end."""

import pytest

from tests.conftest import TALLY
from tests.properties.tally import TRIED


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Passes the tally on: from a worker to the main process, or there to the summary."""
    handed: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if handed is not None:
        handed["properties"] = dict(TRIED)
    else:
        session.config.stash[TALLY].update(TRIED)
