"""Answers that are made once, compressed for clients that take gzip."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import lru_cache

from fastapi import Request
from starlette.responses import Response


def answer(
    request: Request, content: bytes, media_type: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns content as a response, compressed if the client takes gzip.

    Args:
        request: the request, whose headers say what the client takes.
        content: the content; the compressed forms of the last contents are kept.
        media_type: the media type of the content.
        headers: more headers.
    """
    own = {**(headers or {}), "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(content, headers=own, media_type=media_type)
    own["Content-Encoding"] = "gzip"
    return Response(_compressed(content), headers=own, media_type=media_type)


@lru_cache(maxsize=40)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content)
