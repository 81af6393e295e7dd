"""The options of a Spark session; this module does not import Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

RECORDING_SECONDS: Final = 90.0
"""The longest wait for a JVM that writes an archive of its classes at its end."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How Spark is started.

    Attributes:
        partitions: the number of shuffle partitions, which run at once.
        cores: the number of local task slots. Default: one more than ``partitions``, at least 2 and
            at most the machine's.
        debug: whether Spark's messages go to stderr.
        memory: the heap of the JVM, as Spark writes it.
        master: the address of a cluster, such as ``spark://HOST:PORT``; None for local mode.
        packages: the packages to fetch from Maven's registry (``group:artifact:version``).
        conf: settings of Spark, which override those of Headrace.
        records_classes: whether the first session on a machine may take some seconds at its end to
            write Spark's classes to an archive, by which later ones start faster.
    """

    partitions: int = 1
    cores: int | None = None
    debug: bool = False
    memory: str = "1g"
    master: str | None = None
    packages: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    records_classes: bool = True
