"""Implementation rules: which physical operators compute a logical one.

A new physical operator needs one rule here, or in a module of its own that is imported before the
optimizer runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

from ..algebra import logical, physical, regex
from ..algebra.automaton import minimal_dfa
from ..algebra.joins import first_orders, join_variables
from ..algebra.logical import PathSemantics
from ..algebra.physical import (
    AutomatonPath,
    PairPath,
    PhysicalOperator,
    SimplePath,
    SPath,
    WithDeletions,
)
from ..algebra.registry import Registry
from ..algebra.scalar import text
from .rule import ImplementationRule

IMPLEMENTATIONS: Registry[str, type[ImplementationRule[Any]]] = Registry()
"""The implementation rules by name, in the order in which they are applied."""

R = TypeVar("R", bound=type[ImplementationRule[Any]])


def implementation(rule: R) -> R:
    """Adds an implementation rule, by the name of its class."""
    return IMPLEMENTATIONS.add(rule.__name__)(rule)


@implementation
class ScanByWindow(ImplementationRule[logical.WScan]):
    """W(S)  ⇒  WSCAN"""

    operator = logical.WScan

    def implement(self, operator: logical.WScan) -> Iterator[PhysicalOperator]:
        sql = None if operator.predicate is None else operator.predicate.sql
        range_, slide = _lengths(operator)
        deletions: WithDeletions = "with_deletions" if operator.deletions else None
        yield physical.WindowScan(
            operator.stream, operator.label, range_, slide, sql, operator.properties, deletions
        )


@implementation
class ScanOfSeveral(ImplementationRule[logical.WScanUnion]):
    """W(S1 ∪ S2)  ⇒  WSCAN_UNION"""

    operator = logical.WScanUnion

    def implement(self, operator: logical.WScanUnion) -> Iterator[PhysicalOperator]:
        first, scans = operator.scans[0], operator.scans
        selections = tuple((s.label, s.predicate.sql if s.predicate else None) for s in scans)
        range_, slide = _lengths(first)
        yield physical.WindowScanUnion(first.stream, selections, range_, slide, first.properties)


def _lengths(scan: logical.WScan) -> tuple[int, int] | tuple[None, None]:
    """Range and slide of a scan's window; both None for a stored graph."""
    return (None, None) if scan.window is None else (scan.window.range, scan.window.slide)


@implementation
class FilterByRows(ImplementationRule[logical.Filter]):
    """σ_F(S)  ⇒  FILTER"""

    operator = logical.Filter

    def implement(self, operator: logical.Filter) -> Iterator[PhysicalOperator]:
        yield physical.FilterRows(operator.predicate.sql)


@implementation
class UnionByMerge(ImplementationRule[logical.Union]):
    """A ∪ B  ⇒  UNION"""

    operator = logical.Union

    def implement(self, operator: logical.Union) -> Iterator[PhysicalOperator]:
        yield physical.MergeUnion()


@implementation
class ProjectByColumns(ImplementationRule[logical.Project]):
    """π(S)  ⇒  PROJECT"""

    operator = logical.Project

    def implement(self, operator: logical.Project) -> Iterator[PhysicalOperator]:
        yield physical.ProjectColumns(operator.columns)


@implementation
class PatternByHashJoin(ImplementationRule[logical.Pattern]):
    """A ⋈ B  ⇒  HASH_JOIN, symmetric (thesis 5.4, Algorithm PATTERN)"""

    operator = logical.Pattern

    def implement(self, operator: logical.Pattern) -> Iterator[PhysicalOperator]:
        left, right = operator.bindings
        yield physical.HashJoin((left, right), operator.output, operator.names)


@implementation
class PatternBySemiJoin(ImplementationRule[logical.Pattern]):
    """A ⋈ B  ⇒  SEMI_JOIN A ⋉ B, where the output has variables of A alone

    Always valid: a row of the output is valid while some row of B matches, whichever that is. The
    inputs share a variable.
    """

    operator = logical.Pattern

    def implement(self, operator: logical.Pattern) -> Iterator[PhysicalOperator]:
        left, right = operator.bindings
        if set(operator.output) <= set(left) and not set(left).isdisjoint(right):
            yield physical.SemiJoin((left, right), operator.output, operator.names)


@implementation
class AntiJoinByKeys(ImplementationRule[logical.AntiJoin]):
    """A ▷ B  ⇒  ANTI_JOIN, incremental: rows of A end and begin as keys of B come and go"""

    operator = logical.AntiJoin

    def implement(self, operator: logical.AntiJoin) -> Iterator[PhysicalOperator]:
        yield physical.AntiJoin(operator.bindings, operator.names)


