"""The processes that a program under test starts."""

from contextlib import suppress

import psutil

QUICK_SPARK = {"SPARK_SUBMIT_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}
"""The environment of a short program that starts a Spark of its own, without Headrace's settings.

The JVM then compiles as Headrace's does: a start takes two thirds of the processor time.
"""


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
