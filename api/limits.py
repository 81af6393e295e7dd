"""Bounds on what a client may ask of the service."""

from __future__ import annotations

import contextlib

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem


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
