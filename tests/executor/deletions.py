"""The meaning of operators over streams with deletions, and random streams with deletions.

A row with a negative expiry takes back one of the same values with the expiry ``~exp``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st

from headrace.executor.batch import FOREVER
from headrace.executor.operators.base import Operator
from tests.executor.model import GAPS, LENGTHS, Meaning, Row, Rows, Values, run


def valid(rows: Rows, t: int) -> Values[int]:
    """The values with a row that was given by ``t``, not taken back, and lasts longer."""
    return {values for (values, exp), n in held(rows, t).items() if n > 0 and exp > t}


def held(rows: Rows, t: int) -> Counter[tuple[tuple[int, ...], int]]:
    """How often each row is held at ``t``, expired or not."""
    count: Counter[tuple[tuple[int, ...], int]] = Counter()
    for values, ts, exp in rows:
        if ts <= t:
            count[values, exp if exp >= 0 else ~exp] += 1 if exp >= 0 else -1
    return count


def changes(ports: Sequence[Rows]) -> list[int]:
    """The instants at which a snapshot of the input can change."""
    return sorted(
        {t for rows in ports for r in rows for t in (r.ts, r.exp if r.exp >= 0 else ~r.exp)}
    )


def check(
    operator: Operator,
    meaning: Meaning,
    ports: Sequence[Rows],
    widths: Sequence[int],
    cuts: Sequence[int] = (),
) -> list[Row]:
    """Runs an operator and holds every snapshot of its results to what it means."""
    found = run(operator, ports, widths, cuts)
    for t in changes(ports):
        assert valid(found, t) == meaning([valid(rows, t) for rows in ports]), f"at {t}"
    # Nothing is taken back that is not there.
    at_the_end = held(found, max((row.ts for row in found), default=0))
    assert all(n >= 0 for n in at_the_end.values())
    assert [row.ts for row in found] == sorted(row.ts for row in found)
    return found


def as_lines(rows: Rows, t: int) -> Values[int]:
    """What result lines say at ``t``: an end ends all that was said of a value before."""
    ends: dict[tuple[int, ...], int] = {}
    for values, ts, exp in rows:
        if ts <= t:
            ends[values] = max(exp, ends.get(values, 0)) if exp >= 0 else 0
    return {values for values, exp in ends.items() if exp > t}


@st.composite
def ports(
    draw: st.DrawFn, widths: Sequence[int], vertices: int = 3, longest: int = 40
) -> tuple[list[Row], ...]:
    """Rows for each port, sorted by ts, of which some take back one that is valid.

    Some of them hold forever, as those of stored graphs do.
    """
    found: tuple[list[Row], ...] = tuple([] for _ in widths)
    steps = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(widths) - 1),
                st.tuples(*[st.integers(0, vertices - 1)] * max(widths)),
                GAPS,
                st.one_of(LENGTHS, LENGTHS, LENGTHS, st.none()),
                st.integers(0, 40) | st.none(),
            ),
            max_size=longest,
        )
    )
    now = 0
    for port, values, gap, length, back in steps:
        now += gap
        rows = found[port]
        open_rows = sorted(row for row, n in held(rows, now).items() if n > 0 and row[1] > now)
        if back is not None and open_rows:
            taken, exp = open_rows[back % len(open_rows)]
            rows.append(Row(taken, now, ~exp))
        else:
            exp = FOREVER if length is None else now + length
            rows.append(Row(values[: widths[port]], now, exp))
    return found
