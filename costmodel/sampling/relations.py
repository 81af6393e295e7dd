"""What a logical operator's result is, over the edges of a sample.

A relation is a value: two memo groups with equal relations have one estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ...algebra.predicate import Predicate
from ...algebra.regex import Regex
from ...algebra.window import Window


class Scanned(NamedTuple):
    """The edges of a label of a stream.

    Attributes:
        stream: the name of the stream.
        label: the label.
        window: the window; None for a stored graph.
        condition: the condition of the edges, over source, target and ``properties``; None for
            all edges.
        properties: the properties that the condition may read.
    """

    stream: str
    label: str
    window: Window | None
    condition: Predicate | None = None
    properties: tuple[str, ...] = ()

    @property
    def bare(self) -> Scanned:
        """All edges of the label."""
        return Scanned(self.stream, self.label, self.window)

    def where(self, condition: Predicate, properties: tuple[str, ...]) -> Scanned:
        """The edges that also satisfy a condition over source, target and some properties."""
        if not self.condition:
            return self._replace(condition=condition, properties=properties)
        names = tuple(dict.fromkeys((*self.properties, *properties)))
        place = {k: 2 + names.index(name) for k, name in enumerate(properties, start=2)}
        moved = condition.renumbered({0: 0, 1: 1, **place})
        both = Predicate.all_of((self.condition, moved))
        return self._replace(condition=both, properties=names)


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of some scans."""

    scans: tuple[Scanned, ...]


@dataclass(frozen=True, slots=True)
class Wide:
    """The edges of some scans with the values of properties as further columns."""

    edges: Edges
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """The pairs that a path connects; the symbols of ``regex`` are positions in ``inputs``."""

    regex: Regex
    inputs: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """The bindings of variables that all inputs agree on, as in PATTERN.

    Attributes:
        bindings: for each input the variables of its columns; inputs share no property.
        output: the variables of the result.
        inputs: the joined relations.
        condition: what the bindings satisfy, over variables; None for all bindings.
    """

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    inputs: tuple[Relation, ...]
    condition: Predicate | None = None


@dataclass(frozen=True, slots=True)
class Either:
    """The rows of any input."""

    inputs: tuple[Relation, ...]


Relation = Edges | Wide | Reach | Join | Either


@dataclass(frozen=True, slots=True)
class OnSample:
    """What a memo group is on the sample.

    Attributes:
        relation: the relation of the group's rows.
        standard_error: that of a sampled estimate; None if the estimate is a formula's.
    """

    relation: Relation
    standard_error: float | None = None


def width(relation: Relation) -> int:
    """The number of columns."""
    match relation:
        case Join():
            return len(relation.output)
        case Either():
            return width(relation.inputs[0])
        case Wide():
            return 2 + len(relation.properties)
        case _:
            return 2


def scans_of(relation: Relation) -> Iterator[Scanned]:
    """The scans that a relation reads."""
    if isinstance(relation, Edges):
        yield from relation.scans
    elif isinstance(relation, Wide):
        yield from relation.edges.scans
    else:
        for below in relation.inputs:
            yield from scans_of(below)


def properties_of(relation: Relation) -> Mapping[int, tuple[str, str]]:
    """The columns of a relation that hold properties, with the stream and the name of each."""
    match relation:
        case Wide(edges, names):
            stream = edges.scans[0].stream
            return {k: (stream, name) for k, name in enumerate(names, start=2)}
        case Join():
            known = variables_of(relation)
            return {k: known[v] for k, v in enumerate(relation.output) if v in known}
        case _:
            return {}


def variables_of(join: Join) -> Mapping[int, tuple[str, str]]:
    """The variables of a join that are properties, with the stream and the name of each."""
    return {
        binding[column]: values
        for binding, below in zip(join.bindings, join.inputs, strict=True)
        for column, values in properties_of(below).items()
    }


def properties_read(relation: Relation) -> Iterator[tuple[str, str]]:
    """The stream and the name of each property that an evaluation of a join reads as a column."""
    if isinstance(relation, Edges | Wide):
        yield from properties_of(relation).values()
    else:
        for below in relation.inputs:
            yield from properties_read(below)


def joins_with_conditions(relation: Relation) -> Iterator[Join]:
    """The joins in a relation whose bindings satisfy a condition."""
    if isinstance(relation, Edges | Wide):
        return
    if isinstance(relation, Join) and relation.condition is not None:
        yield relation
    for below in relation.inputs:
        yield from joins_with_conditions(below)
