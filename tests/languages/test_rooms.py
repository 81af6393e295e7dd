"""The rooms of languages/ import each other one way, and languages know nothing of each other."""

import ast
from pathlib import Path

import pytest

LANGUAGES = Path(__file__).parents[2] / "languages"
ROOMS = {"query": set[str](), "parsing": {"query"}, "translation": {"query", "parsing", "registry"}}


def _languages() -> set[str]:
    return {path.parent.name for path in LANGUAGES.glob("*/__init__.py")} - ROOMS.keys()


def _imported(path: Path) -> set[str]:
    """The parts of languages/ that a file imports."""
    package = path.relative_to(LANGUAGES.parent).parent.parts
    parts: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            for alias in node.names:
                names = [*filter(None, module), alias.name]
                parts |= {names[1]} if names[0] == "languages" else set()
    return parts


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_shared_rooms_import_no_language(room: str) -> None:
    for path in (LANGUAGES / room).rglob("*.py"):
        assert _imported(path) <= ROOMS[room] | {room}, path


@pytest.mark.parametrize("language", sorted(_languages()))
def test_a_language_imports_the_shared_rooms_alone(language: str) -> None:
    for path in (LANGUAGES / language).rglob("*.py"):
        assert _imported(path) <= {"language", "query", "parsing", language}, path


def test_only_the_registry_imports_the_languages() -> None:
    for path in LANGUAGES.glob("*.py"):
        named = _imported(path) & _languages()
        assert named == {"registry.py": _languages(), "foreign.py": {"rq"}}.get(path.name, set())
