"""A client of a service on this machine."""

from __future__ import annotations

import json
import time
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ..planning.errors import RunError

_SECONDS = 60.0
_READY_SECONDS = 300.0
_RETRY_SECONDS = 0.2


_NOT_YET = object()


class Client:
    """Sends requests to a service, and reads JSON.

    The methods raise RunError if the service does not answer, or answers with a problem.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def get(self, path: str) -> Any:
        """Returns the answer to GET."""
        return self._answer(Request(self._address + path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Returns the answer to POST with a JSON body."""
        kind = {"Content-Type": "application/json"}
        return self._answer(Request(self._address + path, json.dumps(body).encode(), kind))

    def _answer(self, request: Request) -> Any:
        """Sends a request, and retries while the service is not ready."""
        end = time.monotonic() + _READY_SECONDS
        while (answer := self._once(request, time.monotonic() < end)) is _NOT_YET:
            time.sleep(_RETRY_SECONDS)
        return answer

    def _once(self, request: Request, retry: bool) -> Any:
        try:
            with urlopen(request, timeout=_SECONDS) as answer:
                return json.load(answer)
        except HTTPError as error:
            with error:
                if retry and error.code == HTTPStatus.SERVICE_UNAVAILABLE:
                    return _NOT_YET
                raise RunError(_detail(error.read(), error.code)) from error
        except (URLError, OSError, ValueError) as error:
            raise RunError(f"the service at {self._address} does not answer: {error}") from error


def _detail(body: bytes, status: int) -> str:
    try:
        return str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the service answered with {status}"
