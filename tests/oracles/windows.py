"""Windows over predicates, ``d[WINDOW 5 SLIDE 2]``, whose validity depends on the past.

Every instant is looked at, from the first edge on: a row of the predicate counts from the
instant at which it begins to be valid, until the window that it begins in ends.
"""

from __future__ import annotations

from functools import cached_property

from tests.oracles.query import Query, Rule
from tests.oracles.snapshot import Row, Truth, answer, labels_of


def windowed(rules: tuple[Rule, ...]) -> dict[str, tuple[str, int, int]]:
    """The names of predicates under windows: predicate, range and slide."""
    names = {name for rule in rules for atom in rule.body for name in labels_of(atom)}
    found = {}
    for name in sorted(names):
        predicate, sign, lengths = name.removesuffix("]").partition("[WINDOW ")
        if sign:
            length, _, slide = lengths.partition(" SLIDE ")
            found[name] = (predicate, int(length), int(slide or 1))
    return found


class HistoryTruth(Truth):
    """The answer of a query with such predicates at every instant."""

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """All instants at which a row may be valid, and the instant after them."""
        known = super().changes
        return tuple(range(known[0], known[-1] + 1)) if known else ()

    def at(self, instant: int) -> frozenset[Row]:
        """The answer at an instant."""
        return self._history.get(instant, frozenset())

    @cached_property
    def _history(self) -> dict[int, frozenset[Row]]:
        names = windowed(self.query.rules)
        began: dict[str, dict[Row, int]] = {name: {} for name in names}
        found: dict[int, frozenset[Row]] = {}
        for now in self.changes:

            def cut(name: str, rows: set[Row], now: int = now) -> set[Row]:
                _, length, slide = names[name]
                began[name] = {row: began[name].get(row, now) for row in rows}
                return {r for r, t in began[name].items() if now < t // slide * slide + length}

            later = {
                name: (predicate, lambda rows, name=name, cut=cut: cut(name, rows))
                for name, (predicate, _, _) in names.items()
            }
            found[now] = frozenset(answer(self.query.rules, self.snapshot(now), later))
        return found


def truth_of(query: Query, edges: tuple) -> Truth:  # type: ignore[type-arg]
    """The truth of a query, with or without predicates under windows."""
    return (HistoryTruth if windowed(query.rules) else Truth)(query, edges)
