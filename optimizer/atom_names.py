"""The query's names of the variables of a plan: the plan's atoms matched to those of the query.

An atom of a plan matches an atom of the query over the same labels. The columns of the answer are
known; the others follow, since equal columns of the plan are equal columns of the query. A rule may
make plans with atoms that the query does not have, so a matching need not have all atoms: the
search looks for one that leaves out few, and ends after a number of steps. Names are for people:
a plan is computed alike whatever is matched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .atoms import Atom, Atoms, Kind, Label, Scope
from .plan_atoms import Use
from .query_atoms import QueryAtoms

MOST_STEPS = 1_000
"""The most steps of the search; after them, the first match of each atom is taken."""
MOST_STEPS_OF_ONE = 300
"""The most steps for one component of a plan."""
LEFT_OUT = 3
"""The penalty for an atom without a match; an unlikely match has the penalty 1."""


def names_of_uses(uses: list[Use], atoms: Atoms, query: QueryAtoms) -> list[dict[int, str]]:
    """The names of the variables of each use of an operator of a plan.

    Args:
        uses: the uses, each after the one that reads it.
        atoms: the atoms of the plan.
        query: the atoms of the query.
    """
    answer = dict(zip(uses[0].columns, query.answer, strict=True))
    variables, of_query = _matched(atoms, query.atoms, answer)
    scopes: list[Scope | None] = [None] * len(uses)
    for number in range(len(uses) - 1, -1, -1):
        use = uses[number]
        if use.atom in of_query:
            scopes[number] = _common(scopes[number], query.atoms.found[of_query[use.atom]].scope)
        if use.above >= 0:
            scopes[use.above] = _common(scopes[use.above], scopes[number])
    return [
        {
            variable: query.name(variables[variable], scope or ())
            for variable in (*use.columns, *use.bound.values())
            if variable in variables
        }
        for use, scope in zip(uses, scopes, strict=True)
    ]


def _common(one: Scope | None, other: Scope | None) -> Scope | None:
    """The scope that both scopes lie in."""
    if one is None or other is None:
        return one if other is None else other
    common = [a for k, a in enumerate(one) if one[: k + 1] == other[: k + 1]]
    return tuple(common)


def _matched(
    plan: Atoms, query: Atoms, answer: Mapping[int, int]
) -> tuple[dict[int, int], dict[int, int]]:
    """The variables of the query for those of a plan, and the same for the numbers of atoms.

    ``answer`` has the variables of the answer's columns.
    """
    variables, atoms = dict(answer), dict[int, int]()
    likely = _likely(plan, query)
    steps = MOST_STEPS
    for component in _components(plan, answer):
        own = {v for number in component for v in plan.found[number].columns.values()}
        known = {v: variables[v] for v in own if v in variables}
        search = _Search(plan, likely, frozenset(atoms.values()), min(steps, MOST_STEPS_OF_ONE))
        search.extend(component, known, {}, 0)
        steps -= search.steps
        variables |= search.variables
        atoms |= search.atoms
    return variables, atoms


@dataclass(frozen=True, slots=True)
class _Match:
    """An atom of the query that an atom of the plan may be.

    Attributes:
        number: the number of the query's atom.
        columns: the query's variables of the columns of the plan's atom.
        unlike: the number of conditions that only one of the two atoms satisfies.
        moved: whether a path reads only one of the two atoms.
        far: by how much the numbers of atoms differ that have the variables.
    """

    number: int
    columns: Mapping[str, int]
    unlike: int
    moved: bool
    far: int


def _likely(plan: Atoms, query: Atoms) -> list[Sequence[_Match]]:
    """The matches of each atom of a plan, whatever those of others are; likely ones first."""
    of_plan, of_query = _places(plan), _places(query)
    known: dict[Hashable, Sequence[_Match]] = {}
    likely: list[Sequence[_Match]] = []
    for atom in plan.found:
        at = {name: (plan.conditions_on(v), of_plan[v]) for name, v in atom.columns.items()}
        alike = (atom.kind, atom.labels, atom.below_path, frozenset(at.items()))
        if alike not in known:
            matches: list[_Match] = []
            for number, other in enumerate(query.found):
                for columns in _alike(atom, other):
                    unlike = far = 0
                    for name, (conditions, places) in at.items():
                        unlike += len(conditions ^ query.conditions_on(columns[name]))
                        far += len(places ^ of_query[columns[name]])
                    moved = atom.below_path != other.below_path
                    matches.append(_Match(number, columns, unlike, moved, far))
            known[alike] = sorted(matches, key=lambda match: (match.unlike, match.far))
        likely.append(known[alike])
    return likely


def _places(atoms: Atoms) -> dict[int, frozenset[Hashable]]:
    """The columns of atoms that have each variable, numbered where several are alike."""
    places: dict[int, Counter[tuple[frozenset[Label], str]]] = {}
    for atom in atoms.found:
        for name, variable in atom.columns.items():
            places.setdefault(variable, Counter())[atom.labels, name] += 1
    return {
        variable: frozenset((place, k) for place, count in of.items() for k in range(count))
        for variable, of in places.items()
    }


def _alike(atom: Atom, other: Atom) -> Iterator[Mapping[str, int]]:
    """The columns of an atom of a query for those of an atom of a plan, if the rows may be equal.

    A plan may follow paths from their ends.
    """
    if atom.kind is not other.kind or not atom.columns.keys() <= other.columns.keys():
        return
    if atom.kind is Kind.EDGES and other.labels <= atom.labels:
        yield other.columns
    elif atom.labels == other.labels and len(atom.columns) == len(other.columns):
        yield other.columns
        if atom.kind is Kind.PATHS:
            yield {"src": other.columns["trg"], "trg": other.columns["src"]}


def _components(plan: Atoms, known: Mapping[int, int]) -> list[tuple[int, ...]]:
    """The atoms that share variables, apart from those that are known."""
    leader = list(range(len(plan.found)))

    def lead(atom: int) -> int:
        while leader[atom] != atom:
            leader[atom] = atom = leader[leader[atom]]
        return atom

    first: dict[int, int] = {}
    for number, atom in enumerate(plan.found):
        for variable in atom.columns.values():
            if variable not in known:
                one, other = lead(first.setdefault(variable, number)), lead(number)
                leader[max(one, other)] = min(one, other)
    components: dict[int, list[int]] = {}
    for number in range(len(plan.found)):
        components.setdefault(lead(number), []).append(number)
    return [tuple(numbers) for numbers in components.values()]


@dataclass(slots=True)
class _Search:
    """A search for a matching of one component, depth first, with the likely matches first.

    Attributes:
        plan: the atoms of the plan.
        likely: the matches of each atom of the plan.
        taken: the atoms of the query that other components match.
        most: the most steps.
        variables: the variables of the best matching so far.
        atoms: the atoms of the best matching so far.
        penalty: the penalty of the best matching so far; None before the first.
        steps: the steps so far.
    """

    plan: Atoms
    likely: Sequence[Sequence[_Match]]
    taken: frozenset[int]
    most: int
    variables: dict[int, int] = field(default_factory=dict)
    atoms: dict[int, int] = field(default_factory=dict)
    penalty: int | None = None
    steps: int = 0

    def extend(
        self, rest: tuple[int, ...], variables: dict[int, int], atoms: dict[int, int], penalty: int
    ) -> None:
        """Tries all matches of the atoms ``rest`` beside those so far."""
        if self.penalty is not None and (penalty >= self.penalty or self.steps > self.most):
            return
        if not rest:
            self.variables, self.atoms, self.penalty = variables, atoms, penalty
            return
        number = max(rest, key=lambda n: self._known(n, variables))
        others = tuple([other for other in rest if other != number])
        for cost, match, own in self._matches(number, variables, atoms):
            self.steps += 1
            self.extend(
                others,
                {**variables, **own},
                {**atoms, number: match.number},
                penalty + cost,
            )
        self.extend(others, variables, atoms, penalty + LEFT_OUT)

    def _known(self, number: int, variables: Mapping[int, int]) -> int:
        """How many variables of an atom are known."""
        return sum([v in variables for v in self.plan.found[number].columns.values()])

    def _matches(
        self, number: int, variables: Mapping[int, int], atoms: Mapping[int, int]
    ) -> list[tuple[int, _Match, dict[int, int]]]:
        """The matches of an atom beside those of others, the likely ones first.

        Each has its penalty and the query's variables for those of the atom. An unlikely match
        takes an atom or a variable a second time, or moves the atom below a path or out of it. Such
        a match has all conditions of the atom.
        """
        images = set(variables.values())
        used = self.taken.union(atoms.values())
        columns = self.plan.found[number].columns
        matches: list[tuple[int, _Match, dict[int, int]]] = []
        for match in self.likely[number]:
            own = {variable: match.columns[name] for name, variable in columns.items()}
            if all(variables.get(v, of) == of for v, of in own.items()):
                cost = sum([v not in variables and of in images for v, of in own.items()])
                cost += (match.number in used) + match.moved
                if not (cost and match.unlike):
                    matches.append((cost, match, own))
        return sorted(matches, key=lambda one: one[0])
