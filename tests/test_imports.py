"""The folders depend on each other in one direction only, and are one package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent

MAY_IMPORT = {
    "algebra": set[str](),
    "catalog": {"algebra"},
    "languages": {"algebra", "catalog"},
    "memo": set[str](),
    "costmodel": {"algebra", "catalog", "executor.kernels"},
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
ROOMS = {
    "host": set[str](),
    "session": {"host"},
    "exchange": {"host"},
    "state": {"exchange"},
    "reading": {"host", "session", "exchange"},
    "results": {"host", "session", "exchange"},
}
ROOMS["stage"] = set(ROOMS)
"""Which others each room of ``executor/spark`` may import; none imports the modules above them."""
FORM = ("In:", "Out:", "Invariant:")
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


def _docstring(folder: str) -> str:
    """What the ``__init__`` of a folder says."""
    text = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text("utf-8")))
    assert text is not None
    return text


def _files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_folders_import_only_the_allowed_folders(folder: str) -> None:
    allowed = MAY_IMPORT[folder] | {folder, "lazy"}  # a module beside all folders
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for path in _files(folder)
        for module in _imported(path)
        if module[0] == "headrace" and not {module[1], ".".join(module[1:3])} & allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_rooms_of_the_spark_executor_import_each_other_one_way(room: str) -> None:
    spark = ("headrace", "executor", "spark")
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for path in _files(f"executor/spark/{room}")
        for module in _imported(path)
        if module[:3] == spark and module[3] not in ROOMS[room] | {room}
    ]
    assert wrong == []


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_docstrings_of_the_spark_executor_state_their_imports(room: str) -> None:
    """In one form; what it may import is what the table above says."""
    text = _docstring(f"executor/spark/{room}")
    assert [word for word in (*FORM, "Start with:") if word not in text] == []
    (named,) = re.findall(r"^May import: (.*)\.$", text, re.MULTILINE)
    rooms = set() if named == "nothing of the other rooms" else set(named.split(", "))
    assert rooms == ROOMS[room]


def test_every_room_of_the_spark_executor_stands_in_the_table() -> None:
    assert {path.parent.name for path in ROOT.glob("executor/spark/*/__init__.py")} == set(ROOMS)


def test_renderings_read_documents_only() -> None:
    """Not plans, operators or a search: all forms show what was made once."""
    allowed = ("documents", "api")
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for path in _files("api/render")
        for module in _imported(path)
        if module[0] == "headrace" and module[1] not in allowed
    ]
    assert [line for line in wrong if not line.endswith("algebra.plan_parts.Estimate")] == []


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
def test_each_folder_has_a_complete_docstring(folder: str) -> None:
    text = _docstring(folder)
    assert [word for word in FORM if word not in text] == []


def _module(path: Path) -> tuple[str, ...]:
    parts = ("headrace", *path.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def test_modules_have_no_import_cycle() -> None:
    """Also inside a folder, in functions and under ``TYPE_CHECKING``."""
    modules = {_module(path): path for folder in MAY_IMPORT for path in _files(folder)}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for module, path in modules.items():
        for imported in _imported(path):
            # The last part is a module itself, or a name in one.
            of = imported if imported in modules else imported[:-1]
            if of in modules and of != module:
                graph.add_edge(".".join(module[1:]), ".".join(of[1:]))
    assert [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1] == []


def test_every_folder_of_code_stands_in_the_table() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders - {"tests", "bench"} == set(MAY_IMPORT)
