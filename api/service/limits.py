"""Middleware that bounds requests of clients.

Starlette's TrustedHostMiddleware checks the host name: behind loopback no page of another site can
reach the service under its own host name (DNS rebinding). Starlette's limit on bodies answers in
plain text, but clients read the limit from a problem document: `BodyLimit` replaces it. Starlette
has no counterpart to the other classes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import problem


class _TooLargeError(Exception):
    """The body exceeded the limit while the application read it."""


class BodyLimit:
    """Refuses request bodies over a number of bytes, regardless of the declared length."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, unless its body is too large."""
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
            # Replace the answer of the application to the error while reading.
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
    """Refuses requests beyond a number at once, to keep answers fast.

    Requests for the state of the service always pass. Streams of results do not count here, since
    `Followers` bounds them.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, unless too many are in progress."""
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

    A proxy may choose the other end, and treat the bytes in between as the request of another
    client (RFC 9112, section 6.1).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request that declares its end in one way."""
        if scope["type"] == "http":
            names = {name for name, _ in scope["headers"]}
            if {b"content-length", b"transfer-encoding"} <= names:
                detail = "send either Content-Length or Transfer-Encoding"
                refusal = problem(400, detail, headers={"Connection": "close"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class SameSite:
    """Refuses changes by pages of other origins.

    A browser sends some cross-origin requests without a preflight, with the rights of its user.
    Other programs send neither of the two headers with the origin.
    """

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        """Creates the middleware; ``origins`` are the pages that may use the service."""
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, unless it comes from another origin and may change something."""
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
        # The browser compares origins itself, even if a proxy changes the host.
        site = headers.get(b"sec-fetch-site")
        if site is not None:
            return site in ("same-origin", "none")
        if origin is None:
            return True
        return origin.lower().partition("://")[2] == headers.get(b"host", "").lower()


_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_DRAWING = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""The default policy, also for drawings of plans: no scripts."""

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
        """Forwards a request, and adds the headers to its answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**_HEADERS, "Content-Security-Policy": _DRAWING}.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
