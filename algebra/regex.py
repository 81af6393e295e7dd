"""Regular expressions over edge labels, in a normal form.

In a query text the symbols are label names; in a PATH operator they are numbers of
its inputs (:class:`headrace.algebra.logical.Path`). Build with the functions of this module
(:func:`concat`, :func:`alternation`, :func:`star`, ...), never with the classes: only
the functions give the normal form, in which equal values are equal objects:

* concatenation and alternation are n-ary and flat, an alternation is sorted and
  without repeats, and a single ``?`` around it accepts the empty word (``(a|b)?``);
* ``(r*)* = r*``, ``(r+)+ = r+``, ``(r?)+ = r*``, ``(r* | s)* = (r | s)* = (r*·s?)*``;
* ``r?`` and ``r*`` stand only where the empty word is not accepted anyway.

Bounded repeats are expanded when they are built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .hashing import HashedOnce, hashed_once

Ref = int | str
"""The reference of a symbol: a label name (in a query) or an input number (in PATH)."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One step along an edge of input ``ref``; backwards if ``inverse``."""

    ref: Ref
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Epsilon:
    """The empty word alone."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No word at all (``a{3,2}``)."""


@hashed_once
@dataclass(frozen=True, slots=True)
class Concat(HashedOnce):
    """Two or more parts, one after the other."""

    parts: tuple[Regex, ...]


@hashed_once
@dataclass(frozen=True, slots=True)
class Alternation(HashedOnce):
    """Two or more different, sorted parts, none of them ``r?`` or ``r*``."""

    parts: tuple[Regex, ...]


@hashed_once
@dataclass(frozen=True, slots=True)
class Star(HashedOnce):
    """Zero or more times; ``part`` is not nullable."""

    part: Regex


@hashed_once
@dataclass(frozen=True, slots=True)
class Plus(HashedOnce):
    """One or more times; ``part`` is not nullable."""

    part: Regex


@hashed_once
@dataclass(frozen=True, slots=True)
class Optional(HashedOnce):
    """Once or not at all; ``part`` is not nullable."""

    part: Regex


Regex = Symbol | Epsilon | Nothing | Concat | Alternation | Star | Plus | Optional

EPSILON = Epsilon()
NOTHING = Nothing()


def nullable(r: Regex) -> bool:
    """Whether ``r`` accepts the empty word."""
    match r:
        case Epsilon() | Star() | Optional():
            return True
        case Concat(parts):
            return all(map(nullable, parts))
        case Alternation(parts):
            return any(map(nullable, parts))
        case _:
            return False


def has_closure(r: Regex) -> bool:
    """Whether a part of the regex may repeat any number of times."""
    match r:
        case Star() | Plus():
            return True
        case Optional(part):
            return has_closure(part)
        case Concat(parts) | Alternation(parts):
            return any(map(has_closure, parts))
        case _:
            return False


def concat(parts: Iterable[Regex]) -> Regex:
    """``r1 · r2 · ...``; no parts give the empty word."""
    flat: list[Regex] = []
    for part in parts:
        match part:
            case Nothing():
                return NOTHING
            case Epsilon():
                continue
            case Concat(inner):
                flat.extend(inner)
            case _:
                flat.append(part)
    if not flat:
        return EPSILON
    return flat[0] if len(flat) == 1 else Concat(tuple(flat))


def alternation(parts: Iterable[Regex]) -> Regex:
    """``r1 | r2 | ...``; no parts give the empty language."""
    accepts_empty = False
    members: set[Regex] = set()
    pending = list(parts)
    while pending:
        match pending.pop():
            case Nothing():
                continue
            case Epsilon():
                accepts_empty = True
            case Alternation(inner):
                pending.extend(inner)
            case Optional(inner_part):
                accepts_empty = True
                pending.append(inner_part)
            case Star(inner_part):
                accepts_empty = True
                members.add(plus(inner_part))
            case part:
                members.add(part)
    # Two nullable concatenations may stand side by side; the empty word is in them already.
    accepts_empty = accepts_empty and not any(map(nullable, members))
    if not members:
        return EPSILON if accepts_empty else NOTHING
    ordered = tuple(sorted(members, key=sort_key))
    whole: Regex = ordered[0] if len(ordered) == 1 else Alternation(ordered)
    return optional(whole) if accepts_empty else whole


def star(r: Regex) -> Regex:
    """``r*``."""
    core = _repeat_core(r)
    return EPSILON if isinstance(core, Epsilon | Nothing) else Star(core)


def plus(r: Regex) -> Regex:
    """``r+``."""
    if isinstance(r, Epsilon | Nothing):
        return r
    return Star(_repeat_core(r)) if nullable(r) else Plus(_repeat_core(r))


def optional(r: Regex) -> Regex:
    """``r?``."""
    if isinstance(r, Nothing):
        return EPSILON
    if isinstance(r, Plus):
        return Star(r.part)
    return r if nullable(r) else Optional(r)


def repeat(r: Regex, least: int, most: int | None) -> Regex:
    """``r{least,most}``, expanded; ``most`` None means without bound."""
    if most is not None and most < least:
        return NOTHING
    if most is None:
        return star(r) if least == 0 else concat([r] * (least - 1) + [plus(r)])
    tail: Regex = EPSILON
    for _ in range(most - least):
        tail = optional(concat([r, tail]))
    return concat([r] * least + [tail])


