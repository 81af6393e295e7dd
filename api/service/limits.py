"""Bounds on what a client may ask of the service.

Starlette's TrustedHostMiddleware checks the host name: behind loopback no page of another site may
reach the service by a name of its own (DNS rebinding). Starlette's limit on bodies is not used,
since it answers in plain text: too large a body is the mistake of an honest client, which reads
problem documents and learns the limit from them. Starlette has nothing for the rest.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import problem


class _TooLargeError(Exception):
    """The body went over the limit while it was read."""


class BodyLimit:
    """Refuses request bodies over a number of bytes, whatever the client says of them."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless it is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._limit:
            await self._refusal(scope, receive, send)
            return
        read = 0
        answering = False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise _TooLargeError
            return message

        async def unless_too_large(message: Message) -> None:
            # The application may have an answer of its own to an error while reading.
            nonlocal answering
            if read <= self._limit:
                answering = True
                await send(message)

        with contextlib.suppress(_TooLargeError):
            await self._app(scope, counted, unless_too_large)
        if read > self._limit and not answering:
            await self._refusal(scope, receive, send)

    async def _refusal(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the request has more than {self._limit:,} bytes"
        await problem(413, detail, code="E-SIZE")(scope, receive, send)


class Crowd:
    """Refuses requests beyond a number at once, so that the others are answered soon.

    Requests for the state of the service are always answered. Streams of results last long, and are
    counted elsewhere.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, if there is room for it."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path in _ALWAYS or _FOLLOWING.fullmatch(path):
            await self._app(scope, receive, send)
        elif self._inside >= self._most:
            refusal = problem(
                429, "too many requests at once", code="E-BUSY", headers={"Retry-After": "1"}
            )
            await refusal(scope, receive, send)
        else:
            self._inside += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._inside -= 1


_ALWAYS = frozenset({"/healthz", "/readyz", "/metrics"})
_FOLLOWING = re.compile("/queries/[^/]+/results")


class Framing:
    """Refuses requests that declare their end in two ways, and closes their connections.

    A proxy may choose the other end, and take the bytes between for a request of another client
    (RFC 9112, section 6.1).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on if it declares its end in one way."""
        if scope["type"] == "http":
            names = {name for name, _ in scope["headers"]}
            if {b"content-length", b"transfer-encoding"} <= names:
                detail = "Content-Length and Transfer-Encoding: send one of them"
                refusal = problem(400, detail, headers={"Connection": "close"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class SameSite:
    """Refuses changes by pages of other origins.

    A browser sends some such requests without asking first, on behalf of the user of the page.
    Programs other than browsers send neither of the headers that name the origin.
    """

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        """``origins`` are those of other pages that may use the service."""
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless another page sends it and it may change something."""
        if scope["type"] == "http" and scope["method"] not in _READING:
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            if not self._allowed(headers):
                refusal = problem(403, "pages of other origins may not change anything here")
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _allowed(self, headers: Mapping[bytes, str]) -> bool:
        origin = headers.get(b"origin")
        if origin in self._origins:
            return True
        # The browser says it itself, also where a proxy changes the host.
        site = headers.get(b"sec-fetch-site")
        if site is not None:
            return site in ("same-origin", "none")
        if origin is None:
            return True
        return origin.lower().partition("://")[2] == headers.get(b"host", "").lower()


_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_DRAWING = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""The default policy, also for drawings of plans: nothing may run."""

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class SafeHeaders:
    """Adds headers that forbid browsers to run scripts, to frame, and to guess types."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and adds to its answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**_HEADERS, "Content-Security-Policy": _DRAWING}.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
