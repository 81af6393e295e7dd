"""Shapes of generated queries: paths, patterns and mixtures, in the style of gMark.

A shape is a query whose labels are slots. Its *meetings* are the pairs of (slot, end) that one
variable or one position of a path binds; end 0 is the source of an edge, 1 the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from bench.corpus import Cut

End = tuple[str, int]
PATHS, PATTERNS, MIXED = 14, 14, 14
"""The numbers of generated queries of each kind."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A text with slots in braces, and the ends that meet."""

    text: str
    meetings: tuple[tuple[End, End], ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots in the order of their first occurrence."""
        return tuple(dict.fromkeys(re.findall(r"\{(\w+)\}", self.text)))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a path: its text, and the ends at which it begins and stops."""

    text: str
    first: tuple[End, ...]
    last: tuple[End, ...]
    meetings: tuple[tuple[End, End], ...] = ()


def generated(random: Random, cut: Cut) -> Iterator[tuple[str, str, Shape]]:
    """Name, kind and shape of each generated query."""
    for i in range(PATHS):
        yield f"path {i + 1}", "path", _path_query(random)
    for i in range(PATTERNS):
        yield f"pattern {i + 1}", "pattern", _pattern(random, cut)
    for i in range(MIXED):
        yield f"mixed {i + 1}", "mixed", _mixed(random)


class _Slots:
    """Names for slots: l0, l1, and so on."""

    def __init__(self) -> None:
        self._count = 0

    def next(self) -> str:
        self._count += 1
        return f"l{self._count - 1}"


def _path_query(random: Random) -> Shape:
    path = _path(random, _Slots(), random.choice((2, 2, 3, 3, 4)), closed=random.random() < 0.3)
    return Shape(f"Answer(x, y) <- x {path.text} y.", path.meetings)


def _path(random: Random, slots: _Slots, length: int, *, closed: bool) -> _Part:
    """A concatenation of parts, of which one at least is a label; closed under repetition or not.

    Within a repetition no part repeats, since ``(a*/b*)+`` says no more than ``(a|b)+``.
    """
    kinds = ["label", "either"] if closed else ["label", "label", "star", "plus", "either", "maybe"]
    chosen = ["label", *(random.choice(kinds) for _ in range(length - 1))]
    random.shuffle(chosen)
    whole = _joined([_part(kind, slots) for kind in chosen])
    return _repeated(whole, "+") if closed else whole


def _part(kind: str, slots: _Slots) -> _Part:
    one = slots.next()
    if kind == "either":
        other = slots.next()
        both = (one, other)
        return _Part(
            f"({{{one}}}|{{{other}}})",
            tuple((slot, 0) for slot in both),
            tuple((slot, 1) for slot in both),
        )
    label = _Part(f"{{{one}}}", ((one, 0),), ((one, 1),))
    if kind == "maybe":
        return _Part(f"{label.text}?", label.first, label.last)
    return label if kind == "label" else _repeated(label, "*" if kind == "star" else "+")


def _joined(parts: Sequence[_Part]) -> _Part:
    meetings = [m for part in parts for m in part.meetings]
    for before, after in pairwise(parts):
        meetings += [(last, first) for last in before.last for first in after.first]
    text = "/".join(part.text for part in parts)
    return _Part(text, parts[0].first, parts[-1].last, tuple(meetings))


def _repeated(part: _Part, sign: str) -> _Part:
    text = part.text if re.fullmatch(r"\{\w+\}", part.text) else f"({part.text})"
    again = tuple((last, first) for last in part.last for first in part.first)
    return _Part(text + sign, part.first, part.last, (*part.meetings, *again))


@dataclass(frozen=True, slots=True)
class _Atom:
    """An atom over two variables: a label, or a path between braces of its own."""

    part: _Part
    source: int
    target: int
    name: str = ""

    @property
    def text(self) -> str:
        closure = re.fullmatch(r"(\{\w+\})(\+?)", self.part.text)
        ends = f"x{self.source}", f"x{self.target}"
        if closure:
            text = f"{self.part.text}({ends[0]}, {ends[1]})"
        else:
            text = f"{ends[0]} {self.part.text} {ends[1]}"
        return f"{text} as {self.name}" if self.name else text


def _skeleton(random: Random) -> list[tuple[int, int]]:
    """The edges of a chain, a star, a cycle, or a chain that begins in a star."""
    kind = random.choice(("chain", "chain", "star", "cycle", "flower"))
    if kind == "chain":
        edges = [(k, k + 1) for k in range(random.choice((2, 3, 3, 4)))]
    elif kind == "star":
        edges = [(0, k + 1) for k in range(random.choice((3, 3, 4)))]
    elif kind == "cycle":
        n = random.choice((3, 3, 4))
        edges = [(k, (k + 1) % n) for k in range(n)]
    else:
        edges = [(0, 1), (0, 2), (0, 3), (3, 4)]
    turned = 0.0 if kind == "cycle" and random.random() < 0.5 else 0.25
    edges = [(j, i) if random.random() < turned else (i, j) for i, j in edges]
    random.shuffle(edges)
    return edges


def _pattern(random: Random, cut: Cut) -> Shape:
    """A pattern of labels, perhaps with a constant and a condition on a property."""
    slots = _Slots()
    edges = _skeleton(random)
    atoms = []
    for number, (i, j) in enumerate(edges):
        slot = slots.next()
        atoms.append(_Atom(_Part(f"{{{slot}}}", ((slot, 0),), ((slot, 1),)), i, j, f"e{number}"))
    conditions = []
    if cut.properties and random.random() < 0.6:
        conditions.append(_condition(random, cut, f"e{random.randrange(len(atoms))}"))
    if random.random() < 0.25:
        conditions.append(f"x{random.choice(edges)[0]} = {random.choice(cut.edges).src}")
    named = [a if any(a.name + "." in c for c in conditions) else _unnamed(a) for a in atoms]
    return _rule(random, named, conditions)


def _unnamed(atom: _Atom) -> _Atom:
    return _Atom(atom.part, atom.source, atom.target)


def _condition(random: Random, cut: Cut, edge: str) -> str:
    """A comparison of a property with one of its values."""
    name = random.choice(cut.properties)
    values = [e.properties[name] for e in cut.edges if e.properties[name] is not None]
    value = random.choice(values)
    if isinstance(value, bool):
        return f"{edge}.{name} = {str(value).lower()}"
    sign = random.choice((">=", "<=", ">=", "<=", "="))
    return (
        f"{edge}.{name} {sign} {value:f}"
        if isinstance(value, float)
        else (f"{edge}.{name} {sign} {value}")
    )


def _mixed(random: Random) -> Shape:
    """A pattern with a path on one of its edges, a closure of a derived edge, or a union."""
    kind = random.choice(("path in pattern", "path in pattern", "closure of pattern", "union"))
    slots = _Slots()
    if kind == "path in pattern":
        edges = _skeleton(random)
        place = random.randrange(len(edges))
        atoms = []
        for number, (i, j) in enumerate(edges):
            if number == place:
                part = _repeated(_part("label", slots), "+")
                if random.random() < 0.4:
                    part = _path(random, slots, 2, closed=random.random() < 0.5)
            else:
                part = _part("label", slots)
            atoms.append(_Atom(part, i, j))
        return _rule(random, atoms, [])
    if kind == "closure of pattern":
        length = random.choice((2, 2, 3))
        chain = [_part("label", slots) for _ in range(length)]
        body = ", ".join(_Atom(part, k, k + 1).text for k, part in enumerate(chain))
        step = _repeated(_joined(chain), "+")
        last = _part("label", slots)
        text = f"D(x0, x{length}) <- {body}. Answer(x, y) <- D+(x, z), {last.text}(z, y)."
        return Shape(text, _joined([step, last]).meetings)
    one = _joined([_part("label", slots), _part("label", slots)])
    other, last = _part("label", slots), _part("label", slots)
    first, second = one.text.split("/")
    text = (
        f"D(x, z) <- {first}(x, y), {second}(y, z). D(x, z) <- {other.text}(x, z). "
        f"Answer(x, w) <- D(x, z), {last.text}(z, w)."
    )
    return Shape(text, (*_joined([one, last]).meetings, *_joined([other, last]).meetings))


def _rule(random: Random, atoms: Sequence[_Atom], conditions: Sequence[str]) -> Shape:
    """The rule of atoms; the answer keeps two variables, or all of a small pattern."""
    bound: dict[int, list[End]] = {}
    meetings = [m for atom in atoms for m in atom.part.meetings]
    for atom in atoms:
        for variable, ends in ((atom.source, atom.part.first), (atom.target, atom.part.last)):
            for end in ends:
                meetings += [(end, before) for before in bound.get(variable, [])]
            bound.setdefault(variable, []).extend(ends)
    variables = sorted(bound)
    kept = variables
    if len(variables) > 3 or random.random() < 0.5:
        kept = [variables[0], variables[-1]]
    head = ", ".join(f"x{v}" for v in kept)
    body = ", ".join([*(atom.text for atom in atoms), *conditions])
    return Shape(f"Answer({head}) <- {body}.", tuple(meetings))
