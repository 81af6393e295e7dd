"""Hash values that are computed once: operators are deep values, and keys of many lookups."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T", bound="HashedOnce")


class HashedOnce:
    """The base class of frozen dataclasses that :func:`hashed_once` decorates.

    The hash value is not a field, so copies and pickles leave it out: it differs between processes.
    """

    __slots__ = ("_hash",)


def hashed_once(value: type[T]) -> type[T]:
    """A frozen dataclass with slots that keeps its hash value after the first call of ``hash``.

    >>> from dataclasses import dataclass
    >>> @hashed_once
    ... @dataclass(frozen=True, slots=True)
    ... class Word(HashedOnce):
    ...     text: str
    >>> hash(Word("a")) == hash(Word("a")), Word("a") == Word("a")
    (True, True)
    """
    computed: Any = value.__hash__

    def once(self: Any) -> int:
        try:
            known: int = self._hash
        except AttributeError:
            known = computed(self)
            object.__setattr__(self, "_hash", known)
        return known

    value.__hash__ = once  # type: ignore[method-assign]  # a class decorator
    return value
