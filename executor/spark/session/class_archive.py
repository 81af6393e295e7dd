"""Starts Spark's JVM with an archive of its classes (class-data sharing of the JVM).

Loading and checking some 15,000 classes is most of the work of Spark's start. The first run on a
machine has its JVM write the classes to an archive after the query, and later JVMs map the archive.
It lies in the user's cache folder, under a name made of the Java runtime and Spark's jars.

The JVM takes an archive only for the class path that it was written for, without folders. The
script of Spark puts a folder first, so the JVM starts from a script here, with the arguments of
Spark's launcher. Where settings change these arguments, the JVM starts from the script of Spark.

The JVM ignores an archive of another class path or runtime (``-Xshare:auto``), but a truncated one
may end it. So the name of an archive has its size. An archive with which the JVM does not start is
removed, and the JVM starts again without.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyspark
from platformdirs import user_cache_path
from py4j.java_gateway import JavaGateway
from pyspark.sql import SparkSession

from .jvm import JavaRuntime

_SUBMIT: Final = "org.apache.spark.deploy.SparkSubmit"
_LAUNCHER: Final = "org.apache.spark.launcher.Main"
_NEEDLESS: Final = "--add-modules=jdk.incubator.vector"
_ARCHIVE: Final = "classes-"
"""Before the size of an archive, in its name."""
_COMMANDS: Final = "com.sun.management:type=DiagnosticCommand"
_USED: Final = "headrace.used"
_KEPT: Final = 3
"""The number of archives in the cache: of other Java runtimes or Sparks."""
_LONGEST_SECONDS: Final = 60.0
_OWN_SETTINGS: Final = (
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraClassPath",
    "spark.driver.extraLibraryPath",
)
"""Settings for which Spark's launcher computes other arguments."""
_OWN_VARIABLES: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH")
"""Variables for which Spark's launcher computes another class path."""

_SCRIPT: Final = """\
#!/bin/sh
export SPARK_HOME={home} SPARK_SCALA_VERSION=2.13 PYTHONHASHSEED=0
exec {command} {submit} "$@"
"""


@dataclass(frozen=True, slots=True)
class FastStart:
    """A start of the JVM with an archive, or one that records the archive.

    Attributes:
        home: a folder whose ``bin/spark-submit`` starts the JVM.
        folder: the folder of the archive.
        archive: the archive; None if it is not there yet.
        recorded: the file that the JVM may write; None if the archive is there, or another process
            writes it.
        lock: the open file that keeps other processes from recording.
    """

    home: Path
    folder: Path
    archive: Path | None
    recorded: Path | None = None
    lock: int | None = None

    def record(self, gateway: JavaGateway) -> None:
        """Has the JVM write its classes, if it ran a query and there is no archive."""
        jvm: Any = gateway.jvm
        if self.recorded is None or jvm.java.lang.System.getProperty(_USED) != "true":
            return
        server = jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer()
        texts = gateway.new_array(jvm.java.lang.String, 2)
        texts[0], texts[1] = "dynamic_dump", str(self.recorded)
        arguments = gateway.new_array(jvm.java.lang.Object, 1)
        arguments[0] = texts
        signature = gateway.new_array(jvm.java.lang.String, 1)
        signature[0] = "[Ljava.lang.String;"
        # By reflection: Py4J looks for methods in the server's class, which is not public.
        interface = jvm.java.lang.Class.forName("javax.management.MBeanServer")
        (invoke,) = (m for m in interface.getMethods() if m.getName() == "invoke")
        call = gateway.new_array(jvm.java.lang.Object, 4)
        call[0], call[1] = jvm.javax.management.ObjectName(_COMMANDS), "vmCds"
        call[2], call[3] = arguments, signature
        invoke.invoke(server, call)

    def finish(self) -> None:
        """Publishes the archive that the JVM wrote, if it wrote one."""
        if self.recorded is not None:
            with suppress(OSError):
                size = self.recorded.stat().st_size
                os.replace(self.recorded, self.folder / f"{_ARCHIVE}{size}.jsa")
        if self.lock is not None:
            os.close(self.lock)

    def forget(self) -> None:
        """Removes an archive with which the JVM does not start."""
        if self.archive is not None:
            self.archive.unlink(missing_ok=True)


def fast_start(
    runtime: JavaRuntime, settings: Mapping[str, str], folder: Path, *, records: bool = True
) -> FastStart | None:
    """Prepares a start with an archive, or one that records it.

    Args:
        runtime: the Java runtime.
        settings: all settings of the session.
        folder: the session's temporary folder, for the script.
        records: whether the session may take some seconds at its end to write an archive.

    Returns:
        None if the settings or the environment need Spark's own script, or there is no folder for
        archives that other users cannot write to.
    """
    if any(name in settings for name in _OWN_SETTINGS):
        return None
    if any(os.environ.get(name) for name in _OWN_VARIABLES):
        return None
    spark = Path(pyspark.__file__).parent
    with ExitStack() as stack, suppress(OSError, ValueError, subprocess.SubprocessError):
        kept = _kept_folder(runtime, spark)
        arguments = _arguments(runtime, spark, kept, folder)
        if arguments is None:
            return None
        archive = _archive_in(kept)
        sharing = [
            "-Xshare:auto",
            "-Xlog:disable",
            "-Xlog:all=error:stderr",
            f"-XX:ErrorFile={folder / 'jvm-error.log'}",
        ]
        lock, recorded = None, None
        if archive is not None:
            sharing.append(f"-XX:SharedArchiveFile={archive}")
        elif records and (lock := _locked(kept)) is not None:
            stack.callback(os.close, lock)
            recorded = kept / "recorded.jsa"
            recorded.unlink(missing_ok=True)  # of a process that was killed
            sharing += [*_base(runtime, kept), "-XX:+RecordDynamicDumpInfo"]
        command = [
            str(runtime.home / "bin" / "java"),
            *arguments,
            f"-Xmx{settings.get('spark.driver.memory', '1g')}",
            *sharing,
            *shlex.split(settings.get("spark.driver.extraJavaOptions", "")),
        ]
        home = folder / "spark"
        _write_script(home / "bin" / "spark-submit", spark, command)
        stack.pop_all()
        return FastStart(home, kept, archive, recorded, lock)
    return None


