"""Implementation rules: which physical operators compute a logical one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..algebra import physical, regex
from ..algebra.automaton import minimal_dfa
from ..algebra.logical import (
    Empty,
    Filter,
    FilteredPattern,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Rewindow,
    Union,
    WScan,
    WScanUnion,
)
from ..algebra.physical import (
    DEFAULT_STEPS,
    AutomatonPath,
    EmptyRelation,
    FilterRows,
    HashJoin,
    MergeUnion,
    PhysicalOperator,
    ProjectColumns,
    SimplePath,
    SlidePath,
    SPath,
    WindowScan,
    WindowScanUnion,
    WithDeletions,
)
from ..algebra.regex import Regex
from ..memo import GroupExpression
from .rule import ImplementationRule


class ScanByWindow(ImplementationRule):
    """W(S)  ⇒  WSCAN"""

    name = "ScanByWindow"
    operator = WScan

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        scan: Any = expression.operator
        assert isinstance(scan, WScan)
        sql = None if scan.predicate is None else scan.predicate.sql
        range_, slide = _lengths(scan)
        deletions: WithDeletions = "with_deletions" if scan.deletions else None
        yield WindowScan(scan.stream, scan.label, range_, slide, sql, scan.properties, deletions)


class ScanOfSeveral(ImplementationRule):
    """W(S1 ∪ S2)  ⇒  WSCAN_UNION"""

    name = "ScanOfSeveral"
    operator = WScanUnion

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        leaf: Any = expression.operator
        assert isinstance(leaf, WScanUnion)
        selections = tuple((s.label, s.predicate.sql if s.predicate else None) for s in leaf.scans)
        first = leaf.scans[0]
        range_, slide = _lengths(first)
        yield WindowScanUnion(first.stream, selections, range_, slide, first.properties)


def _lengths(scan: WScan) -> tuple[int, int] | tuple[None, None]:
    """Range and slide of a scan's window; none of a stored graph."""
    return (None, None) if scan.window is None else (scan.window.range, scan.window.slide)


class FilterByRows(ImplementationRule):
    """σ_F(S)  ⇒  FILTER"""

    name = "FilterByRows"
    operator = Filter

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        filtering: Any = expression.operator
        assert isinstance(filtering, Filter)
        yield FilterRows(filtering.predicate.sql)


class UnionByMerge(ImplementationRule):
    """A ∪ B  ⇒  UNION"""

    name = "UnionByMerge"
    operator = Union

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        yield MergeUnion()


class ProjectByColumns(ImplementationRule):
    """π(S)  ⇒  PROJECT"""

    name = "ProjectByColumns"
    operator = Project

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        projection: Any = expression.operator
        assert isinstance(projection, Project)
        yield ProjectColumns(projection.columns)


class PatternByHashJoin(ImplementationRule):
    """A ⋈ B  ⇒  HASH_JOIN, symmetric (thesis 5.4, Algorithm PATTERN)"""

    name = "PatternByHashJoin"
    operator = Pattern

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        join: Any = expression.operator
        assert isinstance(join, Pattern)
        left, right = join.bindings
        yield HashJoin((left, right), join.output, join.names)


class FilteredPatternByHashJoin(ImplementationRule):
    """A ⋈_F B  ⇒  HASH_JOIN with F as its residual"""

    name = "FilteredPatternByHashJoin"
    operator = FilteredPattern

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        join: Any = expression.operator
        assert isinstance(join, FilteredPattern)
        yield HashJoin(join.bindings, join.output, join.names, join.predicate.sql)


class PathBySPath(ImplementationRule):
    """P[r](S)  ⇒  S_PATH over the minimal DFA of r (thesis appendix A)"""

    name = "PathBySPath"
    operator = Path

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        path: Any = expression.operator
        assert isinstance(path, Path)
        if path.semantics is PathSemantics.ARBITRARY:
            yield _spath(path.regex)


class PathBySimplePath(ImplementationRule):
    """P_simple[r](S)  ⇒  SIMPLE_PATH over the minimal DFA of r"""

    name = "PathBySimplePath"
    operator = Path

    def __init__(self, budget: int = DEFAULT_STEPS) -> None:
        self._budget = budget

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        path: Any = expression.operator
        assert isinstance(path, Path)
        if path.semantics is PathSemantics.SIMPLE:
            s = _spath(path.regex)
            yield SimplePath(s.states, s.transitions, s.accepting, s.regex, budget=self._budget)


class PathBySlides(ImplementationRule):
    """P[r](S)  ⇒  SLIDE_PATH over the minimal DFA of r, where evaluation is per slide"""

    name = "PathBySlides"
    operator = Path

    def __init__(self, period: int | None = None) -> None:
        self._period = period

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        path: Any = expression.operator
        assert isinstance(path, Path)
        if self._period is not None and path.semantics is PathSemantics.ARBITRARY:
            s = _spath(path.regex)
            yield SlidePath(s.states, s.transitions, s.accepting, s.regex, period=self._period)


class PathByOwnRoots(ImplementationRule):
    """P[r](S)  ⇒  S_PATH by root: each partition has all edges and the trees of its own roots

    For several partitions; SIMPLE_PATH for simple paths, or SLIDE_PATH.
    """

    name = "PathByOwnRoots"
    operator = Path

    def __init__(self, budget: int = DEFAULT_STEPS, period: int | None = None) -> None:
        self._ways = PathBySPath(), PathBySimplePath(budget), PathBySlides(period)

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        for way in self._ways:
            for path in way.implement(expression):
                assert isinstance(path, AutomatonPath)
                yield replace(path, roots="own")


class RewindowByRuns(ImplementationRule):
    """W(S)  ⇒  REWINDOW, over the runs of each value"""

    name = "RewindowByRuns"
    operator = Rewindow

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        rewindow: Any = expression.operator
        assert isinstance(rewindow, Rewindow)
        yield physical.Rewindow(rewindow.window.range, rewindow.window.slide)


class EmptyByNothing(ImplementationRule):
    """∅  ⇒  EMPTY"""

    name = "EmptyByNothing"
    operator = Empty

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        empty: Any = expression.operator
        assert isinstance(empty, Empty)
        yield EmptyRelation(empty.columns)


@lru_cache(maxsize=4096)
def _spath(r: Regex) -> SPath:
    automaton = minimal_dfa(r).with_fresh_start()
    return SPath(automaton.states, automaton.transitions, automaton.accepting, regex.text(r))
