"""Translates errors of a machine that is short of disk space, memory or open files.

In: an error of the operating system, or the text of a Spark error that one caused. Out: an error
that names the resource, the file and the remedy.
"""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from .errors import DamagedError, ExecutionError, ResourceError, StorageError

_AGAIN: Final = "then give the same command again: the run goes on from there."
_FULL: Final = f"Free some space there (or let TMPDIR name a larger folder), {_AGAIN}"
_FORBIDDEN: Final = f"Make it writable (mount, owner, permissions), {_AGAIN}"
_MEMORY: Final = (
    "Give Spark less or more memory (spark.driver.memory), stop other programs, or raise "
    f"the limit (ulimit -v, a container's); {_AGAIN}"
)
_PROCESSES: Final = (
    f"Raise the limit on processes and threads (ulimit -u, a container's pids limit), {_AGAIN}"
)
_CLOSED: Final = "Let it be open, or write the results to a folder."
_HINTS: Final[Mapping[int, str]] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: f"Raise the limit on the size of files (ulimit -f), {_AGAIN}",
    errno.EROFS: _FORBIDDEN,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EMFILE: f"Raise the limit on open files (ulimit -n), {_AGAIN}",
    errno.ENFILE: f"Raise the machine's limit on open files (fs.file-max), {_AGAIN}",
    errno.EAGAIN: _PROCESSES,
    errno.ENOMEM: _MEMORY,
    errno.EBADF: _CLOSED,
}
_OF_RESOURCES: Final = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
_LIMITS: Final = (
    (
        resource.RLIMIT_NOFILE,
        512,
        "a process may open {soft} files (ulimit -n), and needs some hundreds",
    ),
    (
        resource.RLIMIT_AS,
        6 << 30,
        "a process may use {megabytes:,} MB of addresses (ulimit -v), and needs some 6,000",
    ),
)
"""The limits that Spark needs: limit, least value, text. Measured with Spark 4.3.0 on Java 17."""
_CONTEXT: Final = re.compile(r"(?:file:)?(?<![\w/])(/[^\s:'\",()\[\]]+)")
_CHECKSUM: Final = re.compile(
    r"(?:Checksum error: |Checksum file not a length multiple of checksum size in )(?:file:)?(\S+)"
)
_OF_MEMORY: Final = re.compile(
    r"OutOfMemoryError: [^\n]+|Cannot allocate memory|\bMemoryError\b|ArrowMemoryError"
)
_OF_THREADS: Final = re.compile(r"unable to create (?:a )?native thread")
"""Java reports a thread that it was refused as an OutOfMemoryError."""


def error_of(error: OSError, where: str = "") -> ExecutionError:
    """Translates an error of the operating system for the user.

    Args:
        error: the error.
        where: the place to name if the error names no file.
    """
    place = error.filename if error.filename is not None else where
    reason = error.strerror or str(error)
    message = f"{os.fsdecode(place)}: {reason}." if place else f"{reason}."
    kind = ResourceError if error.errno in _OF_RESOURCES else StorageError
    return kind(message, _HINTS.get(error.errno or 0, f"Mend that, {_AGAIN}"))


@contextmanager
def translate_storage_errors(where: str = "") -> Iterator[None]:
    """Raises errors of the operating system inside this block as `StorageError` or `ResourceError`.

    Connection errors, such as a closed pipe, pass unchanged.
    """
    try:
        yield
    except ConnectionError:
        raise
    except OSError as error:
        raise error_of(error, where) from error


def limit_in_the_way(what: str) -> ResourceError | None:
    """Returns the error of a process limit that is too low for Spark; None if there is none.

    Call it after a failure without a message: neither Java nor the loader of libraries names the
    limit that ended it. ``what`` describes the failure and begins the message.
    """
    for limit, least, text in _LIMITS:
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY and soft < least:
            return ResourceError(
                f"{what}: {text.format(soft=soft, megabytes=soft >> 20)}.",
                f"Raise the limit, {_AGAIN}",
            )
    return None


def error_in(text: str, what: str = "The query failed in Spark") -> ExecutionError | None:
    """Finds the error of a disk, a limit or a damaged file in the text of a Spark error.

    Returns None if the text has none. ``what`` describes the failure and begins the message.
    """
    checksum = _CHECKSUM.search(text)
    if checksum is not None:
        return DamagedError(checksum[1])
    for line in text.splitlines():
        for number, hint in _HINTS.items():
            reason = os.strerror(number)
            if number not in (errno.EAGAIN, errno.EPERM, errno.EBADF) and reason in line:
                paths = _CONTEXT.findall(line)
                where = f" ({paths[0]})" if paths else ""
                kind = ResourceError if number in _OF_RESOURCES else StorageError
                return kind(f"{what}: {reason}{where}.", hint)
    threads = _OF_THREADS.search(text)
    if threads is not None:
        return ResourceError(f"{what}: {threads[0]}.", _PROCESSES)
    memory = _OF_MEMORY.search(text)
    if memory is not None:
        return ResourceError(f"{what}: {memory[0]}.", _MEMORY)
    return None
