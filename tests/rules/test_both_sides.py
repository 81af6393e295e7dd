"""Both sides of a rule say the same at every instant: run in process on random streams.

Every transformation rule has a case, or this fails. The reference is the evaluation of
snapshots in :mod:`tests.properties.algebra`, which knows neither rules nor executor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.logical import (
    Filter,
    FilteredPattern,
    LogicalExpression,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Regex, Symbol, alternation, concat, optional, plus, star
from headrace.algebra.window import Window
from headrace.executor.local import Edge, run_plan
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.normalization import ALWAYS_WIN, normalized
from headrace.rules.registry import transformation_rules
from tests.optimizer.shapes import SetCosts, query
from tests.oracles.snapshot import Row, Snapshot
from tests.properties.algebra import rows_of
from tests.properties.running import shown
from tests.rules.bench import apply
from tests.strategies.amount import examples

RULES = {rule.name: rule for rule in transformation_rules()}
WINDOW = Window(6, 2)
LABELS = "abc"


def scan(label: str, sql: str | None = None) -> LogicalExpression:
    predicate = None if sql is None else Predicate(sql)
    return LogicalExpression(WScan("s", label, WINDOW, predicate))


def several(*scans: LogicalExpression) -> LogicalExpression:
    leaves = [e.operator for e in scans]
    return LogicalExpression(WScanUnion(tuple(s for s in leaves if isinstance(s, WScan))))


def where(sql: str, below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Filter(Predicate(sql)), (below,))


def union(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Union(), (left, right))


def project(columns: tuple[int, ...], below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Project(columns), (below,))


def path(r: Regex, *inputs: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Path(r), inputs)


def simple(r: Regex, *inputs: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Path(r, PathSemantics.SIMPLE), inputs)


def joined(
    left: LogicalExpression,
    right: LogicalExpression,
    bindings: tuple[tuple[int, ...], ...] = ((0, 1), (1, 2)),
    output: tuple[int, ...] = (0, 1, 2),
) -> LogicalExpression:
    """left(0,1) ⋈ right(1,2), all columns."""
    return LogicalExpression(Pattern(bindings, output), (left, right))


def along(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    """left(0,1) ⋈ right(1,2), from 0 to 2."""
    return joined(left, right, output=(0, 2))


def joined_where(
    sql: str,
    left: LogicalExpression,
    right: LogicalExpression,
    output: tuple[int, ...] = (0, 1, 2),
) -> LogicalExpression:
    """left(0,1) ⋈ right(1,2) under a condition on the variables."""
    operator = FilteredPattern(((0, 1), (1, 2)), output, Predicate(sql))
    return LogicalExpression(operator, (left, right))


A, B, C = (scan(label) for label in LABELS)
X, Y, Z = (Symbol(k) for k in range(3))
BACK = Symbol(0, inverse=True)
AB = joined(A, B)


@dataclass(frozen=True)
class Case:
    """An equality: ``rule`` makes ``after`` of ``before``, where the memo has ``known``."""

    rule: str
    before: LogicalExpression
    after: LogicalExpression
    known: tuple[LogicalExpression, ...] = ()


CASES = [
    Case("UnionCommute", union(A, B), union(B, A)),
    Case("UnionAssociate", union(union(A, B), C), union(A, union(B, C))),
    Case("FilterIdempotent", where("c0 = 'x'", where("c0 = 'x'", A)), where("c0 = 'x'", A)),
    Case(
        "FilterIdempotent",
        where("c0 = 'x'", where("c0 = 'x' AND c1 = 'y'", A)),
        where("c0 = 'x' AND c1 = 'y'", A),
    ),
    Case(
        "FilterMerge",
        where("c0 = 'x'", where("c1 = 'y'", A)),
        where("c0 = 'x' AND c1 = 'y'", A),
    ),
    Case(
        "FilterSplit",
        where("c0 < c2 AND c0 = 'x'", AB),
        where("c0 < c2", where("c0 = 'x'", AB)),
    ),
    Case(
        "FilterUnionToOr",
        union(where("c0 = 'x'", A), where("c1 = 'y'", A)),
        where("c0 = 'x' OR c1 = 'y'", A),
    ),
    Case(
        "OrToFilterUnion",
        where("c0 = 'x' OR c2 = 'y'", AB),
        union(where("c0 = 'x'", AB), where("c2 = 'y'", AB)),
    ),
    Case(
        "OrToFilterUnion",
        where("c0 = 'x' OR c1 = 'y'", A),
        union(where("c0 = 'x'", A), where("c1 = 'y'", A)),
    ),
    Case(
        "FilterSwap",
        where("c0 = 'x'", where("c0 <> c1", A)),
        where("c0 <> c1", where("c0 = 'x'", A)),
    ),
    Case(
        "FilterUnionTranspose",
        where("c0 <> c1", union(A, B)),
        union(where("c0 <> c1", A), where("c0 <> c1", B)),
    ),
    Case(
        "FilterUnionTransposeInverse",
        union(where("c0 = 'x'", A), where("c0 = 'x'", B)),
        where("c0 = 'x'", union(A, B)),
    ),
    Case(
        "PatternCommute",
        AB,
        joined(B, A, ((0, 1), (2, 0)), (2, 0, 1)),
    ),
    Case(
        "PatternAssociate",
        joined(AB, C, ((0, 1, 2), (2, 3)), (0, 3)),
        along(A, along(B, C)),
    ),
    Case(
        "PatternAssociate",  # a triangle
        joined(AB, C, ((0, 1, 2), (2, 0)), (0, 1, 2)),
        joined(A, joined(B, C), ((0, 1), (1, 2, 0)), (0, 1, 2)),
    ),
    Case(
        "PatternAssociateInverse",
        joined(A, joined(B, C), ((0, 1), (1, 2, 3)), (0, 3)),
        along(along(A, B), C),
    ),
    Case("FilterPatternTransposeLeft", where("c0 <> c1", AB), joined(where("c0 <> c1", A), B)),
    Case(
        "FilterPatternTransposeLeft",
        where("c0 = 'x' AND c2 <> 'x'", AB),
        joined(where("c0 = 'x'", A), where("c1 <> 'x'", B)),
    ),
    Case(
        "FilterPatternTransposeRight",
        where("c1 = 'x'", AB),
        joined(where("c1 = 'x'", A), where("c0 = 'x'", B)),
    ),
    Case("FilterPatternTransposeRight", where("c2 = 'y'", AB), joined(A, where("c1 = 'y'", B))),
    Case(
        "FilterPatternTransposeLeftInverse",
        joined(where("c0 = 'x'", A), B),
        where("c0 = 'x'", AB),
    ),
    Case(
        "FilterPatternTransposeLeftInverse",
        joined(where("c0 = 'x'", A), where("c1 = 'y'", B)),
        where("c0 = 'x' AND c2 = 'y'", AB),
    ),
    Case(
        "FilterPatternTransposeRightInverse",
        joined(A, where("c1 = 'y'", B)),
        where("c2 = 'y'", AB),
    ),
    Case(
        "PatternUnionDistribute",
        joined(union(A, B), C),
        union(joined(A, C), joined(B, C)),
        known=(joined(A, C),),
    ),
    Case(
        "PatternUnionDistribute",
        joined(C, union(A, B)),
        union(joined(C, A), joined(C, B)),
        known=(joined(C, B),),
    ),
    Case(
        "PatternUnionDistributeInverse",
        union(joined(A, C), joined(B, C)),
        joined(union(A, B), C),
    ),
    Case("FilterWScanTranspose", scan("a", "c0 <> c1"), where("c0 <> c1", A)),
    Case("FilterWScanTransposeInverse", where("c1 = 'x'", A), scan("a", "c1 = 'x'")),
    Case("WScanUnionTranspose", several(A, B, C), union(A, several(B, C))),
    Case("WScanUnionTransposeInverse", union(A, B), several(A, B)),
    Case(
        "WScanUnionTransposeInverse",
        union(scan("a", "c0 = 'x'"), several(scan("a", "c1 = 'y'"), B)),
        several(scan("a", "c0 = 'x'"), scan("a", "c1 = 'y'"), B),
    ),
    Case("ConcatToPattern", path(concat([X, Y]), A, B), along(A, B)),
    Case(
        "ConcatToPattern",
        path(concat([X, star(Y)]), A, B),
        union(along(A, path(plus(X), B)), A),
    ),
    Case(
        "ConcatToPattern",
        path(concat([optional(X), star(Y)]), A, B),
        union(union(along(A, path(plus(X), B)), path(plus(X), B)), A),
    ),
    Case(
        "ConcatToPattern",
        path(concat([BACK, Y]), A, B),
        joined(A, B, ((0, 1), (0, 2)), (1, 2)),
    ),
    Case("PatternToConcat", along(A, B), path(concat([X, Y]), A, B)),
    Case("PatternToConcat", along(A, path(plus(X), B)), path(concat([X, plus(Y)]), A, B)),
    Case(
        "PatternToConcat",
        joined(A, B, ((1, 0), (1, 2)), (0, 2)),
        path(concat([BACK, Y]), A, B),
    ),
    Case("UnionToConcat", union(along(A, B), A), path(concat([X, optional(Y)]), A, B)),
    Case("UnionToConcat", union(along(A, B), B), path(concat([optional(X), Y]), A, B)),
    Case(
        "UnionToConcat",
        union(path(concat([optional(X), Y]), A, B), A),
        path(concat([optional(X), optional(Y)]), A, B),
    ),
    Case("AlternationToUnion", path(alternation([X, Y]), A, B), union(A, B)),
    Case(
        "AlternationToUnion",
        path(alternation([plus(X), concat([X, Y])]), A, B),
        union(path(concat([X, Y]), A, B), path(plus(X), A)),
    ),
    Case("UnionToAlternation", union(A, B), path(alternation([X, Y]), A, B)),
    Case(
        "UnionToAlternation",
        union(path(plus(X), A), B),
        path(alternation([plus(X), Y]), A, B),
    ),
    Case("PathOfLabel", path(BACK, A), project((1, 0), A)),
    Case("PathOfLabel", simple(X, A), where("c0 <> c1", A)),
    Case("PathOfLabel", simple(BACK, A), project((1, 0), where("c0 <> c1", A))),
    Case(
        "AlternationToUnion",
        simple(alternation([plus(X), concat([X, Y])]), A, B),
        union(simple(concat([X, Y]), A, B), simple(plus(X), A)),
    ),
    Case(
        "UnionToAlternation",
        union(simple(concat([X, X]), A), simple(concat([X, star(X)]), B)),
        simple(alternation([concat([X, X]), concat([Y, star(Y)])]), A, B),
    ),
    Case("SimplePathAsAnyPath", simple(plus(X), A), where("c0 <> c1", path(plus(X), A))),
    Case(
        "SimplePathAsAnyPath",
        simple(concat([star(X), star(Y)]), A, B),
        where("c0 <> c1", path(concat([star(X), star(Y)]), A, B)),
    ),
    Case("LabelToPath", project((1, 0), A), path(BACK, A)),
    Case(
        "StarDecompose",
        path(plus(concat([X, Y])), A, B),
        path(plus(X), path(concat([X, Y]), A, B)),
    ),
    Case(
        "StarDecompose",  # a nullable step
        path(plus(concat([optional(X), star(Y)])), A, B),
        path(plus(X), path(alternation([X, Y]), A, B)),
    ),
    Case(
        "StarCompose",
        path(plus(X), path(concat([X, Y]), A, B)),
        path(plus(concat([X, Y])), A, B),
    ),
    Case(
        "StarCompose",
        path(plus(BACK), path(concat([X, Y]), A, B)),
        path(plus(concat([Symbol(0, inverse=True), Symbol(1, inverse=True)])), B, A),
    ),
    Case(
        "PathInline",
        path(concat([X, optional(Y)]), A, path(plus(X), B)),
        path(concat([X, star(Y)]), A, B),
    ),
    Case("ProjectMerge", project((2, 0), project((1, 0, 1), A)), project((1, 1), A)),
    Case("ProjectMerge", project((1, 0), project((1, 0), A)), A),
    Case("ProjectIntoPattern", project((2, 0), AB), joined(A, B, output=(2, 0))),
    Case("FilterIntoPattern", where("c0 < c2", AB), joined_where("c0 < c2", A, B)),
    Case(
        "FilterIntoPattern",
        where("c0 < c2 AND c0 = 'x'", joined(A, B, output=(2, 1, 0))),
        joined_where("c2 < c0 AND c2 = 'x'", A, B, (2, 1, 0)),
    ),
    Case(
        "ProjectIntoFilteredPattern",
        project((1,), joined_where("c0 < c2", A, B)),
        joined_where("c0 < c2", A, B, (1,)),
    ),
]
IDS = [f"{k}-{case.rule}" for k, case in enumerate(CASES)]


@st.composite
def streams(draw: st.DrawFn) -> list[Edge]:
    """Short streams over three vertices and labels, in bursts and with gaps."""
    vertex = st.sampled_from(["x", "y", "z"])
    gaps = st.sampled_from([0, 0, 1, 1, 2, 9])
    edges: list[Edge] = []
    now = 0
    for label in draw(st.lists(st.sampled_from("aabbc"), min_size=1, max_size=12)):
        now += draw(gaps)
        edges.append((draw(vertex), draw(vertex), label, now))
    return edges


def snapshot(edges: list[Edge], t: int) -> Snapshot:
    """The edges of each label that are valid at an instant (Definition 30)."""
    return {
        label: frozenset(
            (e[0], e[1])
            for e in edges
            if e[2] == label and e[3] <= t < e[3] // WINDOW.slide * WINDOW.slide + WINDOW.range
        )
        for label in LABELS
    }


def explored(expression: LogicalExpression, *only: str) -> SearchResult:
    """A search with some rules alone."""
    options = Options(disabled_rules=frozenset(RULES.keys() - set(only)), prune=False, check=True)
    return Optimizer(SetCosts(), options).optimize(query(expression))


@cache
def plans_of(case: Case) -> tuple[PhysicalPlan, ...]:
    """Each side as it is written and as it is planned, and some that the rule leads to."""
    sides = [explored(case.before), explored(case.after)]
    plans = [plan for side in sides for plan in (side.plan, side.canonical_plan)]
    plans += islice(explored(case.before, case.rule).plans.ranked(), 8)
    return tuple({plan.digest: plan for plan in plans}.values())


def judge(plan: PhysicalPlan, edges: list[Edge], batch: int, truth: dict[int, set[Row]]) -> None:
    results = list(run_plan(plan, edges, batch))
    for t, expected in truth.items():
        said = {r.bindings for r in results if r.ts <= t < r.exp}
        assert said == expected, f"at {t}:\n{shown(plan)}"


@pytest.mark.parametrize("case", CASES, ids=IDS)
@examples(12)
@given(edges=streams(), batch=st.sampled_from([1, 4, 100]))
def test_both_sides_say_the_same(case: Case, edges: list[Edge], batch: int) -> None:
    instants = sorted({e[3] + later for e in edges for later in (0, 1, 5)})
    truth = {t: rows_of(case.before, snapshot(edges, t)) for t in instants}
    assert truth == {t: rows_of(case.after, snapshot(edges, t)) for t in instants}
    for plan in plans_of(case):
        judge(plan, edges, batch, truth)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@examples(3)
@given(edges=streams(), batch=st.sampled_from([1, 100]), some=st.booleans())
def test_both_sides_say_the_same_over_stored_graphs(
    case: Case, edges: list[Edge], batch: int, some: bool
) -> None:
    """One label has no window, or none has; what scans several has one window, or none."""
    of = with_stored(case, "b" if some and "WScanUnion" not in case.rule else LABELS)
    stored = {label for label in LABELS if f"label='{label}', window=None" in repr(of)}
    edges = sorted((*e[:3], 0 if e[2] in stored else e[3]) for e in edges)
    edges.sort(key=lambda e: e[3])
    truth = {}
    for t in sorted({e[3] + later for e in edges for later in (0, 1, 5)}):
        always = {k: frozenset((e[0], e[1]) for e in edges if e[2] == k) for k in stored}
        valid = {**snapshot(edges, t), **always}
        truth[t] = rows_of(of.before, valid)
        assert truth[t] == rows_of(of.after, valid)
    for plan in plans_of(of):
        judge(plan, edges, batch, truth)


def with_stored(case: Case, labels: str) -> Case:
    """The case with some labels of stored graphs; the scans of these are of another stream."""
    return Case(case.rule, _stored(case.before, labels), _stored(case.after, labels), case.known)


def _stored(e: LogicalExpression, labels: str) -> LogicalExpression:
    def kept(scan: WScan) -> WScan:
        return replace(scan, stream="g", window=None) if scan.label in labels else scan

    operator = e.operator
    if isinstance(operator, WScan):
        operator = kept(operator)
    elif isinstance(operator, WScanUnion):
        operator = WScanUnion(tuple(map(kept, operator.scans)))
    return replace(e, operator=operator, inputs=tuple(_stored(i, labels) for i in e.inputs))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_rule_makes_one_side_of_the_other(case: Case) -> None:
    rule = RULES[case.rule]
    if case.rule in ALWAYS_WIN:
        assert normalized(case.before, [rule]) == case.after
        assert normalized(case.before, []) == case.before
        return
    known = tuple((expression,) for expression in case.known)
    done = apply(rule, case.before, below=known)
    assert done.results
    assert done.found(case.after)


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} == RULES.keys()


def test_the_sides_differ_and_streams_reach_them() -> None:
    """Before and after are two expressions, and rows come out of both."""
    edges: list[Edge] = [(v, w, label, 0) for v in "xyz" for w in "xyz" for label in LABELS]
    for case in CASES:
        assert case.before != case.after
        assert rows_of(case.before, snapshot(edges, 0)), case.rule
