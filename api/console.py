"""Output of commands: results to stdout, everything about them to stderr.

Errors are one message; colours and progress are for terminals; files are written whole or not at
all.
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
    """Whether a stream is a terminal on which colours are wanted."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say_error(message: str, error: BaseException | None = None) -> None:
    """Writes an error to stderr, after the traceback of ``error`` if it is given."""
    if error is not None:
        with suppress(OSError):
            traceback.print_exception(error, file=sys.stderr)
    _say("error", "1;31", message)


def say_warning(message: str) -> None:
    """Writes a warning to stderr."""
    _say("warning", "1;33", message)


def say(message: str = "") -> None:
    """Writes a line to stderr; ignores a stderr that cannot be written."""
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def open_standard_streams() -> None:
    """Opens standard streams that the caller has closed.

    Otherwise the next file that is opened takes the number of a closed stream and gets its text.
    Writing to a closed stdout then fails, and writing to a closed stderr does nothing.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for all the time
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def styled(text: str, code: str, stream: TextIO) -> str:
    """``text`` with a terminal style where a person watches the stream."""
    return f"\x1b[{code}m{text}\x1b[0m" if watched(stream) else text


def write(text: str, out: Path | None = None) -> None:
    """Writes a document to a file, or to stdout.

    A file is written beside its place and renamed, so that a failure leaves nothing half.

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
