"""TRAIL_PATH against all trails of each snapshot, walked one by one."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.physical import TrailPath
from headrace.algebra.regex import Regex, Symbol
from headrace.executor.operators.trail_path import TrailPathOperator
from tests.executor.model import CUTS, Row, Values, check, is_coalesced, ports, run
from tests.executor.test_path import PATTERNS
from tests.executor.test_simple_path import FORMS
from tests.oracles.paths import trail_pairs
from tests.properties.algebra import as_written
from tests.strategies.amount import examples

A, B = Symbol(0), Symbol(1)
BACK = Symbol(0, inverse=True)
TRAILS: dict[str, Regex] = {
    **FORMS,
    "a·^a": regex.concat([A, BACK]),
    "a·^a·a": regex.concat([A, BACK, A]),
    "(a|^a)+": regex.plus(regex.alternation([A, BACK])),
    "(a·^a)+": regex.plus(regex.concat([A, BACK])),
}


def path_of(
    pattern: Regex, relations: Sequence[int] = range(9), budget: int = 1_000_000
) -> TrailPath:
    automaton = minimal_dfa(pattern).with_fresh_start()
    of = tuple(relations[: 1 + max(int(ref) for ref in regex.refs(pattern))])
    return TrailPath(
        automaton.states, automaton.transitions, automaton.accepting, regex.text(pattern),
        relations=of, budget=budget,
    )  # fmt: skip


def meaning(pattern: Regex, relations: Sequence[int], inputs: Sequence[Values[int]]) -> Values[int]:
    edges = {
        str(i): {(row[0], row[1], (relations[i], *row)) for row in rows}
        for i, rows in enumerate(inputs)
    }
    return {(x, y) for x, y in trail_pairs(as_written(pattern), edges)}  # type: ignore[misc]


@pytest.mark.parametrize("name", TRAILS)
def test_trail_path_has_the_snapshots_of_an_enumeration(name: str) -> None:
    pattern = TRAILS[name]
    inputs = 1 + max(int(ref) for ref in regex.refs(pattern))
    widths = (3, *[2] * (inputs - 1))

    @given(rows=ports(widths, vertices=3), cuts=CUTS)
    @examples(30)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        few = tuple(list(part[: 12 // inputs]) for part in rows)
        operator = TrailPathOperator(path_of(pattern), widths)
        found = check(operator, partial(meaning, pattern, range(9)), few, widths, cuts)
        assert is_coalesced(found)

    holds()


def test_the_code_of_an_edge_has_the_hash_of_no_vertex() -> None:
    """An edge whose vertex had the code -3 was linked to itself at vertex 3, without end."""
    label = regex.alternation([A, B])
    path = path_of(regex.concat([label, label, label]))
    rows = ([Row((0, 1, 5), 1, 100)], [Row((3, 4, 6), 2, 100), Row((4, 3, 7), 3, 100)])
    many = [Row((n, n + 1, 0), 4 + n, 1000) for n in range(300)]
    found = run(TrailPathOperator(path, (3, 3)), (rows[0] + many, rows[1]), (3, 3), [])
    assert {row.values for row in found} >= {(n, n + 3) for n in range(10, 298)}


@given(
    pattern=PATTERNS,
    relations=st.sampled_from([(0, 1), (0, 0)]),
    rows=ports((3, 3), vertices=3),
    cuts=CUTS,
)
@examples(150)
def test_snapshots_of_random_patterns(
    pattern: Regex, relations: tuple[int, ...], rows: tuple[list[Row], ...], cuts: list[int]
) -> None:
    path = path_of(pattern, relations)
    widths = (3, 3)[: len(path.relations)]
    few = tuple(list(part[:8]) for part in rows[: len(widths)])
    check(TrailPathOperator(path, widths), partial(meaning, pattern, relations), few, widths, cuts)
