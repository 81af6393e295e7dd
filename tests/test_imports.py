"""The folders depend on each other in one direction only, and are one package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MAY_IMPORT = {
    "algebra": set[str](),
    "catalog": {"algebra"},
    "languages": {"algebra", "catalog"},
    "memo": set[str](),
    "costmodel": {"algebra", "catalog"},
    "rules": {"algebra", "memo", "costmodel"},
    "optimizer": {"algebra", "memo", "rules", "costmodel"},
    "executor": {"algebra", "catalog"},
    "examples": set[str](),
}
MAY_IMPORT["notation"] = set(MAY_IMPORT) - {"executor", "examples"}
MAY_IMPORT["planning"] = MAY_IMPORT["notation"] | {"executor"}  # to check a stored plan
MAY_IMPORT["running"] = MAY_IMPORT["planning"] | {"planning"}
MAY_IMPORT["documents"] = MAY_IMPORT["running"] | {"notation", "running"}
MAY_IMPORT["api"] = set(MAY_IMPORT)
KNOW_SPARK = {"executor", "running", "documents", "api"}


def _imported(path: Path) -> Iterator[tuple[str, ...]]:
    """The modules that a file imports, by their parts; ours begin with ``headrace``."""
    package = ("headrace", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = (*above, *(node.module or "").split(".")) if node.module else above
            yield from ((*module, alias.name) for alias in node.names)


def _files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_imports_point_one_way(folder: str) -> None:
    allowed = MAY_IMPORT[folder] | {folder}
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for path in _files(folder)
        for module in _imported(path)
        if module[0] == "headrace" and module[1] not in allowed
    ]
    assert wrong == []


def test_renderings_read_documents_only() -> None:
    """Not plans, operators or a search: all forms show what was made once."""
    allowed = ("documents", "api")
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for path in _files("api/render")
        for module in _imported(path)
        if module[0] == "headrace" and module[1] not in allowed
    ]
    assert [line for line in wrong if not line.endswith("algebra.plan.Estimate")] == []


@pytest.mark.parametrize("folder", sorted(set(MAY_IMPORT) - KNOW_SPARK))
def test_only_the_executor_and_folders_above_it_import_spark(folder: str) -> None:
    assert [p for p in _files(folder) if any(m[0] == "pyspark" for m in _imported(p))] == []


def test_no_file_imports_a_folder_as_a_package_of_its_own() -> None:
    """One module has one name: ``headrace.memo``, also where the root is on the path."""
    folders = set(MAY_IMPORT)
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for folder in (*MAY_IMPORT, "tests", "bench")
        for path in _files(folder)
        for module in _imported(path)
        if module[0] in folders
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_folders_import_each_other_relatively(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _files(folder)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headrace")
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_each_folder_says_what_it_is_for(folder: str) -> None:
    text = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text("utf-8")))
    assert text is not None
    assert [word for word in ("In:", "Out:", "Invariant:") if word not in text] == []


def test_every_folder_of_code_stands_in_the_table() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders - {"tests", "bench"} == set(MAY_IMPORT)
