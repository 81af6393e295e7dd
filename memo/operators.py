"""The questions of the memo about operators, which are opaque values to it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .expression import Digest, GroupId


class MemoError(AssertionError):
    """An invariant of the memo that does not hold; the message names the offender."""


class Operators:
    """The memo's questions about operators; a subclass answers those that apply to its own."""

    def canonical(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        """The one form of an operator over groups, or a group that it equals."""
        return operator, inputs

    def fingerprint(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Hashable | None:
        """A second key that determines the result completely, or None."""
        return None

    def properties(self, operator: Hashable, inputs: tuple[Any, ...]) -> Any:
        """The logical properties of the result, from those of the inputs."""
        return None

    def contradiction(self, one: Any, other: Any) -> str | None:
        """The reason that expressions with these properties cannot be equal; None if they can."""
        return None
