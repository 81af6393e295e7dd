"""Wrong plans are detected: a check that accepts them would prove nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin, PhysicalOperator, SPath, WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.regex import Symbol
from headrace.languages import parse
from headrace.languages.query.atoms import Atom, EdgeAtom, PathAtom
from headrace.languages.query.regular_query import OWN_LABEL, OWN_SOURCE, Rule
from headrace.languages.translation import answer_algebra
from headrace.languages.translation.canonical import translate
from headrace.languages.translation.inputs import Inputs
from tests.oracles.query import Query, Source, text
from tests.oracles.snapshot import Truth
from tests.properties.algebra import rows_of
from tests.properties.catalogs import catalog_of
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge, lines_of
from tests.strategies.counted import counted_cases
from tests.strategies.named import NAMED
from tests.strategies.queries import Case, input_labels
from tests.strategies.streams import long_stream

Wrong = Callable[[PhysicalOperator], PhysicalOperator | None]
"""Returns a wrong operator in place of a right one; None if the fault does not concern it."""


def _longer_window(operator: PhysicalOperator) -> PhysicalOperator | None:
    if not isinstance(operator, WindowScan) or operator.range is None:
        return None
    return replace(operator, range=operator.range + 1)


def _no_slide(operator: PhysicalOperator) -> PhysicalOperator | None:
    return replace(operator, slide=1) if isinstance(operator, WindowScan) else None


def _other_label(operator: PhysicalOperator) -> PhysicalOperator | None:
    return replace(operator, label="unread") if isinstance(operator, WindowScan) else None


def _fewer_steps(operator: PhysicalOperator) -> PhysicalOperator | None:
    if isinstance(operator, SPath) and len(operator.transitions) > 1:
        return replace(operator, transitions=operator.transitions[:-1])
    return None


def _turned_step(operator: PhysicalOperator) -> PhysicalOperator | None:
    if not isinstance(operator, SPath):
        return None
    (state, number, inverse, target), *rest = operator.transitions
    return replace(operator, transitions=((state, number, not inverse, target), *rest))


def _turned_input(operator: PhysicalOperator) -> PhysicalOperator | None:
    if not isinstance(operator, HashJoin):
        return None
    left, right = operator.bindings
    return replace(operator, bindings=(left[::-1], right))


WRONGS = [_longer_window, _no_slide, _other_label, _fewer_steps, _turned_step, _turned_input]


def _spoiled(plan: PhysicalPlan, wrong: Wrong) -> list[PhysicalPlan]:
    """The plan with one operator wrong, for each operator that can be."""
    found = []
    for position, node in enumerate(plan.nodes):
        other = wrong(node.operator)
        if other is not None and other != node.operator:
            nodes = list(plan.nodes)
            nodes[position] = node.model_copy(update={"operator": other})
            found.append(plan.model_copy(update={"nodes": tuple(nodes)}))
    return found


def _case(name: str) -> Case:
    labels = input_labels(NAMED[name])
    query = Query(NAMED[name], tuple((label, Source("s", 9, 4)) for label in labels))
    return Case(query, long_stream(5, labels, ("1", "2", "3", "4"), 200, 1.5))


@pytest.mark.parametrize("wrong", WRONGS)
def test_a_plan_with_one_wrong_operator_is_detected(wrong: Wrong) -> None:
    """All but a few: a step too few goes unseen where a shorter path has the same ends."""
    tried, found = 0, 0
    for name in ("Table 4.2 Q5", "Table 5.1 Q4", "Table 5.1 Q5", "Table 5.1 Q7", "Example 5"):
        case = _case(name)
        truth = Truth(case.query, case.edges)
        for right in plans_of(optimized(case), 3):
            judge(truth, right, lines_of(case, right, 20))
            for plan in _spoiled(right, wrong):
                tried += 1
                try:
                    judge(truth, plan, lines_of(case, plan, 20))
                except AssertionError:
                    found += 1
    assert tried > 3
    assert found >= 0.75 * tried


MOST_CASES = 3_000
"""Cases until a fault has to be found; some faults show in one case of three hundred."""


def _finds(case_of: st.SearchStrategy[Case], most: int = MOST_CASES) -> bool:
    """Whether the oracle finds some of ``most`` counts wrong."""

    @given(case=case_of)
    @settings(max_examples=most, phases=[Phase.generate], database=None, derandomize=True)
    def check(case: Case) -> None:
        query = translate(parse(text(case.query)), catalog_of(case.query, case.integers))
        truth = Truth(case.query, case.edges)
        for instant in truth.changes:
            assert rows_of(query.expression, truth.snapshot(instant)) == truth.at(instant)

    try:
        check()
    except AssertionError:
        return True
    return False


def test_a_translation_that_counts_pairs_for_edges_is_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not _finds(counted_cases(), 150)
    monkeypatch.setattr(Inputs, "identity", lambda self, atom: ())
    assert _finds(counted_cases())


@pytest.mark.parametrize(
    "distinguished_by", [OWN_LABEL, pytest.param(OWN_SOURCE, marks=pytest.mark.soak), "ts"]
)
def test_a_translation_that_confuses_edges_is_detected(
    distinguished_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Inputs.identity

    def without(self: Inputs, atom: EdgeAtom) -> tuple[str, ...]:
        return tuple(name for name in whole(self, atom) if name != distinguished_by)

    monkeypatch.setattr(Inputs, "identity", without)
    assert _finds(counted_cases())


def test_a_translation_that_counts_edges_for_paths_is_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def as_edge(atom: Atom) -> Atom:
        if isinstance(atom, PathAtom) and isinstance(atom.regex, Symbol):
            return EdgeAtom((atom.regex,), atom.source, atom.target, atom.location)
        return atom

    named = answer_algebra.with_named_edges

    def wrong(rule: Rule) -> Rule:
        return named(replace(rule, body=tuple(map(as_edge, rule.body))))

    monkeypatch.setattr(answer_algebra, "with_named_edges", wrong)
    assert _finds(counted_cases())
