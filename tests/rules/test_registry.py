"""The registry: the rules, their names, and their docstrings."""

from __future__ import annotations

import re

import pytest

from headrace.algebra.predicate import MOST_PARTS
from headrace.rules.filter_rules import FilterUnionToOr
from headrace.rules.registry import (
    UnknownRuleError,
    enabled_rules,
    implementation_rules,
    transformation_rules,
)
from tests.rules.bench import apply
from tests.rules.notation import parse


def test_rules_can_be_switched_off_by_name() -> None:
    names = {rule.name for rule in enabled_rules(["PatternCommute", "StarCompose"])}
    assert names == {r.name for r in transformation_rules()} - {"PatternCommute", "StarCompose"}


def test_an_unknown_rule_is_refused_with_the_existing_names() -> None:
    with pytest.raises(
        UnknownRuleError,
        match=r"no rule 'PatternComute'; did you mean PatternCommute\? there are: ",
    ):
        enabled_rules(["PatternComute"])


@pytest.mark.parametrize("rule", transformation_rules(), ids=lambda rule: rule.name)
def test_each_rule_has_its_equation_in_its_docstring(rule: object) -> None:
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
        "Shortest",
        "Trail",
        "Union",
        "Project",
        "Pattern",
        "AntiJoin",
        "LeftJoin",
        "FilteredPattern",
        "MultiwayPattern",
        "Path",
        "BoundPath",
        "BoundPattern",
        "Empty",
        "Compute",
        "Aggregate",
        "PartialAggregate",
        "Top",
        "Witness",
        "Report",
        "EventReport",
    }


def test_a_union_of_filters_becomes_no_condition_of_more_parts_than_are_allowed() -> None:
    most = " OR ".join(f"c0 = {k}" for k in range(MOST_PARTS))
    union = parse(f"σ[{most}](a) ∪ σ[c1 = 2](a)")
    assert apply(FilterUnionToOr(), union).results == ()


def test_a_filter_that_is_applied_twice_leaves_one_expression() -> None:
    (rule,) = (rule for rule in transformation_rules() if rule.name == "FilterIdempotent")
    done = apply(rule, parse("σ[c0 = 1](σ[c0 = 1](a))"))
    assert len(done.memo.group(done.group).expressions) == 1
    assert done.memo.merges == 1
