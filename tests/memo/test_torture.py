"""Random insertions and equalities, compared with a naive congruence closure."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from headrace.memo import Expression, Memo
from tests.memo.operators import Leaf, Node, OwnForms
from tests.strategies.amount import examples

NAMES = ("f", "g", "+")
Term = int
"""A term of the naive memo: its number."""


class Naive:
    """Terms and equalities, closed by trying every pair until nothing changes."""

    def __init__(self) -> None:
        self.terms: list[tuple[str, tuple[Term, ...]]] = []
        self.equal: set[frozenset[Term]] = set()

    def add(self, name: str, inputs: tuple[Term, ...]) -> Term:
        self.terms.append((name, inputs))
        return len(self.terms) - 1

    def classes(self) -> list[int]:
        leader = list(range(len(self.terms)))

        def find(term: Term) -> Term:
            while leader[term] != term:
                term = leader[term]
            return term

        def union(one: Term, other: Term) -> bool:
            low, high = sorted((find(one), find(other)))
            leader[high] = low
            return low != high

        for pair in self.equal:
            union(min(pair), max(pair))
        changed = True
        while changed:
            changed = False
            for one, other in combinations(range(len(self.terms)), 2):
                if self._digest(one, find) == self._digest(other, find) and union(one, other):
                    changed = True
        return [find(term) for term in range(len(self.terms))]

    def _digest(self, term: Term, find: object) -> tuple[str, tuple[int, ...]]:
        name, inputs = self.terms[term]
        assert callable(find)
        found = [find(i) for i in inputs]
        return name, tuple(sorted(found) if name == "+" else found)


number = st.integers(0, 40)
step = st.one_of(
    st.tuples(st.just("leaf"), st.sampled_from("abcd"), st.just(())),
    st.tuples(st.just("node"), st.sampled_from(NAMES), st.lists(number, min_size=1, max_size=3)),
    st.tuples(st.just("equal"), number, number),
    st.tuples(st.just("found"), number, st.lists(number, min_size=1, max_size=2)),
)


@examples(300)
@given(st.lists(step, max_size=40))
def test_the_memo_is_a_congruence_closure(steps: list[tuple[str, object, object]]) -> None:
    memo, naive = Memo(operators=OwnForms()), Naive()
    groups: list[int] = []
    for kind, first, second in steps:
        if kind == "leaf":
            groups.append(memo.insert(Expression(Leaf(str(first)))).group)
            naive.add(str(first), ())
        elif not groups:
            continue
        elif kind == "node":
            assert isinstance(second, list)
            terms = tuple(k % len(groups) for k in second)
            operator = Node(str(first), sorts=first == "+")
            inputs = tuple(groups[t] for t in terms)
            groups.append(memo.insert(Expression(operator, inputs)).group)
            naive.add(str(first), terms)
        elif kind == "equal":
            assert isinstance(first, int)
            assert isinstance(second, int)
            one, other = first % len(groups), second % len(groups)
            memo.merge(groups[one], groups[other])
            naive.equal.add(frozenset((one, other)))
        else:  # an expression that a rule found equal to a term
            assert isinstance(first, int)
            assert isinstance(second, list)
            terms = tuple(k % len(groups) for k in second)
            target = first % len(groups)
            inputs = tuple(groups[t] for t in terms)
            groups.append(memo.insert(Expression(Node("f"), inputs), into=groups[target]).group)
            naive.add("f", terms)
            naive.equal.add(frozenset((target, len(groups) - 1)))
        memo.check()
    found = [memo.find(group) for group in groups]
    wanted = naive.classes()
    same = [found[i] == found[j] for i, j in combinations(range(len(found)), 2)]
    assert same == [wanted[i] == wanted[j] for i, j in combinations(range(len(found)), 2)]


joined = st.lists(st.integers(0, 40), min_size=1, max_size=3)
set_step = st.one_of(
    st.tuples(st.just("leaf"), st.sampled_from("abcd"), st.just([0])),
    st.tuples(st.just("or"), st.just(""), joined),
    st.tuples(st.just("found"), st.just(""), joined),
)


@examples(300)
@given(st.lists(set_step, max_size=30))
def test_a_fingerprint_makes_groups_of_equal_meaning_one(
    steps: list[tuple[str, str, list[int]]],
) -> None:
    """``or`` means the set of its leaves; an expression may equal one of its inputs."""
    leaves: dict[int, frozenset[str]] = {}

    class Meanings(OwnForms):
        def fingerprint(self, operator: Hashable, inputs: tuple[int, ...]) -> Hashable | None:
            if isinstance(operator, Leaf):
                return frozenset(operator.name)
            return frozenset[str]().union(*(leaves[memo.find(i)] for i in inputs))

    memo = Memo(operators=Meanings())
    meanings: list[frozenset[str]] = []
    groups: list[int] = []
    for kind, name, numbers in steps:
        terms = [k % len(groups) for k in numbers] if groups else []
        meaning = frozenset(name) if kind == "leaf" else frozenset[str]()
        meaning = meaning.union(*(meanings[t] for t in terms)) if kind != "leaf" else meaning
        if kind == "leaf":
            group = memo.insert(Expression(Leaf(name))).group
        elif not groups:
            continue
        else:
            tree = Expression(Node("or"), tuple(groups[t] for t in terms))
            equal = [g for g, m in zip(groups, meanings, strict=True) if m == meaning]
            into = equal[-1] if kind == "found" and equal else None
            group = memo.insert(tree, into=into).group
        leaves[memo.find(group)] = meaning
        groups.append(group)
        meanings.append(meaning)
        memo.check()
    for (g, m), (h, n) in combinations(zip(groups, meanings, strict=True), 2):
        assert (memo.find(g) == memo.find(h)) == (m == n)
