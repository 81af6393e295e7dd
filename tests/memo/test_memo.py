from __future__ import annotations

from collections.abc import Hashable

import pytest

from headrace.memo import Digest, Expression, Memo, MemoError, Winner
from headrace.memo.printer import format_memo
from tests.memo.operators import Leaf, Node, OwnForms

A, B, C = (Expression(Leaf(name)) for name in "abc")


def f(*inputs: Expression | int) -> Expression:
    return Expression(Node("f"), inputs)


def test_equal_expressions_are_one() -> None:
    memo = Memo(operators=OwnForms())
    first = memo.insert(f(A, f(A, B)))
    second = memo.insert(f(A, f(A, B)))
    assert first.group == second.group
    assert (first.new, second.new) == (True, False)
    assert (memo.group_count, memo.expression_count) == (4, 4)
    memo.check()


def test_canonical_forms_of_operators_define_equality() -> None:
    memo = Memo(operators=OwnForms())
    commutative = Node("+", sorts=True)
    one = memo.insert(Expression(commutative, (A, B)))
    assert memo.insert(Expression(commutative, (B, A))).group == one.group
    assert memo.insert(f(A, B)).group != memo.insert(f(B, A)).group


def test_lookup_inserts_nothing() -> None:
    memo = Memo(operators=OwnForms())
    memo.insert(f(A, B))
    assert memo.lookup(f(B, A)) is None
    assert memo.lookup(f(A, C)) is None
    assert memo.lookup(f(A, B)) == 2
    assert memo.expression_count == 3


def test_an_expression_found_in_another_group_merges_them() -> None:
    memo = Memo(operators=OwnForms())
    fab, fba = memo.insert(f(A, B)).group, memo.insert(f(B, A)).group
    above, beside = memo.insert(f(fab, C)).group, memo.insert(f(fba, C)).group
    assert above != beside
    memo.insert(f(A, B), into=fba)
    assert memo.find(fab) == memo.find(fba)
    assert memo.find(above) == memo.find(beside), "parents became equal"
    assert memo.merges == 2
    memo.check()


def test_merging_repeats_until_no_digests_are_equal() -> None:
    memo = Memo(operators=OwnForms())
    one, other = memo.insert(A).group, memo.insert(B).group
    for _ in range(20):
        one, other = memo.insert(f(one)).group, memo.insert(f(other)).group
    assert memo.group_count == 42
    memo.insert(B, into=memo.lookup(A))
    assert memo.find(one) == memo.find(other)
    assert memo.group_count == 21
    memo.check()


def test_an_expression_equal_to_its_own_input_is_no_member() -> None:
    memo = Memo(operators=OwnForms())
    a = memo.insert(A).group
    assert not memo.insert(f(a), into=a).new
    assert memo.expression_count == 1
    fa = memo.insert(f(a)).group
    memo.merge(fa, a)
    assert [str(e.operator) for e in memo.group(a).expressions] == ["a"]
    memo.check()


def test_groups_that_read_each_other_keep_the_invariants() -> None:
    memo = Memo(operators=OwnForms())
    a = memo.insert(A).group
    fa = memo.insert(f(a)).group
    memo.insert(Expression(Node("g"), (fa,)), into=a)
    memo.check()
    assert memo.expression_count == 3


def test_a_canonical_form_may_be_a_group() -> None:
    class Identity(OwnForms):
        def canonical(self, operator: Hashable, inputs: tuple[int, ...]) -> Digest | int:
            return inputs[0] if operator == Node("identity") else (operator, inputs)

    memo = Memo(operators=Identity())
    a = memo.insert(A).group
    assert memo.insert(Expression(Node("identity"), (A,))).group == a
    b = memo.insert(B).group
    memo.insert(Expression(Node("identity"), (B,)), into=a)
    assert memo.find(b) == memo.find(a)
    memo.check()


def test_a_fingerprint_merges_expressions_with_different_digests() -> None:
    class Leaves(OwnForms):
        def fingerprint(self, operator: Hashable, inputs: tuple[int, ...]) -> Hashable | None:
            return frozenset(inputs) if operator == Node("f") else None

    memo = Memo(operators=Leaves())
    assert memo.insert(f(A, B)).group == memo.insert(f(B, A)).group
    assert memo.merges == 0
    memo.check()


