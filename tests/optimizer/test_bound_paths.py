"""Conditions, constants and joins reach closures through every form of a query.

The plan space of each query has a plan that grows trees from bound vertices alone.
"""

from __future__ import annotations

from itertools import islice

import pytest

from bench.bound_paths import operators_of
from headrace.planning.planner import optimize
from headrace.planning.requests import PathSemanticsKind, PlanningOptions, PlanRequest

PAIRED = "pos(x, y) <- a(x, m), b(m, y). "
EITHER = "R(x, y) <- x a+ y. R(x, y) <- x b+/c y. "
MIXED = "R(x, y) <- x a+ y. R(x, y) <- c(x, y). "
TURNED = "R(x, y) <- x a+ y. R(x, y) <- y b+ x. "

FORMS = {
    "a constant source": "Answer(y) <- 582 (a|b|c)+ y",
    "a constant target": "Answer(x) <- x (a|b|c)+ 582",
    "a closure of a join": PAIRED + "Answer(y) <- pos+(7, y)",
    "a closure of a join, by its target": PAIRED + "Answer(x) <- pos+(x, 7)",
    "nested closures": "Answer(y) <- 7 (a+/b)+ y",
    "nested closures, by the target": "Answer(x) <- x (a+/b)+ 7",
    "a union of closures": EITHER + "Answer(y) <- R(7, y)",
    "a union of closures, by its target": EITHER + "Answer(x) <- R(x, 7)",
    "a union with edges": MIXED + "Answer(x) <- R(x, 7)",
    "a union of both directions": TURNED + "Answer(y) <- R(7, y)",
    "columns that change places": "R(y, x) <- x a+ y. Answer(y) <- R(7, y)",
    "a view of a join": "R(x, y) <- x a+ m, b(m, y). Answer(y) <- R(7, y)",
    "an edge of a constant": "Answer(y) <- 7 b x, x a+ y",
    "behind a constant": "Answer(y) <- 7 b/a+ y",
    "before a constant": "Answer(x) <- x a+/b 7",
    "both ends, several steps": "Answer(x, y) <- x a+/b+ y, x = 7, y = 9",
    "both ends, one closure": "Answer(x, y) <- x a+ y, x = 7, y = 9",
    "a join with a union": EITHER + "Answer(z, y) <- c(z, x), R(x, y), z = 7",
}
ANY_PATHS = {
    "closures on both sides": "Answer(y) <- 7 a+/c/b+ y",
    "a join with a union of edges": MIXED + "Answer(z, y) <- c(z, x), R(x, y), z = 7",
    "pairs of a union": MIXED + "Answer(x, y) <- b(x, y), R(y, x)",
    "pairs of a closure of a join": PAIRED + "Answer(x, y) <- c(x, y), pos+(x, y)",
}


def closures(text: str, semantics: PathSemanticsKind, most: int = 200) -> list[list[str]]:
    """The operators that compute closures in each of the cheapest plans; bound ones have a star."""
    options = PlanningOptions(window="10", slide="1", path_semantics=semantics)
    found = optimize(PlanRequest(text, options=options)).optimization
    listed = []
    for plan in islice(found.plans.ranked(), most):
        names = [name for name in operators_of(plan).split() if "PATH" in name]
        paths = [node.operator for node in plan.nodes if "PATH" in node.op]
        each = zip(names, paths, strict=True)
        listed.append([name for name, path in each if set("+*") & set(getattr(path, "regex", ""))])
    return listed


def all_bound(names: list[str]) -> bool:
    return bool(names) and all(name.endswith("*") for name in names)


@pytest.mark.parametrize("form", FORMS | ANY_PATHS)
def test_closures_are_bound(form: str) -> None:
    assert any(map(all_bound, closures((FORMS | ANY_PATHS)[form], "arbitrary")))


@pytest.mark.parametrize("form", FORMS)
def test_closures_of_simple_paths_are_bound(form: str) -> None:
    assert any(map(all_bound, closures(FORMS[form], "simple")))


def test_two_constants_meet_in_the_middle() -> None:
    """The search goes forwards from one constant and backwards from the other."""
    (chosen, *_) = closures("Answer(x, y) <- x a+/b/c+ y, x = 7, y = 9", "arbitrary", 1)
    assert chosen == ["S_PATH*", "S_PATH*"]
    assert ["PAIR_PATH*"] in closures("Answer(x, y) <- b(x, y), x a+ y", "arbitrary")


@pytest.mark.parametrize(
    "text",
    [
        "Answer(x, y) <- 7 b x, x a+ y, y c 9",
        "Answer(p, x, y, q) <- b(p, x), x a/a+ y, c(y, q)",
        "Answer(x) <- x a+ y, b(x, p), c(q, y)",
        "Answer(p, y) <- b(p, x), x a+ y, y c z, z d 9",
    ],
)
def test_two_atoms_bind_the_pairs_of_their_ends(text: str) -> None:
    assert ["PAIR_PATH*"] in closures(text, "arbitrary", 2_000)
