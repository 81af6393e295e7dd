"""Path expressions as relations: PATH over the relations of its steps, and returned paths.

In: a path expression, and the relations of the predicates that it reads. Out: the relation of the
pairs that a path connects, or the rows of a rule with a path each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ...algebra import regex
from ...algebra.automaton import AutomatonError, minimal_dfa
from ...algebra.logical import (
    Path,
    PathSemantics,
    Shortest,
    Trail,
    VertexPaths,
    Witness,
    WScan,
)
from ...algebra.logical.trails import in_order
from ...algebra.path_values import NUMBERS, VERTICES, PathValue
from ...algebra.regex import Regex
from ...algebra.values import PropertyType
from ..query.atoms import Location, PathAtom
from ..query.errors import QueryError
from ..query.regular_query import Rule
from .inputs import Inputs
from .relations import Relation, nothing, over, projected, sized
from .shortest_paths import check_any_paths, least_lengths
from .trails import Bound, StepEdges
from .witnesses import Ends, check_any_path


@dataclass(frozen=True, slots=True)
class PathExpressions:
    """Translates the path expressions of a query.

    Attributes:
        inputs: the input labels of the query.
        rules: the rules of each derived predicate.
        aliases: the names of atoms that rules read as predicates.
        relations: the relations of the predicates translated so far.
        emits: whether the query reports its answer at the multiples of a period.
        semantics: the paths that count.
        bindings: translates the body of a rule, with all columns that identify a binding.
    """

    inputs: Inputs
    rules: Mapping[str, Sequence[Rule]]
    aliases: Set[str]
    relations: Mapping[str, Relation]
    emits: bool
    semantics: PathSemantics
    bindings: Bound

    def semantics_of(self, different: int | None) -> PathSemantics:
        """The paths that count in an atom, which may be of a group with different edges.

        A path that repeats no vertex repeats no edge.
        """
        if different is None or self.semantics is PathSemantics.SIMPLE:
            return self.semantics
        return PathSemantics.TRAIL

    def path(self, path: Regex, at: Location, different: int | None = None) -> Relation:
        """PATH over the distinct relations of its steps, or a simpler equal relation."""
        if self.semantics_of(different) is PathSemantics.TRAIL:
            trail, relations = self._trail(path, at)
            if trail is not None and not trail.is_any_path:
                ends = {vertex_type for relation in relations for vertex_type in relation.types[:2]}
                vertex_type = ends.pop() if len(ends) == 1 else None
                return sized(over(trail, relations, (vertex_type, vertex_type)), "", at)
        alive = self._alive(path)
        used = {ref: self.relations[str(ref)] for ref in regex.refs(alive)}
        # Two names of one relation are one input. Relations are compared by identity, since
        # comparing whole expressions takes time in proportion to their size.
        relations = list({r.identity: r for r in used.values()}.values())
        position = {r.identity: i for i, r in enumerate(relations)}
        numbered = regex.substitute(
            alive, lambda s: regex.Symbol(position[used[s.ref].identity], s.inverse)
        )
        simple = self.semantics is PathSemantics.SIMPLE
        match regex.nonempty(numbered):
            case regex.Nothing():
                return nothing(2)
            case regex.Symbol(_, inverse) if not simple:
                return projected(relations[0], [1, 0]) if inverse else relations[0]
        self._check_size(numbered, at)
        types = {vertex_type for relation in relations for vertex_type in relation.types}
        vertex_type = types.pop() if len(types) == 1 else None
        of: VertexPaths = PathSemantics.SIMPLE if simple else PathSemantics.ARBITRARY
        return sized(over(Path(numbered, of), relations, (vertex_type, vertex_type)), "", at)

    def _trail(self, path: Regex, at: Location) -> tuple[Trail | None, list[Relation]]:
        """PATH of trails over the edges of its steps; None if there is no path of any edge."""
        alive = self._alive(path)
        steps = StepEdges(self.inputs, self.rules, self.relations, self.bindings)
        edges = {ref: steps.of(str(ref), at) for ref in regex.refs(alive)}
        inputs = [each for of_step in edges.values() for each in of_step]
        begin = {
            ref: sum(len(edges[other]) for other in list(edges)[:k]) for k, ref in enumerate(edges)
        }

        def of_step(symbol: regex.Symbol) -> Regex:
            return regex.alternation(
                regex.Symbol(begin[symbol.ref] + k, each.inverse != symbol.inverse)
                for k, each in enumerate(edges[symbol.ref])
            )

        numbered = regex.nonempty(regex.substitute(alive, of_step))
        if isinstance(numbered, regex.Nothing):
            return None, []
        self._check_size(numbered, at)
        return Trail(numbered, in_order([each.key for each in inputs])), [
            i.relation for i in inputs
        ]

    def witnessed(
        self, rows: Relation, path: Ends, keys: tuple[int, ...], output: tuple[int, ...]
    ) -> Relation:
        """The rows with a path each, over the relations in the path expression."""
        alive = regex.nonempty(self._alive(path.atom.regex))
        refs = regex.refs(alive)
        numbered = regex.substitute(alive, lambda s: regex.Symbol(refs.index(s.ref), s.inverse))
        self._check_size(numbered, path.atom.location)
        semantics: VertexPaths = PathSemantics.ARBITRARY
        if self.semantics is PathSemantics.SIMPLE:
            semantics = PathSemantics.SIMPLE
        elif self.semantics_of(path.atom.different) is PathSemantics.TRAIL:
            # A shortest path repeats no edge where repeated edges can be left out.
            check_any_path(self._trail(path.atom.regex, path.atom.location)[0], path.atom)
        witness = Witness(
            keys, output, path.source, path.target, numbered,
            tuple(map(self._called, refs)), semantics,
        )  # fmt: skip
        types = (*rows.types, None)
        inputs = [rows, *(self.relations[str(ref)] for ref in refs)]
        return over(witness, inputs, tuple(types[column] for column in output))

    def shortest(self, atom: PathAtom, values: tuple[PathValue, ...]) -> Relation:
        """SHORTEST over the relations of the steps of a path, with some values of the path.

        Without reports it is the least length of any paths.

        Raises:
            QueryError: E-LATER for simple paths and trails.
        """
        check_any_paths(atom, self.semantics)
        alive, at = regex.nonempty(self._alive(atom.regex)), atom.location
        if isinstance(alive, regex.Nothing):
            return nothing(2 + len(values))
        if not self.emits:
            return sized(least_lengths(alive, lambda words: self.path(words, at)), "", at)
        refs = regex.refs(alive)
        numbered = regex.substitute(alive, lambda s: regex.Symbol(refs.index(s.ref), s.inverse))
        self._check_size(numbered, at)
        inputs = [self.relations[str(ref)] for ref in refs]
        types = {vertex_type for relation in inputs for vertex_type in relation.types}
        vertex_type = types.pop() if len(types) == 1 else None
        shows_steps = values != ("length",)
        shortest = Shortest(
            numbered, values, tuple(map(self._called, refs)) if shows_steps else (),
            shows_steps and atom.shortest == "all shortest",
        )  # fmt: skip
        kinds: list[PropertyType | None] = [
            "integer" if value in NUMBERS else vertex_type if value in VERTICES else None
            for value in values
        ]
        return over(shortest, inputs, (vertex_type, vertex_type, *kinds))

    def _called(self, ref: regex.Ref) -> str:
        """The name of a step of a returned path: its label, without the stream's name."""
        name = str(ref)
        scan = self.relations[name].expression.operator
        derived = name in self.rules or name in self.aliases
        return scan.label if isinstance(scan, WScan) and not derived else name

    def _alive(self, path: Regex) -> Regex:
        """The path expression without relations that are certainly empty."""
        return regex.substitute(
            path, lambda s: regex.NOTHING if self.relations[str(s.ref)].empty else s
        )

    @staticmethod
    def _check_size(numbered: Regex, at: Location) -> None:
        try:
            minimal_dfa(numbered)
        except AutomatonError as error:
            raise QueryError(
                "E-SIZE",
                f"the path expression is too large: {error}",
                at=at,
                hint="bounded repeats after a star multiply the states; say less, or a* for a{0,9}",
            ) from None
