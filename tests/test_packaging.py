"""What is shipped and what the README promises to a newcomer."""

import ast
import re
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
SHIPPED = sorted(
    path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name not in ("tests", "bench")
)


def _pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pins}


@pytest.mark.parametrize(
    "requirement", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
)
def test_the_tested_version_is_one_that_we_promise_to_work(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert _pins()[canonicalize_name(wanted.name)] in wanted.specifier


def test_every_package_that_is_imported_is_declared() -> None:
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["postgres"]]
    declared = {canonicalize_name(Requirement(one).name) for one in needed}
    packages = packages_distributions()
    missing = {
        name
        for folder in SHIPPED
        for file in folder.rglob("*.py")
        for name in _imported(file) & packages.keys() - {path.name for path in SHIPPED}
        if not {canonicalize_name(d) for d in packages[name]} & declared
    }
    assert missing == set()


def _imported(file: Path) -> set[str]:
    """The first words of what a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_each_folder_of_code_is_shipped_with_its_data(folder: Path) -> None:
    setuptools = PYPROJECT["tool"]["setuptools"]
    assert any(fnmatch(folder.name, p) for p in setuptools["packages"]["find"]["include"])
    data = [
        path.relative_to(ROOT)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".py", ".pyc", ".nbi", ".nbc")
    ]
    patterns = setuptools["package-data"]["*"]
    assert [path for path in data if not any(fnmatch(path.name, p) for p in patterns)] == []


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_each_folder_of_code_is_in_the_image(folder: Path) -> None:
    assert f"!{folder.name}" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("last_word", ["headrace demo", "pytest"])
def test_the_readme_has_one_line_for_each_command_that_the_gate_runs(last_word: str) -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    pattern = re.compile(rf"python3 -m venv .*{last_word}")
    assert len([line for line in lines if pattern.fullmatch(line)]) == 1
