"""Checks of a machine as text: a line for each, and what to do below."""

from __future__ import annotations

from ...documents.checks import CheckDocument, ChecksDocument
from ...documents.numbers import printable

_COLOURS = {"ok": "32", "warning": "33", "missing": "31"}


def render(document: ChecksDocument, *, colour: bool = False) -> str:
    """Renders the checks; ``colour`` adds terminal colours."""
    widest = max(len(check.name) for check in document.checks)
    lines = [line for check in document.checks for line in _lines(check, widest, colour)]
    return "\n".join([*lines, "", _summary(document), ""])


def _lines(check: CheckDocument, widest: int, colour: bool) -> list[str]:
    status = check.status.ljust(7)
    if colour:
        status = f"\x1b[{_COLOURS[check.status]}m{status}\x1b[0m"
    first, *rest = check.found.splitlines() or [""]
    indent = " " * (9 + widest + 2)
    optional = " (optional)" if check.status == "missing" and not check.necessary else ""
    lines = [f"{status}  {check.name.ljust(widest)}  {printable(first)}{optional}".rstrip()]
    lines += [f"{indent}{printable(line)}" for line in rest]
    if check.advice is not None:
        lines.append(f"{indent}→ {printable(check.advice)}")
    return lines


def _summary(document: ChecksDocument) -> str:
    missing = [c.name for c in document.checks if c.necessary and c.status == "missing"]
    warnings = sum(check.status == "warning" for check in document.checks)
    if missing:
        return f"missing, and necessary: {', '.join(missing)}"
    said = {0: "no warnings", 1: "1 warning"}.get(warnings, f"{warnings} warnings")
    return f"everything necessary is there, {said}"
