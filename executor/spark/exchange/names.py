"""Names and types of the columns of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf

from ....algebra.physical import (
    AggregateRows,
    AutomatonPath,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    ProjectColumns,
    ReportRows,
    Retract,
    Rewindow,
    ToKernel,
    WindowScan,
    WindowScanUnion,
    WitnessPaths,
)
from ....algebra.plan import PhysicalPlan
from ....algebra.scalar import Column, Literal, Value, parsed
from ....algebra.values import PropertyType
from ...scans import OWN_TIME

ColumnType = PropertyType | OneOf["path"]
"""A path is text to all but those who write results: JSON of its steps."""
NUMBERS: frozenset[ColumnType] = frozenset({"integer", "number"})
Types = tuple[frozenset[ColumnType], ...]


def column_names(columns: Sequence[str], others: Sequence[str] = ("ts", "exp")) -> tuple[str, ...]:
    """Distinct names for the columns of an answer, beside ``others``.

    ``Answer(x, x)`` gives ``x`` and ``x_2``, ``Answer(ts)`` gives ``ts_2``.
    """
    names: list[str] = []
    taken = set(others)
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
            case WitnessPaths(output=output):
                with_path: Types = (*inputs[0], frozenset({"path"}))
                known.append(tuple(with_path[c] for c in output))
            case ReportRows():
                known.append(inputs[0])
            case ComputeColumns(values=values):
                known.append(tuple(_computed(parsed(v, len(inputs[0])), inputs[0]) for v in values))
            case AggregateRows() as aggregate:
                known.append(_aggregated(aggregate, inputs[0]))
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


def _computed(value: Value, columns: Types) -> frozenset[ColumnType]:
    match value:
        case Column(position):
            return columns[position]
        case Literal():
            return frozenset({value.type})
        case _ if value.function == "/":
            return frozenset({"number"})
        case _:
            found = frozenset().union(*(_computed(part, columns) for part in value.arguments))
            return frozenset({"integer"}) if found == {"integer"} else found & NUMBERS or NUMBERS


def _aggregated(aggregate: AggregateRows, columns: Types) -> Types:
    found = [columns[key] for key in aggregate.keys]
    for function, column in aggregate.aggregates:
        if function in ("count", "count_distinct") or column is None:
            found.append(frozenset({"integer"}))
        elif function == "avg":
            found.append(frozenset({"number"}))
        else:
            found.append(columns[column])
    return tuple(found[i] for i in aggregate.output)


def _one_type(types: frozenset[ColumnType]) -> ColumnType:
    if len(types) == 1:
        return next(iter(types))
    return "number" if types == {"integer", "number"} else "string"


def _ends(path: AutomatonPath, inputs: Sequence[Types]) -> Types:
    """The types of the vertices where paths start and where they end."""
    starts = [inputs[i][1 if inv else 0] for s, i, inv, _ in path.transitions if s == 0]
    ends = [inputs[i][0 if inv else 1] for _, i, inv, n in path.transitions if n in path.accepting]
    return (frozenset().union(*starts), frozenset().union(*ends))
