"""Runs plans in this process, and checks their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from headrace.algebra.plan import PhysicalPlan
from headrace.executor import local
from headrace.executor.batch import FOREVER
from tests.oracles.judgement import (
    Line,
    broken_promises,
    meeting,
    mismatches,
    wrong_reports,
)
from tests.oracles.query import Query, text
from tests.oracles.snapshot import ALWAYS, Edge, Truth
from tests.properties.tally import TRIED
from tests.strategies.queries import Case

BATCH_ROWS = (1, 3, 1000)
"""Row by row, a few at a time, all at once."""


def rows_of_edges(query: Query, edges: Sequence[Edge]) -> list[local.Edge]:
    """Edges as the executor reads them, each of its label's stream."""
    stream = {label: source.stream for label, source in query.sources}
    names = [name for name, _ in query.properties]
    rows = [(e.src, e.trg, e.label, e.ts, stream.get(e.label, "s")) for e in edges]
    if not names:
        return list(rows)
    held = [{name: edge.property(name) for name in names} for edge in edges]
    return [(*row, values) for row, values in zip(rows, held, strict=True)]


def record_batch(query: Query, edges: Sequence[Edge]) -> pa.RecordBatch:
    """Edges as one Arrow batch, each of its label's stream."""
    columns = list(zip(*rows_of_edges(query, edges), strict=True))
    vertex = pa.int64() if isinstance(columns[0][0], int) else pa.string()
    types = [vertex, vertex, pa.string(), pa.int64(), pa.string()]
    arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=["src", "trg", "label", "ts", "stream"])


def lines_of(case: Case, plan: PhysicalPlan, batch_rows: int) -> list[Line]:
    """The result lines of a plan on a case."""
    results = local.run_plan(plan, rows_of_edges(case.query, case.edges), batch_rows)
    return [Line(r.bindings, r.ts, ALWAYS if r.exp == FOREVER else r.exp) for r in results]


def judge(
    truth: Truth, plan: PhysicalPlan, lines: Sequence[Line], instants: Iterable[int] | None = None
) -> None:
    """Lines are right at every instant (or those given) and keep their promise.

    Raises:
        AssertionError: with the case, the plan and the results.
    """
    TRIED["runs judged"] += 1
    TRIED["result lines"] += len(lines)
    wrong: Sequence[object]
    if truth.query.emit is not None:
        wrong, broken = wrong_reports(truth, lines), []
    else:
        wrong, broken = mismatches(truth, lines, instants), broken_promises(lines)
        if any(rule.aggregates or rule.first for rule in truth.query.rules):
            broken += meeting(list(lines))
    if wrong or broken:
        edges = "\n".join(f"  {e.ts:>3} {e.label} {e.src!r} -> {e.trg!r}" for e in truth.edges[:60])
        said = "\n".join(f"  {line.row} [{line.ts}, {line.exp})" for line in lines[:60])
        faults = "\n".join(f"  {fault}" for fault in [*wrong[:5], *broken[:5]])
        raise AssertionError(
            f"{len(wrong)} instants and {len(broken)} promises are wrong\n{faults}\n"
            f"query:\n{text(truth.query)}\nplan:\n{shown(plan)}\nedges:\n{edges}\nlines:\n{said}"
        )


def shown(plan: PhysicalPlan) -> str:
    """A plan in a few lines: every node with its arguments and inputs."""
    return "\n".join(
        f"  {node.id}: {node.operator} of {list(node.inputs)} as {', '.join(node.columns)}"
        for node in plan.nodes
    )
