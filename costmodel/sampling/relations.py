"""What a logical operator's result is, over the edges of a sample.

A relation is a value: two memo groups with equal relations have one estimate. Joins of joins are
one join, and a path over paths is one path, where that gives the same rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...algebra import regex
from ...algebra.logical import (
    BoundPath,
    Filter,
    LogicalOperator,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from ...algebra.predicate import Predicate
from ...algebra.regex import Regex, Symbol
from ...algebra.window import Window

MOST_ATOMS = 12
"""The most inputs of a join that is evaluated on a sample."""


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
    """The bindings of variables that all inputs agree on, as in PATTERN."""

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    inputs: tuple[Relation, ...]


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


def relation_of(operator: LogicalOperator, inputs: Sequence[Relation | None]) -> Relation | None:
    """The relation of an operator's result; None if the sample cannot evaluate it.

    Properties can be evaluated in conditions on edges, but not in the rows of joins. Simple paths
    and the operators at the root cannot be evaluated.
    """
    match operator:
        case WScan() | WScanUnion():
            return _scanned(operator.scans)
        case _:
            relations = [i for i in inputs if i is not None]
            if len(relations) < len(inputs) or not relations:
                return None
    match operator:
        case (
            Path(semantics=PathSemantics.ARBITRARY)
            | BoundPath(semantics=PathSemantics.ARBITRARY, sources=None)
        ) if not any(map(_is_wide, relations)):
            return _reach(operator.regex, relations)
        case Pattern():
            return _join(operator.bindings, operator.output, relations)
        case Project():
            columns = operator.columns
            return _join((tuple(range(width(relations[0]))),), columns, relations)
        case Union() if not any(map(_is_wide, relations)):
            return _either(relations)
        case Filter():
            return _filtered(relations[0], operator.predicate)
        case _:
            return None


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


def scanned(scan: WScan) -> Scanned:
    """The edges of a scan."""
    own = Scanned(scan.stream, scan.label, scan.window)
    return own if scan.predicate is None else own.where(scan.predicate, scan.properties)


def _scanned(scans: Sequence[WScan]) -> Edges | Wide:
    edges = Edges(_sorted({scanned(scan) for scan in scans}))
    properties = scans[0].properties
    return Wide(edges, properties) if properties else edges


def _sorted(scans: set[Scanned]) -> tuple[Scanned, ...]:
    return tuple(sorted(scans, key=str))


def _is_wide(relation: Relation) -> bool:
    return isinstance(relation, Wide)


def _filtered(relation: Relation, condition: Predicate) -> Relation | None:
    """The edges that satisfy a condition; None for other relations."""
    match relation:
        case Edges(scans):
            return Edges(_sorted({scan.where(condition, ()) for scan in scans}))
        case Wide(Edges(scans), properties):
            filtered = _sorted({scan.where(condition, properties) for scan in scans})
            return Wide(Edges(filtered), properties)
        case _:
            return None


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
    """The join with joins among its inputs put in where they keep all their variables.

    Properties that occur once and are not in the output are left out; None if others are there.
    """
    uses = Counter(variable for binding in bindings for variable in binding)
    atoms: list[tuple[tuple[int, ...], Relation]] = []
    for binding, below in zip(bindings, inputs, strict=True):
        if isinstance(below, Wide):
            if any(uses[v] > 1 or v in output for v in binding[2:]):
                return None
            atoms.append((tuple(binding[:2]), below.edges))
        elif isinstance(below, Join) and _keeps_variables(below):
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


def concatenation(path: Reach) -> Join | None:
    """A path as a join of all but its last part with its last part; None if a part may be empty."""
    match path.regex:
        case regex.Concat((*firsts, last)):
            first = regex.concat(firsts)
            if regex.nullable(first) or regex.nullable(last):
                return None
            parts = (_part(first, path.inputs), _part(last, path.inputs))
            (one, turned), (other, backwards) = parts
            bindings = ((1, 0) if turned else (0, 1), (2, 1) if backwards else (1, 2))
            return Join(bindings, (0, 2), (one, other))
        case _:
            return None


def is_search(relation: Relation) -> bool:
    """Whether a relation has a path that is not a join, so that a search evaluates it."""
    match relation:
        case Edges() | Wide():
            return False
        case Reach():
            join = concatenation(relation)
            return join is None or is_search(join)
        case Join(_, _, inputs) | Either(inputs):
            return any(map(is_search, inputs))


def is_choice(relation: Relation) -> bool:
    """Whether a path of one step follows edges of several labels, as a scan of them does."""
    match relation:
        case Reach(regex.Alternation(parts), inputs):
            steps = all(isinstance(part, Symbol) for part in parts)
            return steps and all(isinstance(below, Edges) for below in inputs)
        case _:
            return False


def _part(expression: Regex, inputs: tuple[Relation, ...]) -> tuple[Relation, bool]:
    """A part of a path as a relation, and whether it is turned around."""
    if isinstance(expression, Symbol):
        assert isinstance(expression.ref, int)
        return inputs[expression.ref], expression.inverse
    relation = _reach(expression, inputs)
    return relation, False


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
        return Edges(_sorted({scan for e in edges for scan in e.scans}))
    return Either(tuple(dict.fromkeys(flat)))
