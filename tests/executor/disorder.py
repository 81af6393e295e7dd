"""Streams out of order, and their late rows by definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hypothesis import strategies as st

from headrace.algebra.physical import WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.executor.local import Edge

STREAM_OF = {"a": "s", "b": "t", "c": "u", "z": "s"}


@dataclass(frozen=True)
class Disorder:
    """Micro-batches of edges, the clock at each, and what was promised of each stream."""

    batches: tuple[tuple[Edge, ...], ...]
    clocks: tuple[int, ...]
    delays: Mapping[str, int]
    idle_ms: Mapping[str, int]

    def plan(self, plan: PhysicalPlan) -> PhysicalPlan:
        """A plan whose labels come from streams of their own, with these promises."""
        nodes = []
        for node in plan.nodes:
            match node.operator:
                case WindowScan(label=label) as scan:
                    nodes.append(
                        node.model_copy(update={"operator": replace(scan, stream=STREAM_OF[label])})
                    )
                case _:
                    nodes.append(node)
        labels = sorted({scan.label for _, scan in plan.scans})
        streams = [
            PlanStream(
                name=STREAM_OF[label],
                labels=(label,),
                delay=self.delays[STREAM_OF[label]],
                idle_ms=self.idle_ms.get(STREAM_OF[label]),
            )
            for label in labels
        ]
        return plan.model_copy(update={"nodes": tuple(nodes), "streams": tuple(streams)})

    def watermarks(self, plan: PhysicalPlan) -> list[int]:
        """The watermark before each batch and, at last, after all, in the plain way."""
        found = [-1]
        for last in range(len(self.batches)):
            bounds = []
            for stream in plan.streams:
                brought = [
                    number
                    for number, batch in enumerate(self.batches[: last + 1])
                    if any(edge[4] == stream.name for edge in batch)  # type: ignore[misc]
                ]
                silent = self.clocks[last] - self.clocks[max(brought, default=0)]
                # A stream of which nothing came yet is waited for from the first batch on.
                waited = stream.idle_ms is None or last in brought or not last
                if not waited and silent >= (stream.idle_ms or 0):
                    continue
                times = [
                    edge[3]
                    for batch in self.batches[: last + 1]
                    for edge in batch
                    if edge[4] == stream.name  # type: ignore[misc]
                ]
                bounds.append(max(times, default=-1) - stream.delay)
            found.append(max([*found, min(bounds, default=-1)]))
        return found

    def late(self, plan: PhysicalPlan) -> list[Edge]:
        """The edges, with a label that the plan reads, that come after their time."""
        labels = {scan.label for _, scan in plan.scans}
        return [
            edge
            for watermark, batch in zip(self.watermarks(plan), self.batches, strict=False)
            for edge in batch
            if edge[3] < watermark and edge[2] in labels
        ]

    @property
    def edges(self) -> list[Edge]:
        """All, in the order in which they come."""
        return [edge for batch in self.batches for edge in batch]


def in_order(edges: Sequence[Edge], without: Sequence[Edge] = ()) -> list[Edge]:
    """Edges by time, some taken away."""
    left = list(edges)
    for edge in without:
        left.remove(edge)
    return sorted(left, key=lambda edge: edge[3])


@st.composite
def disorders(
    draw: st.DrawFn,
    ordered: st.SearchStrategy[list[Edge]],
    *,
    beyond: bool = False,
    idle: bool = False,
) -> Disorder:
    """Edges moved back by at most their stream's delay (or further, ``beyond``), each stream with
    a skew of its own, cut into batches anywhere."""
    names = sorted(set(STREAM_OF.values()))
    delays = {name: draw(st.sampled_from([0, 0, 1, 3, 8])) for name in names}
    skews = {name: draw(st.sampled_from([0, 0, 2, 9])) for name in names}
    keyed = []
    for src, trg, label, ts, *_ in draw(ordered):
        stream = STREAM_OF[label]
        most = delays[stream] + (draw(st.sampled_from([0, 0, 0, 4, 15])) if beyond else 0)
        key = ts + skews[stream] + draw(st.integers(0, most))
        keyed.append((key, (src, trg, label, ts, stream)))
    keyed.sort(key=lambda pair: pair[0])
    edges: list[Edge] = [edge for _, edge in keyed]
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(edges) - 1)), max_size=8)))
    bounds = [0, *(cut for cut in cuts if cut < len(edges)), len(edges)]
    batches = tuple(tuple(edges[start:end]) for start, end in pairwise(bounds))
    clocks, clock = [], 1_000
    for _ in batches:
        clocks.append(clock)
        clock += draw(st.sampled_from([1, 10, 100]))
    idle_ms = {name: draw(st.sampled_from([5, 50, 150])) for name in names} if idle else {}
    return Disorder(batches, tuple(clocks), delays, idle_ms)
