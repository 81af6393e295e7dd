"""Says at the end how much was tried."""

import pytest

from tests.conftest import TALLY
from tests.properties.tally import TRIED


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hands the tally on: a worker to the process that reports, or this one to its summary."""
    handed: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if handed is not None:
        handed["properties"] = dict(TRIED)
    else:
        session.config.stash[TALLY].update(TRIED)
