"""``DIFFERENT EDGES``: the atoms of a group match edges that differ pairwise.

In: a rule. Out: rules without groups, whose bindings together, without their own variables and
edges, are those of the rule. Two atoms that can match one edge get the condition ``e <> f``. A path
that can share an edge with another atom becomes a chain of edges, in one rule for each of its
words; so does a path of bounded length with two steps that can match one edge. Any other path of a
group stays a path, of trails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from typing import Final

from ...algebra import regex
from ...algebra.regex import Ref, Symbol
from ...algebra.words import TooManyWordsError, Word, words
from ..query.atoms import Atom, BinaryAtom, EdgeAtom, Location, PathAtom, Term, Variable, group_of
from ..query.conditions import with_edge
from ..query.errors import QueryError
from ..query.regular_query import Comparison, Condition, Rule
from .edges_as_values import different_ends
from .inputs import Inputs

MOST_RULES: Final = 64
"""The most rules that stand for a rule."""


@dataclass(frozen=True, slots=True)
class DifferentEdges:
    """Translates the groups of rules.

    Attributes:
        inputs: the input labels of the query.
        rules: the rules of each derived predicate.
        simple: whether the paths of the query repeat no vertex.
    """

    inputs: Inputs
    rules: Mapping[str, Sequence[Rule]]
    simple: bool

    def written_out(self, rule: Rule) -> tuple[Rule, ...]:
        """The rules that stand for a rule; the rule itself if it has no group.

        Raises:
            QueryError: E-LATER for a path without a bound that can share an edge with another atom
                of its group, E-SIZE for too many rules.
        """
        if all(group_of(atom) is None for atom in rule.body):
            return (rule,)
        chains = {
            number: self._words(atom)
            for number, atom in enumerate(rule.body)
            if isinstance(atom, PathAtom)
            if self.shares_edges(rule, atom) or self._repeats_an_edge(atom)
        }
        if prod(map(len, chains.values())) > MOST_RULES:
            raise _too_many(rule.location)
        return tuple(
            self._chosen(rule, dict(zip(chains, chosen, strict=True)))
            for chosen in product(*chains.values())
        )

    def shares_edges(self, rule: Rule, path: PathAtom) -> bool:
        """Whether an edge of a path of a group can be one that another atom of it matches."""
        if path.different is None:
            return False
        own = self._origins(path)
        return any(
            isinstance(other, BinaryAtom) and own & self._origins(other)
            for other in rule.body
            if other is not path and group_of(other) == path.different
        )

    def _repeats_an_edge(self, path: PathAtom) -> bool:
        """Whether a path of bounded length in a group has two steps that can match one edge."""
        if path.different is None or regex.has_closure(path.regex):
            return False
        steps = [self._origins_of([symbol.ref], path) for symbol in regex.symbols(path.regex)]
        return any(one & other for one, other in combinations(steps, 2))

    def check_returned(self, rule: Rule, path: PathAtom) -> None:
        """Checks that a path in the answer can be any trail.

        Raises:
            QueryError: E-LATER if it can share an edge with another atom of its group.
        """
        if self.shares_edges(rule, path):
            raise QueryError(
                "E-LATER",
                "a path in the answer, with DIFFERENT EDGES from an atom of the same labels, "
                "is not supported yet",
                at=path.location,
                text=path.alias or "",
                hint="answer with the vertices that the path joins",
            )

    def _origins(self, atom: BinaryAtom) -> set[str]:
        """What identifies the relations of the edges that an atom can match."""
        refs = atom.refs if isinstance(atom, EdgeAtom) else regex.refs(atom.regex)
        return self._origins_of(refs, atom)

    def _origins_of(self, refs: Iterable[Ref], atom: BinaryAtom) -> set[str]:
        """What identifies the relations of the edges of some steps of an atom."""
        return {
            self.inputs.origin_of(str(label.ref), atom.location).tag
            for ref in refs
            for label in self._step(Symbol(ref))[0].labels
        }

    def _step(self, symbol: Symbol) -> tuple[EdgeAtom, tuple[Condition, ...]]:
        """The edges of a step of a path from x to y, and its conditions."""
        rules = self.rules.get(str(symbol.ref), ())
        if len(rules) == 1 and rules[0].is_step:
            (atom,) = rules[0].body
            assert isinstance(atom, EdgeAtom)
            edge, conditions = atom, rules[0].conditions
        else:
            edge, conditions = EdgeAtom((Symbol(symbol.ref),), _X, _Y, _NOWHERE), ()
        labels = tuple(Symbol(one.ref, one.inverse != symbol.inverse) for one in edge.labels)
        return replace(edge, labels=labels), conditions

    def _words(self, atom: PathAtom) -> list[Word]:
        """The words of a path, in a fixed order; a step with conditions is alone in its place."""
        if regex.has_closure(atom.regex):
            raise QueryError(
                "E-LATER",
                "a path without a bound, with DIFFERENT EDGES from an atom of the same labels, "
                "is not supported yet",
                at=atom.location,
                text=atom.alias or "",
                hint="bound the path, as a{1,3}, or leave it out by parentheses: "
                "(a(x, y), b(y, z) DIFFERENT EDGES), z a+ u",
            )
        try:
            found = words(atom.regex, MOST_RULES) - {()}
        except TooManyWordsError:
            raise _too_many(atom.location) from None
        split = {one for word in found for one in product(*map(self._alone, word))}
        return sorted(split, key=lambda word: (len(word), str(word)))

    def _alone(self, step: tuple[Symbol, ...]) -> Iterator[tuple[Symbol, ...]]:
        """The steps without conditions at once, and each one with conditions."""
        plain = tuple(symbol for symbol in step if not self._step(symbol)[1])
        if plain:
            yield plain
        yield from ((symbol,) for symbol in step if symbol not in plain)

    def _chosen(self, rule: Rule, chosen: Mapping[int, Word]) -> Rule:
        """The rule with a word for each path that is a chain of edges."""
        body: list[Atom] = []
        chains: list[Atom] = []
        conditions: list[Condition] = []
        for number, atom in enumerate(rule.body):
            if number in chosen:
                assert isinstance(atom, PathAtom)
                edges, tests = self._chain(atom, chosen[number], number)
                body.append(edges[0])
                chains += edges[1:]
                conditions += tests
            elif isinstance(atom, EdgeAtom) and group_of(atom) is not None and atom.edge is None:
                body.append(replace(atom, edge=f"\n{number}"))
            elif isinstance(atom, PathAtom) and group_of(atom) is not None:
                body.append(replace(atom, alias=None))
            else:
                body.append(atom)
        edges = [a for a in (*body, *chains) if isinstance(a, EdgeAtom) and group_of(a) is not None]
        conditions += (
            Comparison(Variable(one.edge), "<>", Variable(other.edge), rule.location)
            for one, other in combinations(edges, 2)
            if one.different == other.different and self._origins(one) & self._origins(other)
            if one.edge is not None and other.edge is not None
        )
        done = [
            replace(atom, different=None) if isinstance(atom, EdgeAtom) else atom
            for atom in (*body, *chains)
        ]
        return replace(rule, body=tuple(done), conditions=(*rule.conditions, *conditions))

    def _chain(
        self, atom: PathAtom, word: Word, number: int
    ) -> tuple[list[EdgeAtom], list[Condition]]:
        """The edges of a word of a path, and their conditions."""
        inner = [Variable(f"\n{number} after {k}") for k in range(1, len(word))]
        vertices: list[Term] = [atom.source, *inner, atom.target]
        edges: list[EdgeAtom] = []
        conditions: list[Condition] = []
        for k, step in enumerate(word):
            name = f"\n{number} step {k}"
            edge, tests = self._step(step[0])
            labels = tuple(label for symbol in step for label in self._step(symbol)[0].labels)
            edges.append(
                EdgeAtom(
                    labels, vertices[k], vertices[k + 1], atom.location, name,
                    different=atom.different,
                )
            )  # fmt: skip
            conditions += (with_edge(test, edge.edge or "", name) for test in tests)
        if self.simple:
            conditions += (
                different_ends(one, other, atom.location)
                for one, other in combinations(vertices, 2)
            )
        return edges, conditions


_X, _Y = Variable("x"), Variable("y")
_NOWHERE = Location(1, 1)


def _too_many(at: Location) -> QueryError:
    return QueryError(
        "E-SIZE",
        f"the paths beside DIFFERENT EDGES stand for more than {MOST_RULES} sequences of edges",
        at=at,
        hint="bound the paths more narrowly, or leave some of them out of DIFFERENT EDGES",
    )
