"""Makes the relation of a logical operator from those of its inputs.

Joins of joins are one join, and a path over paths is one path, where that gives the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from ...algebra import regex
from ...algebra.logical import (
    BoundPath,
    Filter,
    FilteredPattern,
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
from .parts import reach
from .relations import Edges, Either, Join, Reach, Relation, Scanned, Wide, properties_of, width

MOST_ATOMS = 12
"""The most inputs of a join that is evaluated on a sample."""


def relation_of(operator: LogicalOperator, inputs: Sequence[Relation | None]) -> Relation | None:
    """The relation of an operator's result; None if the sample cannot evaluate it.

    Simple paths, unions of rows with properties but for edges of one stream, and the operators at
    the root cannot be evaluated.
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
            | BoundPath(semantics=PathSemantics.ARBITRARY, sources=None, pairs=False)
        ) if not any(map(properties_of, relations)):
            return reach(operator.regex, relations)
        case BoundPath(semantics=PathSemantics.ARBITRARY, pairs=True) if not any(
            map(properties_of, relations)
        ):
            *steps, pairs = relations
            return _join(((0, 1), (0, 1)), (0, 1), (pairs, reach(operator.regex, steps)))
        case Pattern():
            return _join(operator.bindings, operator.output, relations)
        case FilteredPattern():
            return _join(operator.bindings, operator.output, relations, operator.predicate)
        case Project():
            columns = operator.columns
            return _join((tuple(range(width(relations[0]))),), columns, relations)
        case Union():
            return _either(relations)
        case Filter():
            return _filtered(relations[0], operator.predicate)
        case _:
            return None


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


def _filtered(relation: Relation, condition: Predicate) -> Relation | None:
    """The rows that satisfy a condition."""
    match relation:
        case Edges(scans):
            return Edges(_sorted({scan.where(condition, ()) for scan in scans}))
        case Wide(Edges(scans), properties):
            filtered = _sorted({scan.where(condition, properties) for scan in scans})
            return Wide(Edges(filtered), properties)
        case Join(bindings, output, inputs, other):
            moved = condition.renumbered(dict(enumerate(output)))
            both = moved if other is None else Predicate.all_of((other, moved))
            return _join(bindings, output, inputs, both)
        case _:
            columns = tuple(range(width(relation)))
            return _join((columns,), columns, (relation,), condition)


def _join(
    bindings: Sequence[tuple[int, ...]],
    output: Sequence[int],
    inputs: Sequence[Relation],
    condition: Predicate | None = None,
) -> Relation | None:
    """The join with joins among its inputs put in where they keep all their variables.

    A property that several inputs share becomes a condition, and properties that are not read are
    left out. None if a property is joined with a vertex, or inputs are of several streams.
    """
    conditions = [] if condition is None else [condition]
    atoms: list[tuple[tuple[int, ...], Relation]] = []
    for binding, below in zip(bindings, inputs, strict=True):
        if isinstance(below, Join) and _keeps_variables(below):
            outer = dict(zip(below.output, binding, strict=True))
            atoms += [
                (tuple(outer[v] for v in inner), relation)
                for inner, relation in zip(below.bindings, below.inputs, strict=True)
            ]
            if below.condition is not None:
                conditions.append(below.condition.renumbered(outer))
        else:
            atoms.append((tuple(binding), below))
    if any(isinstance(a, Wide) and len({s.stream for s in a.edges.scans}) > 1 for _, a in atoms):
        return None
    own = _with_own_properties(atoms, conditions)
    if own is None:
        return None
    read = {*output}.union(*[each.columns for each in conditions])
    narrowed = {_narrowed(binding, below, read) for binding, below in own}
    # Joins that differ in the numbers of variables alone have equal relations where they can.
    different = sorted(narrowed, key=lambda atom: (str(atom[1]), atom[0]))
    if len(different) > MOST_ATOMS:
        return None
    if len(different) == 1 and not conditions:
        projected = _projected(*different[0], output)
        if projected is not None:
            return projected
    numbers: dict[int, int] = {}
    for binding, _ in different:
        for variable in binding:
            numbers.setdefault(variable, len(numbers))
    moved = [each.renumbered(numbers) for each in conditions]
    return Join(
        tuple(tuple(numbers[v] for v in binding) for binding, _ in different),
        tuple(numbers[v] for v in output),
        tuple(relation for _, relation in different),
        Predicate.all_of(moved).normal if moved else None,
    )


def _projected(binding: tuple[int, ...], below: Relation, output: Sequence[int]) -> Relation | None:
    """A relation projected to the variables ``output`` without a join around it; None where that
    takes a join."""
    if tuple(output) == binding:
        return below
    if len(set(binding)) < len(binding):
        return None
    match below:
        case Join():
            return replace(below, output=tuple(below.output[binding.index(v)] for v in output))
        case Reach(expression, inputs) if tuple(output) == binding[::-1]:
            return reach(regex.inverse(expression), inputs)
        case _:
            return None


def _with_own_properties(
    atoms: Sequence[tuple[tuple[int, ...], Relation]], conditions: list[Predicate]
) -> list[tuple[tuple[int, ...], Relation]] | None:
    """The atoms with a variable of its own for each property; equalities become ``conditions``.

    None if a property has the variable of a vertex.
    """
    unused = count(1 + max(variable for binding, _ in atoms for variable in binding))
    seen: dict[int, bool] = {}
    result: list[tuple[tuple[int, ...], Relation]] = []
    for binding, below in atoms:
        properties = properties_of(below)
        own = []
        for column, variable in enumerate(binding):
            if seen.setdefault(variable, column in properties) != (column in properties):
                return None
            repeated = column in properties and any(variable in b for b, _ in result)
            own.append(next(unused) if repeated else variable)
            if repeated:
                conditions.append(Predicate.columns_equal(variable, own[-1]))
        result.append((tuple(own), below))
    return result


def _narrowed(
    binding: tuple[int, ...], below: Relation, read: set[int]
) -> tuple[tuple[int, ...], Relation]:
    """An atom without the properties of edges that are not ``read``."""
    if not isinstance(below, Wide):
        return binding, below
    kept = [k for k, variable in enumerate(binding[2:]) if variable in read]
    if not kept:
        return binding[:2], below.edges
    names = tuple(below.properties[k] for k in kept)
    return (*binding[:2], *[binding[2 + k] for k in kept]), Wide(below.edges, names)


def _keeps_variables(join: Join) -> bool:
    """Whether the output has each variable once."""
    variables = {variable for binding in join.bindings for variable in binding}
    return len(join.output) == len(variables) and {*join.output} == variables


def _either(inputs: Sequence[Relation]) -> Relation | None:
    """The union; None of rows with properties, but for edges of one stream with the same ones."""
    flat: list[Relation] = []
    for below in inputs:
        flat += below.inputs if isinstance(below, Either) else [below]
    edges = [below for below in flat if isinstance(below, Edges)]
    if len(edges) == len(flat):
        return Edges(_sorted({scan for e in edges for scan in e.scans}))
    wide = [below for below in flat if isinstance(below, Wide)]
    if len(wide) == len(flat) and len({one.properties for one in wide}) == 1:
        scans = _sorted({scan for one in wide for scan in one.edges.scans})
        of_one_stream = len({scan.stream for scan in scans}) == 1
        return Wide(Edges(scans), wide[0].properties) if of_one_stream else None
    return None if any(map(properties_of, flat)) else Either(tuple(dict.fromkeys(flat)))
