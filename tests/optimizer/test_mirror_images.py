"""Joins that a symmetry of their atoms maps on each other are one expression of the memo."""

from __future__ import annotations

from math import comb
from random import Random

import pytest

from headrace.algebra.labelling import canonical_atoms, canonical_labels
from headrace.algebra.logical import LogicalExpression
from headrace.rules.columns import FlatForms
from tests.optimizer.shapes import Edges, SetCosts, cycle, optimize, pattern, star


@pytest.mark.parametrize("atoms", [2, 3, 5, 8])
def test_a_star_of_one_label_has_a_group_for_each_number_of_edges(atoms: int) -> None:
    outcome = optimize(pattern(star(atoms), labels="a" * atoms), budget_expressions=None)
    assert outcome.stop_reason == "complete"
    assert outcome.memo.group_count == atoms
    # The scan, and a join for each way to split a number of edges in two, in order.
    assert outcome.memo.expression_count == 1 + comb(atoms, 2)


def test_a_star_of_one_label_with_legs_of_two_edges_is_folded() -> None:
    legs: Edges = tuple(e for k in range(4) for e in ((0, 2 * k + 1), (2 * k + 1, 2 * k + 2)))
    outcome = optimize(pattern(legs, labels="ab" * 4), budget_expressions=None)
    assert outcome.stop_reason == "complete"
    assert outcome.memo.expression_count < 1_000


def test_columns_that_can_be_swapped_have_one_order() -> None:
    atoms = ((7, (0, 1)), (7, (0, 2)), (7, (0, 3)))
    forms = set()
    for kept in ((0, 1, 2, 3), (0, 3, 1, 2), (0, 2, 3, 1)):
        labels = canonical_labels(atoms, kept)
        forms.add((canonical_atoms(atoms, labels), tuple(labels[v] for v in kept)))
    assert len(forms) == 1


def shapes() -> dict[str, LogicalExpression]:
    """Patterns with symmetries: of few labels, with all variables kept or some."""
    random = Random(5)
    found = {
        "cycle": pattern(cycle(4), labels="aaaa"),
        "star, two kept": pattern(star(4), output=(1, 4), labels="aaaa"),
        "two stars": pattern(((0, 1), (0, 2), (0, 3), (3, 4), (3, 5)), labels="aabaa"),
        "diamond": pattern(((0, 1), (0, 2), (1, 3), (2, 3)), labels="aabb"),
    }
    for number in range(8):
        edges: list[tuple[int, int]] = [(0, 1)]
        for new in range(2, random.choice((4, 5))):
            ends = random.randrange(new), new
            edges.append(ends if random.random() < 0.6 else ends[::-1])
        if random.random() < 0.4:
            edges.append((0, edges[-1][1] if edges[-1][1] else edges[-1][0]))
        vertices = sorted({v for edge in edges for v in edge})
        kept = tuple(sorted(random.sample(vertices, random.randint(1, len(vertices)))))
        labels = "".join(random.choice("aab") for _ in edges)
        found[f"random {number}"] = pattern(tuple(edges), output=kept, labels=labels)
    return found


SHAPES = shapes()


@pytest.mark.parametrize("name", SHAPES)
def test_no_better_plan_is_lost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best plan costs the same where mirror images are different expressions."""
    model = SetCosts(seed=11)
    folded = optimize(SHAPES[name], model, prune=False)
    monkeypatch.setattr(FlatForms, "symmetry", lambda *_: None)
    unfolded = optimize(SHAPES[name], model, prune=False)
    assert folded.stop_reason == unfolded.stop_reason == "complete"
    assert folded.cost == pytest.approx(unfolded.cost, rel=1e-9)
    assert folded.memo.expression_count <= unfolded.memo.expression_count
