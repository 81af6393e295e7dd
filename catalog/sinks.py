"""Named sinks: destinations of results that a catalog declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

KAFKA = ("kafka.bootstrap.servers", "topic")
"""The options that a sink of Kafka needs: the brokers to connect to first, and the topic."""
SINK_FILES = ("parquet", "csv", "json", "orc")
"""The formats of Spark's file sink."""


@dataclass(frozen=True, slots=True)
class NamedSink:
    """A sink of Structured Streaming.

    Attributes:
        name: the name in the catalog.
        format: the format of Spark's writer, such as ``kafka``, ``parquet`` or ``delta``.
        path: the folder or table to write to, for formats with one.
        options: options of the writer, by name. They may have passwords, so they are not shown.
        packages: the packages that Spark needs for the format, ``group:artifact:version``.
    """

    name: str
    format: str
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    packages: tuple[str, ...] = ()
