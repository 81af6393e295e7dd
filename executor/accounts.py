"""Whose counters are whose: nodes that are no operator of a pipeline have an account, too.

An EXCHANGE gives what arrives by it, each row once, however many copies are made. A leaf is a
chain of nodes, of which only what comes out at the top arrives; those below down to the first
FILTER gave as many rows. What a scan gave that a FILTER above it then dropped is known where the
filtering is done in process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..algebra.physical import FilterRows
from ..algebra.plan import PhysicalPlan
from .counters import Counters
from .pipeline import Pipeline
from .placement import Place
from .scans import leaves
from .stages import Stage


def of_stage(stage: Stage, place: Place, pipeline: Pipeline) -> dict[int, Counters]:
    """By node id: the operators of a stage in one partition, and the leaves and exchanges that
    lead into it. The sum over partitions and stages counts each row once."""
    found: dict[int, Counters] = {}
    for flow in stage.inputs:
        own = pipeline.arrived[flow.port]
        if flow.spread == "broadcast" and place.partition:
            own = Counters()  # a copy
        if flow.port != flow.source:
            found[flow.port] = replace(own, rows_in=own.rows_out)
        if not stage.number:
            found.setdefault(flow.source, own)
    return {**found, **pipeline.counters}


def with_chains(
    plan: PhysicalPlan,
    counters: Mapping[int, Counters],
    passed: Mapping[int, Sequence[Counters]] | None = None,
) -> dict[int, Counters]:
    """The counters with those of the nodes of a leaf's chain, as far as they are known.

    ``passed``, by leaf: what the scan gave, then what each FILTER but the last left of it.
    """
    found = dict(counters)
    for leaf in leaves(plan):
        if leaf.node not in found:
            continue
        node, rows = leaf.node, found[leaf.node]
        before = list((passed or {}).get(leaf.node, ()))
        while plan.nodes[node].inputs:
            below = rows
            if isinstance(plan.nodes[node].operator, FilterRows):
                if not before:
                    break
                below = before.pop()
            found[node] = replace(found.get(node, rows), rows_in=below.rows_out)
            (node,), rows = plan.nodes[node].inputs, below
            found.setdefault(node, rows)
    return found
