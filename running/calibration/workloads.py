"""The operators to measure, on generated streams.

Rates, populations, output rates, states and vertices vary independently of each other, so that the
fit can tell the terms of a formula apart. All streams have the windows of a real query in small: a
slide of a thirtieth of the range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...algebra import physical
from ...algebra.aggregates import Function
from ...algebra.automaton import minimal_dfa
from ...algebra.joins import first_orders
from ...algebra.regex import Concat, Plus, Regex, Star, Symbol

BATCH_ROWS = 8_192
"""The rows of a batch, as in :mod:`headrace.running.analysis`."""


@dataclass(frozen=True, slots=True)
class Source:
    """A stream of pairs of vertices.

    Attributes:
        valid: rows valid at an instant.
        vertices: the number of values of each column.
        rate: rows per tick.
    """

    valid: int
    vertices: tuple[int, ...]
    rate: float = 8.0


@dataclass(frozen=True, slots=True)
class Workload:
    """An operator over streams.

    Attributes:
        kind: the name of the operator in the report.
        name: what is particular about the streams.
        operator: the operator to run.
        sources: a stream for each input.
        rows: the number of measured input rows, after the populations have become steady.
        fitted: whether the constants are fitted to it; otherwise it is only reported.
    """

    kind: str
    name: str
    operator: physical.PhysicalOperator
    sources: tuple[Source, ...]
    rows: int
    fitted: bool = True


def workloads(share: float = 1.0, largest: int = 150_000) -> list[Workload]:
    """The workloads.

    Args:
        share: a factor of the measured rows.
        largest: the most rows that are valid at an instant in a stream.
    """
    return [
        replace(workload, rows=max(2_000, int(workload.rows * share)))
        for workload in (*_stateless(), *_joins(), *_at_once(), *_one_input(), *_paths())
        if max(source.valid for source in workload.sources) <= largest
    ]


def _stateless() -> Iterator[Workload]:
    pairs = Source(1_000, (10_000, 10_000))
    wide = Source(1_000, (10_000, 10_000, 10_000, 10_000))
    rows = 400_000
    yield Workload("UNION", "2 inputs", physical.MergeUnion(), (pairs, pairs), rows)
    yield Workload("UNION", "3 inputs", physical.MergeUnion(), (pairs,) * 3, rows)
    yield Workload("PROJECT", "2 of 2 columns", physical.ProjectColumns((1, 0)), (pairs,), rows)
    yield Workload("PROJECT", "3 of 4 columns", physical.ProjectColumns((3, 1, 0)), (wide,), rows)
    for name, predicate in (("passes all", "c0 <> c1"), ("passes none", "c0 = c1")):
        yield Workload("FILTER", name, physical.FilterRows(predicate), (pairs,), rows)
    for bound in (1_000, 5_000):
        filtered = physical.FilterRows(f"c0 < {bound}")
        yield Workload("FILTER", f"passes {bound / 10_000:.0%}", filtered, (pairs,), rows)
    for values in (("c0 + 1", "c1"), ("c0 + 1", "c1 * 2", "c0 - c1")):
        computed = physical.ComputeColumns(values)
        yield Workload("COMPUTE", f"{len(values)} columns", computed, (pairs,), rows)


_CHAIN = ((0, 1), (1, 2))
_CYCLE = ((0, 1), (1, 0))


def _joins() -> Iterator[Workload]:
    for valid in (1_000, 20_000, 150_000):
        for matches in (0.02, 1.0, 10.0):
            keys = int(max(valid / matches, 1))
            ends = 10_000
            sides = (Source(valid, (ends, keys)), Source(valid, (keys, ends)))
            yield Workload(
                "HASH_JOIN",
                f"{valid:,} rows a side, {matches:g} matches",
                physical.HashJoin(_CHAIN, (0, 2)),
                sides,
                max(60_000, 2 * valid) if matches <= 1 else 60_000,
            )
    for left, right in ((4.0, 16.0), (16.0, 2.0)):
        sides = (Source(20_000, (5_000, 20_000), left), Source(20_000, (20_000, 5_000), right))
        name = f"rates {left:g} and {right:g}"
        yield Workload("HASH_JOIN", name, physical.HashJoin(_CHAIN, (0, 1, 2)), sides, 100_000)
    ends = 200
    sides = (Source(20_000, (ends, ends)), Source(20_000, (ends, ends)))
    yield Workload("HASH_JOIN", "on two columns", physical.HashJoin(_CYCLE, (0, 1)), sides, 100_000)
    for valid, matches in ((2_000, 5.0), (20_000, 20.0)):
        keys = int(valid / matches)
        for ends, residual in ((10_000, "c0 <> c2"), (30, "c0 = c2")):
            sides = (Source(valid, (ends, keys)), Source(valid, (keys, ends)))
            yield Workload(
                "HASH_JOIN with residual",
                f"{residual}, {valid:,} rows a side",
                physical.HashJoin(_CHAIN, (0, 2), residual=residual),
                sides,
                40_000,
            )


_TRIANGLE = ((0, 1), (1, 2), (0, 2))
_CLIQUE = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def _at_once() -> Iterator[Workload]:
    """Multiway joins; their walks depend on degrees, so the constants are not fitted to them."""
    for valid, ends in ((2_000, 200), (20_000, 2_000), (20_000, 20_000)):
        for shape, bindings in (("triangles", _TRIANGLE), ("4-cliques", _CLIQUE)):
            yield Workload(
                "MULTIWAY_JOIN",
                f"{shape} among {valid:,} edges of {ends:,} vertices",
                physical.MultiwayJoin(
                    (0,) * len(bindings), bindings, (0, 1, 2), first_orders(bindings)
                ),
                (Source(valid, (ends, ends)),),
                40_000,
                fitted=False,
            )


_AGGREGATES: tuple[tuple[Function, int | None], ...] = (("count", None), ("sum", 1), ("max", 1))


def _one_input() -> Iterator[Workload]:
    for valid in (1_000, 20_000, 150_000):
        for repeats in (0.1, 3.0, 30.0):
            ends = max(int((valid / repeats) ** 0.5), 2)
            source = Source(valid, (ends, ends))
            name = f"{valid:,} rows, {repeats:g} of a value"
            rows = max(200_000, 2 * valid)
            yield Workload("COALESCE", name, physical.Coalesce(), (source,), rows)
    for valid in (1_000, 20_000):
        for groups in (10, 1_000):
            source = Source(valid, (groups, 10_000))
            for aggregates in (_AGGREGATES[:1], _AGGREGATES):
                output = tuple(range(1 + len(aggregates)))
                yield Workload(
                    "AGGREGATE",
                    f"{len(aggregates)} over {valid:,} rows in {groups:,} groups",
                    physical.AggregateRows((0,), aggregates, output, every=100),
                    (source,),
                    10_000,
                    fitted=False,
                )
    for valid in (1_000, 20_000):
        source = Source(valid, (10_000, 10_000))
        reported = physical.ReportRows("entering", 100)
        name = f"{valid:,} rows"
        yield Workload("REPORT", name, reported, (source,), 10_000, fitted=False)


def _paths() -> Iterator[Workload]:
    a, b, c = Symbol(0), Symbol(1), Symbol(2)
    regexes: tuple[tuple[str, Regex, int], ...] = (
        ("a+", Plus(a), 1),
        ("a·b*", Concat((a, Star(b))), 2),
        ("(a·b·c)+", Plus(Concat((a, b, c))), 3),
        ("a·b·c", Concat((a, b, c)), 3),
    )
    for text, regex, inputs in regexes:
        for vertices, degree, rows in (
            (300, 0.6, 100_000),
            (20_000, 0.6, 100_000),
            (300, 1.2, 20_000),
            (3_000, 1.0, 20_000),
            (300, 3.0, 8_000),
        ):
            source = Source(int(vertices * degree), (vertices, vertices))
            automaton = minimal_dfa(regex).with_fresh_start()
            path = physical.SPath(automaton.states, automaton.transitions, automaton.accepting)
            name = f"{text}, {vertices:,} vertices of degree {degree:g}"
            yield Workload("S_PATH", name, path, (source,) * inputs, rows)
