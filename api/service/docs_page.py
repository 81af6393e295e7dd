"""The description of the API at ``/docs``: Swagger UI, served with all its files.

The files of Swagger UI come from the package ``fastapi-offline``, so that the page works without
a network. Also, no script of another host can read the answers of the service.
"""

from __future__ import annotations

import importlib.resources
from functools import cache

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Allows scripts and styles of this service only; icons in the style sheet are data URLs."""

_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Headrace: the API</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
_START = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
});
"""
_TYPES = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "favicon.png": "image/png",
}


def serve(app: FastAPI) -> None:
    """Adds the page and its files to the routes; links are relative to the mount point."""

    @app.get("/docs", include_in_schema=False)
    def _docs() -> Response:
        return _answer(_HTML, "text/html; charset=utf-8")

    @app.get("/docs/{name}", include_in_schema=False)
    def _file(name: str) -> Response:
        if name == "start.js":
            return _answer(_START, "text/javascript; charset=utf-8")
        if name not in _TYPES:
            raise HTTPException(404, "the description of the API has no such file")
        return _answer(_content(name), _TYPES[name])


def _answer(content: str | bytes, media_type: str) -> Response:
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    return Response(content, headers=headers, media_type=media_type)


@cache
def _content(name: str) -> bytes:
    files = importlib.resources.files("fastapi_offline")
    return (files / "static" / name).read_bytes()
