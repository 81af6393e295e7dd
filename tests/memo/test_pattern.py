"""Every binding is returned once, in any order of insertion."""

from __future__ import annotations

import pytest

from headrace.memo import Expression, GroupExpression, Memo
from headrace.memo.pattern import Op, Var, bindings
from tests.memo.operators import Leaf, Node, Other

LEFT = Op(Node, Op(Node, Var("a"), Var("b")), Var("c"))
BOTH = Op(Node, Op(Other), Op(Other))


def inserted(memo: Memo, tree: Expression, into: int | None = None) -> GroupExpression:
    expression = memo.insert(tree, into=into).expression
    assert expression is not None
    return expression


def leaf(name: str) -> Expression:
    return Expression(Leaf(name))


def found(memo: Memo, pattern: Op, root: GroupExpression) -> list[tuple[int, ...]]:
    return [tuple(e.id for e in m.expressions) for m in bindings(pattern, 0, root, memo.groups)]


def test_wildcards_bind_groups_by_name() -> None:
    memo = Memo()
    root = inserted(memo, Expression(Node("f"), (leaf("a"), leaf("b"))))
    (match,) = bindings(Op(Node, Var("x"), Var("y")), 0, root, memo.groups)
    assert (match["x"], match["y"]) == (memo.lookup(leaf("a")), memo.lookup(leaf("b")))
    assert match.root is root


def test_type_and_number_of_inputs_have_to_fit() -> None:
    memo = Memo()
    root = inserted(memo, Expression(Node("f"), (leaf("a"),)))
    assert found(memo, Op(Node, Var("x"), Var("y")), root) == []
    assert found(memo, Op(Other), root) == []
    assert found(memo, Op(Node), root) == [(root.id,)]


def test_members_added_later_are_matched_once() -> None:
    memo = Memo()
    root = inserted(
        memo, Expression(Node("f"), (Expression(Node("g"), (leaf("a"), leaf("b"))), leaf("c")))
    )
    inner = root.inputs[0]
    first = found(memo, LEFT, root)
    assert len(first) == 1
    assert found(memo, LEFT, root) == []
    later = inserted(memo, Expression(Node("h"), (leaf("b"), leaf("a"))), into=inner)
    inserted(memo, Expression(Other("o"), (leaf("b"), leaf("a"))), into=inner)
    assert found(memo, LEFT, root) == [(root.id, later.id)]
    assert found(memo, LEFT, root) == []


def test_all_pairs_of_members_are_found_once() -> None:
    memo = Memo()
    left, right = (memo.insert(leaf(name)).group for name in "ab")
    root = inserted(memo, Expression(Node("f"), (left, right)))
    seen: list[tuple[int, ...]] = []
    for k in range(4):
        side = left if k % 2 else right
        inserted(memo, Expression(Other(f"o{k}"), (memo.insert(leaf("c")).group,)), into=side)
        seen += found(memo, BOTH, root)
    assert len(seen) == 4
    assert len(set(seen)) == 4


def test_merging_groups_brings_their_members_and_repeats_none() -> None:
    memo = Memo()
    one, other = (
        memo.insert(Expression(Node(name), (leaf("a"), leaf("b")))).group for name in "gh"
    )
    root = inserted(memo, Expression(Node("f"), (one, leaf("c"))))
    beside = inserted(memo, Expression(Node("k"), (other, leaf("c"))))
    first = found(memo, LEFT, root) + found(memo, LEFT, beside)
    memo.merge(one, other)
    second = found(memo, LEFT, root) + found(memo, LEFT, beside)
    assert len(first) == 2
    assert len(second) == 2
    assert set(first).isdisjoint(second)


def test_any_input_may_be_looked_into() -> None:
    memo = Memo()
    parts = tuple(Expression(Other(name), (leaf("a"),)) for name in "xyz")
    root = inserted(memo, Expression(Node("f"), parts))
    matches = list(bindings(Op(Node, some=Op(Other)), 0, root, memo.groups))
    assert [m.position for m in matches] == [0, 1, 2]
    assert list(bindings(Op(Node, some=Op(Other)), 0, root, memo.groups)) == []


def test_members_that_are_not_admitted_are_in_no_binding() -> None:
    memo = Memo()
    inner = (Expression(Other("o"), (leaf("a"),)), Expression(Other("p"), (leaf("a"),)))
    root = inserted(memo, Expression(Node("f"), inner))
    left, right = root.inputs
    refused = inserted(memo, Expression(Other("no"), (leaf("b"),)), into=left)
    asked: list[int] = []

    def admits(position: int, member: GroupExpression) -> bool:
        asked.append(member.id)
        return member is not refused

    matches = list(bindings(BOTH, 0, root, memo.groups, admits))
    assert [[e.group for e in m.expressions[1:]] for m in matches] == [[left, right]]
    assert refused not in matches[0].expressions
    later = [inserted(memo, Expression(Other(n), (leaf("c"),)), into=right) for n in "xyz"]
    asked.clear()
    matches = list(bindings(BOTH, 0, root, memo.groups, admits))
    assert [m.expressions[2] for m in matches] == later
    assert len(asked) == len(set(asked)), "asked once of each, not once per combination"


def test_a_third_level_is_refused() -> None:
    with pytest.raises(ValueError, match="two levels"):
        _ = Op(Node, Op(Node, Op(Node, Var("a")))).names
