"""How plans differ from the chosen one, in a line."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.documents.alternatives import plan_list
from headrace.documents.difference import Difference, difference
from headrace.planning.listing import list_plans
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest


def plans(query: str, parallelism: int = 1) -> list[PhysicalPlan]:
    """The cheapest different plans of a query; joins run as hash joins alone."""
    options = PlanningOptions(
        window="1d", parallelism=parallelism, disabled_rules=("PatternToMultiway",)
    )
    found = optimize(PlanRequest(query, options=options)).optimization
    return list(islice(found.plans.different.ranked(), 60))


def differences(query: str, parallelism: int = 1) -> set[tuple[str, str]]:
    first, *others = plans(query, parallelism)
    found = [difference(other, first) for other in others]
    return {(one.kind, one.text) for one in found}


def test_a_join_order_differs_by_the_results_that_are_joined_first() -> None:
    first, second, *_ = plans("Answer(x, y, z, w) <- a(x, y), b(y, z), c(z, w)")
    joins = {"a⋈b", "b⋈c"}
    one = difference(second, first)
    assert one.kind == "join_order"
    here, there = one.text.split(" instead of ")
    assert {here, there} == joins
    assert difference(first, second) == Difference(
        kind="join_order", text=f"{there} instead of {here}"
    )


def test_joins_of_many_labels_are_named_by_their_ends_and_not_cut() -> None:
    labels = ["payments", "ownership", "knowledge", "likings", "followers", "telephone", "mailing"]
    atoms = ", ".join(f"{label}(x{k}, x{k + 1})" for k, label in enumerate(labels))
    first, *others = plans(f"Answer({', '.join(f'x{k}' for k in range(8))}) <- {atoms}")
    texts = [difference(other, first).text for other in others]
    assert any(re.search(r"\w+·…·\w+ \([3456]\)⋈\w+", text) for text in texts), texts
    assert not [text for text in texts if re.search("[^·]…|…[^·]|…$", text)]


def test_a_path_differs_by_its_cut() -> None:
    found = differences("Answer(x, y) <- x (a/b)+ y")
    assert found == {
        ("path", "S_PATH a·b instead of a⋈b"),
        ("path", "S_PATH (a·b)+ instead of a⋈b and S_PATH (a⋈b)+"),
    }


def test_enforcers_differ_if_nothing_else_does() -> None:
    found = differences("Answer(x, z) <- a(x, y), b(y, z)", parallelism=4)
    assert any(kind == "enforcer" and "EXCHANGE" in text for kind, text in found)


@pytest.mark.parametrize("label", ["a", "b"])
def test_plans_over_one_label_differ_by_their_variables(label: str) -> None:
    query = f"Answer(x, y, z, w) <- {label}(x, y), {label}(y, z), {label}(z, w), {label}(w, x)"
    first, *others = plans(query)
    for other in others:
        one = difference(other, first)
        assert one.text
        assert one.text != difference(first, first).text or one.kind == "arguments"


def test_a_plan_does_not_differ_from_itself() -> None:
    first, *_ = plans("Answer(x, z) <- a(x, y), b(y, z)")
    itself = Difference(kind="arguments", text="other arguments of the same operators")
    assert difference(first, first) == itself


def test_no_line_of_a_ranking_occurs_twice() -> None:
    """A chain of 12 joins over three labels: many plans differ in more than a line names."""
    labels = ("a", "b", "c")
    atoms = ", ".join(f"{labels[k % 3]}(x{k}, x{k + 1})" for k in range(13))
    head = ", ".join(f"x{k}" for k in range(14))
    request = PlanRequest(f"Answer({head}) <- {atoms}", options=PlanningOptions(window="1d"))
    planned = optimize(request)
    shown = plan_list(planned.optimization, list_plans(planned, 20), lambda picture: "")
    lines = [one.difference.text for one in shown.plans if one.difference]
    assert sum(one.chosen for one in shown.plans) <= 1
    assert len(lines) >= 19
    assert len(set(lines)) == len(lines)
    named = [line for line in lines if line.startswith("as #")]
    assert named
    for rank, one in enumerate(shown.plans, 1):
        if one.difference and (match := re.match(r"as #(\d+), but ", one.difference.text)):
            assert int(match[1]) < rank
