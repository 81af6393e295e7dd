from __future__ import annotations

import pytest

from headrace.algebra.logical import LogicalExpression, Pattern
from headrace.rules.pattern_rules import PatternAssociate, PatternAssociateInverse, PatternCommute
from tests.rules.bench import apply, scan

Bindings = tuple[tuple[int, ...], ...]


def join(
    bindings: Bindings, output: tuple[int, ...], *inputs: LogicalExpression
) -> LogicalExpression:
    return LogicalExpression(Pattern(bindings, output), inputs)


A, B, C = scan("a"), scan("b"), scan("c")

LEFT_DEEP = join(((0, 1, 2), (2, 3)), (0, 3), join(((0, 1), (1, 2)), (0, 1, 2), A, B), C)
"""((a(0,1) ⋈ b(1,2)) ⋈ c(2,3)), answer (0, 3), keeping a variable that nobody needs."""


def test_commuting_swaps_the_variables_with_the_inputs() -> None:
    done = apply(PatternCommute(), join(((0, 1), (1, 2)), (0, 2), A, B))
    assert done.found(join(((1, 2), (0, 1)), (0, 2), B, A))
    assert len(done.results) == 1


def test_associating_keeps_only_what_is_needed_above() -> None:
    done = apply(PatternAssociate(), LEFT_DEEP)
    inner = join(((0, 1), (1, 2)), (0, 2), B, C)
    assert done.found(join(((0, 1), (1, 2)), (0, 2), A, inner))


def test_a_variable_of_the_outer_input_survives_the_inner_join() -> None:
    """a(0,1), b(1,2), c(2,0): a cycle; b ⋈ c has to keep both ends."""
    cycle = join(((0, 1, 2), (2, 0)), (0, 1), join(((0, 1), (1, 2)), (0, 1, 2), A, B), C)
    done = apply(PatternAssociate(), cycle)
    inner = join(((0, 1), (1, 2)), (0, 2), B, C)
    assert done.found(join(((0, 1), (1, 0)), (0, 1), A, inner))


def test_a_star_keeps_its_centre() -> None:
    """a(0,1), b(0,2), c(0,3): the centre is no result of b ⋈ c, but a needs it."""
    star = join(((0, 1, 2), (0, 3)), (1, 2, 3), join(((0, 1), (0, 2)), (0, 1, 2), A, B), C)
    done = apply(PatternAssociate(), star)
    assert len(done.results) == 1
    inner = join(((0, 1), (0, 2)), (0, 1, 2), B, C)
    assert done.found(join(((0, 1), (0, 2, 3)), (1, 2, 3), A, inner))


def test_no_cross_product_in_a_connected_query() -> None:
    """a is in the middle: b and c share nothing."""
    through_a = join(((0, 1, 2), (0, 3)), (2, 3), join(((0, 1), (1, 2)), (0, 1, 2), A, B), C)
    assert apply(PatternAssociate(), through_a).results == ()
    assert len(apply(PatternAssociate(), through_a, cross_products=True).results) == 1


def test_components_of_a_disconnected_query_may_be_combined_in_any_order() -> None:
    crossed = join(((0, 1, 2, 3), (4, 5)), (0, 2, 4), join(((0, 1), (2, 3)), (0, 1, 2, 3), A, B), C)
    assert len(apply(PatternAssociate(), crossed).results) == 1


def test_a_connected_part_is_not_torn_apart_by_another_component() -> None:
    """(a(0,1) ⋈ b(1,2)) × c(3,4): b × c would be a cross product inside."""
    crossed = join(((0, 1), (2, 3)), (0, 2), join(((0, 1), (1, 2)), (0, 2), A, B), C)
    assert apply(PatternAssociate(), crossed).results == ()


def test_a_column_that_occurs_twice_makes_its_variables_one() -> None:
    """The inner join gives (0, 0); above they are called 0 and 1, so 0 = 1."""
    inner = join(((0, 1), (1, 2)), (1, 1), A, B)
    twice = join(((0, 1), (1, 2)), (0, 2), inner, C)
    done = apply(PatternAssociate(), twice)
    rest = join(((0, 1), (0, 2)), (0, 2), B, C)
    assert done.found(join(((0, 1), (1, 2)), (1, 2), A, rest))


def test_an_input_that_would_bind_one_variable_twice_is_left_alone() -> None:
    """0 = 1 above a c(0,1): that would be a filter, which is not this rule's business."""
    inner = join(((0, 1), (1, 2)), (1, 1), A, B)
    assert apply(PatternAssociate(), join(((0, 1), (0, 1)), (0, 1), inner, C)).results == ()


def test_the_other_direction() -> None:
    right_deep = join(((0, 1), (1, 2)), (0, 2), A, join(((0, 1), (1, 2)), (0, 2), B, C))
    done = apply(PatternAssociateInverse(), right_deep)
    inner = join(((0, 1), (1, 2)), (0, 2), A, B)
    assert done.found(join(((0, 1), (1, 2)), (0, 2), inner, C))


def test_the_other_direction_makes_no_cross_product_either() -> None:
    """a(0,1) ⋈ (b(1,2) ⋈ c(0,3) over 1 = 1): a and b share, a and c do; here b hides it."""
    right_deep = join(((0, 1), (1, 2)), (0, 2), A, join(((0, 1), (0, 2)), (0, 2), B, C))
    # Swap so that the first inner input does not touch a.
    swapped = join(((0, 1), (1, 2)), (0, 2), A, join(((0, 1), (2, 0)), (2, 1), B, C))
    assert len(apply(PatternAssociateInverse(), right_deep).results) == 1
    assert apply(PatternAssociateInverse(), swapped).results == ()


@pytest.mark.parametrize("rule", [PatternAssociate(), PatternAssociateInverse()])
def test_a_join_of_scans_has_nothing_to_reassociate(
    rule: PatternAssociate | PatternAssociateInverse,
) -> None:
    assert apply(rule, join(((0, 1), (1, 2)), (0, 2), A, B)).results == ()
