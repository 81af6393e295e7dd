"""Bearer tokens with scopes.

The check is a middleware instead of a dependency of FastAPI's routes, so that each new route needs
a token too.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from starlette.types import ASGIApp, Receive, Scope, Send

from ...planning.errors import UsageError
from .problems import problem

TokenScope = Literal["read", "plan", "run"]
SHORTEST = 16
"""The minimum length of a token in characters: shorter tokens can be guessed."""

OPEN = frozenset({"/", "/healthz", "/readyz", "/docs", "/openapi.json"})
OPEN_FOLDERS = ("/assets/", "/docs/")
"""The paths that need no token: their answers have no queries or streams."""


@dataclass(frozen=True, slots=True)
class Token:
    """The digest of a token, and its scopes; ``run`` includes ``plan``, and ``plan`` includes
    ``read``."""

    digest: bytes = field(repr=False)
    scopes: frozenset[TokenScope]


def token(secret: str, *scopes: TokenScope) -> Token:
    """Returns the token of a secret; the token keeps only the digest."""
    allowed = frozenset(scopes)
    if "run" in allowed:
        allowed |= {"plan"}
    if "plan" in allowed:
        allowed |= {"read"}
    return Token(_digest(secret), allowed)


def read_tokens(path: Path) -> tuple[Token, ...]:
    """Reads the tokens of a file: each line has scopes, separated by commas, and a token.

    Raises:
        UsageError: if the file cannot be read, or a line is invalid. The message hides the line.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the tokens of {path}: {type(error).__name__}") from error
    tokens = [
        _parsed(line, f"{path}:{number}")
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not tokens:
        raise UsageError(f"{path} has no token", hint="without --tokens the service needs no token")
    return tuple(tokens)


def _parsed(line: str, place: str) -> Token:
    words = line.split()
    valid = get_args(TokenScope)
    if len(words) != 2 or not set(words[0].split(",")) <= set(valid):
        raise UsageError(
            f"{place}: expected scopes ({', '.join(valid)}) and a token, as: read,plan 8f2c..."
        )
    if len(words[1]) < SHORTEST:
        raise UsageError(f"{place}: the token has fewer than {SHORTEST} characters")
    scopes: list[TokenScope] = [scope for scope in valid if scope in words[0].split(",")]
    return token(words[1], *scopes)


class Guard:
    """Forwards requests that their token allows.

    Reading needs the scope ``read``, and requests about running queries need ``run``. Other
    requests need ``plan``; with ``allow_sources`` requests about streams need ``run``.
    """

    def __init__(
        self, app: ASGIApp, tokens: tuple[Token, ...], *, allow_sources: bool = False
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._of_runs = ("/queries", "/streams") if allow_sources else ("/queries",)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, or refuses it with 401 or 403."""
        if scope["type"] != "http" or _open(scope["path"]):
            await self._app(scope, receive, send)
            return
        scopes = self._scopes(dict(scope["headers"]).get(b"authorization", b""))
        needed = self._needed(scope["method"], scope["path"])
        if scopes is None:
            asking = {"WWW-Authenticate": 'Bearer realm="headrace"'}
            refusal = problem(401, "this needs a bearer token", headers=asking)
        elif needed not in scopes:
            refusal = problem(403, f"this needs a token with the scope {needed}")
        else:
            await self._app(scope, receive, send)
            return
        await refusal(scope, receive, send)

    def _needed(self, method: str, path: str) -> TokenScope:
        if method in ("GET", "HEAD", "OPTIONS"):
            return "read"
        return "run" if f"/{path.split('/')[1]}" in self._of_runs else "plan"

    def _scopes(self, header: bytes) -> frozenset[TokenScope] | None:
        kind, _, secret = header.partition(b" ")
        digest = hashlib.sha256(secret.strip()).digest()
        # Compare all tokens, so that the time reveals nothing.
        matching = [t.scopes for t in self._tokens if hmac.compare_digest(t.digest, digest)]
        return matching[0] if matching and kind.lower() == b"bearer" else None


def _open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8")).digest()
