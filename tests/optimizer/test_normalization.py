"""Normalization of a query before the memo."""

from __future__ import annotations

import pytest

from headrace.algebra import regex
from headrace.algebra.logical import (
    BoundPath,
    BoundPattern,
    Empty,
    Filter,
    FilteredPattern,
    LogicalExpression,
    MultiwayPattern,
    Path,
    PathSemantics,
    Pattern,
    Union,
    WScan,
    WScanUnion,
)
from headrace.algebra.predicate import Predicate, PredicateError
from headrace.optimizer.normalization import ALWAYS_WIN, absent_operators, normalized
from headrace.rules.registry import enabled_rules, idle_rules, transformation_rules
from tests.optimizer.shapes import SetCosts, chain, optimize, path, pattern, scan

A, B = scan("a"), scan("b")
BOUND = (BoundPath, BoundPattern)
TRIANGLE = pattern(((0, 1), (1, 2), (2, 0)))
RULES = enabled_rules()


def where(sql: str, below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Filter(Predicate(sql)), (below,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (where("c1 = c0", A), where("c0 = c1", A)),
        (where("c0 = 1", where("1 = c0", A)), where("c0 = 1", A)),
        (where("c1 = 2", where("c0 = 1", A)), where("c0 = 1 AND c1 = 2", A)),
        (
            where("c0 = 3", where("c1 = 2", where("c0 = 1", A))),
            where("c0 = 1 AND c0 = 3 AND c1 = 2", A),
        ),
        (where("1 < 2", A), A),
        (where("c0 = 1", where("1 < 2", A)), where("c0 = 1", A)),
        (where("c0 <> c0 AND c1 = 1", A), LogicalExpression(Empty(2))),
        (where("c0 = 1", where("'a' = 1", A)), LogicalExpression(Empty(2))),
        (pattern(chain(3)), pattern(chain(3))),
    ],
)  # fmt: skip
def test_filters_become_one(before: LogicalExpression, after: LogicalExpression) -> None:
    assert normalized(before, RULES) == after


def test_filters_merge_below_other_operators_and_names_stay() -> None:
    inner = LogicalExpression(Filter(Predicate("c1 = 2")), (where("c0 = 1", A),), "few")
    join = Pattern(((0, 1), (1, 2)), (0, 2))
    done = normalized(LogicalExpression(join, (inner, B), "answer"), RULES)
    assert done == LogicalExpression(join, (where("c0 = 1 AND c1 = 2", A), B))
    assert (done.name, done.inputs[0].name) == ("answer", "few")


def test_a_shared_relation_stays_shared() -> None:
    shared = where("c0 = 1", where("c1 = 2", A))
    done = normalized(LogicalExpression(Union(), (shared, where("c0 = 3", shared))), RULES)
    assert done.inputs[0] == where("c0 = 1 AND c1 = 2", A)
    assert done.inputs[1] == where("c0 = 1 AND c0 = 3 AND c1 = 2", A)


def test_disabled_rules_are_not_applied_in_normalization() -> None:
    twice = where("c1 = 2", where("c0 = 1", A))
    assert normalized(twice, enabled_rules(ALWAYS_WIN)) == twice


def test_many_filters_become_few() -> None:
    deep = A
    for k in range(150):
        deep = where(f"c0 <> {k}", deep)
    done = normalized(deep, RULES)
    depth = 0
    while isinstance(done.operator, Filter):
        done, depth = done.inputs[0], depth + 1
    assert depth == 3, "of 64 parts at most, so that the executor takes them"


def test_normalization_refuses_a_predicate_that_is_not_allowed() -> None:
    with pytest.raises(PredicateError, match="not allowed"):
        optimize(where("reflect('a', 'b')", A), SetCosts())


def test_a_query_without_filters_or_unions_skips_their_rules() -> None:
    absent = absent_operators(pattern(chain(3)))
    assert absent == {Filter, FilteredPattern, Union, WScanUnion, MultiwayPattern, *BOUND}
    idle = idle_rules(absent)
    assert {
        "FilterSwap",
        "UnionCommute",
        "PatternUnionDistribute",
        "UnionToConcat",
        "JoinIntoPath",
    } <= idle
    assert idle.isdisjoint({"PatternCommute", "PatternAssociate", "PatternToConcat"})
    assert idle_rules(()) == frozenset()


@pytest.mark.parametrize(
    ("expression", "absent"),
    [
        (where("c0 = 1", A), {Union, WScanUnion, *BOUND}),
        (path(regex.plus(regex.Symbol(0)), A), {Filter, FilteredPattern}),
        (path(regex.concat([regex.Symbol(0)] * 2), A), {Filter, FilteredPattern, *BOUND}),
        (
            LogicalExpression(Path(regex.Symbol(0), PathSemantics.SIMPLE), (A,)),
            {BoundPattern},
        ),
        (LogicalExpression(Union(), (A, B)), {Filter, FilteredPattern, *BOUND}),
        (
            LogicalExpression(WScan("s", "a", A.operator.window, Predicate("c0 = 1"))),  # type: ignore[attr-defined]  # a scan
            {Union, WScanUnion, *BOUND},
        ),
    ],
)
def test_operators_that_no_rule_can_introduce(
    expression: LogicalExpression, absent: set[type]
) -> None:
    assert absent_operators(expression) == {*absent, MultiwayPattern}


def test_a_cycle_of_atoms_may_be_joined_at_once() -> None:
    around = LogicalExpression(Pattern(((0, 1), (0, 1)), (0, 1)), (A, pattern(chain(2))))
    for cycle in (TRIANGLE, where("c0 = 1", TRIANGLE), around):
        assert MultiwayPattern not in absent_operators(cycle)


def test_leaving_idle_rules_out_changes_nothing() -> None:
    names = {rule.name for rule in transformation_rules()}
    outcome = optimize(pattern(chain(4)), SetCosts())
    asked = set(outcome.rules)
    assert asked == names - idle_rules(absent_operators(pattern(chain(4))))
    assert outcome.plans.logical_count == 2**3 * 5
