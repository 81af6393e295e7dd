"""A broker for the tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka.broker import Broker, broker


@pytest.fixture(scope="session")
def kafka() -> Iterator[Broker]:
    with broker() as started:
        yield started
