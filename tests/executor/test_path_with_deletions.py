"""RAPQ against a search over the product graph of each snapshot."""

from collections.abc import Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import given

from headrace.algebra.regex import Regex
from headrace.executor.operators.path_with_deletions import PathWithDeletions
from tests.executor.deletions import check, ports, valid
from tests.executor.model import CUTS, Row, run, walked
from tests.executor.test_path import PATTERNS, REGEXES, inputs_of, path_of
from tests.strategies.amount import examples


@pytest.mark.parametrize("name", REGEXES)
def test_path_with_deletions_has_the_snapshots_of_a_product_graph_search(name: str) -> None:
    path = path_of(REGEXES[name])
    inputs = inputs_of(path)
    widths = (2,) * inputs

    @given(rows=ports(widths), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        check(PathWithDeletions(path, inputs), partial(walked, path), rows, widths, cuts)

    holds()


@given(pattern=PATTERNS, rows=ports((2, 2), vertices=3, longest=60), cuts=CUTS)
@examples(200)
def test_snapshots_of_random_patterns(
    pattern: Regex, rows: tuple[list[Row], ...], cuts: Sequence[int]
) -> None:
    path = path_of(pattern)
    check(PathWithDeletions(path, 2), partial(walked, path), rows, (2, 2), cuts)


def test_values_of_a_cycle_do_not_support_each_other() -> None:
    """Of 1 -> 2 -> 3 -> 2 the first edge goes: (1, 3) and (1, 2) rest on each other alone."""
    path = path_of(REGEXES["a+"])
    edges = [Row(p, 0, 90) for p in ((1, 2), (2, 3), (3, 2))]
    rows = [*edges, Row((1, 2), 5, ~90)]
    found = check(PathWithDeletions(path, 1), partial(walked, path), [rows], (2,))
    assert valid(found, 4) - valid(found, 5) == {(1, 2), (1, 3)}


def test_a_longer_path_replaces_a_deleted_one() -> None:
    path = path_of(REGEXES["a+"])
    edges = [Row(p, 0, 90) for p in ((1, 2), (1, 3), (3, 4), (4, 2))]
    rows = [*edges, Row((3, 4), 1, 60), Row((1, 2), 5, ~90)]
    found = check(PathWithDeletions(path, 1), partial(walked, path), [rows], (2,))
    assert (1, 2) in valid(found, 89)


def test_one_deletion_may_drop_many_values() -> None:
    """More than the first arrays hold."""
    path = path_of(REGEXES["a+"])
    chain = [Row((v, v + 1), 0, 1000) for v in range(60)]
    spare = [Row((29, 31), 1, 500)]
    rows = [*chain, *spare, Row((29, 30), 2, ~1000), Row((29, 31), 3, ~500)]
    check(PathWithDeletions(path, 1), partial(walked, path), [rows], (2,))


def test_state_is_bounded_on_a_stream_with_deletions() -> None:
    """Of a long stream whose vertices keep changing and of which a third is taken back."""
    random = Random(5)
    operator = PathWithDeletions(path_of(REGEXES["a·b*"]), 2)
    sizes = []
    open_rows: list[list[Row]] = [[], []]
    for start in range(0, 4_000, 100):
        rows: list[list[Row]] = [[], []]
        for t in range(start, start + 100):
            port = t % 2
            vertices = random.randrange(20) + t // 10, random.randrange(20) + t // 10
            open_rows[port].append(Row(vertices, t, t + 50))
            rows[port].append(open_rows[port][-1])
            if t % 3 == 0:
                back = open_rows[port].pop(0)
                if back.exp > t:
                    rows[port].append(Row(back.values, t, ~back.exp))
        run(operator, rows, (2, 2), ())
        operator.tick(start + 100)
        sizes.append(operator.nbytes)
    assert max(sizes[20:]) <= 2 * max(sizes[5:20])
