"""The judgement reports every lost, invented, shortened, lengthened or repeated line."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles.judgement import Line, broken_promises, mismatches, valid_at
from tests.oracles.snapshot import Row, Truth
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases


def _right_lines(truth: Truth) -> list[Line]:
    """The answers in full: one line for each binding and stretch of validity."""
    lines = []
    since: dict[Row, int] = {}
    for instant in truth.changes:
        now = truth.at(instant)
        for row in sorted(since.keys() - now, key=repr):
            lines.append(Line(row, since.pop(row), instant))
        for row in sorted(now - since.keys(), key=repr):
            since[row] = instant
    assert since == {}
    return lines


@given(case=cases())
@examples(50)
def test_right_lines_are_accepted(case: Case) -> None:
    truth = Truth(case.query, case.edges)
    lines = _right_lines(truth)
    assert mismatches(truth, lines) == []
    assert broken_promises(sorted(lines, key=lambda line: line.ts)) == []


Spoil = Callable[[Sequence[Line], int], list[Line]]


def _changed(lines: Sequence[Line], at: int, ts: int, exp: int) -> list[Line]:
    old = lines[at]
    return [*lines[:at], Line(old.row, old.ts + ts, old.exp + exp), *lines[at + 1 :]]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines, at: [*lines[:at], *lines[at + 1 :]],
        lambda lines, at: _changed(lines, at, 1, 0),
        lambda lines, at: _changed(lines, at, -1, 0),
        lambda lines, at: _changed(lines, at, 0, 1),
        lambda lines, at: _changed(lines, at, 0, -1),
        lambda lines, at: [*lines, Line(("nobody",), lines[at].ts, lines[at].exp)],
    ],
    ids=["lost", "late", "early", "too long", "too short", "made up"],
)
def test_wrong_lines_are_reported(spoil: Spoil) -> None:
    @given(case=cases(), data=st.data())
    @examples(20)
    def check(case: Case, data: st.DataObject) -> None:
        truth = Truth(case.query, case.edges)
        lines = _right_lines(truth)
        assume(lines)
        spoiled = spoil(lines, data.draw(st.integers(0, len(lines) - 1)))
        found = mismatches(truth, spoiled)
        assert found
        for mismatch in found:
            said, right = valid_at(spoiled, mismatch.instant), truth.at(mismatch.instant)
            assert said != right
            assert mismatch.extra == said - right
            assert mismatch.missing == right - said

    check()


def test_a_line_may_extend_but_not_repeat() -> None:
    row = ("x",)
    assert broken_promises([Line(row, 1, 5), Line(row, 3, 7), Line(row, 9, 12)]) == []
    assert len(broken_promises([Line(row, 1, 5), Line(row, 1, 5)])) == 1
    assert len(broken_promises([Line(row, 1, 5), Line(row, 2, 4)])) == 1
    assert len(broken_promises([Line(row, 1, 5), Line(row, 5, 9), Line(row, 3, 7)])) == 1
    assert broken_promises([Line(row, 1, 5), Line(("y",), 2, 4)]) == []
    assert len(broken_promises([Line(row, 5, 5)])) == 2
