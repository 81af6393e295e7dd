from __future__ import annotations

import re

import pytest

from headrace.algebra.logical import LogicalExpression, Pattern, Project, Union
from headrace.rules.project_rules import ProjectIntoPattern, ProjectMerge
from headrace.rules.registry import (
    UnknownRuleError,
    enabled_rules,
    implementation_rules,
    transformation_rules,
)
from headrace.rules.union_rules import UnionAssociate, UnionCommute
from tests.rules.bench import apply, scan

A, B, C = scan("a"), scan("b"), scan("c")


def union(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Union(), (left, right))


def project(columns: tuple[int, ...], below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Project(columns), (below,))


def test_unions_commute() -> None:
    assert apply(UnionCommute(), union(A, B)).found(union(B, A))
    assert apply(UnionCommute(), A).results == ()


def test_unions_associate() -> None:
    assert apply(UnionAssociate(), union(union(A, B), C)).found(union(A, union(B, C)))
    assert apply(UnionAssociate(), union(A, union(B, C))).results == ()


def test_a_union_of_one_relation_is_that_relation() -> None:
    assert apply(UnionCommute(), union(A, A)).found(A)


def test_projections_merge() -> None:
    done = apply(ProjectMerge(), project((1, 1, 0), project((1, 0), A)))
    assert done.found(project((0, 0, 1), A))
    assert apply(ProjectMerge(), project((1, 0), A)).results == ()


def test_a_projection_that_changes_nothing_is_no_expression() -> None:
    done = apply(ProjectMerge(), project((1, 0), project((1, 0), A)))
    assert done.found(A)


def test_a_join_takes_a_projection_in() -> None:
    joined = LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 1, 2)), (A, B))
    done = apply(ProjectIntoPattern(), project((2, 0), joined))
    assert done.found(LogicalExpression(Pattern(((0, 1), (1, 2)), (2, 0)), (A, B)))
    assert apply(ProjectIntoPattern(), project((1, 0), A)).results == ()


def test_rules_can_be_switched_off_by_name() -> None:
    names = {rule.name for rule in enabled_rules(["PatternCommute", "StarCompose"])}
    assert names == {r.name for r in transformation_rules()} - {"PatternCommute", "StarCompose"}


def test_an_unknown_rule_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(
        UnknownRuleError,
        match=r"no rule 'PatternComute'; did you mean PatternCommute\? there are: ",
    ):
        enabled_rules(["PatternComute"])


@pytest.mark.parametrize("rule", transformation_rules(), ids=lambda rule: rule.name)
def test_each_rule_says_its_algebra(rule: object) -> None:
    text = type(rule).__doc__
    assert text is not None
    assert re.match(r"\S.*→", text), "the first line is the rewrite"
    number = getattr(rule, "number", None)
    if number is not None:
        assert f"rule {number}" in text, "with its number in the thesis"


def test_names_are_unique_and_each_operator_can_be_computed() -> None:
    names = [rule.name for rule in transformation_rules()]
    names += [rule.name for rule in implementation_rules()]
    assert len(set(names)) == len(names)
    operators = {rule.operator.__name__ for rule in implementation_rules()}
    assert operators == {
        "WScan",
        "WScanUnion",
        "Rewindow",
        "Filter",
        "Union",
        "Project",
        "Pattern",
        "FilteredPattern",
        "Path",
        "Empty",
        "Compute",
        "Aggregate",
        "Witness",
        "Report",
    }
