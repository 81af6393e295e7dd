"""Answers, compressed for clients that take gzip."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from functools import lru_cache

from fastapi import Request
from starlette.responses import Response

_SMALL = 1000
"""Bytes; smaller documents are sent as they are."""
_LEVEL = 5


async def document(request: Request, body: bytes, status: int, media_type: str) -> Response:
    """Returns a document of one request as a response, compressed if the client takes gzip.

    Args:
        request: the request, whose headers say what the client takes.
        body: the document; it is not kept.
        status: the HTTP status.
        media_type: the media type of the document.
    """
    headers = {"Vary": "Accept-Encoding"}
    if len(body) >= _SMALL and _takes_gzip(request):
        headers["Content-Encoding"] = "gzip"
        # A memo may be large, and must not stop the event loop.
        body = await asyncio.to_thread(gzip.compress, body, _LEVEL)
    return Response(body, status, headers, media_type)


def answer(
    request: Request, content: bytes, media_type: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns content that is made once as a response, compressed if the client takes gzip.

    Args:
        request: the request, whose headers say what the client takes.
        content: the content; the compressed forms of the last contents are kept.
        media_type: the media type of the content.
        headers: more headers.
    """
    own = {**(headers or {}), "Vary": "Accept-Encoding"}
    if not _takes_gzip(request):
        return Response(content, headers=own, media_type=media_type)
    own["Content-Encoding"] = "gzip"
    return Response(_compressed(content), headers=own, media_type=media_type)


def _takes_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")


@lru_cache(maxsize=40)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content)
