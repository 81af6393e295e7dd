"""Tables in Markdown."""

from __future__ import annotations


def head(*names: str) -> list[str]:
    """The two lines above the rows of a table."""
    return [row(*names), row(*("---" for _ in names))]


def row(*cells: object) -> str:
    """One row of a table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