@implementation
class LeftJoinByHashAndKeys(ImplementationRule[logical.LeftJoin]):
    """A ⟕ B  ⇒  LEFT_JOIN, incremental: pairs as by HASH_JOIN, rows without one as by ANTI_JOIN"""

    operator = logical.LeftJoin

    def implement(self, operator: logical.LeftJoin) -> Iterator[PhysicalOperator]:
        yield physical.LeftJoin(operator.bindings, operator.names)


@implementation
class FilteredPatternByHashJoin(ImplementationRule[logical.FilteredPattern]):
    """A ⋈_F B  ⇒  HASH_JOIN with F as its residual"""

    operator = logical.FilteredPattern

    def implement(self, operator: logical.FilteredPattern) -> Iterator[PhysicalOperator]:
        residual = operator.predicate.sql
        yield physical.HashJoin(operator.bindings, operator.output, operator.names, residual)


@implementation
class PatternByMultiwayJoin(ImplementationRule[logical.MultiwayPattern]):
    """S1 ⋈ .. ⋈ Sn  ⇒  MULTIWAY_JOIN; the cost model chooses the orders of its variables"""

    operator = logical.MultiwayPattern

    def implement(self, operator: logical.MultiwayPattern) -> Iterator[PhysicalOperator]:
        residual = None if operator.predicate is None else operator.predicate.sql
        orders = first_orders(operator.bindings)
        yield physical.MultiwayJoin(
            operator.reads,
            operator.bindings,
            operator.output,
            orders,
            operator.names,
            residual=residual,
        )


@implementation
class PatternByOwnValues(ImplementationRule[logical.MultiwayPattern]):
    """S1 ⋈ .. ⋈ Sn  ⇒  MULTIWAY_JOIN by value: each partition has all rows and its own results

    For several partitions; by each shared variable of the result, which is where the results lie.
    """

    operator = logical.MultiwayPattern

    def implement(self, operator: logical.MultiwayPattern) -> Iterator[PhysicalOperator]:
        if self.settings.parallelism == 1:
            return
        shared = join_variables(operator.bindings)
        kept = sorted(shared.intersection(operator.output))
        for join in PatternByMultiwayJoin(self.settings).implement(operator):
            assert isinstance(join, physical.MultiwayJoin)
            for variable in kept or [min(shared)]:
                yield replace(join, own=variable)


@implementation
class PatternByHypercube(ImplementationRule[logical.MultiwayPattern]):
    """S1 ⋈ .. ⋈ Sn  ⇒  MULTIWAY_JOIN in cells: a row has copies where its atoms may need it

    For four or more partitions, and two or more shared variables; the cost model chooses the
    variables and their numbers of parts.
    """

    operator = logical.MultiwayPattern

    def implement(self, operator: logical.MultiwayPattern) -> Iterator[PhysicalOperator]:
        shared = sorted(join_variables(operator.bindings))
        if self.settings.parallelism < 4 or len(shared) < 2:
            return
        for join in PatternByMultiwayJoin(self.settings).implement(operator):
            assert isinstance(join, physical.MultiwayJoin)
            yield replace(join, shares=tuple([(variable, 2) for variable in shared[:2]]))


@implementation
class PathBySPath(ImplementationRule[logical.Path]):
    """P[r](S)  ⇒  S_PATH over the minimal DFA of r (thesis appendix A)"""

    operator = logical.Path

    def implement(self, operator: logical.Path) -> Iterator[PhysicalOperator]:
        if operator.semantics is PathSemantics.ARBITRARY:
            yield _spath(operator.regex)


@implementation
class PathBySimplePath(ImplementationRule[logical.Path]):
    """P_simple[r](S)  ⇒  SIMPLE_PATH over the minimal DFA of r"""

    operator = logical.Path

    def implement(self, operator: logical.Path) -> Iterator[PhysicalOperator]:
        if operator.semantics is PathSemantics.SIMPLE:
            s, budget = _spath(operator.regex), self.settings.simple_budget
            yield physical.SimplePath(s.states, s.transitions, s.accepting, s.regex, budget=budget)


