"""What the columns of results are called, and of which type they are."""

from __future__ import annotations

from collections.abc import Sequence

from algebra.physical import (
    AutomatonPath,
    Coalesce,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    ProjectColumns,
    Retract,
    Rewindow,
    ToKernel,
    WindowScan,
    WindowScanUnion,
)
from algebra.plan import PhysicalPlan
from algebra.values import PropertyType
from executor.leaves import OWN_TIME

ColumnType = PropertyType
Types = tuple[frozenset[ColumnType], ...]


def column_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Distinct names for the columns of an answer, beside ``ts`` and ``exp``.

    ``Answer(x, x)`` gives ``x`` and ``x_2``, ``Answer(ts)`` gives ``ts_2``.
    """
    names: list[str] = []
    taken = {"ts", "exp"}
    for column in columns:
        name, number = column, 2
        while name in taken:
            name, number = f"{column}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return tuple(names)


def column_types(plan: PhysicalPlan) -> tuple[ColumnType, ...]:
    """The types of the answer's columns: numbers where those and integers may be mixed, text
    where others are."""
    of_stream = {stream.name: stream for stream in plan.streams}
    known: list[Types] = []
    for node in plan.nodes:
        inputs = [known[i] for i in node.inputs]
        match node.operator:
            case WindowScan() | WindowScanUnion() as scan:
                stream = of_stream[scan.stream]
                of_property = {**stream.properties, OWN_TIME: "integer"}
                properties = (of_property[name] for name in scan.properties)
                types = (stream.vertex_type, stream.vertex_type, *properties)
                known.append(tuple(frozenset({kind}) for kind in types))
            case FilterRows() | Coalesce() | Rewindow() | Exchange() | ToKernel() | Retract():
                known.append(inputs[0])
            case MergeUnion():
                known.append(tuple(frozenset().union(*c) for c in zip(*inputs, strict=True)))
            case ProjectColumns(columns=columns):
                known.append(tuple(inputs[0][c] for c in columns))
            case HashJoin(bindings=bindings, output=output):
                of_variable = {
                    variable: inputs[k][j]
                    for k, binding in enumerate(bindings)
                    for j, variable in enumerate(binding)
                }
                known.append(tuple(of_variable[v] for v in output))
            case AutomatonPath() as path:
                known.append(_ends(path, inputs))
            case EmptyRelation(width=width):
                known.append((frozenset(),) * width)
    return tuple(map(_one_type, known[plan.root]))


def _one_type(types: frozenset[ColumnType]) -> ColumnType:
    if len(types) == 1:
        return next(iter(types))
    return "number" if types == {"integer", "number"} else "string"


def _ends(path: AutomatonPath, inputs: Sequence[Types]) -> Types:
    """The types of the vertices where paths start and where they end."""
    starts = [inputs[i][1 if inv else 0] for s, i, inv, _ in path.transitions if s == 0]
    ends = [inputs[i][0 if inv else 1] for _, i, inv, n in path.transitions if n in path.accepting]
    return (frozenset().union(*starts), frozenset().union(*ends))
