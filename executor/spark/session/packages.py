"""What Spark needs beside itself to read from somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

_JARS = ("spark.jars", "spark.jars.packages")
"""Settings by which somebody has Spark read more than it does by itself."""


def packages_for_kafka(conf: Mapping[str, str]) -> tuple[str, ...]:
    """What has to be fetched to read from Kafka: nothing where the settings bring something."""
    if any(name in conf for name in _JARS):
        return ()
    return (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version('pyspark')}",)
