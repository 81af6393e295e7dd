"""Packages that Spark needs for a source or a sink."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.metadata import version

from .options import SessionOptions

_JARS = ("spark.jars", "spark.jars.packages")
"""Settings by which a user adds packages to Spark."""


def packages_for_kafka(conf: Mapping[str, str]) -> tuple[str, ...]:
    """The packages to fetch for Kafka; none if the settings name some."""
    if any(name in conf for name in _JARS):
        return ()
    return (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version('pyspark')}",)


def with_packages(
    session: SessionOptions, partitions: int, *, kafka: bool, others: Collection[str] = ()
) -> SessionOptions:
    """The options of a session for a run, with the packages that it needs.

    Packages that the user chose stay.

    Args:
        session: the options of the user.
        partitions: the number of partitions of the plan.
        kafka: whether the run reads or writes Kafka.
        others: the packages of named sinks.
    """
    packages = session.packages
    if not packages:
        packages = (
            *packages_of(others, session.conf),
            *(packages_for_kafka(session.conf) if kafka else ()),
        )
    return replace(session, partitions=partitions, packages=packages)


def packages_of(packages: Collection[str], conf: Mapping[str, str]) -> tuple[str, ...]:
    """The packages to fetch for named sinks; none if the settings name some."""
    return () if any(name in conf for name in _JARS) else tuple(packages)
