"""Describes the machine and the software of a measurement."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
PACKAGES = ("numpy", "numba", "pyarrow", "pyspark", "lark", "sqlglot", "pydantic")


def machine() -> dict[str, Any]:
    """The machine and software of a measurement: processor, memory, load, versions, commit."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": round(_memory_bytes() / 2**30, 1),
        "load": [round(value, 1) for value in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "headrace": _version("headrace"),
        "commit": _commit(),
    }


def headline(described: dict[str, Any]) -> str:
    """The machine in one line of text."""
    return (
        f"{described['processor']}, {described['cores']} cores, {described['memory_gb']} GB, "
        f"load {described['load'][0]}; Python {described['python']}; "
        f"commit {described['commit']}; {described['date']}"
    )


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _commit() -> str:
    """The commit of a checkout; ``unknown`` for an installed package."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    if not (_ROOT / ".git").exists():
        return "unknown"  # the folder above the package may be another repository
    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
