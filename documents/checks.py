"""The checks of a machine on which Headrace is installed: what was found, and what to do."""

from __future__ import annotations

from typing import Literal

from .model import Document, Optional

Status = Literal["ok", "warning", "missing"]


class CheckDocument(Document):
    """One check.

    Attributes:
        name: what was checked.
        status: ``warning`` if it works with a drawback, ``missing`` if it does not work.
        necessary: whether Headrace does not run queries as usual without it.
        found: what was found, for people.
        advice: what to do; absent if nothing is to do.
    """

    name: str
    status: Status
    necessary: bool
    found: str
    advice: Optional[str] = None


class ChecksDocument(Document):
    """All checks.

    Attributes:
        ok: whether everything necessary is there.
        checks: the checks, in the order in which they are shown.
    """

    ok: bool
    checks: tuple[CheckDocument, ...]


def checks_document(checks: tuple[CheckDocument, ...]) -> ChecksDocument:
    """Returns the document of checks."""
    missing = any(check.necessary and check.status == "missing" for check in checks)
    return ChecksDocument(ok=not missing, checks=checks)
