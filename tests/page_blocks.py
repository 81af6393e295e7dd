"""The blocks of code in the pages of the documentation, each of one kind."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from headrace.languages import cypher
from headrace.languages.gcore.parser import recognizes

ROOT = Path(__file__).parent.parent
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("examples/*/*.md"),
    ROOT / "web" / "README.md",
]
"""The pages that people read; `docs/experiments` has figures, and no code."""

_BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_GOLDEN = re.compile(r"<!-- ([^>]*) -->\n$")

LANGUAGES = {
    "python": "python",
    "py": "service",  # programs and requests that need the service of docs/service.md
    "sh": "shell",
    "bash": "shell",
    "yaml": "catalog",
    "json": "json",
    "svelte": "typescript",
}
"""The kinds of the blocks that say what they are."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code.

    Attributes:
        page: the page, relative to the root of the repository.
        line: the line of its fence.
        language: the words after the fence.
        text: its lines, without the indentation of the fence.
        golden: whether the block stands below a mark, so that ``--update-golden`` writes it.
    """

    page: str
    line: int
    language: str
    text: str
    golden: bool

    @property
    def first_line(self) -> str:
        """The first line, which names the block in messages and tables."""
        return self.text.strip().partition("\n")[0]

    @property
    def kind(self) -> str:
        """How the block is checked; empty for a block that nothing knows how to check."""
        if self.language in LANGUAGES:
            return LANGUAGES[self.language]
        if self.language:
            return self.language  # such as `python kafka`, which a test of its own runs
        if self.golden:
            return "golden"
        if self.first_line.startswith("headrace "):
            return "shell"
        if self.first_line.startswith("%%headrace"):
            return "cell"
        if cypher.LANGUAGE.recognizes(self.text):
            return "query"
        if recognizes(self.text) or self.first_line.startswith("PATH "):
            return "query"
        if re.search(r"^\w+\(.*<-", self.text, re.MULTILINE):
            return "query"
        return "json" if self.first_line.startswith("{") else ""

    @property
    def commands(self) -> list[str]:
        """The commands of a block of the shell, without their comments and continuations."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [re.split(r" {3,}|\s# ", line)[0].strip() for line in lines if line.strip()]


def blocks() -> list[Block]:
    """All blocks of all pages."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in _BLOCK.finditer(text):
            before = text[: match.start()]
            found.append(
                Block(
                    str(page.relative_to(ROOT)),
                    before.count("\n") + 1,
                    match[2].strip(),
                    textwrap.dedent(match[3]),
                    _GOLDEN.search(before) is not None,
                )
            )
    return found
