"""Checks a returned path: existing edges, connected, along a word of the language.

Asked are the relations themselves, at each instant of the validity that a line claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from tests.oracles.paths import Rest, derivatives, inverted_inwards, nullable
from tests.oracles.query import (
    Atom,
    Closure,
    Const,
    PathAtom,
    Query,
    Regex,
    Rule,
    Step,
    Term,
    Var,
    Vertex,
    plus,
    with_terms,
)
from tests.oracles.snapshot import Edge, Row, Truth

Steps = Sequence[tuple[Vertex, str, Vertex]]
"""Vertex, label (with ``^`` in front where the edge is walked backwards), vertex."""


def with_names(query: Query) -> Query:
    """The query without ``_`` in the body of its answer."""
    *others, answer = query.rules
    count = iter(range(99))

    def named(term: Term) -> Term:
        return Var(f"w{next(count)}") if term == Var("_") else term

    body = tuple(with_terms(atom, named) for atom in answer.body)
    return replace(query, rules=(*others, replace(answer, body=body)))


def returning(query: Query, number: int, column: int, path: str = "P") -> Query:
    """The query that returns the path of the atom of this number in a column of the answer."""
    *others, answer = query.rules
    atom = answer.body[number]
    assert isinstance(atom, Closure | PathAtom)
    named: Closure | PathAtom = (
        replace(atom, alias=path) if isinstance(atom, Closure) else replace(atom, path=path)
    )
    body = (*answer.body[:number], named, *answer.body[number + 1 :])
    columns = (*answer.variables[:column], path, *answer.variables[column:])
    return replace(query, rules=(*others, replace(answer, body=body, variables=columns)))


@dataclass(frozen=True)
class Witnesses:
    """The possible paths of an atom of the answer of ``query``, which has no path columns."""

    query: Query
    edges: tuple[Edge, ...]
    number: int

    def faults(
        self, row: Row, ts: int, exp: int, path: Steps, period: int | None = None
    ) -> list[str]:
        """What is wrong with a path that is returned with a row valid in ``[ts, exp)``.

        With a ``period`` that means the snapshots just before each multiple of it.
        """
        *others, answer = self.query.rules
        atom = answer.body[self.number]
        assert isinstance(atom, Closure | PathAtom)
        if not path:
            return ["it has no step"]
        found = [f"{a} and {b} do not meet" for a, b in pairwise(path) if a[2] != b[0]]
        first, last = path[0][0], path[-1][2]
        found += [
            f"it has {end!r} in place of {term.value!r}"
            for term, end in ((atom.source, first), (atom.target, last))
            if isinstance(term, Const) and term.value != end
        ]
        both = ((atom.source, first), (atom.target, last))
        ends = [(term.name, end) for term, end in both if isinstance(term, Var)]
        whole = replace(answer, variables=(*answer.variables, *(name for name, _ in ends)))
        rows = self._truth((*others, whole))
        for instant in self._instants(rows, ts, exp, period):
            if (*row, *(end for _, end in ends)) not in rows.at(instant):
                found.append(
                    f"it leads from {first!r} to {last!r}, which is not an answer at {instant}"
                )
            for source, label, target in path:
                name = label.removeprefix("^")
                pair = (target, source) if label.startswith("^") else (source, target)
                if pair not in self._pairs(name, instant):
                    found.append(f"there is no {name} {pair} at {instant}")
        regex = plus(Step(atom.label)) if isinstance(atom, Closure) else atom.regex
        if not accepts(regex, [(label.removeprefix("^"), label[0] == "^") for _, label, _ in path]):
            found.append("its word is not in the language")
        vertices = [first, *(step[2] for step in path)]
        if self.query.paths == "simple" and len(set(vertices)) < len(vertices):
            found.append("it repeats a vertex")
        return found

    def _truth(self, rules: tuple[Rule, ...]) -> Truth:
        return _truth_of(replace(self.query, rules=rules), self.edges)

    def _pairs(self, label: str, instant: int) -> frozenset[Row]:
        ends = Var("x"), Var("y")
        rules = (*self.query.rules[:-1], Rule("Answer", ("x", "y"), (Atom(label, *ends),)))
        return self._truth(rules).at(instant)

    @staticmethod
    def _instants(truth: Truth, ts: int, exp: int, period: int | None) -> Iterable[int]:
        if period is not None:
            last = max((*truth.changes, ts)) + period
            return [t - 1 for t in range(ts, min(exp, last), period)]
        return sorted({ts, *(t for t in truth.changes if ts <= t < exp)})


@cache
def _truth_of(query: Query, edges: tuple[Edge, ...]) -> Truth:
    return Truth(query, edges)


def accepts(regex: Regex, word: Iterable[tuple[str, bool]]) -> bool:
    """Whether a word of labels and directions is in the language."""
    rests: set[Rest] = {(inverted_inwards(regex, invert=False),)}
    for letter in word:
        rests = {after for rest in rests for after in derivatives(rest, letter)}
    return any(all(map(nullable, rest)) for rest in rests)
