"""The packages that Spark needs for a query of the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...executor.spark.results.sinks import ToKafka, WrittenBySpark, packages_of_outputs
from ...executor.spark.session.packages import packages_for_kafka, packages_of


def packages_of_query(
    catalog: Mapping[str, Any], output: WrittenBySpark | None, conf: Mapping[str, str]
) -> tuple[str, ...]:
    """Returns the packages to load; none if the settings of the service name packages.

    Args:
        catalog: the document of the catalog, with the sources of the query's streams.
        output: the topic or the sink that gets the results too.
        conf: Spark's settings.
    """
    streams = catalog.get("streams", {}).values()
    reads = any((stream.get("source") or {}).get("format") == "kafka" for stream in streams)
    of_kafka = packages_for_kafka(conf) if reads or isinstance(output, ToKafka) else ()
    return (*of_kafka, *packages_of(packages_of_outputs(output), conf))
