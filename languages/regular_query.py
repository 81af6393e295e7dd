"""The Regular Query: what every query language is parsed into (thesis Definition 14).

Binary, non-recursive Datalog whose body atoms may be regular paths, with an answer of any
arity and windows over its input labels. Two queries are equal whatever the places in the
text where their parts stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from algebra.regex import Regex
from algebra.window import Window


@dataclass(frozen=True, slots=True)
class Location:
    """Where something stands in the query text; both count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; ``_`` in the text becomes one with a name of its own."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A vertex written out; coerced to the vertex type of the stream when translated."""

    value: str | int


Term = Variable | Constant


@dataclass(frozen=True, slots=True)
class EdgeAtom:
    """``predicate(source, target)``: an edge of an input label or of a derived one."""

    predicate: str
    source: Term
    target: Term
    location: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class PathAtom:
    """A path from source to target whose word is in ``regex`` (symbols are predicates).

    ``alias`` is the name given by ``as``, if any. Never matches a path without edges.
    """

    regex: Regex
    source: Term
    target: Term
    location: Location = field(compare=False)
    alias: str | None = None


Atom = EdgeAtom | PathAtom


@dataclass(frozen=True, slots=True)
class Rule:
    """``head(variables) <- body``."""

    head: str
    variables: tuple[str, ...]
    body: tuple[Atom, ...]
    location: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowClause:
    """A window for all labels (``stream`` None), for a stream, or for some of its labels."""

    window: Window
    stream: str | None = None
    labels: tuple[str, ...] = ()
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RegularQuery:
    """The rules in the order of the text, the answer predicate, and the windows.

    ``time_unit`` is what the windows are counted in; None when they were all written in
    bare ticks, which mean the catalog's unit. ``warnings`` are lines for people to read.
    """

    rules: tuple[Rule, ...]
    answer: str
    windows: tuple[WindowClause, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
    time_unit: str | None = None
