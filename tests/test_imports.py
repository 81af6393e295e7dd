"""The folders depend on each other in one direction only."""

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
MAY_IMPORT["headrace"] = set(MAY_IMPORT)
MAY_IMPORT["api"] = set(MAY_IMPORT)


def _imported_folders(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0] if node.level == 0 else ""


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_imports_point_one_way(folder: str) -> None:
    allowed = MAY_IMPORT[folder] | {folder}
    ours = set(MAY_IMPORT) | {"tests", "bench"}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in _imported_folders(path)
        if name in ours - allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", sorted(set(MAY_IMPORT) - {"executor", "headrace", "api"}))
def test_only_the_executor_and_what_is_above_it_know_spark(folder: str) -> None:
    users = [
        path
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "pyspark" in _imported_folders(path)
    ]
    assert users == []


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_each_folder_says_what_it_is_for(folder: str) -> None:
    text = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text("utf-8")))
    assert text is not None
    assert [word for word in ("In:", "Out:", "Invariant:") if word not in text] == []


def test_every_folder_of_code_stands_in_the_table() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders - {"tests", "bench"} == set(MAY_IMPORT)