@implementation
class TrailByTrailPath(ImplementationRule[logical.Trail]):
    """P_trail[r](S)  ⇒  TRAIL_PATH over the minimal DFA of r

    For several partitions also by root: each partition has all edges, and reports the trails from
    its own roots.
    """

    operator = logical.Trail

    def implement(self, operator: logical.Trail) -> Iterator[PhysicalOperator]:
        s, budget = _spath(operator.regex), self.settings.simple_budget
        path = physical.TrailPath(
            s.states, s.transitions, s.accepting, s.regex,
            relations=operator.relations, budget=budget,
        )  # fmt: skip
        yield path
        if self.settings.parallelism > 1:
            yield replace(path, roots="own")


@implementation
class ShortestByShortestPath(ImplementationRule[logical.Shortest]):
    """P_shortest[r](S)  ⇒  SHORTEST_PATH over the minimal DFA of r

    For several partitions also by root: each partition has all edges, and reports the paths from
    its own roots.
    """

    operator = logical.Shortest

    def implement(self, operator: logical.Shortest) -> Iterator[PhysicalOperator]:
        s = _spath(operator.regex)
        assert operator.every is not None
        path = physical.ShortestPath(
            s.states, s.transitions, s.accepting, s.regex,
            sources=None if operator.sources is None else operator.sources.sql,
            every=operator.every,
            values=operator.values,
            labels=operator.labels,
            all_paths=True if operator.all_paths else None,
            budget=self.settings.simple_budget,
        )  # fmt: skip
        yield path
        if self.settings.parallelism > 1:
            yield replace(path, roots="own")


@implementation
class PathBySlides(ImplementationRule[logical.Path]):
    """P[r](S)  ⇒  SLIDE_PATH over the minimal DFA of r, where evaluation is per slide"""

    operator = logical.Path

    def implement(self, operator: logical.Path) -> Iterator[PhysicalOperator]:
        period = self.settings.period
        if period is not None and operator.semantics is PathSemantics.ARBITRARY:
            s = _spath(operator.regex)
            yield physical.SlidePath(s.states, s.transitions, s.accepting, s.regex, period=period)


@implementation
class PathByOwnRoots(ImplementationRule[logical.Path]):
    """P[r](S)  ⇒  S_PATH by root: each partition has all edges and the trees of its own roots

    For several partitions; SIMPLE_PATH for simple paths, or SLIDE_PATH.
    """

    operator = logical.Path

    def implement(self, operator: logical.Path) -> Iterator[PhysicalOperator]:
        if self.settings.parallelism == 1:
            return
        for rule in (PathBySPath, PathBySimplePath, PathBySlides):
            for path in rule(self.settings).implement(operator):
                assert isinstance(path, AutomatonPath)
                yield replace(path, roots="own")


@implementation
class BoundPathByRoots(ImplementationRule[logical.BoundPath]):
    """P_F[r](S)  ⇒  the operators for P[r](S), with trees from the roots that satisfy F alone

    Without F, as over a relation of sources, they are those for P[r](S); for P_D[r](S) with bound
    pairs PAIR_PATH.
    """

    operator = logical.BoundPath

    def implement(self, operator: logical.BoundPath) -> Iterator[PhysicalOperator]:
        sources = None if operator.sources is None else operator.sources.sql
        unbound = logical.Path(operator.regex, operator.semantics)
        for rule in (PathBySPath, PathBySimplePath, PathBySlides, PathByOwnRoots):
            for path in rule(self.settings).implement(unbound):
                assert isinstance(path, AutomatonPath)
                if operator.pairs:
                    if isinstance(path, SPath):
                        yield _pair_path(path)
                elif operator.binds_simple:
                    assert isinstance(path, SimplePath)
                    yield replace(path, from_relation=True)
                else:
                    yield replace(path, sources=sources)


def _pair_path(s: SPath) -> PairPath:
    """PAIR_PATH over the automaton of S_PATH."""
    return PairPath(s.states, s.transitions, s.accepting, s.regex, s.roots)


@implementation
class BoundPatternByHashJoin(ImplementationRule[logical.BoundPattern]):
    """A ⋈ P[d·r](S)  ⇒  HASH_JOIN, where A binds the path"""

    operator = logical.BoundPattern

    def implement(self, operator: logical.BoundPattern) -> Iterator[PhysicalOperator]:
        left, right = operator.bindings
        yield physical.HashJoin((left, right), operator.output, operator.names)


