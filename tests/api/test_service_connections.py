"""Slow clients, and too many clients."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from headrace.api.service import connections, create_app
from tests.api.serving import long_query, problem, served, settings
from tests.waiting import PATIENCE, until

HEAD = b"POST /optimize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
DESCRIPTION = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with short timeouts."""
    made = settings(tmp_path_factory.mktemp("home"), searches_at_once=1, most_requests=1)
    with (
        pytest.MonkeyPatch.context() as patched,
        served(create_app(made)) as client,
    ):
        patched.setattr(connections, "MOST_CONNECTIONS", 4)
        patched.setattr(connections, "REQUEST_SECONDS", 1.0)
        patched.setattr(connections, "READING_SECONDS", 1.0)
        yield client


@contextmanager
def connected(client: httpx.Client) -> Iterator[socket.socket]:
    address = (client.base_url.host, client.base_url.port)
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        yield connection


def hung_up(connection: socket.socket) -> bool:
    """Whether the service closes the connection without an answer."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def is_broken(connection: socket.socket) -> bool:
    """Whether the connection takes no more data; the client reads nothing."""
    try:
        connection.sendall(b" ")
    except OSError:
        return True
    return False


@pytest.mark.parametrize("said", [b"", HEAD, HEAD + b"\r\n{"], ids=["nothing", "a head", "a body"])
def test_client_without_a_request_is_disconnected(client: httpx.Client, said: bytes) -> None:
    with connected(client) as connection:
        connection.sendall(said)
        assert hung_up(connection)
    assert client.get("/healthz").status_code == 200


def test_client_that_waits_for_an_answer_stays_connected(client: httpx.Client) -> None:
    asked = {"query": long_query(), "options": {"budget_ms": 2_000}}
    assert client.post("/optimize", json=asked).json()["stop_reason"] == "budget_ms"


def test_client_that_does_not_read_is_disconnected(client: httpx.Client) -> None:
    with connected(client) as connection:
        # The answers exceed the buffers of the system for a client that does not read.
        connection.sendall(DESCRIPTION * 1_000)
        until(lambda: is_broken(connection))


def test_more_connections_than_there_may_be(client: httpx.Client) -> None:
    assert client.get("/healthz").status_code == 200
    with connected(client), connected(client), connected(client), connected(client) as fifth:
        assert hung_up(fifth)
        assert client.get("/healthz").status_code == 200


def test_more_requests_than_there_may_be(client: httpx.Client) -> None:
    with connected(client) as first:
        first.sendall(HEAD + b"Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n")
        assert first.recv(100).startswith(b"HTTP/1.1 100 ")  # its body is waited for
        refused = client.get("/streams")
        assert problem(refused, 429)["code"] == "E-BUSY"
        assert refused.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200
        assert client.get("/metrics").status_code == 200
    until(lambda: client.get("/streams").status_code == 200)


def test_no_connection_becomes_another_one(client: httpx.Client) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    assert client.get("/healthz", headers=upgrade).status_code == 200
