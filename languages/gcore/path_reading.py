# ruff: noqa: D102 - a method is what the rule of its name says in gcore.lark
"""The part of the reader that builds path expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from lark import Token

from ...algebra import regex
from ...algebra.regex import Regex
from ..parsing.paths import PathExpression, joined
from ..parsing.tokens import location_of, name_of, repeats
from ..query.atoms import Location
from ..query.condition_text import label_set_text
from ..query.errors import line_of
from ..query.regular_query import LabelSet
from . import errors
from .syntax import Name


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A path expression and its words; ``turned``: a `^` follows the expression."""

    expression: PathExpression
    names: tuple[Name, ...]
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a repeat; None for a missing bound."""

    least: Token | None
    most: Token | None


class PathRules:
    """One method for each grammar rule of paths."""

    def step(self, parts: list[list[Name]]) -> NamedPath:
        (names,) = parts
        words = [Name(f":{name.text}", name.at) for name in names]
        steps = [PathExpression(regex.Symbol(word.text), word.at) for word in words]
        whole = joined(regex.alternation, steps) if len(steps) > 1 else steps[0]
        return NamedPath(whole, tuple(words))

    def bare_label(self, parts: list[Token]) -> NamedPath:
        return self.step([[name_from(parts[0])]])

    def primary(self, parts: list[Any]) -> Any:
        return unwrapped(parts)

    bare_primary = primary

    def macro_step(self, parts: list[Token]) -> NamedPath:
        name = name_from(parts[0])
        word = Name(f"~{name.text}", name.at)
        return NamedPath(PathExpression(regex.Symbol(word.text), name.at), (word,))

    def wildcard(self, parts: list[Token]) -> NamedPath:
        return _set(LabelSet(), location_of(parts[0]))

    def alternation(self, parts: list[Any]) -> NamedPath:
        return _joined(regex.alternation, parts)

    def concatenation(self, parts: list[Any]) -> NamedPath:
        return _joined(regex.concat, parts)

    def star(self, parts: list[Any]) -> NamedPath:
        return _applied(regex.star, parts)

    def plus(self, parts: list[Any]) -> NamedPath:
        return _applied(regex.plus, parts)

    def optional_step(self, parts: list[Any]) -> NamedPath:
        return _applied(regex.optional, parts)

    def reversed(self, parts: list[Any]) -> NamedPath:
        return replace(_applied(regex.inverse, parts), turned=True)

    def negated(self, parts: list[Any]) -> NamedPath:
        inner, sign = parts
        whole = inner.expression.regex
        steps = whole.parts if isinstance(whole, regex.Alternation) else (whole,)
        forward: list[str] = []
        backward: list[str] = []
        for step in steps:
            if not isinstance(step, regex.Symbol) or not str(step.ref).startswith(":"):
                raise errors.NO_LABEL.error(location_of(sign), str(sign))
            (backward if step.inverse else forward).append(str(step.ref)[1:])
        left_out = LabelSet(tuple(forward) or None, tuple(backward) or None)
        return _set(left_out, inner.names[0].at)

    def bounded(self, parts: list[Any]) -> NamedPath:
        inner, star, bounds = parts
        inner = _warned_of_caret(inner, star)
        at = location_of(bounds.least or bounds.most)
        least = 0 if bounds.least is None else repeats(bounds.least)
        most = None if bounds.most is None else repeats(bounds.most)
        return NamedPath(inner.expression.repeat(least, most, at), inner.names)

    def exactly(self, parts: list[Token]) -> Bounds:
        return Bounds(parts[1], parts[1])

    def at_least(self, parts: list[Token]) -> Bounds:
        return Bounds(parts[1], None)

    def at_most(self, parts: list[Token]) -> Bounds:
        return Bounds(None, parts[1])

    def between(self, parts: list[Token]) -> Bounds:
        return Bounds(parts[1], parts[2])


_SIGNS = {"LPAR", "IS", "SLASH", "LSQB", "LBRACE", "ANY_ROW", "MINUS", "LEFT"}


def words_of(parts: list[Any]) -> list[Any]:
    """The parts without signs, which the grammar keeps for their places."""
    return [part for part in parts if not (isinstance(part, Token) and part.type in _SIGNS)]


def unwrapped(parts: list[Any]) -> Any:
    """The only part that is not a sign."""
    (inside,) = words_of(parts)
    return inside


def name_from(token: Token) -> Name:
    """A word without its backquotes, and its place."""
    return Name(name_of(token), location_of(token))


def _set(labels: LabelSet, at: Location) -> NamedPath:
    """A step over a label set; its name is the text of the set."""
    word = Name(f"!{label_set_text(labels)}", at)
    leaves = ((word.text, labels),)
    return NamedPath(PathExpression(regex.Symbol(word.text), at, leaves=leaves), (word,))


def _joined(join: Callable[[Iterable[Regex]], Regex], parts: list[Any]) -> NamedPath:
    expressions = words_of(parts)
    whole = joined(join, [part.expression for part in expressions])
    return NamedPath(whole, tuple(name for part in expressions for name in part.names))


def _applied(operation: Callable[[Regex], Regex], parts: list[Any]) -> NamedPath:
    inner, sign = parts
    inner = inner if operation is regex.inverse else _warned_of_caret(inner, sign)
    return NamedPath(inner.expression.apply(operation), inner.names)


def _warned_of_caret(inner: NamedPath, sign: Token) -> NamedPath:
    if not inner.turned:
        return inner
    reason = "it repeats the step walked backwards, for ^ reverses"
    hint = "leave the ^ out if the step itself is meant"
    warning = line_of("W-CARET", location_of(sign), f"^{sign}", reason, hint)
    expression = inner.expression
    warned = replace(expression, warnings=(*expression.warnings, warning))
    return replace(inner, expression=warned)