@implementation
class BoundPatternBySemiJoin(ImplementationRule[logical.BoundPattern]):
    """A ⋈ P[d·r](S)  ⇒  SEMI_JOIN A ⋉ P[d·r](S), where the output has variables of A alone"""

    operator = logical.BoundPattern

    def implement(self, operator: logical.BoundPattern) -> Iterator[PhysicalOperator]:
        yield from PatternBySemiJoin(self.settings).implement(operator)


@implementation
class RewindowByRuns(ImplementationRule[logical.Rewindow]):
    """W(S)  ⇒  REWINDOW, over the runs of each value"""

    operator = logical.Rewindow

    def implement(self, operator: logical.Rewindow) -> Iterator[PhysicalOperator]:
        yield physical.Rewindow(operator.window.range, operator.window.slide)


@implementation
class EmptyByNothing(ImplementationRule[logical.Empty]):
    """∅  ⇒  EMPTY"""

    operator = logical.Empty

    def implement(self, operator: logical.Empty) -> Iterator[PhysicalOperator]:
        yield physical.EmptyRelation(operator.columns)


@implementation
class ComputeByColumns(ImplementationRule[logical.Compute]):
    """χ(S)  ⇒  COMPUTE"""

    operator = logical.Compute

    def implement(self, operator: logical.Compute) -> Iterator[PhysicalOperator]:
        yield physical.ComputeColumns(tuple(map(text, operator.values)))


@implementation
class AggregateByKeys(ImplementationRule[logical.Aggregate]):
    """γ(S)  ⇒  AGGREGATE, incremental: rows come and go, and change the row of their keys"""

    operator = logical.Aggregate

    def implement(self, operator: logical.Aggregate) -> Iterator[PhysicalOperator]:
        calls = tuple(call.call for call in operator.aggregates)
        yield physical.AggregateRows(
            operator.keys,
            calls,
            operator.output,
            operator.every,
            retracts=True if operator.retracts else None,
        )


@implementation
class PartialAggregateByKeys(ImplementationRule[logical.PartialAggregate]):
    """γ'(S)  ⇒  AGGREGATE with ``partial``, on each partition of the rows"""

    operator = logical.PartialAggregate

    def implement(self, operator: logical.PartialAggregate) -> Iterator[PhysicalOperator]:
        calls = tuple(call.call for call in operator.aggregates)
        output = tuple(range(len(operator.keys) + len(calls) + 1))
        retracts: Literal[True] | None = True if operator.every is None else None
        yield physical.AggregateRows(
            operator.keys, calls, output, operator.every, retracts=retracts, partial=True
        )


@implementation
class TopByHeaps(ImplementationRule[logical.Top]):
    """τ(S)  ⇒  TOP_K, incremental: a row is compared with the last of the first rows alone"""

    operator = logical.Top

    def implement(self, operator: logical.Top) -> Iterator[PhysicalOperator]:
        yield physical.TopRows(
            operator.order,
            operator.limit,
            partial=True if operator.partial else None,
            offset=operator.offset or None,
        )


@implementation
class WitnessBySearch(ImplementationRule[logical.Witness]):
    """ω(S, S1, ..)  ⇒  WITNESS, a search for each row over the minimal DFA of the path's words"""

    operator = logical.Witness

    def implement(self, operator: logical.Witness) -> Iterator[PhysicalOperator]:
        s = _spath(operator.regex)
        yield physical.WitnessPaths(
            operator.keys,
            operator.output,
            operator.source,
            operator.target,
            s.states,
            s.transitions,
            s.accepting,
            operator.labels,
            operator.semantics is PathSemantics.SIMPLE,
            s.regex,
            self.settings.simple_budget,
        )


@implementation
class ReportByInstants(ImplementationRule[logical.Report]):
    """ρ(S)  ⇒  REPORT"""

    operator = logical.Report

    def implement(self, operator: logical.Report) -> Iterator[PhysicalOperator]:
        yield physical.ReportRows(operator.mode, operator.every, start=operator.start or None)


@implementation
class ReportByEvents(ImplementationRule[logical.EventReport]):
    """ρ(S, S1, ..)  ⇒  EVENT_REPORT"""

    operator = logical.EventReport

    def implement(self, operator: logical.EventReport) -> Iterator[PhysicalOperator]:
        yield physical.EventReportRows(operator.mode, operator.events, start=operator.start or None)


@lru_cache(maxsize=4096)
def _spath(r: regex.Regex) -> SPath:
    automaton = minimal_dfa(r).with_fresh_start()
    return SPath(automaton.states, automaton.transitions, automaton.accepting, regex.text(r))
