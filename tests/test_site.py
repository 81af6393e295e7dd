"""The documentation site builds without a warning, and works without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

import headrace

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
LOADED = re.compile(
    r"<(?:script|img|iframe)\b[^>]*\bsrc=[\"'](?:https?:)?//[^\"']+"
    r"|<link\b[^>]*\brel=[\"'](?:stylesheet|preload|icon)[\"'][^>]*\bhref=[\"'](?:https?:)?//[^\"']+"
    r"|url\([\"']?(?:https?:)?//[^)]+|@import [\"'](?:https?:)?//[^\"']+"
)
"""What a browser would fetch from another host."""


def build(sources: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Builds a site as CONTRIBUTING.md says, with the settings of this repository."""
    command = next(
        line.split("`")[3].split()
        for line in (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
        if line.startswith("| the documentation site")
    )
    program, *options, config, _, _ = command
    assert program == "sphinx-build"
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(ROOT / config), str(sources), str(site)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_site_builds_without_a_warning_and_is_complete(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = build(ROOT, site)
    assert built.stderr == ""
    assert built.returncode == 0
    documented = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    python = {
        name for kind, names in documented.items() if kind.startswith("py:") for name in names
    }
    assert {f"headrace.{name}" for name in headrace.__all__} <= python
    labels = documented["std:label"]
    assert {"plan.schema-planwindow", "openapi-problem", "openapi-optimizebody"} <= labels.keys()
    rest = (site / "docs/site/rest.html").read_text("utf-8")
    assert "POST /optimize" in rest
    assert "README.html" in (site / "index.html").read_text("utf-8")
    files = [path for kind in ("html", "css", "js") for path in site.rglob(f"*.{kind}")]
    assert len(files) > len(list(ROOT.glob("docs/*.md")))
    loaded = {str(path): LOADED.findall(path.read_text("utf-8")) for path in files}
    assert {path: found for path, found in loaded.items() if found} == {}


BROKEN = """# A page

[gone](docs/gone.md), [gone too](#no-such-heading)

```{eval-rst}
:func:`headrace.plan_of` and `a_name`
```
"""


def test_each_broken_reference_fails_the_build(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "README.md").write_text(BROKEN, "utf-8")
    built = build(sources, tmp_path / "site")
    assert built.returncode != 0
    for complaint in (
        "'docs/gone.md'",
        "'no-such-heading'",
        "py:func reference target not found: headrace.plan_of",
        "py:obj reference target not found: a_name",
    ):
        assert complaint in built.stderr
