"""Packages that Spark needs for a source."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

_JARS = ("spark.jars", "spark.jars.packages")
"""Settings by which a user adds packages to Spark."""


def packages_for_kafka(conf: Mapping[str, str]) -> tuple[str, ...]:
    """The packages to fetch for Kafka; none if the settings name some."""
    if any(name in conf for name in _JARS):
        return ()
    return (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version('pyspark')}",)
