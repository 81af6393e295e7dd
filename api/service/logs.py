"""One JSON line for each request and each fault, with the id of the request.

The lines are log records of the standard library. The formatter here is shorter than the settings
of a library for the same member names.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from http import HTTPMethod
from time import perf_counter
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .metrics import Metrics
from .problems import problem

LOG = logging.getLogger("headrace.service")
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")

_METHODS = frozenset(HTTPMethod)
_ALLOWED_ID = re.compile(rb"[A-Za-z0-9._-]{1,100}")
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON, with the members of ``extra`` beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record as its line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if REQUEST_ID.get():
            line["request_id"] = REQUEST_ID.get()
        line.update({k: v for k, v in vars(record).items() if k not in _OWN})
        if record.exc_info:
            line["fault"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def to_stderr(*, debug: bool = False) -> None:
    """Logs JSON lines to standard error; with ``debug`` also records of the level DEBUG."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.INFO, handlers=[handler], force=True
    )


class RequestLog:
    """Gives each request an id, logs and counts it, and answers an exception with status 500.

    The log has neither queries nor headers, since both may hold secrets.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, then logs it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = dict(scope["headers"]).get(b"x-request-id", b"")
        id_ = sent.decode("ascii") if _ALLOWED_ID.fullmatch(sent) else uuid.uuid4().hex
        REQUEST_ID.set(id_)
        status = 0

        async def answering(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = id_
            await send(message)

        started = perf_counter()
        try:
            await self._app(scope, receive, answering)
        except Exception as error:
            LOG.exception("fault")
            if not status:
                detail = f"a fault of Headrace: {type(error).__name__}"
                refusal = problem(500, detail, code="E-INTERNAL", request_id=id_)
                await refusal(scope, receive, answering)
        finally:
            self._log(scope, status, perf_counter() - started)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        # Label only declared paths and known methods, so that clients cannot create more metrics.
        route = getattr(scope.get("route"), "path", "other")
        declared = route != "other" and scope["method"] in _METHODS
        method = scope["method"] if declared else "other"
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        LOG.info(
            "request",
            extra={
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 3),
            },
        )
