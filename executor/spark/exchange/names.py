"""Names and types of the columns of results."""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.plan import PhysicalPlan
from ....algebra.values import LISTS, ColumnType, Types


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
    streams = {stream.name: stream.types for stream in plan.streams}
    types: list[Types] = []
    for node in plan.nodes:
        inputs = [types[i] for i in node.inputs]
        types.append(node.operator.column_types(inputs, streams))
    return tuple(map(_one_type, types[plan.root]))


def _one_type(types: frozenset[ColumnType]) -> ColumnType:
    if len(types) == 1:
        return next(iter(types))
    if types <= {"integer", "number"}:
        return "number"
    if types <= {"integers", "numbers"}:
        return "numbers"
    if "path" in types and types <= {"path", *LISTS.values()}:
        return "path"
    return "strings" if types <= {*LISTS.values()} else "string"
