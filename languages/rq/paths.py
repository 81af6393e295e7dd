"""Parses the path expressions of RQ."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer

from ...algebra import regex
from ..parsing.paths import PathExpression, joined
from ..parsing.tokens import location_of, name_of, repeats
from .steps import step_of


class Paths(Transformer[Token, Any]):
    """One method for each grammar rule of path expressions."""

    def label(self, parts: list[Any]) -> PathExpression:
        """``label``, or ``_``, perhaps with a filter and a window."""
        ref, steps = step_of(parts)
        at = location_of(parts[0])
        return PathExpression(regex.Symbol(ref), at, leaves=steps)

    wildcard = label

    def negation(self, parts: list[Any]) -> PathExpression:
        """``!(label|^label)``: any other label."""
        left_out = [part for part in parts if isinstance(part, tuple)]
        ref, steps = step_of([p for p in parts if not isinstance(p, tuple)], left_out)
        return PathExpression(regex.Symbol(ref), location_of(parts[0]), leaves=steps)

    def left_out(self, parts: list[Token]) -> tuple[bool, str]:
        """A label of a negation, and whether it is inverse."""
        return len(parts) > 1, name_of(parts[-1])

    def empty_word(self, parts: list[Token]) -> PathExpression:
        """``()``: the path without edges."""
        return PathExpression(regex.EPSILON)

    def alternation(self, parts: list[PathExpression]) -> PathExpression:
        """``path|path``."""
        return joined(regex.alternation, parts)

    def concatenation(self, parts: list[PathExpression]) -> PathExpression:
        """``path/path``."""
        return joined(regex.concat, parts)

    def star(self, parts: list[PathExpression]) -> PathExpression:
        """``path*``."""
        return parts[0].apply(regex.star)

    def plus(self, parts: list[PathExpression]) -> PathExpression:
        """``path+``."""
        return parts[0].apply(regex.plus)

    def optional(self, parts: list[PathExpression]) -> PathExpression:
        """``path?``."""
        return parts[0].apply(regex.optional)

    def inverse(self, parts: list[PathExpression]) -> PathExpression:
        """``^path``."""
        return parts[0].apply(regex.inverse)

    def exactly(self, parts: list[Any]) -> PathExpression:
        """``path{n}``."""
        path, count = parts
        return _repeated(path, count, count)

    def at_least(self, parts: list[Any]) -> PathExpression:
        """``path{n,}``."""
        path, least = parts
        return _repeated(path, least, None)

    def at_most(self, parts: list[Any]) -> PathExpression:
        """``path{,n}``."""
        path, most = parts
        return _repeated(path, None, most)

    def between(self, parts: list[Any]) -> PathExpression:
        """``path{m,n}``."""
        path, least, most = parts
        return _repeated(path, least, most)


def _repeated(path: PathExpression, least: Token | None, most: Token | None) -> PathExpression:
    first = least if least is not None else most
    assert first is not None
    bound = None if most is None else repeats(most)
    return path.repeat(0 if least is None else repeats(least), bound, location_of(first))
