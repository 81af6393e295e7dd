"""The operators to measure, on generated streams.

Rates, populations, output rates, states and vertices vary independently of each other, so that the
fit can tell the terms of a formula apart. All streams have the windows of a real query in small: a
slide of a thirtieth of the range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...algebra import physical
from ...algebra.aggregates import Function, ReportMode
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
    joins = (*_joins(), *_by_matches(), *_at_once())
    paths = (*_paths(), *_trails())
    return [
        replace(workload, rows=max(2_000, int(workload.rows * share)))
        for workload in (*_stateless(), *joins, *_one_input(), *_roots(), *paths)
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
_STAR = ((0, 1), (0, 2), (0, 3))
_CHAIN_OF_3 = ((0, 1), (1, 2), (2, 3))


def _by_matches() -> Iterator[Workload]:
    """Joins that ask whether there is a match: keys are mostly away, sometimes there, mostly there.

    A left join gives the matches, too.
    """
    operators: tuple[tuple[str, physical.PhysicalOperator, int], ...] = (
        ("SEMI_JOIN", physical.SemiJoin(_CHAIN, (0, 1)), 2),
        ("ANTI_JOIN", physical.AntiJoin(((0, 1), (1,))), 1),
        ("LEFT_JOIN", physical.LeftJoin(_CHAIN), 2),
    )
    for kind, operator, width in operators:
        for valid in (1_000, 20_000):
            for matches in (0.02, 1.0, 10.0):
                keys = int(max(valid / matches, 1))
                right = (keys, 10_000)[:width]
                yield Workload(
                    kind,
                    f"{valid:,} rows a side, {matches:g} matches",
                    operator,
                    (Source(valid, (10_000, keys)), Source(valid, right)),
                    max(60_000, 2 * valid),
                )


def _at_once() -> Iterator[Workload]:
    """Multiway joins with a cycle and without, of one stream and of one for each atom."""
    for shape, bindings, degrees in (
        ("triangles", _TRIANGLE, (1, 4, 10)),
        ("4-cliques", _CLIQUE, (1, 10)),
        ("stars of 3", _STAR, (0.2, 1, 3)),
        ("chains of 3", _CHAIN_OF_3, (0.2, 1, 3)),
    ):
        atoms = len(bindings)
        for valid, streams in ((2_000, 1), (20_000, 1), (2_000, atoms)):
            for degree in degrees:
                ends = int(valid / degree)
                reads = (0,) * atoms if streams == 1 else tuple(range(atoms))
                yield Workload(
                    "MULTIWAY_JOIN",
                    f"{shape} among {streams} x {valid:,} edges of {ends:,} vertices",
                    physical.MultiwayJoin(reads, bindings, (0, 1, 2), first_orders(bindings)),
                    (Source(valid, (ends, ends)),) * streams,
                    max(20_000, 2 * valid),
                )


def _one_input() -> Iterator[Workload]:
    for valid in (1_000, 20_000, 150_000):
        for repeats in (0.1, 3.0, 30.0):
            ends = max(int((valid / repeats) ** 0.5), 2)
            source = Source(valid, (ends, ends))
            name = f"{valid:,} rows, {repeats:g} of a value"
            rows = max(200_000, 2 * valid)
            yield Workload("COALESCE", name, physical.Coalesce(), (source,), rows)


_REPORTS: tuple[tuple[ReportMode, int], ...] = (
    ("entering", 100),
    ("exit", 100),
    ("snapshot", 1_000),
)
_CALLS: tuple[tuple[str, tuple[tuple[Function, int | None], ...]], ...] = (
    ("count", (("count", None),)),
    ("average", (("avg", 1),)),
    ("count, sum and maximum", (("count", None), ("sum", 1), ("max", 1))),
)


def _roots() -> Iterator[Workload]:
    yield from _aggregates()
    yield from _reports()


def _aggregates() -> Iterator[Workload]:
    for valid, groups in ((1_000, 10), (1_000, 10_000), (20_000, 10), (20_000, 10_000)):
        source = Source(valid, (groups, 10_000))
        for name, calls in _CALLS:
            for every in (None, 100):
                period = f", every {every} ticks" if every else ""
                yield Workload(
                    "AGGREGATE",
                    f"{name} over {valid:,} rows in {groups:,} groups{period}",
                    physical.AggregateRows((0,), calls, tuple(range(1 + len(calls))), every=every),
                    (source,),
                    40_000,
                )


def _reports() -> Iterator[Workload]:
    for valid in (1_000, 20_000, 150_000):
        for mode, every in _REPORTS:
            yield Workload(
                "REPORT",
                f"{mode} every {every:,} ticks, {valid:,} rows",
                physical.ReportRows(mode, every),
                (Source(valid, (10_000, 10_000)),),
                80_000,
            )


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


def _trails() -> Iterator[Workload]:
    """Trails that may repeat an edge. Their formula leaves out how far a search goes, so the
    constants are not fitted to them."""
    a = Symbol(0)
    regexes: tuple[tuple[str, Regex, tuple[float, ...]], ...] = (
        ("a·a", Concat((a, a)), (0.6, 3.0)),
        ("a·a·a", Concat((a, a, a)), (0.6, 3.0)),
        ("(a·a)+", Plus(Concat((a, a))), (0.3, 0.6)),
    )
    for text, regex, degrees in regexes:
        automaton = minimal_dfa(regex).with_fresh_start()
        path = physical.TrailPath(
            automaton.states, automaton.transitions, automaton.accepting, relations=(0,)
        )
        for vertices in (300, 20_000):
            for degree in degrees:
                source = Source(int(vertices * degree), (vertices, vertices))
                name = f"{text}, {vertices:,} vertices of degree {degree:g}"
                yield Workload("TRAIL_PATH", name, path, (source,), 20_000, fitted=False)
