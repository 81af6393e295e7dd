"""The processes that a program under test has started."""

from contextlib import suppress

import psutil


def java_below(process: psutil.Process) -> list[psutil.Process]:
    """The JVMs that a process has started, itself or by its children.

    Children that end while they are looked at are left out.
    """
    found = []
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.name() == "java":
                found.append(child)
    return found
