"""The identity of the rows of a logical expression: equal in all processes, queries and plans.

The identity is a digest of a normal form. Joins below joins are one join of *parts*, in an order
and with numbers of variables that do not depend on how the query was written; conditions and
concatenations of paths are parts of the join too. Unions below unions are one union, and a path
over paths is one path, where that gives the same rows. The identity leaves out the order of the
columns. Any other operator stands as its text over the identities of its inputs, so an operator
that this module does not know has an identity too.

Equal identities mean equal rows. Equal rows may have different identities, where only a search
can find that they are equal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from .digests import digest
from .logical import (
    Filter,
    FilteredPattern,
    LogicalOperator,
    MultiwayPattern,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from .normal_forms import Form, Part, closed, filtered, join, of_part, ordered_key, path, union


@dataclass(frozen=True, eq=False)
class Relation:
    """The rows of an operator over relations.

    The identity is computed when it is asked for.
    """

    operator: LogicalOperator
    inputs: tuple[Relation, ...] = ()

    @cached_property
    def identity(self) -> str:
        """The digest of the rows, without the order of their columns."""
        for relation in _below(self, "_form"):
            _ = relation._form
        return closed(self._form)[0].key

    @cached_property
    def scans(self) -> frozenset[tuple[str, str, int | None, int | None]]:
        """Stream, label, range and slide of each scan below; None for those of a stored graph."""
        for relation in _below(self, "scans"):
            _ = relation.scans
        if isinstance(self.operator, WScan | WScanUnion):
            return frozenset(
                (scan.stream, scan.label, *((w.range, w.slide) if w is not None else (None, None)))
                for scan in self.operator.scans
                for w in [scan.window]
            )
        return frozenset().union(*(below.scans for below in self.inputs))

    @cached_property
    def _form(self) -> Form:
        return _form(self.operator, [below._form for below in self.inputs])


def _below(relation: Relation, name: str) -> list[Relation]:
    """The relations below one without a computed property, each after its inputs.

    Expressions may be deeper than Python's recursion limit.
    """
    ordered: list[Relation] = []
    pending = list(relation.inputs)
    begun: set[int] = set()
    while pending:
        top = pending[-1]
        missing = [i for i in top.inputs if name not in vars(i) and id(i) not in begun]
        if name in vars(top) or id(top) in begun:
            pending.pop()
            continue
        if missing:
            pending += missing
            continue
        begun.add(id(top))
        ordered.append(pending.pop())
    return ordered


def _form(operator: LogicalOperator, inputs: list[Form]) -> Form:
    match operator:
        case WScan():
            return _scan(operator)
        case WScanUnion():
            return union([_scan(scan) for scan in operator.scans])
        case Filter():
            return filtered(inputs[0], operator.predicate)
        case Project():
            width = len(inputs[0].columns)
            return join((tuple(range(width)),), operator.columns, inputs)
        case Pattern():
            return join(operator.bindings, operator.output, inputs)
        case FilteredPattern():
            return join(operator.bindings, operator.output, inputs, operator.predicate)
        case MultiwayPattern():
            atoms = [inputs[read] for read in operator.reads]
            return join(operator.bindings, operator.output, atoms, operator.predicate)
        case Union():
            return union(inputs)
        case Path(semantics=PathSemantics.ARBITRARY):
            return path(operator.regex, inputs)
        case _:
            return _other(operator, inputs)


def _scan(scan: WScan) -> Form:
    window = scan.window
    text = [scan.stream, scan.label, window and [window.range, window.slide], scan.properties]
    columns = tuple(range(scan.width(())))
    form = of_part(Part(digest("WSCAN", json.dumps(text), str(scan.deletions))), columns)
    return form if scan.predicate is None else filtered(form, scan.predicate)


def _other(operator: LogicalOperator, inputs: Sequence[Form]) -> Form:
    """An operator by its own text, over inputs with their columns in order."""
    dataclass_fields: Any = operator
    arguments = [
        f"{f.name}={getattr(operator, f.name)!r}" for f in fields(dataclass_fields) if f.compare
    ]
    below = [ordered_key(form) for form in inputs]
    width = operator.width([len(form.columns) for form in inputs])
    key = digest(operator.op, type(operator).__name__, *arguments, *below)
    return of_part(Part(key), tuple(range(width)))
