"""The atoms of a plan: its operators unfolded, one for each use, with variables for columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..algebra.physical import (
    AggregateRows,
    AntiJoin,
    AutomatonPath,
    ComputeColumns,
    FilterRows,
    HashJoin,
    LeftJoin,
    MultiwayJoin,
    PhysicalOperator,
    Scan,
    SemiJoin,
    TrailPath,
)
from .atoms import Atom, Atoms, Kind, Label, Variables, numbered

Joins = AntiJoin | LeftJoin | HashJoin | MultiwayJoin | SemiJoin
Ordered = Sequence[tuple[PhysicalOperator, tuple[int, ...], int]]
"""Each operator after its inputs, with their positions, and its number of columns."""

MOST_USES = 1_000
"""The most uses of operators that are read; names of columns further below are not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """An operator that one operator reads.

    Attributes:
        position: the position of the operator.
        above: the number of the use that reads it; -1 for the root.
        columns: the variables of its columns.
        bound: the variable of each number that it binds, if it is a join.
        atom: the number of its atom; -1 if it is none.
    """

    position: int
    above: int
    columns: Variables
    bound: Mapping[int, int]
    atom: int


def plan_uses(ordered: Ordered) -> tuple[list[Use], Atoms]:
    """The uses of operators, each after the one that reads it, and the atoms of the plan."""
    atoms = Atoms()
    labels = _labels(ordered)
    root = len(ordered) - 1
    uses: list[Use] = []
    pending = [(root, -1, atoms.fresh(ordered[root][2]), False)]
    while pending and len(uses) < MOST_USES:
        position, above, own, below_path = pending.pop()
        operator, inputs, _ = ordered[position]
        kind, columns = _columns(operator, own)
        for sql in _conditions(operator):
            atoms.satisfy(sql, numbered(own))
        bound: dict[int, int] = {}
        if isinstance(operator, Joins):
            bound = atoms.joined(operator.bindings, operator.output, own)
            atoms.satisfy(getattr(operator, "residual", None), bound)
        atom = -1
        if kind is not None:
            atom = len(atoms.found)
            atoms.found.append(Atom(kind, labels[position], columns, below_path))
            below_path = below_path or kind is Kind.PATHS
        widths = [ordered[k][2] for k in inputs]
        for k, variables in reversed(_reads(operator, own, bound, widths, atoms)):
            pending.append((inputs[k], len(uses), variables, below_path))
        uses.append(Use(position, above, own, bound, atom))
    return uses, atoms


def _columns(operator: PhysicalOperator, own: Variables) -> tuple[Kind | None, Mapping[str, int]]:
    """The kind and columns of the atom of an operator; None if the operator is not an atom."""
    match operator:
        case Scan():
            names = operator.output_names((), len(own))
            return Kind.EDGES, dict(zip(names, own, strict=True))
        case AutomatonPath() | TrailPath():
            return Kind.PATHS, dict(zip(("src", "trg"), own, strict=False))
        case ComputeColumns() | AggregateRows():
            return Kind.COMPUTED, {str(k): variable for k, variable in enumerate(own)}
        case _:
            return None, {}


def _conditions(operator: PhysicalOperator) -> set[str | None]:
    """The predicates over an operator's columns that its rows satisfy."""
    match operator:
        case Scan():
            return {scan.predicate for scan in operator.scans}
        case FilterRows(predicate):
            return {predicate}
        case AutomatonPath():
            return {operator.sources}
        case _:
            return set()


def _reads(
    operator: PhysicalOperator,
    own: Variables,
    bound: Mapping[int, int],
    widths: Sequence[int],
    atoms: Atoms,
) -> list[tuple[int, Variables]]:
    """The inputs that an operator reads, once for each atom of a join, with their variables."""
    if isinstance(operator, Joins):
        reads = operator.reads if isinstance(operator, MultiwayJoin) else range(len(widths))
        return [
            (k, tuple([bound[number] for number in binding]))
            for k, binding in zip(reads, operator.bindings, strict=True)
        ]
    names = tuple(map(str, own))
    read: list[tuple[int, Variables]] = []
    for k, width in enumerate(widths):
        copied = operator.input_names(k, names, width)
        read.append((k, tuple([int(n) if n in names else atoms.fresh(1)[0] for n in copied])))
    return read


def _labels(ordered: Ordered) -> list[frozenset[Label]]:
    """The labels of all scans below each operator."""
    labels: list[frozenset[Label]] = []
    for operator, inputs, _ in ordered:
        own = operator.scans if isinstance(operator, Scan) else ()
        of_scan = frozenset((scan.stream, scan.label) for scan in own)
        labels.append(of_scan.union(*(labels[k] for k in inputs)))
    return labels
