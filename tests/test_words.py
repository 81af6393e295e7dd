"""Messages shared by several interfaces use the words of none of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from headrace.algebra.remedy import Setting
from headrace.api.wording import COMMAND_LINE
from tests.test_imports import MAY_IMPORT, ROOT

SHARED = sorted({*MAY_IMPORT} - {"api", "examples"})
OF_EACH_INTERFACE = ROOT / "catalog" / "layout_hints.py"
"""The names of settings of files, by the interface that described the file."""

OF_OTHER_PROGRAMS = {
    "--add-modules=jdk.incubator.vector",
    "--porcelain",
    "--short",
    "--untracked-files=no",
}
"""Options that are no advice to a user."""


def _options_in_messages(path: Path) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documentation
        and re.search(r"(?<!-)--[a-z]|`headrace [a-z]", node.value)
        and node.value not in OF_OTHER_PROGRAMS
    ]


@pytest.mark.parametrize("folder", SHARED)
def test_no_message_beneath_the_faces_names_an_option_of_the_command_line(folder: str) -> None:
    """The page and the service show it too: a setting is named by a `Remedy`."""
    found = [
        line
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != OF_EACH_INTERFACE
        for line in _options_in_messages(path)
    ]
    assert found == []


def test_the_command_line_has_a_name_for_every_setting() -> None:
    assert {*COMMAND_LINE} == {*get_args(Setting)}
