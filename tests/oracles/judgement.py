"""Compares the snapshots of result lines with those of the oracle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tests.oracles.snapshot import ALWAYS, Row, Truth


@dataclass(frozen=True)
class Line:
    """One result line: a binding and its validity ``[ts, exp)``, ``ALWAYS`` if without end."""

    row: Row
    ts: int
    exp: int


@dataclass(frozen=True)
class End:
    """A line that ends at ``ts`` the validity of all earlier lines of a binding."""

    row: Row
    ts: int


def without_ends(said: Iterable[Line | End]) -> list[Line]:
    """Applies the lines that end others to these, and leaves out lines that are never valid."""
    found: list[Line] = []
    of_row: dict[Row, list[int]] = defaultdict(list)
    for line in said:
        if isinstance(line, Line):
            of_row[line.row].append(len(found))
            found.append(line)
        else:
            for k in of_row[line.row]:
                found[k] = replace(found[k], exp=min(found[k].exp, line.ts))
    return [line for line in found if line.ts < line.exp]


@dataclass(frozen=True)
class Mismatch:
    """An instant at which the lines differ from the oracle."""

    instant: int
    missing: frozenset[Row]
    extra: frozenset[Row]

    def __str__(self) -> str:
        missing, extra = (_some(rows) for rows in (self.missing, self.extra))
        return f"at instant {self.instant}: missing {missing}, extra {extra}"


def _some(rows: frozenset[Row]) -> str:
    shown = sorted(rows, key=repr)[:10]
    return f"{shown}{f' and {len(rows) - 10} more' if len(rows) > 10 else ''}"


def valid_at(lines: Iterable[Line], instant: int) -> frozenset[Row]:
    """The answer that the lines give at an instant."""
    return frozenset(line.row for line in lines if line.ts <= instant < line.exp)


def mismatches(
    truth: Truth, lines: Sequence[Line], instants: Iterable[int] | None = None
) -> list[Mismatch]:
    """All instants at which the lines are wrong, in order.

    Without ``instants`` every instant is judged: neither the truth nor what the lines say
    changes between two neighbours of those looked at, which are the ends of all
    intervals. The instants just before them are looked at as well, so that the judge does
    not depend on that argument.
    """
    if instants is None:
        ends = {*truth.changes, *(line.ts for line in lines), *(line.exp for line in lines)}
        instants = (ends | {end - 1 for end in ends}) - {ALWAYS}
    wanted = sorted(instants)
    found = []
    for instant, said in zip(wanted, _sweep(lines, wanted), strict=True):
        right = truth.at(instant)
        if said != right:
            found.append(Mismatch(instant, right - said, said - right))
    return found


def per_slide_mismatches(truth: Truth, lines: Sequence[Line], period: int) -> list[Mismatch]:
    """The reports at which the lines are wrong, where they are to be right per slide.

    A report at a multiple of the period says what holds at the last instant before it; those
    looked at go on until all is gone.
    """
    last = max((*truth.changes, *(line.ts for line in lines), 0)) // period + 2
    instants = range(period, last * period, period)
    found = []
    for instant, said in zip(instants, _sweep(lines, instants), strict=True):
        right = truth.at(instant - 1)
        if said != right:
            found.append(Mismatch(instant, right - said, said - right))
    return found


def between_reports(lines: Iterable[Line], period: int) -> list[str]:
    """The lines that begin or end between two reports."""
    return [
        f"{line} does not go from report to report"
        for line in lines
        if line.ts % period or (line.exp != ALWAYS and line.exp % period)
    ]


def _sweep(lines: Sequence[Line], instants: Sequence[int]) -> Iterable[frozenset[Row]]:
    """The answer by the lines at each of the instants, which are in order."""
    events = sorted(
        event
        for number, line in enumerate(lines)
        for event in ((line.ts, 1, number), (line.exp, -1, number))
        if line.ts < line.exp
    )
    open_lines: dict[Row, int] = defaultdict(int)
    position = 0
    for instant in instants:
        while position < len(events) and events[position][0] <= instant:
            _, change, number = events[position]
            row = lines[number].row
            open_lines[row] += change
            if open_lines[row] == 0:
                del open_lines[row]
            position += 1
        yield frozenset(open_lines)


def broken_promises(lines: Iterable[Line]) -> list[str]:
    """Lines that the interface rules out, whatever the query.

    A line's interval is not empty, and no line lies inside what earlier lines of its
    binding already said.
    """
    found = []
    said: dict[Row, list[tuple[int, int]]] = defaultdict(list)
    for line in lines:
        if line.ts >= line.exp:
            found.append(f"{line} is never valid")
        if _covered(line.ts, line.exp, said[line.row]):
            found.append(f"{line} lies inside what was said before: {said[line.row]}")
        said[line.row].append((line.ts, line.exp))
    return found


def _covered(ts: int, exp: int, intervals: Iterable[tuple[int, int]]) -> bool:
    """Whether ``[ts, exp)`` lies inside the union of intervals."""
    reached = ts
    for start, end in sorted(intervals):
        if start > reached:
            break
        reached = max(reached, end)
    return reached >= exp


def wrong_reports(truth: Truth, lines: Iterable[Line]) -> list[str]:
    """The reports that are wrong, missing, or there twice."""
    said = [(line.ts, line.row) for line in lines]
    right = truth.reports()
    found = [f"missing at {at}: {row}" for at, row in sorted(right - set(said), key=repr)]
    found += [f"wrong at {at}: {row}" for at, row in sorted(set(said) - right, key=repr)]
    return found + [f"twice: {one}" for one in sorted(set(said), key=repr) if said.count(one) > 1]


def meeting(lines: Iterable[Line]) -> list[str]:
    """Adjacent lines of a row, which should be one line."""
    starts = {(line.row, line.ts) for line in lines}
    return [f"{line} goes on" for line in lines if (line.row, line.exp) in starts]
