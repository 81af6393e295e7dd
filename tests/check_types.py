"""Checks the types of the package, the tests and the benchmarks: ``python -m tests.check_types``.

mypy names a module by its folders, and the root of the repository is the package ``headrace``
whatever the folder of the checkout is called. So mypy gets a temporary folder of links in which the
names are right.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("bench", "tests", "web")


def check_types() -> subprocess.CompletedProcess[str]:
    """Runs mypy; its output names files by their place in the repository."""
    with TemporaryDirectory() as folder:
        links = Path(folder)
        package = links / "headrace"
        package.mkdir()
        for name in sorted(_shipped()):
            (package / name).symlink_to(ROOT / name)
        for name in BESIDE:
            (links / name).symlink_to(ROOT / name)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "mypy"),
                *("--config-file", str(ROOT / "pyproject.toml")),
                *("--cache-dir", str(ROOT / ".mypy_cache")),
                *(f"--package={name}" for name in ("headrace", *BESIDE)),
            ],
            cwd=links,
            env={**os.environ, "MYPYPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        done.stdout = done.stdout.replace("headrace/", "")
        return done


def _shipped() -> set[str]:
    """The modules and folders at the root that belong to the package."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = {name.split(".")[1] for name in setuptools["packages"] if "." in name}
    modules = {path.name for path in ROOT.glob("*.py")}
    return folders | modules | {"py.typed"}


if __name__ == "__main__":
    found = check_types()
    print(found.stdout + found.stderr, end="")
    sys.exit(found.returncode)
