"""Canonical labelling of the flattened form of a join: equal joins get equal labels.

A flattened join is a bag of atoms over variables, an atom being a relation (any orderable
reference) with a variable per column, and the variables that are kept. Two flattened joins
are equal if a renaming of variables makes them equal; the canonical form is the same for
both. Where all relations differ this is sorting. Where a relation occurs twice, variables
are first told apart by how they are used (colour refinement), then by trying the rest; a
bound on the trials keeps highly symmetric joins cheap, at the price that two equal ones may
then get different forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

Atom = tuple[int, tuple[int, ...]]
Labels = dict[int, int]

MOST_TRIALS = 64


def canonical_labels(atoms: tuple[Atom, ...], kept: tuple[int, ...]) -> Labels:
    """A label for each variable; ``kept`` are the variables of the result, in order.

    The labels number the variables by their first occurrence in the canonical order of the
    atoms.
    """
    by_relation = sorted(atoms)
    if len({relation for relation, _ in atoms}) == len(atoms):
        return _numbered(by_relation)
    colours = _refined(by_relation, kept)
    search = _Search(by_relation, kept, colours)
    search.extend((), {})
    assert search.best is not None
    return search.best[1]


def canonical_atoms(atoms: tuple[Atom, ...], labels: Labels) -> tuple[Atom, ...]:
    """The atoms over labels, without repeats, in order."""
    return tuple(sorted({(r, tuple([labels[v] for v in vs])) for r, vs in atoms}))


def _numbered(atoms: Iterable[Atom]) -> Labels:
    labels: Labels = {}
    for _, variables in atoms:
        for variable in variables:
            if variable not in labels:
                labels[variable] = len(labels)
    return labels


def _refined(atoms: list[Atom], kept: tuple[int, ...]) -> dict[int, int]:
    """Colours of variables: equal only for those that no round of refinement tells apart."""
    places = {v: k for k, v in enumerate(kept)}
    uses: dict[int, list[tuple[int, int]]] = {}
    for number, (_, variables) in enumerate(atoms):
        for column, variable in enumerate(variables):
            uses.setdefault(variable, []).append((number, column))
    colours = {v: int(v in places) for v in uses}
    classes = len(set(colours.values()))
    while True:
        seen = [(relation, tuple([colours[v] for v in vs])) for relation, vs in atoms]
        signs = {v: (colours[v], tuple(sorted((*seen[n], c) for n, c in uses[v]))) for v in uses}
        rank = {sign: k for k, sign in enumerate(sorted(set(signs.values())))}
        colours = {v: rank[sign] for v, sign in signs.items()}
        if len(rank) == classes:
            return colours
        classes = len(rank)


class _Search:
    """Finds the smallest order of atoms, trying what colours leave open."""

    def __init__(self, atoms: list[Atom], kept: tuple[int, ...], colours: dict[int, int]) -> None:
        self.atoms = atoms
        self.kept = kept
        self.colours = colours
        self.trials = 0
        self.best: tuple[tuple[object, ...], Labels] | None = None

    def extend(self, done: tuple[int, ...], labels: Labels) -> None:
        """Appends one of the smallest remaining atoms, then the rest."""
        if len(done) == len(self.atoms):
            self._offer(labels)
            return
        signs = {n: self._sign(n, labels) for n in range(len(self.atoms)) if n not in done}
        smallest = min(signs.values())
        tied = [n for n, sign in signs.items() if sign == smallest]
        for k, n in enumerate(tied):
            if k and (self.trials >= MOST_TRIALS or self._interchangeable(tied[0], n, labels)):
                continue
            more = dict(labels)
            for variable in self.atoms[n][1]:
                more.setdefault(variable, len(more))
            self.extend((*done, n), more)

    def _sign(self, n: int, labels: Labels) -> tuple[int, tuple[tuple[int, int], ...]]:
        relation, variables = self.atoms[n]
        unknown = len(self.colours)
        return relation, tuple([(labels.get(v, unknown), self.colours[v]) for v in variables])

    def _interchangeable(self, one: int, other: int, labels: Labels) -> bool:
        """Whether swapping two atoms' open variables changes nothing."""
        swap: Labels = {}
        for a, b in zip(self.atoms[one][1], self.atoms[other][1], strict=True):
            if a != b:
                if a in labels or b in labels or swap.get(a, b) != b or swap.get(b, a) != a:
                    return False
                swap[a], swap[b] = b, a
        swapped = Counter((r, tuple([swap.get(v, v) for v in vs])) for r, vs in self.atoms)
        return swapped == Counter(self.atoms)

    def _offer(self, labels: Labels) -> None:
        self.trials += 1
        places = tuple([labels[v] for v in self.kept])
        worth = (canonical_atoms(tuple(self.atoms), labels), tuple(sorted(places)), places)
        if self.best is None or worth < self.best[0]:
            self.best = (worth, labels)
