"""Checks cores, memory, limits and the port of the service."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from ...documents.checks import CheckDocument
from .check import GIGABYTE, check, size

_LEAST_MEMORY = 3 * GIGABYTE
"""A heap of 1 GB, the rest of the JVM, the driver, and a Python worker for each partition."""
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""The memory limit of a container, in version 2 and 1 of control groups."""


def cores() -> CheckDocument:
    """The processor cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    if count == 1:
        return check("cores", "1", "warning", "Spark and its Python workers share one core")
    return check("cores", str(count))


def memory() -> CheckDocument:
    """The memory that is available, and the limit of a container."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = min([whole, *filter(None, map(_limit_in, _GROUP_LIMITS))])
    available = min(limit, _available() or limit)
    text = f"{size(available)} available of {size(limit)}"
    if limit < whole:
        text += f", a container's limit on a machine with {size(whole)}"
    if available < _LEAST_MEMORY:
        return check(
            "memory",
            text,
            "warning",
            f"a run on Spark takes about {size(_LEAST_MEMORY)}: stop other programs, raise the "
            "limit, or use `run --engine local`",
        )
    return check("memory", text)


def limits() -> CheckDocument:
    """The limits of a process on open files and addresses (``ulimit``)."""
    from ...executor.spark.host.storage import limit_in_the_way

    error = limit_in_the_way("too low for Spark")
    if error is None:
        return check("limits", "open files and addresses suffice")
    return check("limits", error.message, "missing", "raise the limit with ulimit")


def port(number: int) -> CheckDocument:
    """The port of the service on the loopback address."""
    name = "port"
    try:
        socket.create_server(("127.0.0.1", number)).close()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return check(
            name,
            f"{number}: {reason}",
            "warning",
            "`headrace serve --port 0` takes a free one; a service may run here already",
            optional=True,
        )
    return check(name, f"{number} is free for `headrace serve`", optional=True)


def _limit_in(file: Path) -> int | None:
    """The limit that a file of the system holds, in bytes; None without one (``max``)."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _available() -> int | None:
    """The memory that programs may still take, in bytes; None if the system does not say."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
