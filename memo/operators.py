"""What the memo asks the operators, about which it knows nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, cast

from .expression import Digest, GroupId, Operator


class MemoError(AssertionError):
    """An invariant of the memo that does not hold; the message names the offender."""


def _canonical(operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
    return cast(Operator, operator).canonical(inputs)


def _no_fingerprint(operator: Hashable, inputs: tuple[GroupId, ...]) -> Hashable | None:
    return None


def _no_properties(operator: Hashable, inputs: tuple[Any, ...]) -> Any:
    return None


def _no_contradiction(one: Any, other: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class OperatorSide:
    """What the memo asks the operators, about which it knows nothing itself.

    ``canonical``: the one form of an operator over groups, or a group that it equals.
    ``fingerprint``: a second key that determines the result completely, or None.
    ``properties``: logical properties from those of the inputs.
    ``contradiction``: why two expressions with such properties cannot be equal, or None.
    """

    canonical: Callable[[Hashable, tuple[GroupId, ...]], Digest | GroupId] = _canonical
    fingerprint: Callable[[Hashable, tuple[GroupId, ...]], Hashable | None] = _no_fingerprint
    properties: Callable[[Hashable, tuple[Any, ...]], Any] = _no_properties
    contradiction: Callable[[Any, Any], str | None] = _no_contradiction
