"""The glossary is true, and words that it replaces are not names in the code any more."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_imports import MAY_IMPORT, ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
FOLDERS = sorted({*MAY_IMPORT} - {"examples"})

PRIVATE = {
    "Way": "alternative",
    "way": "alternative",
    "ways": "alternatives",
    "WayLeft": "AlternativePruned",
    "tell_left": "pruned",
    "ways_to_deliver": "child_requirements",
    "operator_ways": "physical_alternatives",
    "needless": "redundant, subsumed_by",
    "barred": "rule mask",
    "bars": "rule mask",
    "spared": "rule mask",
    "spared_by": "rule mask",
    "ghost": "cyclic expression",
    "note_ghost": "cyclic expression",
    "watchers": "dependents",
    "taking_back": "retraction",
    "path_loss": "path deletion",
    "offers": "schema inference",
    "Needs": "required columns",
    "needs": "required columns",
    "keys_above": "required columns",
    "IndexHome": "state cache",
    "index_home": "state cache",
    "Held": "reorder buffer",
    "HeldValues": "reorder buffer",
    "linger": "retention",
    "leftovers": "cleanup",
    "let_go": "release",
    "Pin": "manifest",
    "accounts": "metrics",
    "Counted": "metrics",
    "instants": "ticks, slide alignment",
    "remember": "checkpoint",
    "recall": "restore",
    "victims": "fault injection",
    "leave_alone": "idle soak",
    "Pace": "replay rate",
}
"""Names that said these things before, and the field's word for each."""

STILL_USED: dict[str, set[str]] = {"api": {"bars"}, "documents": {"ways"}}
"""The private names that a folder still has: ``bars`` of progress, and a field that users read."""


def _rows() -> list[list[str]]:
    lines = GLOSSARY.read_text("utf-8").splitlines()
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines
        if line.startswith("| ") and not line.startswith("| term ")
    ]


@cache
def _trees(folder: str) -> dict[Path, ast.Module]:
    return {
        path.relative_to(ROOT): ast.parse(path.read_text("utf-8"))
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def test_each_term_has_one_meaning() -> None:
    terms = [row[0] for row in _rows()]
    assert len(terms) > 60
    assert [term for term in terms if terms.count(term) > 1] == []
    assert all(len(cell) > 0 for row in _rows() for cell in (row[0], row[-2]))


def test_each_name_in_the_glossary_is_a_class() -> None:
    classes = {
        node.name
        for folder in FOLDERS
        for tree in _trees(folder).values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    named = {name for row in _rows() for name in re.findall(r"`(\w+)`", row[-1])}
    assert len(named) > 40
    assert sorted(named - classes) == []


def _names_made(tree: ast.Module) -> set[str]:
    """What a module calls its classes, functions, parameters, variables and attributes."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.arg():
                names.add(node.arg)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case ast.Attribute(ctx=ast.Store()):
                names.add(node.attr)
    return names


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_private_word_is_a_name(folder: str) -> None:
    allowed = STILL_USED.get(folder, set())
    wrong = {
        f"{path}: {name}: {PRIVATE[plain]}"
        for path, tree in _trees(folder).items()
        for name in {*_names_made(tree), path.stem}
        if (plain := name.lstrip("_")) in PRIVATE.keys() - allowed
    }
    assert sorted(wrong) == []
