"""Canonical labelling of the flattened form of a join: equal joins get equal labels.

A flattened join is a bag of atoms over variables, an atom being a relation (any orderable
reference) with a variable per column, and the variables that are kept. Two flattened joins
are equal if a renaming of variables makes them equal; the canonical form is the same for
both. Where all relations differ this is sorting. Where a relation occurs twice, variables
are first distinguished by their uses (colour refinement), then by trials. A bound on the
trials keeps highly symmetric joins cheap; beyond it two equal joins may get different forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush, nsmallest

Atom = tuple[int, tuple[int, ...]]
Labels = dict[int, int]

MOST_TRIALS = 64
"""The most trials for one join."""
MOST_ROUNDS = 100
"""The most rounds of refinement; a chain of n edges of one relation needs n / 2 rounds."""


def canonical_labels(atoms: tuple[Atom, ...], kept: tuple[int, ...]) -> Labels:
    """A label for each variable; ``kept`` are the variables of the result, in order.

    The labels number the variables by their first occurrence in the canonical order of the
    atoms. Of variables that can be swapped, the one that comes first in ``kept`` gets the smaller
    label, so joins that differ in the order of such columns are equal.
    """
    if len({relation for relation, _ in atoms}) == len(atoms):
        return _numbered(sorted(atoms))
    place = {v: k for k, v in reversed(tuple(enumerate(kept)))}
    by_relation = sorted(
        atoms, key=lambda atom: (atom[0], [(place.get(v, len(kept)), v) for v in atom[1]])
    )
    colours = _refined(by_relation, kept)
    return _Search(by_relation, kept, colours).run()


def is_rigid(atoms: tuple[Atom, ...], kept: tuple[int, ...]) -> bool:
    """Whether only the identity maps the atoms, and the kept variables, on themselves.

    False may also mean that refinement does not show it.
    """
    if len({relation for relation, _ in atoms}) == len(atoms):
        return True
    colours = _refined(sorted(atoms), kept)
    return len(set(colours.values())) == len(colours)


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
    """Colours of variables: two are equal only if no round of refinement distinguishes them."""
    places = {v: k for k, v in enumerate(kept)}
    uses: dict[int, list[tuple[int, int]]] = {}
    for number, (_, variables) in enumerate(atoms):
        for column, variable in enumerate(variables):
            uses.setdefault(variable, []).append((number, column))
    colours = {v: int(v in places) for v in uses}
    classes = len(set(colours.values()))
    for _ in range(MOST_ROUNDS):
        seen = [(relation, tuple([colours[v] for v in vs])) for relation, vs in atoms]
        signatures = {
            v: (colours[v], tuple(sorted((*seen[n], c) for n, c in uses[v]))) for v in uses
        }
        rank = {signature: k for k, signature in enumerate(sorted(set(signatures.values())))}
        colours = {v: rank[signature] for v, signature in signatures.items()}
        if len(rank) == classes:
            break
        classes = len(rank)
    return colours


Signature = tuple[int, tuple[tuple[int, int], ...]]
"""An atom's relation, and for each column its label and colour; orders the atoms."""


class _Order:
    """A prefix of an order of atoms: its labels, and the signatures of the remaining atoms."""

    __slots__ = ("labels", "ready", "rest", "signatures")

    def __init__(
        self,
        labels: Labels,
        signatures: dict[int, Signature],
        rest: dict[Signature, set[int]],
        ready: list[Signature],
    ) -> None:
        self.labels = labels
        self.signatures = signatures
        self.rest = rest
        self.ready = ready

    def copy(self) -> _Order:
        rest = {signature: set(atoms) for signature, atoms in self.rest.items()}
        return _Order(dict(self.labels), dict(self.signatures), rest, list(self.ready))

    def put(self, atom: int, signature: Signature) -> None:
        """Sets the signature of a remaining atom."""
        old = self.signatures.get(atom)
        if old is not None:
            self.rest[old].discard(atom)
        self.signatures[atom] = signature
        if signature not in self.rest:
            self.rest[signature] = set()
            heappush(self.ready, signature)
        self.rest[signature].add(atom)

    def smallest(self) -> list[int]:
        """The remaining atoms with the smallest signature; empty if no atom remains."""
        while self.ready and not self.rest[self.ready[0]]:
            del self.rest[heappop(self.ready)]
        return nsmallest(MOST_TRIALS, self.rest[self.ready[0]]) if self.ready else []


class _Search:
    """Finds the smallest order of atoms, by trials where colours are equal."""

    def __init__(self, atoms: list[Atom], kept: tuple[int, ...], colours: dict[int, int]) -> None:
        self.atoms = atoms
        self.kept = kept
        self.colours = colours
        self.trials = 0
        self.best: tuple[tuple[object, ...], Labels] | None = None
        self._uses: dict[int, list[int]] = {}
        for number, (_, variables) in enumerate(atoms):
            for variable in dict.fromkeys(variables):
                self._uses.setdefault(variable, []).append(number)
        # Atoms of one shape differ only in variables of their own, so they can be swapped.
        self._shapes = [
            (r, tuple([v if len(self._uses[v]) > 1 else -1 - vs.index(v) for v in vs]))
            for r, vs in atoms
        ]

    def run(self) -> Labels:
        """The labels of the smallest order, built by repeatedly appending a smallest atom."""
        order = _Order({}, {}, {}, [])
        for n in range(len(self.atoms)):
            order.put(n, self._signature(n, order.labels))
        branches: list[tuple[_Order, int]] = []
        while True:
            tied = order.smallest()
            if tied:
                if self.trials < MOST_TRIALS:
                    first, *others = tied
                    branches += [
                        (order.copy(), n)
                        for n in reversed(others)
                        if self._shapes[n] != self._shapes[first]
                        and not self._interchangeable(first, n, order.labels)
                    ]
                self._take(order, tied[0])
                continue
            self._offer(order.labels)
            if not branches or self.trials >= MOST_TRIALS:
                break
            order, other = branches.pop()
            self._take(order, other)
        assert self.best is not None
        return self.best[1]

    def _take(self, order: _Order, n: int) -> None:
        """Appends an atom, and labels its variables."""
        order.rest[order.signatures.pop(n)].discard(n)
        touched: set[int] = set()
        for variable in self.atoms[n][1]:
            if variable not in order.labels:
                order.labels[variable] = len(order.labels)
                touched.update(self._uses[variable])
        for other in touched:
            if other in order.signatures:
                order.put(other, self._signature(other, order.labels))

    def _signature(self, n: int, labels: Labels) -> Signature:
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
        using = {n for variable in swap for n in self._uses[variable]}
        around = [self.atoms[n] for n in using]
        swapped = Counter((r, tuple([swap.get(v, v) for v in vs])) for r, vs in around)
        return swapped == Counter(around)

    def _offer(self, labels: Labels) -> None:
        self.trials += 1
        places = tuple([labels[v] for v in self.kept])
        worth = (canonical_atoms(tuple(self.atoms), labels), tuple(sorted(places)), places)
        if self.best is None or worth < self.best[0]:
            self.best = (worth, labels)
