"""Canonical labels of joins: equal for equal joins, in time for large ones."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.labelling import Atom, canonical_atoms, canonical_labels
from tests.strategies.amount import examples

PAIRS = st.tuples(st.integers(0, 1), st.tuples(st.integers(0, 5), st.integers(0, 5)))


@given(st.lists(PAIRS, min_size=1, max_size=6), st.integers(0, 999))
@examples(200)
def test_renamed_and_reordered_joins_have_one_form(drawn: list[Atom], seed: int) -> None:
    random = Random(seed)
    variables = sorted({v for _, pair in drawn for v in pair})
    renamed = dict(zip(variables, random.sample(range(100), len(variables)), strict=True))
    other = [(relation, tuple([renamed[v] for v in pair])) for relation, pair in drawn]
    random.shuffle(other)
    forms = [
        canonical_atoms(tuple(atoms), canonical_labels(tuple(atoms), ()))
        for atoms in (drawn, other)
    ]
    assert forms[0] == forms[1]


def test_a_star_of_one_relation_may_have_very_many_atoms() -> None:
    atoms = tuple((0, (0, k + 1)) for k in range(1_500))
    labels = canonical_labels(atoms, (0,))
    assert labels[0] == 0
    assert sorted(labels.values()) == list(range(1_501))


def test_a_chain_of_one_relation_reads_alike_from_either_numbering() -> None:
    size = 150
    chain = tuple((0, (k, k + 1)) for k in range(size))
    turned = tuple((0, (size - k, size - k - 1)) for k in reversed(range(size)))
    one = canonical_atoms(chain, canonical_labels(chain, (0, size)))
    assert one == canonical_atoms(turned, canonical_labels(turned, (size, 0)))
