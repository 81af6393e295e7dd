"""The client of the commands waits for a service that is starting."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from headrace.api import client
from headrace.api.client import Client
from headrace.planning.errors import RunError


class _Service(BaseHTTPRequestHandler):
    """Answers ``left`` times that it is not ready, and then the request."""

    left = 0

    def do_GET(self) -> None:
        kind = type(self)
        kind.left -= 1
        missing = self.path == "/missing"
        self.send_response(503 if kind.left >= 0 else 404 if missing else 200)
        self.end_headers()
        self.wfile.write(b'{"detail": "not now"}')

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_client_retries_while_the_service_is_not_ready(address: str) -> None:
    _Service.left = 2
    assert Client(address).get("/queries") == {"detail": "not now"}
    assert _Service.left == -1


def test_client_raises_a_refusal_at_once(address: str) -> None:
    _Service.left = 0
    with pytest.raises(RunError, match="not now"):
        Client(address).get("/missing")
    assert _Service.left == -1


def test_client_gives_up_on_a_service_that_is_never_ready(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_READY_SECONDS", 0.0)
    _Service.left = 5
    with pytest.raises(RunError, match="not now"):
        Client(address).get("/queries")
