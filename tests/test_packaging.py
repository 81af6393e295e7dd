"""The contents of the package, and the commands of the README."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]
BESIDE = ("tests", "bench", "web", "docs")
SHIPPED = sorted(
    path.parent.relative_to(ROOT)
    for path in ROOT.glob("*/**/__init__.py")
    if path.relative_to(ROOT).parts[0] not in (*BESIDE, ".venv", "build")
)
DATA = {
    Path(*package.split(".")[1:], pattern)
    for package, patterns in SETUPTOOLS["package-data"].items()
    for pattern in patterns
}


def _pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pins}


@pytest.mark.parametrize(
    "requirement", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
)
def test_constrained_versions_are_within_the_declared_ranges(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert _pins()[canonicalize_name(wanted.name)] in wanted.specifier


def test_every_package_that_is_imported_is_declared() -> None:
    optional = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *optional["notebook"], *optional["postgres"]]
    declared = {canonicalize_name(Requirement(one).name) for one in needed}
    packages = packages_distributions()
    missing = {
        name
        for folder in SHIPPED
        for file in (ROOT / folder).glob("*.py")
        for name in _imported(file) & packages.keys() - {"headrace"}
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


def test_each_folder_of_code_is_a_package_that_is_shipped() -> None:
    names = {".".join(("headrace", *folder.parts)) for folder in SHIPPED}
    assert set(SETUPTOOLS["packages"]) == {"headrace"} | names


def _tracked() -> list[str]:
    """The files that git tracks."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_package_data_is_shipped() -> None:
    folders = {folder.parts[0] for folder in SHIPPED}
    missing = [
        name
        for name in map(Path, _tracked())
        if name.parts[0] in folders
        and name.suffix != ".py"
        and not any(name.match(str(pattern)) for pattern in DATA)
    ]
    assert missing == []


@pytest.mark.long
def test_the_wheel_installs_headrace_and_nothing_else(tmp_path: Path) -> None:
    page = [str(path.relative_to(ROOT)) for path in (ROOT / "api" / "page").rglob("*.*")]
    tracked = _tracked()
    source = tmp_path / "source"
    for name in {*tracked, *page}:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), "."],
        cwd=source,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name) for name in archive.namelist()}
    of_metadata = {name for name in names if name.parts[0].endswith(".dist-info")}
    shipped = {name.relative_to("headrace") for name in names - of_metadata}
    expected = {
        Path(name)
        for name in {*tracked, *page}
        if Path(name).suffix == ".py" or any(Path(name).match(str(p)) for p in DATA)
        if Path(name).parts[0] not in BESIDE
    }
    assert shipped == expected
    assert [name for name in shipped if name.name == "py.typed"] == [Path("py.typed")]


SHADOWING = """
from pathlib import Path
import headrace, sys

assert headrace.optimize(headrace.PlanRequest("Answer(x, y) <- a+(x, y). WINDOW 5")).plan
print(headrace.run_plan.__module__)
"""


def test_a_working_folder_with_equally_named_modules_shadows_nothing(tmp_path: Path) -> None:
    for name in ("catalog", "executor", "rules", "memo", "planning"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('not Headrace')")
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "__init__.py").write_text("raise RuntimeError('not Headrace')")
    (tmp_path / "program.py").write_text(SHADOWING)
    (tmp_path / "edges.csv").write_text("src,trg,label,ts\n1,2,a,0\n2,3,a,1\n")
    command = str(Path(sys.executable).with_name("headrace"))
    query = "Answer(x, y) <- a+(x, y). WINDOW 5"
    for arguments in (
        [sys.executable, "program.py"],
        [command, "explain", query, "--input", "edges.csv"],
        [sys.executable, "-m", "headrace", "explain", query, "--input", "edges.csv"],
    ):
        done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", sorted({folder.parts[0] for folder in SHIPPED}))
def test_each_folder_of_code_is_in_the_image(folder: str) -> None:
    assert f"!{folder}" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("last_word", ["headrace demo", "pytest"])
def test_the_readme_has_one_line_for_each_command_that_the_gate_runs(last_word: str) -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    pattern = re.compile(rf"python3 -m venv .*{last_word}")
    assert len([line for line in lines if pattern.fullmatch(line)]) == 1
