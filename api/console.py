"""Output of commands: results to stdout, messages to stderr.

Each error is one message. Only terminals get colours and progress. Files are written completely or
not at all.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ..planning.errors import UsageError


@dataclass(slots=True)
class Session:
    """The state of one invocation: whether to show tracebacks."""

    debug: bool = False


def watched(stream: TextIO) -> bool:
    """Returns whether a stream is a terminal with colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say_error(message: str, error: BaseException | None = None) -> None:
    """Writes an error to stderr, after the traceback of ``error``, if any."""
    if error is not None:
        with suppress(OSError):
            traceback.print_exception(error, file=sys.stderr)
    _say("error", "1;31", message)


def say_warning(message: str) -> None:
    """Writes a warning to stderr."""
    _say("warning", "1;33", message)


def say(message: str = "") -> None:
    """Writes a line to stderr; ignores errors of stderr."""
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def open_standard_streams() -> None:
    """Opens standard streams that the caller has closed.

    Otherwise the next opened file gets the descriptor of a closed stream, and the stream's text.
    Afterwards writing to a closed stdout fails, and writing to a closed stderr does nothing.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # open() returns the lowest free descriptor: this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - until exit
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def styled(text: str, code: str, stream: TextIO) -> str:
    """Adds a terminal style to ``text`` if the stream is a terminal with colours."""
    return f"\x1b[{code}m{text}\x1b[0m" if watched(stream) else text


def write(text: str, out: Path | None = None) -> None:
    """Writes a document to a file, or to stdout.

    Writes a file under another name and renames it, so that a failure leaves no partial file.

    Raises:
        UsageError: if the file cannot be written.
    """
    if out is None or str(out) == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        handle, beside = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(beside, 0o666 & ~_umask())
            os.replace(beside, out)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}", code="E-FILE") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _say(kind: str, code: str, message: str) -> None:
    say(f"{styled(f'{kind}:', code, sys.stderr)} {message}")
