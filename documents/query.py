"""The stages of a query before the search: the parsed query, and its canonical expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from ..algebra import scalar
from ..algebra import text as algebra_text
from ..algebra.logical import Compute, LogicalExpression, Path, Pattern, Project, Trail, WScan
from ..algebra.notation import InputNames, ends, value
from ..languages.rq import printer
from ..notation import operators as notation
from ..planning.translating import Translated
from .model import Document

EXPLAIN_VERSION = 1


class StageDocument(Document):
    """The members that the documents of all stages begin with."""

    version: int
    query: str
    language: str
    warnings: tuple[str, ...]


class QueryWindow(Document):
    """A window of a query, in time units; ``stream`` is null for a window of all streams."""

    stream: str | None
    labels: tuple[str, ...]
    range: int
    slide: int


class QueryDocument(StageDocument):
    """The stage ``query``: the parsed query.

    Attributes:
        rules: the rules in RQ, each as text.
        answer: the name of the answer.
        windows: the windows.
        time_unit: the time unit of the catalog.
        text: the whole query in RQ, for renderings.
    """

    rules: tuple[str, ...]
    answer: str
    windows: tuple[QueryWindow, ...]
    time_unit: str
    text: str = Field(exclude=True)


class LogicalNode(Document):
    """A logical operator.

    Attributes:
        id: the id of the node.
        op: the name of the operator.
        text: the operator with its arguments.
        name: the name of the relation in the query, if any.
        inputs: the ids of the input nodes, which come earlier.
        columns: the number of columns.
    """

    id: int
    op: str
    text: str
    name: str | None
    inputs: tuple[int, ...]
    columns: int


class LogicalDocument(StageDocument):
    """The stage ``logical``: the canonical expression.

    Equal sub-expressions are one node. The last node is the answer.
    """

    canonical: str
    columns: tuple[str, ...]
    nodes: tuple[LogicalNode, ...]
    time_unit: str = Field(exclude=True)


def query_document(translated: Translated) -> QueryDocument:
    """Builds the document of the stage ``query``."""
    query = translated.regular_query
    return QueryDocument(
        **stage_head(translated),
        rules=tuple(printer.rules_text(query)),
        answer=query.answer,
        windows=tuple(
            QueryWindow(
                stream=clause.stream,
                labels=tuple(clause.labels),
                range=clause.window.range,
                slide=clause.window.slide,
            )
            for clause in query.windows
        ),
        time_unit=translated.catalog.time_unit,
        text=printer.text(query) + "\n",
    )


def logical_document(translated: Translated) -> LogicalDocument:
    """Builds the document of the stage ``logical``."""
    query, time_unit = translated.logical, translated.catalog.time_unit
    return LogicalDocument(
        **stage_head(translated),
        canonical=canonical_text(translated),
        columns=query.columns,
        nodes=logical_nodes(query.expression, time_unit, query.columns),
        time_unit=time_unit,
    )


def stage_head(translated: Translated) -> dict[str, Any]:
    """The fields of `StageDocument`."""
    return {
        "version": EXPLAIN_VERSION,
        "query": translated.request.query,
        "language": translated.language,
        "warnings": translated.warnings,
    }


def canonical_text(translated: Translated) -> str:
    """Returns the canonical expression as a tree, in the notation of the thesis."""
    return algebra_text.text(translated.logical.expression, translated.catalog.time_unit)


def logical_nodes(
    root: LogicalExpression, time_unit: str, answer: Sequence[str] = ()
) -> tuple[LogicalNode, ...]:
    """Returns the operators of an expression, inputs first; equal sub-expressions are one node.

    ``answer`` are the names of the columns of the whole expression.
    """
    nodes: dict[LogicalExpression, LogicalNode] = {}
    names: dict[LogicalExpression, tuple[str, ...]] = {}
    pending = [root]
    while pending:
        expression = pending[-1]
        missing = [e for e in expression.inputs if e not in nodes]
        if expression in nodes or missing:
            pending.extend(reversed(missing))
            if not missing:
                pending.pop()
            continue
        below = [names[e] for e in expression.inputs]
        own = tuple(answer) if expression is root else ()
        op, text = _operator_text(expression, time_unit, below, own)
        names[expression] = _column_names(expression, below)
        nodes[expression] = LogicalNode(
            id=len(nodes),
            op=op,
            text=text,
            name=expression.name,
            inputs=tuple(nodes[e].id for e in expression.inputs),
            columns=expression.width,
        )
        pending.pop()
    return tuple(nodes.values())


def _column_names(
    expression: LogicalExpression, below: Sequence[tuple[str, ...]]
) -> tuple[str, ...]:
    """The names of the columns of an expression, after the query and the names of its inputs."""
    operator = expression.operator
    if expression.columns:
        return expression.columns
    match operator:
        case WScan():
            return ("src", "trg", *operator.properties)
        case Pattern():
            return tuple(map(operator.name, operator.output))
        case Project(columns):
            return tuple(below[0][column] for column in columns)
        case Compute(values):
            return tuple(value(scalar.text(of), below[0]) for of in values)
        case _ if (
            below and len(below[0]) == expression.width and not isinstance(operator, Path | Trail)
        ):
            return below[0]
        case _:
            return ends(expression.width)


def _operator_text(
    expression: LogicalExpression,
    time_unit: str,
    columns: Sequence[Sequence[str]],
    own: Sequence[str],
) -> tuple[str, str]:
    inputs = expression.inputs
    names = [e.operator.label if isinstance(e.operator, WScan) else e.name for e in inputs]
    steps = [notation.step_name(name, position) for position, name in enumerate(names)]
    operator = expression.operator
    return operator.op, operator.arguments(InputNames(steps, columns, time_unit, own))
