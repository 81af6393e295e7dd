"""The jars of a Kafka broker, and of Spark's connector to one, from Maven's registry.

Spark's own resolver fetches them, so nothing is needed but Java. They are kept in the user's cache.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from pyspark import SparkConf
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from headrace.executor.spark.session.jvm import find_java
from tests.waiting import PATIENCE

BROKER = "org.apache.kafka:kafka_2.13:3.9.2"
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
"""One release older than the Spark in use, and compatible with it: a registry may lag behind."""
TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0"
"""A dependency of the connector, in the newest release that every registry has."""


_CLIENTS = "org.apache.kafka:kafka-clients"
_SPARK_HAS = (
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.slf4j:slf4j-api",
    "org.xerial.snappy:snappy-java",
    "org.lz4:lz4-java",
    "at.yawk.lz4:lz4-java",
)


def broker_jars() -> tuple[Path, ...]:
    """All that a broker and its clients are made of."""
    own = Path(pyspark.__file__).parent / "jars"
    # Those that Spark has it does not fetch.
    return (*_fetched(BROKER), *own.glob("scala-library-*.jar"))


def connector_jars() -> tuple[Path, ...]:
    """What Spark needs to read Kafka."""
    tokens = TOKENS.rpartition(":")[0]
    return (*_fetched(CONNECTOR, tokens, *_SPARK_HAS), *_fetched(TOKENS, *_SPARK_HAS, _CLIENTS))


def _fetched(package: str, *without: str) -> tuple[Path, ...]:
    """The jars of a package and of all that it needs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace-tests"
    folder = cache / package.replace(":", "-")
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cache) as ivy:
            _fetch(package, without, Path(ivy))
            shutil.rmtree(folder, ignore_errors=True)
            (Path(ivy) / "jars").rename(folder)
    return tuple(sorted(folder.glob("*.jar")))


def _fetch(package: str, without: Sequence[str], ivy: Path) -> None:
    settings = SparkConf(loadDefaults=False)
    settings.set("spark.master", "local[1]").set("spark.jars.ivy", str(ivy))
    settings.set("spark.jars.packages", package)
    if without:
        settings.set("spark.jars.excludes", ",".join(without))
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(find_java().home_for_spark(ivy))
    log = ivy / "log"
    try:
        with log.open("wb") as file:
            gateway = launch_gateway(settings, {"stdout": file, "stderr": file})  # type: ignore[no-untyped-call]
    except PySparkException as error:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise RuntimeError(f"{package} could not be fetched:\n{tail}") from error
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(PATIENCE)