def nonempty(r: Regex) -> Regex:
    """The normal form of ``r`` as a whole PATH, which never reports the empty word."""
    match r:
        case Epsilon():
            return NOTHING
        case Star(part):
            return plus(part)
        case Optional(part):
            return part
        case _:
            return r


def without_empty(r: Regex) -> Regex:
    """The normal form of a regex for the words of ``r`` except the empty one."""
    if not nullable(r):
        return r
    match r:
        case Star(part) | Plus(part):
            return plus(without_empty(part))
        case Optional(part):
            return without_empty(part)
        case Alternation(parts):
            return alternation(map(without_empty, parts))
        case Concat(parts):
            rest = concat(parts[1:])
            return alternation([concat([without_empty(parts[0]), rest]), without_empty(rest)])
        case _:
            return NOTHING


def beginnings(r: Regex) -> Regex:
    """Words of ``r``, of which each non-empty word of ``r`` begins with one.

    Words that begin with a shorter word are left out where the parts of the regex show it:
    ``a·b*`` becomes ``a``, ``(a|b)+`` becomes ``a|b``.
    """
    match without_empty(r):
        case Plus(part):
            return beginnings(part)
        case Alternation(parts):
            return alternation(map(beginnings, parts))
        case Concat((*first, last)):
            if nullable(last):
                return beginnings(concat(first))
            return concat([*first, beginnings(last)])
        case whole:
            return whole


def inverse(r: Regex) -> Regex:
    """The regex of the reversed paths: ``^(r·s) = ^s·^r``."""
    match r:
        case Symbol(ref, backwards):
            return Symbol(ref, not backwards)
        case Concat(parts):
            return concat(inverse(p) for p in reversed(parts))
        case Alternation(parts):
            return alternation(map(inverse, parts))
        case Star(part):
            return star(inverse(part))
        case Plus(part):
            return plus(inverse(part))
        case Optional(part):
            return optional(inverse(part))
        case _:
            return r


def substitute(r: Regex, replacement: Callable[[Symbol], Regex]) -> Regex:
    """``r`` with every symbol replaced, brought back to the normal form."""
    match r:
        case Symbol():
            return replacement(r)
        case Concat(parts):
            return concat(substitute(p, replacement) for p in parts)
        case Alternation(parts):
            return alternation(substitute(p, replacement) for p in parts)
        case Star(part):
            return star(substitute(part, replacement))
        case Plus(part):
            return plus(substitute(part, replacement))
        case Optional(part):
            return optional(substitute(part, replacement))
        case _:
            return r


def symbols(r: Regex) -> Iterator[Symbol]:
    """The symbols of ``r`` from left to right, with repeats."""
    match r:
        case Symbol():
            yield r
        case Concat(parts) | Alternation(parts):
            for part in parts:
                yield from symbols(part)
        case Star(part) | Plus(part) | Optional(part):
            yield from symbols(part)
        case _:
            return


def refs(r: Regex) -> tuple[Ref, ...]:
    """The different references of ``r`` in the order of their first occurrence."""
    return tuple(dict.fromkeys(s.ref for s in symbols(r)))


def sort_key(r: Regex) -> tuple[object, ...]:
    """A total order over regexes whose references are of one type."""
    match r:
        case Symbol(ref, backwards):
            return (0, ref, backwards)
        case Concat(parts):
            return (1, len(parts), *(sort_key(p) for p in parts))
        case Alternation(parts):
            return (2, len(parts), *(sort_key(p) for p in parts))
        case Star(part):
            return (3, sort_key(part))
        case Plus(part):
            return (4, sort_key(part))
        case Optional(part):
            return (5, sort_key(part))
        case Epsilon():
            return (6,)
        case Nothing():
            return (7,)


def text(r: Regex, name: Callable[[Ref], str] = str) -> str:
    """``r`` in the notation of the thesis, with ``^`` for an inverse step."""

    def inside(part: Regex) -> str:
        return f"({show(part)})" if isinstance(part, Concat | Alternation) else show(part)

    def show(part: Regex) -> str:
        match part:
            case Symbol(ref, backwards):
                return ("^" if backwards else "") + name(ref)
            case Concat(parts):
                return "·".join(
                    f"({show(p)})" if isinstance(p, Alternation) else show(p) for p in parts
                )
            case Alternation(parts):
                return "|".join(show(p) for p in parts)
            case Star(inner):
                return inside(inner) + "*"
            case Plus(inner):
                return inside(inner) + "+"
            case Optional(inner):
                return inside(inner) + "?"
            case Epsilon():
                return "ε"
            case Nothing():
                return "∅"

    return show(r)


def _repeat_core(r: Regex) -> Regex:
    """The part, not nullable, whose repetition equals that of ``r``: ``(a+ | b?)* = (a | b)*``."""
    match r:
        case Star(part) | Plus(part) | Optional(part):
            return _repeat_core(part)
        case Alternation(parts):
            core = alternation(map(_repeat_core, parts))
            return core if core == r else _repeat_core(core)
        case Concat(parts) if nullable(r):
            # Each part may stand alone, so their order is lost: (a*·b?)* = (a | b)*.
            return _repeat_core(alternation(parts))
        case _:
            return r
