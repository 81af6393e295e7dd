"""The public API: everything that programs need is in ``headrace``, documented and complete."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import headrace
from headrace import (
    HeadraceError,
    PlanningOptions,
    PlanRequest,
    Result,
    UsageError,
    inputs_of_plan,
    load_catalog,
    load_plan,
    optimize,
    results,
)

ROOT = Path(__file__).parent.parent
FOR_DEVELOPERS = {"CONTRIBUTING.md", "architecture.md", "extending.md", "glossary.md"}
"""Pages about the inside of Headrace."""

PAGES = [
    page
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/*.md"))
    if page.name not in FOR_DEVELOPERS
]
BLOCK = re.compile(r"^( *)```\w*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def _python_shown() -> Iterator[tuple[str, ast.Module]]:
    """Each block of a page that is Python and names Headrace, by the name of the page."""
    for page in PAGES:
        for _, block in BLOCK.findall(page.read_text("utf-8")):
            if re.search(r"^\s*(from|import) |\bheadrace\.", block, re.MULTILINE):
                try:
                    yield page.name, ast.parse(textwrap.dedent(block))
                except SyntaxError:
                    continue  # a command, or another language


def _names_used(module: ast.Module) -> Iterator[str]:
    """What a program uses of Headrace; a sub-package with its whole name."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("headrace."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headrace."):
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom) and node.module == "headrace":
            yield from (alias.name for alias in node.names)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "headrace"
        ):
            yield node.attr


def test_the_pages_use_public_names_alone() -> None:
    used = [(page, name) for page, module in _python_shown() for name in _names_used(module)]
    assert {page for page, _ in used} >= {"running.md", "explain.md"}
    assert [(page, name) for page, name in used if name not in headrace.__all__] == []


def test_the_page_for_python_lists_every_public_name() -> None:
    text = (ROOT / "docs" / "running.md").read_text("utf-8")
    rows = text.partition("| name | is |\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", rows)) == set(headrace.__all__)


@pytest.mark.parametrize("package", ["headrace", "headrace.catalog"])
def test_public_names_exist_and_say_what_they_are(package: str) -> None:
    module = import_module(package)
    undocumented = [
        name
        for name in module.__all__
        if not name.isupper() and not (getattr(module, name).__doc__ or "").strip()
    ]
    assert undocumented == []
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_results_of_a_stored_plan_come_one_by_one(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("src,trg,label,ts\n1,2,a,0\n2,3,b,5\n2,4,b,6\n")
    request = PlanRequest("Answer(x, y) <- x (a/b)+ y", options=PlanningOptions(window="1d"))
    stored = tmp_path / "plan.json"
    stored.write_text(optimize(request).plan.to_json(), "utf-8")
    plan = load_plan(stored)
    found = results(plan, inputs_of_plan(plan, None, [str(edges)]))
    assert next(found) == Result(("1", "3"), 5, 86_400)
    assert list(found) == [Result(("1", "4"), 6, 86_400)]


def test_user_errors_are_headrace_errors(tmp_path: Path) -> None:
    bad = tmp_path / "catalog.yaml"
    bad.write_text("streams: {s: {labels: 5}}\n")
    for wrong in (
        lambda: load_catalog(bad),
        lambda: load_catalog(tmp_path / "none.yaml"),
        lambda: load_plan(bad),
        lambda: load_plan(tmp_path / "none.json"),
    ):
        with pytest.raises(UsageError) as raised:
            wrong()
        assert isinstance(raised.value, HeadraceError)
        assert str(tmp_path) in raised.value.display()