def test_a_wrong_equality_is_caught_where_it_is_made() -> None:
    class Widths(OwnForms):
        def properties(self, operator: Hashable, inputs: tuple[int, ...]) -> int:
            return 1 + sum(inputs)

        def contradiction(self, one: object, other: object) -> str | None:
            return None if one == other else f"{one} columns, {other} columns"

    memo = Memo(operators=Widths())
    fab = memo.insert(f(A, B)).group
    with pytest.raises(MemoError, match=r"BadRule put f .* into G2: 3 columns, 2 columns"):
        memo.insert(f(A), into=fab, rule="BadRule")
    with pytest.raises(MemoError, match="G0 and G2 were found equal"):
        memo.merge(fab, memo.insert(A).group)


def test_merging_keeps_the_cheaper_winner() -> None:
    memo = Memo(operators=OwnForms())
    a, b = memo.insert(A).group, memo.insert(B).group
    memo.group(a).winners["p"] = Winner(5.0, 5.0, "dear", ())
    memo.group(b).winners["p"] = Winner(3.0, 3.0, "cheap", ())
    memo.group(b).winners["q"] = Winner(7.0, 7.0, "only", ())
    memo.merge(a, b)
    winners = memo.group(a).winners
    assert (winners["p"].choice, winners["q"].choice) == ("cheap", "only")


def test_check_finds_a_wrong_winner() -> None:
    memo = Memo(operators=OwnForms())
    a = memo.insert(A).group
    memo.group(a).winners["p"] = Winner(5.0, 5.0, "a", ())
    memo.check(lambda group, properties: iter([(5.0, ())]))
    with pytest.raises(MemoError, match="not the cheapest"):
        memo.check(lambda group, properties: iter([(5.0, ()), (4.0, ())]))
    with pytest.raises(MemoError, match="not a member"):
        memo.check(lambda group, properties: iter([(6.0, ())]))


def test_an_expression_keeps_the_rule_and_expression_it_came_from() -> None:
    memo = Memo(operators=OwnForms())
    source = memo.insert(f(A, B)).expression
    made = memo.insert(f(B, A), rule="Commute", source=source).expression
    assert made is not None
    assert (made.rule, made.source) == ("Commute", source)


def test_a_memo_is_printed_by_groups() -> None:
    memo = Memo(operators=OwnForms())
    root = memo.insert(f(f(A, B), C)).group
    memo.insert(f(C, f(A, B)), into=root, rule="Commute")
    memo.group(root).winners["coalesced"] = Winner(12.5, 2.0, Leaf("join"), ((2, ""), (3, "")))
    memo.group(root).winners[""] = Winner(11.0, 1.0, Leaf("join"), ((2, ""), (3, "")))
    assert format_memo(memo, root) == (
        "G4: (f G2 G3) (f G3 G2)          by: Commute\n"
        " ├── []  best: (join G2 G3)  cost: 11\n"
        " └── [coalesced]\n"
        "      ├── best: (join G2 G3)\n"
        "      └── cost: 12.5 per unit time\n"
        "G2: (f G0 G1)\n"
        "G0: (a)\n"
        "G1: (b)\n"
        "G3: (c)\n"
    )


class ReadsFirst(OwnForms):
    """Gives all nodes that read the first group one fingerprint."""

    def fingerprint(self, operator: Hashable, inputs: tuple[int, ...]) -> Hashable | None:
        return "reads first" if isinstance(operator, Node) and 0 in inputs else None


def test_an_expression_whose_fingerprint_is_that_of_its_input_is_no_member() -> None:
    memo = Memo(operators=ReadsFirst())
    group = memo.insert(f(A, B)).group
    found = memo.insert(f(A, group))
    assert (found.group, found.expression, found.new) == (group, None, False)
    assert memo.insert(f(A, group)).group == group
    assert memo.lookup(f(A, f(A, B))) == group
    memo.check()


def test_an_expression_that_reads_the_group_it_was_found_for_still_merges() -> None:
    memo = Memo(operators=ReadsFirst())
    group, other = memo.insert(f(A, B)).group, memo.insert(C).group
    assert memo.insert(f(A, other), into=other).group == memo.find(group)
    assert memo.find(other) == memo.find(group)
    memo.check()
