"""The page at ``/``: the files built from ``web/``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, Response

from .compression import answer

FOLDER = Path(__file__).parent.parent / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Allows the page only its own scripts, and connections only to this service.

The policy allows inline styles, since the query editor CodeMirror adds them to the document.
"""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_NOT_BUILT = (
    "The page is not built. An installed package contains the page; in a source folder, build "
    "it with `python web/build_page.py`.\n"
)


def serve(app: FastAPI) -> None:
    """Adds the page and its files to the routes."""

    @app.get("/", include_in_schema=False)
    def _page() -> Response:
        index = FOLDER / "index.html"
        if not index.is_file():
            return PlainTextResponse(_NOT_BUILT, 503)
        return _file(index, "no-cache")

    @app.get("/assets/{name}", include_in_schema=False)
    def _asset(name: str, request: Request) -> Response:
        # Build paths only from existing names: other names may be too long or invalid.
        file = next((file for file in _assets() if file.name == name), None)
        if file is None or file.suffix not in _TYPES:
            raise HTTPException(404, "the page has no such file")
        # The names of assets have a digest of the content.
        forever = "public, max-age=31536000, immutable"
        headers = {"Cache-Control": forever, "Content-Security-Policy": POLICY}
        return answer(request, _content(file), _TYPES[file.suffix], headers)


def _assets() -> Iterable[Path]:
    folder = FOLDER / "assets"
    return folder.iterdir() if folder.is_dir() else ()


@lru_cache(maxsize=40)
def _content(file: Path) -> bytes:
    return file.read_bytes()


def _file(file: Path, caching: str) -> Response:
    headers = {"Cache-Control": caching, "Content-Security-Policy": POLICY}
    return FileResponse(file, headers=headers, media_type=_TYPES[file.suffix])
