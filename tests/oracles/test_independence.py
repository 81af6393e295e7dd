"""The oracle shares no code with Headrace."""

import ast
from pathlib import Path

FOLDER = Path(__file__).parent


def test_the_oracle_imports_the_standard_library_and_itself_alone() -> None:
    allowed = {
        "__future__",
        "collections",
        "dataclasses",
        "decimal",
        "fractions",
        "functools",
        "itertools",
        "json",
        "math",
        "re",
        "statistics",
        "tests",
        "typing",
    }
    for path in FOLDER.glob("*.py"):
        if path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            for name in names:
                assert name.partition(".")[0] in allowed, f"{path.name} imports {name}"
                if name.startswith("tests"):
                    assert name.startswith("tests.oracles."), f"{path.name} imports {name}"
