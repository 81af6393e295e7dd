"""Where the in-memory index of a partition lives between two micro-batches.

In the memory of the Python worker that ran the latest one. Spark hands the next batch to any
idle worker of the stage, so with several partitions that is often another one: then the index is
fetched from where it is, over a socket of this host, which is much faster than to rebuild it.

An index is known by the *token* of the state that it belongs to, a name made anew by every
attempt and stored with the state: if Spark did not commit an attempt, no later one asks for its
token, and an index that such an attempt changed is never used again. Taking an index removes it,
so one that is being changed when its attempt dies is gone.
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

Place = tuple[str, int, int]
"""A running query, the number of one of its stages, and a partition of that."""

_ABSTRACT: Final = sys.platform == "linux"
"""Whether there are sockets with a name of their own, which go with their process."""

_PATIENCE: Final = 60.0
"""Seconds until a worker that does not answer is given up, and the index rebuilt."""

_FAILURES = (OSError, EOFError, AuthenticationError)


class IndexHome(Generic[Index]):
    """At most one index per place, all of one running query: that of the latest call."""

    def __init__(self) -> None:
        self._kept: dict[Place, tuple[str, Index]] = {}
        self._lock = threading.Lock()

    def take(self, place: Place, token: str, worker: str = "") -> Index | None:
        """Removes the index of a place; gives it if it belongs to ``token``.

        ``worker``: the :attr:`address` of the process that kept it, if that is another one.
        """
        with self._lock:
            for other in [other for other in self._kept if other[0] != place[0]]:
                del self._kept[other]  # of a query that ended
        found = self._removed(place, token)
        if found is None and worker and worker != self.__dict__.get("address"):
            found = _fetched(worker, place, token)
        return found

    def keep(self, place: Place, token: str, index: Index) -> None:
        """Keeps an index for whoever asks for ``token`` next, and for nobody else."""
        with self._lock:
            self._kept[place] = (token, index)

    def _removed(self, place: Place, token: str) -> Index | None:
        with self._lock:
            kept = self._kept.pop(place, None)
        return kept[1] if kept is not None and kept[0] == token else None

    @cached_property
    def address(self) -> str:
        """Where other workers of this host find what is kept here; to be told to them alone."""
        name, key = secrets.token_hex(8), secrets.token_hex(16)
        listener = Listener(_socket(name if _ABSTRACT else "0"), authkey=bytes.fromhex(key))
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return f"{name if _ABSTRACT else listener.address[1]}:{key}"

    def _serve(self, listener: Listener) -> None:
        """Gives away indexes as long as this process lives."""
        while True:
            with suppress(*_FAILURES), listener.accept() as connection:
                *place, token = json.loads(connection.recv_bytes())
                found = self._removed((place[0], place[1], place[2]), token)
                connection.send_bytes(b"" if found is None else pickle.dumps(found, protocol=5))


def _socket(name: str) -> str | tuple[str, int]:
    """A socket of this host; elsewhere than on Linux its name is a port."""
    return f"\0headrace-{name}" if _ABSTRACT else ("127.0.0.1", int(name))


def _fetched(worker: str, place: Place, token: str) -> Index | None:
    """An index from another worker; None if it is not there, or the worker is gone."""
    answers: list[bytes] = []

    def ask() -> None:
        name, key = worker.split(":")
        # Both sides prove that they know the key: nobody else on the host can take part.
        with (
            suppress(*_FAILURES),
            Client(_socket(name), authkey=bytes.fromhex(key)) as connection,
        ):
            connection.send_bytes(json.dumps([*place, token]).encode())
            answers.append(connection.recv_bytes())

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    if not answers or not answers[0]:
        return None
    found: Index = pickle.loads(answers[0])
    return found
