"""A cache of the in-memory state of partitions between two micro-batches.

The state (an *index*) stays in the Python worker that ran the latest batch. Spark hands the next
batch to any idle worker of the stage, so with several partitions that is often another one. That
worker fetches the index over a socket of this host, which is much faster than rebuilding it.

The *token* of the committed metadata names the index that belongs to it; each attempt at a batch
makes a new one. If Spark did not commit an attempt, no later attempt asks for its token, so an
index that a failed attempt changed is never used. Taking an index removes it from the cache, so an
index that was being changed when its attempt died is gone.
"""

from __future__ import annotations

import json
import pickle
import secrets
import sys
import threading
from contextlib import suppress
from functools import cached_property
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from typing import Final, Generic, TypeVar

Index = TypeVar("Index")

CacheKey = tuple[str, int, int]
"""A run of a query, the number of one of its stages, and Spark's key of a partition."""

_ABSTRACT: Final = sys.platform == "linux"
"""Whether there are sockets with a name of their own, which go with their process."""

_PATIENCE: Final = 60.0
"""Seconds to wait for the answer of a worker before the index is rebuilt."""

_FAILURES = (OSError, EOFError, AuthenticationError)


class StateCache(Generic[Index]):
    """At most one index per key, all of one run: that of the latest call."""

    def __init__(self) -> None:
        self._entries: dict[CacheKey, tuple[str, Index]] = {}
        self._lock = threading.Lock()

    def take(self, key: CacheKey, token: str, worker: str = "") -> Index | None:
        """Removes the index of a key and returns it if it belongs to ``token``.

        Args:
            key: of the partition; indexes of other runs are dropped.
            token: of the committed metadata.
            worker: the :attr:`address` of the process that has the index, if that is another one.
        """
        with self._lock:
            for other in [other for other in self._entries if other[0] != key[0]]:
                del self._entries[other]
        index = self._removed(key, token)
        if index is None and worker and worker != self.__dict__.get("address"):
            index = _fetched(worker, key, token)
        return index

    def put(self, key: CacheKey, token: str, index: Index) -> None:
        """Keeps an index for the next caller that asks for ``token``."""
        with self._lock:
            self._entries[key] = (token, index)

    def _removed(self, key: CacheKey, token: str) -> Index | None:
        with self._lock:
            entry = self._entries.pop(key, None)
        return entry[1] if entry is not None and entry[0] == token else None

    @cached_property
    def address(self) -> str:
        """Where other workers of this host reach this cache, with the secret that it asks for."""
        name, secret = secrets.token_hex(8), secrets.token_hex(16)
        listener = Listener(_socket(name if _ABSTRACT else "0"), authkey=bytes.fromhex(secret))
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return f"{name if _ABSTRACT else listener.address[1]}:{secret}"

    def _serve(self, listener: Listener) -> None:
        """Answers other workers as long as this process lives."""
        while True:
            with suppress(*_FAILURES), listener.accept() as connection:
                run, stage, partition, token = json.loads(connection.recv_bytes())
                index = self._removed((run, stage, partition), token)
                connection.send_bytes(b"" if index is None else pickle.dumps(index, protocol=5))


def _socket(name: str) -> str | tuple[str, int]:
    """A socket of this host; elsewhere than on Linux its name is a port."""
    return f"\0headrace-{name}" if _ABSTRACT else ("127.0.0.1", int(name))


def _fetched(worker: str, key: CacheKey, token: str) -> Index | None:
    """An index from another worker; None if it is not there or the worker is gone."""
    answers: list[bytes] = []

    def ask() -> None:
        name, secret = worker.split(":")
        # Both sides prove that they know the secret: no other process of the host can take part.
        with (
            suppress(*_FAILURES),
            Client(_socket(name), authkey=bytes.fromhex(secret)) as connection,
        ):
            connection.send_bytes(json.dumps([*key, token]).encode())
            answers.append(connection.recv_bytes())

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    if not answers or not answers[0]:
        return None
    index: Index = pickle.loads(answers[0])
    return index