def mark_used(spark: SparkSession) -> None:
    """Notes in the JVM that it ran a query, so that its classes are worth an archive."""
    jvm: Any = spark.sparkContext._jvm
    jvm.java.lang.System.setProperty(_USED, "true")


def _write_script(script: Path, spark: Path, command: Sequence[str]) -> None:
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        _SCRIPT.format(home=shlex.quote(str(spark)), command=shlex.join(command), submit=_SUBMIT)
    )
    script.chmod(0o700)


def _kept_folder(runtime: JavaRuntime, spark: Path) -> Path:
    """The folder of the archive for a Java runtime and the jars of Spark.

    Raises:
        PermissionError: if other users can write to it: the JVM executes the archive.
    """
    digest = hashlib.sha256()
    for file in (runtime.home / "lib" / "server" / "libjvm.so", *sorted(_jars(spark))):
        status = file.stat() if file.exists() else None
        signs = None if status is None else (status.st_size, status.st_mtime_ns)
        digest.update(repr((str(file), signs)).encode())
    every = user_cache_path("headrace") / "spark-classes"
    every.mkdir(0o700, parents=True, exist_ok=True)
    status = every.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(f"others can write to {every}")
    kept = every / digest.hexdigest()[:16]
    kept.mkdir(0o700, exist_ok=True)
    os.utime(kept)
    others = sorted(every.iterdir(), key=lambda other: other.stat().st_mtime_ns)
    for other in others[:-_KEPT]:
        shutil.rmtree(other, ignore_errors=True)
    return kept


def _archive_in(kept: Path) -> Path | None:
    """The complete archive in a folder; others are removed."""
    for archive in kept.glob(f"{_ARCHIVE}*.jsa"):
        if archive.stem == f"{_ARCHIVE}{archive.stat().st_size}":
            return archive
        archive.unlink(missing_ok=True)
    return None


def _jars(spark: Path) -> list[Path]:
    return list((spark / "jars").glob("*.jar"))


def _arguments(runtime: JavaRuntime, spark: Path, kept: Path, folder: Path) -> list[str] | None:
    """The class path and the JVM's options that Spark's launcher computes.

    Returns None if they are not in the form that this module knows. They are kept beside the
    archive, since the launcher is a JVM of its own.
    """
    file = kept / "arguments.json"
    with suppress(OSError, ValueError):
        loaded: list[str] = json.loads(file.read_text())
        return loaded
    (jar,) = (spark / "jars").glob("spark-launcher_*.jar")
    answer = subprocess.run(
        [runtime.home / "bin" / "java", "-cp", jar, _LAUNCHER, _SUBMIT, "pyspark-shell"],
        env={
            **os.environ,
            "JAVA_HOME": str(runtime.home),
            "SPARK_HOME": str(spark),
            "SPARK_CONF_DIR": str(folder),
            "SPARK_SCALA_VERSION": "2.13",
        },
        capture_output=True,
        text=True,
        timeout=_LONGEST_SECONDS,
        check=True,
    )
    _, _, text = answer.stdout.partition("\0\n")
    command = text.split("\0")
    if _SUBMIT not in command or "-cp" not in command:
        return None
    options = command[1 : command.index(_SUBMIT)]
    at = options.index("-cp")
    path = _expanded(options[at + 1], folder, _jars(spark))
    others = [
        option
        for option in (*options[:at], *options[at + 2 :])
        if option != _NEEDLESS and not option.startswith("-Xmx")
    ]
    arguments = ["-cp", os.pathsep.join(path), *others]
    aside = kept / f"arguments-{os.getpid()}.json"
    aside.write_text(json.dumps(arguments))
    os.replace(aside, file)
    return arguments


def _expanded(path: str, conf: Path, jars: Sequence[Path]) -> list[str]:
    """A class path without the folder of settings, and with each jar by name."""
    entries: list[str] = []
    for entry in path.split(os.pathsep):
        if entry.endswith("/*"):
            entries += sorted(str(jar) for jar in jars)
        elif entry.rstrip("/") != str(conf):
            entries.append(entry)
    return list(dict.fromkeys(entries))


def _locked(kept: Path) -> int | None:
    """The lock of the one process that records; None if another process has it."""
    lock = os.open(kept / "recording", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _base(runtime: JavaRuntime, kept: Path) -> list[str]:
    """The options for the archive of Java's own classes, on which Spark's is written.

    Most runtimes bring one. For others it is written beside Spark's archive.
    """
    if list((runtime.home / "lib" / "server").glob("classes*.jsa")):
        return []
    base = kept / "java.jsa"
    option = f"-XX:SharedArchiveFile={base}"
    if not base.exists():
        java = runtime.home / "bin" / "java"
        command = [str(java), "-Xshare:dump", "-XX:+UseSerialGC", option]
        subprocess.run(command, capture_output=True, timeout=_LONGEST_SECONDS, check=True)
    return [option]
