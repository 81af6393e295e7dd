"""Rules by their cases (``cases/*.cases``): the results of each, and that both sides are equal.

The reference is the evaluation of snapshots in :mod:`tests.properties.algebra`, which knows neither
rules nor executor; plans of both sides run in process on random streams.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.logical import LogicalExpression, WScan, WScanUnion
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import Edge, run_plan
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.normalization import ALWAYS_WIN, normalized
from headrace.rules.registry import transformation_rules
from tests.optimizer.shapes import SetCosts, query
from tests.oracles.judgement import End, Line, valid_at, without_ends
from tests.oracles.snapshot import Row, Snapshot
from tests.properties.algebra import rows_of
from tests.properties.running import shown
from tests.rules.bench import apply
from tests.rules.case_files import (
    CROSS_PRODUCTS,
    NO_RULE,
    PATHS_OF_LABELS,
    Case,
    all_cases,
    cases_of,
)
from tests.rules.notation import WINDOW, parse, written
from tests.strategies.amount import examples

RULES = {rule.name: rule for rule in transformation_rules()}
LABELS = "abc"
CASES = all_cases()
EQUALITIES = [case for case in CASES if case.after]


def name(case: Case) -> str:
    return f"{case.place} {case.rule}: {case.why}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_rule_makes_exactly_the_results_of_its_case(case: Case) -> None:
    done = apply(
        RULES.get(case.rule),
        case.before,
        below=case.given,
        cross_products=CROSS_PRODUCTS in case.options,
        paths_of_labels=PATHS_OF_LABELS not in case.options,
    )
    made = "\n".join(map(written, done.members))
    for expected in case.after:
        assert done.found(expected), f"{written(expected)} is not among\n{made}"
    for unwanted in case.never:
        assert not done.found(unwanted), f"{written(unwanted)} is among\n{made}"
    if case.rule == NO_RULE:
        assert len(done.members) == 1, made
    else:
        assert len(done.results) == len(case.after), f"another number of results:\n{made}"


@pytest.mark.parametrize("rule", sorted(ALWAYS_WIN))
def test_normalization_rules_are_applied_before_the_memo(rule: str) -> None:
    for case in CASES:
        if case.rule == rule:
            (after,) = case.after or (case.before,)
            assert written(normalized(case.before, [RULES[rule]])) == written(_sorted(after))
            assert written(normalized(case.before, [])) == written(_sorted(case.before))


def _sorted(expression: LogicalExpression) -> LogicalExpression:
    """The expression with conditions in their normal form."""
    inputs = tuple(map(_sorted, expression.inputs))
    operator, _ = expression.operator.canonical(tuple(range(len(inputs))))
    return replace(expression, operator=operator, inputs=inputs)


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


def snapshot(edges: list[Edge], t: int, stored: set[str]) -> Snapshot:
    """The edges of each label that are valid at an instant (Definition 30); stored ones always."""
    return {
        label: frozenset(
            (e[0], e[1])
            for e in edges
            if e[2] == label and (label in stored or e[3] <= t < WINDOW.expiry(e[3]))
        )
        for label in LABELS
    }


def explored(expression: LogicalExpression, *only: str) -> SearchResult:
    """A search with some rules alone."""
    options = Options(disabled_rules=frozenset(RULES.keys() - set(only)), prune=False, check=True)
    return Optimizer(SetCosts(), options).optimize(query(expression))


@cache
def plans_of(case: Case) -> tuple[PhysicalPlan, ...]:
    """Plans of each side as written and as chosen, and some plans that the rule makes possible."""
    sides = [explored(side) for side in (case.before, *case.after)]
    plans = [plan for side in sides for plan in (side.plan, side.canonical_plan)]
    plans += islice(explored(case.before, case.rule).plans.ranked(), 8)
    return tuple({plan.digest: plan for plan in plans}.values())


def check_both_sides(case: Case, edges: list[Edge], batch: int) -> None:
    """All sides of a case, and their plans, have the same results at every instant."""
    stored = {scan.label for scan in _scans(case.before) if scan.window is None}
    edges = [(e[0], e[1], e[2], 0 if e[2] in stored else e[3]) for e in edges]
    edges.sort(key=lambda e: e[3])
    truth: dict[int, set[Row]] = {}
    for t in sorted({e[3] + later for e in edges for later in (0, 1, 5)}):
        valid = snapshot(edges, t, stored)
        truth[t] = rows_of(case.before, valid)
        for side in case.after:
            assert truth[t] == rows_of(side, valid), f"at {t}: {written(side)}"
    for plan in plans_of(case):
        results = [
            Line(r.bindings, r.ts, r.exp) if r.exp >= 0 else End(r.bindings, r.ts)
            for r in run_plan(plan, edges, batch)
        ]
        lines = without_ends(results)
        for t, expected in truth.items():
            said = valid_at(lines, t)
            assert said == expected, f"at {t}:\n{shown(plan)}"


@pytest.mark.parametrize("case", EQUALITIES, ids=name)
@examples(12)
@given(edges=streams(), batch=st.sampled_from([1, 4, 100]))
def test_both_sides_are_equivalent(case: Case, edges: list[Edge], batch: int) -> None:
    check_both_sides(case, edges, batch)


@pytest.mark.parametrize("case", EQUALITIES, ids=name)
@examples(3)
@given(edges=streams(), batch=st.sampled_from([1, 100]), some=st.booleans())
def test_both_sides_are_equivalent_over_stored_graphs(
    case: Case, edges: list[Edge], batch: int, some: bool
) -> None:
    """One label has no window, or none has; a scan of several labels has one window, or none."""
    together = any("{" in written(side) for side in (case.before, *case.after))
    labels = "b" if some and not together else LABELS
    before, *after = (_stored(side, labels) for side in (case.before, *case.after))
    check_both_sides(replace(case, before=before, after=tuple(after)), edges, batch)


def _stored(expression: LogicalExpression, labels: str) -> LogicalExpression:
    """The expression with the scans of some labels over a stored graph."""

    def changed(scan: WScan) -> WScan:
        return replace(scan, stream="g", window=None) if scan.label in labels else scan

    operator = expression.operator
    if isinstance(operator, WScan):
        operator = changed(operator)
    elif isinstance(operator, WScanUnion):
        operator = WScanUnion(tuple(map(changed, operator.scans)))
    inputs = tuple(_stored(part, labels) for part in expression.inputs)
    return replace(expression, operator=operator, inputs=inputs)


def _scans(expression: LogicalExpression) -> list[WScan]:
    operator = expression.operator
    own = list(operator.scans) if isinstance(operator, WScan | WScanUnion) else []
    return own + [scan for part in expression.inputs for scan in _scans(part)]


def test_every_rule_has_a_case_in_which_it_applies() -> None:
    assert {case.rule for case in EQUALITIES} == RULES.keys() | {NO_RULE}
    assert {case.rule for case in CASES} == RULES.keys() | {NO_RULE}


def test_the_sides_differ_and_have_results_on_the_streams() -> None:
    """Before and after are different expressions, and rows come out of both: of anti-joins and left
    joins, if a label has no edges. The trails over a circle are few enough to be walked one by
    one."""
    circle = [("x", "y"), ("y", "z"), ("z", "x")]
    complete = list(product("xyz", repeat=2))
    for case in EQUALITIES:
        assert case.before not in case.after or case.rule == NO_RULE, name(case)
        text = written(case.before)
        ends = circle if "trail" in text else complete
        edges: list[Edge] = [(v, w, label, 0) for v, w in ends for label in LABELS]
        without = " bc" if "▷" in text or "⟕" in text else " "
        some = [[edge for edge in edges if edge[2] != label] for label in without]
        assert any(rows_of(case.before, snapshot(e, 0, set())) for e in some), name(case)


def test_written_expressions_read_back_equal() -> None:
    for case in CASES:
        for expression in (case.before, *case.after, *case.never):
            text = written(expression)
            assert written(parse(text)) == text


@pytest.mark.parametrize(
    "paragraph",
    [
        "UnionCommute: nothing comes of it\n  a ∪ b",
        "UnionCommute: both\n  a ∪ b\n  → b ∪ a\n  unchanged",
        "UnionCommute\n  a\n  unchanged",
        "UnionCommute: no expression\n  unchanged",
    ],
)
def test_a_paragraph_other_than_a_case_is_refused(tmp_path: Path, paragraph: str) -> None:
    file = tmp_path / "bad.cases"
    file.write_text(f"# Cases\n\n{paragraph}\n", "utf-8")
    with pytest.raises(ValueError, match=r"bad\.cases:3: a case has"):
        cases_of(file)
