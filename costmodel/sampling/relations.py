"""What a logical operator's result is, over the edges of a sample.

A relation is a value: two memo groups with equal relations have one estimate. Joins of joins are
one join, and a path over paths is one path, where that gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...algebra import regex
from ...algebra.logical import (
    BoundPath,
    LogicalOperator,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from ...algebra.regex import Regex, Symbol
from ...algebra.window import Window

MOST_ATOMS = 12
"""The most inputs of a join that is evaluated on a sample."""

Scanned = tuple[str, str, Window | None]
"""A stream, a label and the window of its edges; None for a stored graph."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of some scans."""

    scans: tuple[Scanned, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """The pairs that a path connects; the symbols of ``regex`` are positions in ``inputs``."""

    regex: Regex
    inputs: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """The bindings of variables that all inputs agree on, as in PATTERN."""

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    inputs: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """The rows of any input."""

    inputs: tuple[Relation, ...]


Relation = Edges | Reach | Join | Either


@dataclass(frozen=True, slots=True)
class OnSample:
    """What a memo group is on the sample.

    Attributes:
        relation: the relation of the group's rows.
        standard_error: that of a sampled estimate; None if the estimate is a formula's.
    """

    relation: Relation
    standard_error: float | None = None


def relation_of(operator: LogicalOperator, inputs: Sequence[Relation | None]) -> Relation | None:
    """The relation of an operator's result; None if the sample cannot evaluate it.

    Conditions and properties of edges, simple paths and the operators at the root cannot be
    evaluated.
    """
    match operator:
        case WScan() | WScanUnion():
            return _edges(operator.scans)
        case _:
            relations = [i for i in inputs if i is not None]
            if len(relations) < len(inputs) or not relations:
                return None
    match operator:
        case (
            Path(semantics=PathSemantics.ARBITRARY)
            | BoundPath(semantics=PathSemantics.ARBITRARY, sources=None)
        ):
            return _reach(operator.regex, relations)
        case Pattern():
            return _join(operator.bindings, operator.output, relations)
        case Project():
            columns = operator.columns
            return _join((tuple(range(width(relations[0]))),), columns, relations)
        case Union():
            return _either(relations)
        case _:
            return None


def width(relation: Relation) -> int:
    """The number of columns."""
    match relation:
        case Join():
            return len(relation.output)
        case Either():
            return width(relation.inputs[0])
        case _:
            return 2


def scans_of(relation: Relation) -> Iterator[Scanned]:
    """The scans that a relation reads."""
    if isinstance(relation, Edges):
        yield from relation.scans
    else:
        for below in relation.inputs:
            yield from scans_of(below)


def _edges(scans: Sequence[WScan]) -> Edges | None:
    if any(scan.predicate is not None or scan.properties for scan in scans):
        return None
    return Edges(tuple(sorted(((s.stream, s.label, s.window) for s in scans), key=str)))


def _reach(expression: Regex, inputs: Sequence[Relation]) -> Relation:
    """The path with the paths among its inputs put in, and its inputs numbered anew.

    No PATH reports the empty word, so a path that is put in accepts none.
    """
    numbered: dict[Relation, int] = {}

    def own(symbol: Symbol) -> Regex:
        assert isinstance(symbol.ref, int)
        below = inputs[symbol.ref]
        if not isinstance(below, Reach):
            return Symbol(numbered.setdefault(below, len(numbered)), symbol.inverse)

        def moved(inner: Symbol) -> Regex:
            assert isinstance(inner.ref, int)
            relation = below.inputs[inner.ref]
            return Symbol(numbered.setdefault(relation, len(numbered)), inner.inverse)

        path = regex.nonempty(regex.substitute(below.regex, moved))
        return regex.inverse(path) if symbol.inverse else path

    whole = regex.substitute(expression, own)
    if whole == Symbol(0):
        return next(iter(numbered))
    return Reach(whole, tuple(numbered))


def _join(
    bindings: Sequence[tuple[int, ...]], output: Sequence[int], inputs: Sequence[Relation]
) -> Relation | None:
    """The join with joins among its inputs put in where they keep all their variables."""
    atoms: list[tuple[tuple[int, ...], Relation]] = []
    for binding, below in zip(bindings, inputs, strict=True):
        if isinstance(below, Join) and _keeps_variables(below):
            outer = dict(zip(below.output, binding, strict=True))
            atoms += [
                (tuple(outer[v] for v in inner), relation)
                for inner, relation in zip(below.bindings, below.inputs, strict=True)
            ]
        else:
            atoms.append((tuple(binding), below))
    different = sorted(set(atoms), key=str)
    if len(different) > MOST_ATOMS:
        return None
    numbers: dict[int, int] = {}
    for binding, _ in different:
        for variable in binding:
            numbers.setdefault(variable, len(numbers))
    if len(different) == 1 and tuple(output) == different[0][0]:
        return different[0][1]
    return Join(
        tuple(tuple(numbers[v] for v in binding) for binding, _ in different),
        tuple(numbers[v] for v in output),
        tuple(relation for _, relation in different),
    )


def concatenation(first: Symbol, second: Symbol, inputs: tuple[Relation, ...]) -> Join:
    """The path of two symbols, which are positions in ``inputs``, as a join."""
    assert isinstance(first.ref, int)
    assert isinstance(second.ref, int)
    return Join(
        ((1, 0) if first.inverse else (0, 1), (2, 1) if second.inverse else (1, 2)),
        (0, 2),
        (inputs[first.ref], inputs[second.ref]),
    )


def _keeps_variables(join: Join) -> bool:
    """Whether the output has each variable once."""
    variables = {variable for binding in join.bindings for variable in binding}
    return len(join.output) == len(variables) and {*join.output} == variables


def _either(inputs: Sequence[Relation]) -> Relation:
    flat: list[Relation] = []
    for below in inputs:
        flat += below.inputs if isinstance(below, Either) else [below]
    edges = [below for below in flat if isinstance(below, Edges)]
    if len(edges) == len(flat):
        return Edges(tuple(sorted({scan for e in edges for scan in e.scans}, key=str)))
    return Either(tuple(dict.fromkeys(flat)))
