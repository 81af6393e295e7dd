"""Shortages that a test can make for a process, and take away again."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

NOBODY = 65_534


@contextmanager
def no_room_for_files(*processes: int) -> Iterator[None]:
    """Limits the file size of processes to 0 in this block, as on a full disk."""
    before = {}
    for number in processes:
        process = psutil.Process(number)
        soft, hard = process.rlimit(resource.RLIMIT_FSIZE)
        before[number] = soft, hard
        process.rlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        for number, limits in before.items():
            if psutil.pid_exists(number):
                psutil.Process(number).rlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Makes a folder unwritable for this process in this block, also for root."""
    mode = folder.stat().st_mode
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(mode)
