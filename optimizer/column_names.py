"""The names of the columns of a plan: the query's own names where it has any.

In: the steps of a plan, the names of the answer's columns, and the canonical expression. Out: names
of each step's columns, and joins with names for their variables. Names are for people: the meaning
of a plan does not depend on them.

Names come from above first: the answer's columns keep their names down to the operators that make
them. A column that is dropped on the way has its name in the scan that reads it: the canonical
expression says how the query calls the columns of a scan, such as ``e.amount``. Where it calls one
column by several names, a dropped column has the name of its variable in the join that drops it,
or else that of the property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..algebra.logical import (
    Aggregate,
    AntiJoin,
    Compute,
    EventReport,
    LeftJoin,
    LogicalExpression,
    PartialAggregate,
    Path,
    Pattern,
    Project,
    Shortest,
    Trail,
    Witness,
    WScan,
)
from ..algebra.notation import apart, origin
from ..algebra.physical import AntiJoin as AntiJoinByKeys
from ..algebra.physical import HashJoin, MultiwayJoin, PhysicalOperator, Scan, SemiJoin
from ..algebra.physical import LeftJoin as LeftJoinByKeys
from ..algebra.scalar import Column

Joins = AntiJoinByKeys | LeftJoinByKeys | HashJoin | MultiwayJoin | SemiJoin
ScanColumn = tuple[str, str, str]
"""Stream, label, and ``src``, ``trg`` or a property."""
Names = tuple[str, ...]
"""The names of columns; an empty name is not known."""


def names_in_scans(expression: LogicalExpression) -> Mapping[ScanColumn, str]:
    """The query's names of the columns of its scans; columns with several names are left out."""
    names: dict[ScanColumn, set[str]] = {}
    pending: list[tuple[LogicalExpression, Names]] = [(expression, ())]
    seen: set[tuple[int, Names]] = set()
    while pending:
        current, above = pending.pop()
        own = current.columns or above
        if (id(current), own) in seen:
            continue
        seen.add((id(current), own))
        operator = current.operator
        if isinstance(operator, WScan):
            columns = ("src", "trg", *operator.properties)
            for column, name in zip(columns, own, strict=False):
                if name and origin(name) is None:
                    names.setdefault((operator.stream, operator.label, column), set()).add(name)
        for position, below in enumerate(current.inputs):
            pending.append((below, _below(current, position, own)))
    return {column: next(iter(of)) for column, of in names.items() if len(of) == 1}


def _below(expression: LogicalExpression, position: int, own: Names) -> Names:
    """The names of the columns of an input, after those of an expression's columns."""
    width = expression.inputs[position].width
    match expression.operator:
        case AntiJoin(bindings, names) | LeftJoin(bindings, names) | Pattern(bindings, _, names):
            return tuple(names[v] for v in bindings[position]) if names else ()
        case Project(columns):
            return _placed(columns, own, width)
        case Compute(values):
            columns = tuple(v.position if isinstance(v, Column) else -1 for v in values)
            return _placed(columns, own, width)
        case Aggregate(keys, _, output):
            columns = tuple(keys[i] if i < len(keys) else -1 for i in output)
            return _placed(columns, own, width)
        case PartialAggregate(keys, calls):
            return _placed((*keys, *(-1 for _ in calls), -1), own, width)
        case Witness() | Path() | Shortest() | Trail():
            return ()
        case EventReport():
            return own if position == 0 else ()
        case _:
            return own


def _placed(columns: Sequence[int], own: Names, width: int) -> Names:
    """Names of the columns of an input that output columns are copies of."""
    names = dict(zip(columns, own, strict=False))
    return tuple(names.get(column, "") for column in range(width)) if own else ()


def named(
    ordered: Sequence[tuple[PhysicalOperator, tuple[int, ...], int]],
    answer: Names,
    scans: Mapping[ScanColumn, str],
) -> tuple[tuple[PhysicalOperator, Names], ...]:
    """The operators of a plan, joins with names for their variables, and the names of columns.

    Args:
        ordered: each operator after its inputs, with their positions, and its number of columns.
        answer: the names of the answer's columns.
        scans: the query's names of the columns of scans.
    """
    operators = [operator for operator, _, _ in ordered]
    names: list[Names] = [("",) * width for _, _, width in ordered]
    names[-1] = answer
    below = _sure_names(ordered, scans)
    for position in range(len(ordered) - 1, -1, -1):
        operator, inputs, _ = ordered[position]
        if isinstance(operator, Joins):
            # Equal joins share an operator, whatever the variables of each are called.
            operator = _named_by_scans(operator, [below[k] for k in inputs])
            operator = operators[position] = operator.named(names[position])
        for k, input_ in enumerate(inputs):
            wanted = operator.input_names(k, names[position], ordered[input_][2])
            names[input_] = _completed(names[input_], wanted)
    for position, (_, inputs, width) in enumerate(ordered):
        operator = operators[position]
        of_inputs = [names[k] for k in inputs]
        if isinstance(operator, Joins):
            operator = operators[position] = operator.named_by_inputs(of_inputs)
        if "" in names[position]:
            following = operator.output_names(of_inputs, width)
            if isinstance(operator, Scan):
                following = _of_scan(operator, following, scans, following)
            whole = _completed(names[position], following)
            names[position] = tuple(name or f"#{k + 1}" for k, name in enumerate(whole))
    return tuple(zip(operators, names, strict=True))


def _sure_names(
    ordered: Sequence[tuple[PhysicalOperator, tuple[int, ...], int]],
    scans: Mapping[ScanColumn, str],
) -> Sequence[Names]:
    """The names of columns that are copies of a column of a scan, if the query has one name."""
    sure: list[Names] = []
    for operator, inputs, width in ordered:
        if isinstance(operator, Scan):
            unknown = ("",) * width
            sure.append(_of_scan(operator, operator.output_names((), width), scans, unknown))
            continue
        places = tuple(str(column) for column in range(width))
        placed = operator
        if isinstance(operator, Joins):
            placed = replace(operator, variables=()).named(places)
        found: dict[str, set[str]] = {place: set() for place in places}
        for k, position in enumerate(inputs):
            names = sure[position]
            copied_to = placed.input_names(k, places, len(names))
            for place, name in zip(copied_to, names, strict=False):
                if place in found:
                    found[place].add(name)
        sure.append(tuple(of.pop() if len(of) == 1 else "" for of in found.values()))
    return sure


def _named_by_scans(join: Joins, inputs: Sequence[Names]) -> Joins:
    """The join, with the sure names of the columns of its inputs as names of its variables."""
    reads = join.reads if isinstance(join, MultiwayJoin) else range(len(inputs))
    names = dict(enumerate(join.variables))
    for k, binding in zip(reads, join.bindings, strict=True):
        names |= {v: name for v, name in zip(binding, inputs[k], strict=True) if name}
    return replace(
        join, variables=tuple(names.get(v, "") for v in range(1 + max(names, default=-1)))
    )


def _completed(own: Names, others: Names) -> Names:
    """Names, with other ones in place of those that are not known."""
    completed = list(own)
    for column, name in enumerate(others):
        if name and not completed[column]:
            completed[column] = apart(name, completed)
    return tuple(completed)


def _of_scan(scan: Scan, columns: Names, names: Mapping[ScanColumn, str], others: Names) -> Names:
    """The query's names of the columns of a scan, and others where it has none for all labels."""
    called = []
    for column, other in zip(columns, others, strict=True):
        of_labels = {names.get((one.stream, one.label, column)) for one in scan.scans}
        name = of_labels.pop()
        called.append(other if of_labels or name is None else name)
    return tuple(called)
