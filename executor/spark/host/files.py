"""Atomic writes of files, and notes with a checksum.

A *sealed* note is a line of JSON and a line with its SHA-256. Earlier versions wrote notes without
the second line; these are read without a check.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from .errors import DamagedError

_SEAL = "sha256 "

_ASIDE = ".tmp"


@contextmanager
def written_aside(path: Path, *, replacing: bool = True) -> Iterator[BinaryIO]:
    """A file to write, which gets the name ``path`` when it is complete and on disk.

    After an error the file is removed, and the earlier file at ``path`` is unchanged. A symbolic
    link at ``path`` is replaced, never followed.

    Args:
        path: the name.
        replacing: whether a file that has the name already is replaced.

    Raises:
        FileExistsError: if there is such a file and ``replacing`` is false.
        OSError: if the file cannot be written, as on a full disk; it names the file.
    """
    own = f"{os.getpid()}.{threading.get_native_id()}"
    aside = path.with_name(f".{path.name}.{own}{_ASIDE}")
    try:
        with errors_named(path):
            aside.unlink(missing_ok=True)  # of a killed thread that had this one's number
            with aside.open("xb") as file:  # exclusive: a link that somebody put there is an error
                yield file
                file.flush()
                os.fsync(file.fileno())
            if replacing:
                os.replace(aside, path)
            else:
                _named_newly(aside, path)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


@contextmanager
def errors_named(path: Path) -> Iterator[None]:
    """Adds ``path`` to the errors of the operating system in this block that name no file.

    Errors of writing name none. Errors of connections are raised unchanged.
    """
    try:
        yield
    except ConnectionError:
        raise
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _named_newly(aside: Path, path: Path) -> None:
    """Gives a file a name that no other file has."""
    try:
        os.link(aside, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(aside, path)


def write_sealed(
    path: Path, document: Mapping[str, Any] | list[Any], *, replacing: bool = True
) -> None:
    """Writes a document as a sealed note, as `written_aside` writes files.

    Raises:
        FileExistsError: if there is one already, and not ``replacing``.
        OSError: if it cannot be written.
    """
    line = json.dumps(document).encode()
    seal = f"\n{_SEAL}{hashlib.sha256(line).hexdigest()}\n"
    with written_aside(path, replacing=replacing) as file:
        file.write(line + seal.encode())


def read_sealed(path: Path) -> Any:
    """The document of a note.

    Raises:
        FileNotFoundError: if there is none.
        OSError: if it cannot be read.
        DamagedError: if it differs from what was written.
    """
    line, end, rest = path.read_bytes().partition(b"\n" + _SEAL.encode())
    try:
        document = json.loads(line)
    except ValueError as error:
        raise DamagedError(path) from error
    if end and rest.decode("ascii", "replace").strip() != hashlib.sha256(line).hexdigest():
        raise DamagedError(path)
    return document


def digest_of(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def aside_of(path: Path) -> list[Path]:
    """The unfinished files of killed processes that were writing ``path``."""
    name = re.compile(rf"\.{re.escape(path.name)}\.(\d+)(?:\.\d+)?{re.escape(_ASIDE)}")
    return [
        other
        for other in path.parent.glob(f".*{_ASIDE}")
        if (found := name.fullmatch(other.name)) and not _is_alive(int(found[1]))
    ]


def remove_aside(path: Path) -> None:
    """Removes the unfinished files of ``path`` (:func:`aside_of`)."""
    for other in aside_of(path):
        other.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Whether another process of this number runs; in a container a new one has the old number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()
