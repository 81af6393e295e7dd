"""Checks Python, the libraries, Java, Spark and its connector for Kafka."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import util
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from ...documents.checks import CheckDocument
from .check import check

_SHOWN = ("numpy", "numba", "pyarrow", "pandas", "pydantic")
"""The libraries whose versions are shown although they fit."""
_SPARK = "pyspark"
_INSTALL = "install Headrace again with pip, into an environment of its own"


def python() -> CheckDocument:
    """The version of Python."""
    here = f"{platform.python_version()} in {sys.prefix}"
    try:
        wanted = metadata("headrace")["Requires-Python"]
    except (PackageNotFoundError, KeyError):
        wanted = None
    if wanted and not Requirement(f"python{wanted}").specifier.contains(platform.python_version()):
        return check("Python", f"{here}; Headrace needs {wanted}", "missing", _INSTALL)
    return check("Python", here)


def libraries() -> CheckDocument:
    """Headrace itself and the libraries that it needs, except for Spark."""
    try:
        own = version("headrace")
        wanted = _requirements()
    except PackageNotFoundError:
        return check(
            "libraries",
            "Headrace is not installed as a package, so no versions are known",
            "warning",
            "install it with pip",
        )
    found = {name: _installed(name) for name in wanted}
    absent = sorted(name for name, one in found.items() if one is None)
    other = [
        f"{name} {one} (needs {wanted[name].specifier})"
        for name, one in sorted(found.items())
        if one is not None and not wanted[name].specifier.contains(one, prereleases=True)
    ]
    if absent:
        return check("libraries", f"without {', '.join(absent)}", "missing", _INSTALL)
    if other:
        return check("libraries", ", ".join(other), "warning", _INSTALL)
    shown = [f"{name} {found[name]}" for name in _SHOWN if name in found]
    return check("libraries", f"headrace {own}, " + ", ".join(shown))


def java() -> CheckDocument:
    """The Java runtime that Spark would use."""
    from ...executor.spark.host.errors import ExecutionError
    from ...executor.spark.session.jvm import OLDEST_JAVA, find_java

    local = "runs of `run --engine local` need no Java"
    try:
        runtime = find_java()
    except ExecutionError as error:
        return check("Java", str(error), "missing", f"{error.hint} ({local})")
    text = f"version {runtime.version} of {runtime.source}, {runtime.home}"
    chosen = os.environ.get("JAVA_HOME")
    if chosen and runtime.source != "JAVA_HOME":
        return check(
            "Java",
            f"{text}; JAVA_HOME={chosen} has no Java {OLDEST_JAVA} or newer that starts",
            "warning",
            "let JAVA_HOME name the folder of such a Java, or unset it",
        )
    return check("Java", text)


def spark() -> CheckDocument:
    """PySpark and the jars of Spark in it."""
    found = _installed(_SPARK)
    spec = util.find_spec(_SPARK)
    if found is None or spec is None or spec.origin is None:
        return check("Spark", "no package pyspark", "missing", _INSTALL)
    try:
        wanted = _requirements()[_SPARK].specifier
    except (PackageNotFoundError, KeyError):
        wanted = Requirement(_SPARK).specifier
    folder = Path(spec.origin).parent
    cores = [*(folder / "jars").glob("spark-core_*.jar")]
    if not cores:
        return check(
            "Spark", f"PySpark {found} without Spark's jars in {folder}", "missing", _INSTALL
        )
    of_jar = cores[0].stem.rpartition("-")[2]
    text = f"PySpark {found} in {folder}"
    if not wanted.contains(found, prereleases=True):
        return check("Spark", f"{text}; Headrace needs {wanted}", "missing", _INSTALL)
    if Version(of_jar) != Version(found):
        return check("Spark", f"{text}, but its jars are of {of_jar}", "missing", _INSTALL)
    return check("Spark", text)


def kafka() -> CheckDocument:
    """The connector by which Spark reads and writes Kafka."""
    name = "Kafka connector"
    found = _installed(_SPARK)
    spec = util.find_spec(_SPARK)
    if found is None or spec is None or spec.origin is None:
        return check(name, "no package pyspark", "missing", _INSTALL, optional=True)
    for place in _places_of_jars(Path(spec.origin).parent, found):
        if place.exists():
            return check(name, str(place), optional=True)
    return check(
        name,
        f"no jar of spark-sql-kafka-0-10 {found} on this machine",
        "missing",
        "nothing to do without Kafka, or with a network: the first run with Kafka fetches the "
        "connector; else name the jars with --conf spark.jars=FILE,FILE",
        optional=True,
    )


def _places_of_jars(pyspark: Path, release: str) -> Iterator[Path]:
    """Yields the files where Spark would find the connector: its own jars, Ivy's, Maven's."""
    artifact = "spark-sql-kafka-0-10_2.13"
    yield pyspark / "jars" / f"{artifact}-{release}.jar"
    home = Path.home()
    for ivy in sorted(home.glob(".ivy2*")):
        yield ivy / "jars" / f"org.apache.spark_{artifact}-{release}.jar"
        yield ivy / "cache" / "org.apache.spark" / artifact / "jars" / f"{artifact}-{release}.jar"
    maven = home / ".m2" / "repository" / "org" / "apache" / "spark"
    yield maven / artifact / release / f"{artifact}-{release}.jar"


def _requirements() -> dict[str, Requirement]:
    """The libraries that the installed Headrace needs, without those of its extras."""
    parsed = (Requirement(text) for text in requires("headrace") or ())
    return {one.name: one for one in parsed if one.marker is None or one.marker.evaluate()}


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
