"""The edges that the steps of a path of trails walk over.

In: a step, and the relations of the predicates. Out: relations of edges with all columns that
identify an edge, each with a key of the relation that its edges are from. An input label is such a
relation, whatever conditions or windows its steps have; so is a derived predicate, whose edges are
identified by their ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...algebra.logical import LogicalExpression, WScan
from ...algebra.regex import Symbol
from ..query.atoms import EdgeAtom, Location, Variable
from ..query.conditions import key
from ..query.regular_query import Property, Rule
from .answer_algebra import Columns
from .inputs import Inputs
from .relations import Relation, projected

_EDGE = "\n0"
"""A name of an edge that cannot occur in a text."""

Bound = Callable[[Rule], tuple[Columns, Relation]]
"""Returns the columns and the relation of the full bindings of a rule."""


@dataclass(frozen=True, slots=True)
class EdgeRelation:
    """The edges of a step.

    Attributes:
        key: identifies the relation that the edges are from.
        relation: source, target and the columns that, with these, identify an edge.
        inverse: whether the step walks against the edges.
    """

    key: str
    relation: Relation
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class StepEdges:
    """Translates the steps of trails.

    Attributes:
        inputs: the input labels of the query.
        rules: the rules of each derived predicate.
        relations: the relations of the predicates translated so far.
        bound: translates the body of a rule.
    """

    inputs: Inputs
    rules: Mapping[str, Sequence[Rule]]
    relations: Mapping[str, Relation]
    bound: Bound

    def of(self, name: str, at: Location) -> list[EdgeRelation]:
        """The edges of a step: those of a label, perhaps with conditions, or of a predicate.

        A step with conditions over several labels has a relation for each.
        """
        rules = self.rules.get(name, ())
        if len(rules) == 1 and rules[0].is_step:
            (atom,) = rules[0].body
            assert isinstance(atom, EdgeAtom)
            return [self._tested(rules[0], atom, label) for label in atom.alternatives]
        scan = self.relations[name].expression.operator
        if rules or not isinstance(scan, WScan):
            return [EdgeRelation(self.inputs.origin_of(name, at).tag, self.relations[name])]
        return [self._labelled(name, scan, at)]

    def _labelled(self, name: str, scan: WScan, at: Location) -> EdgeRelation:
        """The edges of an input label."""
        origin = self.inputs.origin_of(name, at)
        properties = origin.identity
        types = (*self.relations[name].types, *(origin.properties[p] for p in properties))
        wide = LogicalExpression(replace(scan, properties=properties))
        return EdgeRelation(origin.tag, Relation(wide, types))

    def _tested(self, rule: Rule, atom: EdgeAtom, label: Symbol) -> EdgeRelation:
        """The edges of an input label that satisfy the conditions of a step."""
        ends = (atom.source, atom.target)
        source, target = ends[::-1] if label.inverse else ends
        edge = replace(
            atom, labels=(Symbol(label.ref),), source=source, target=target,
            edge=atom.edge or _EDGE,
        )  # fmt: skip
        columns, relation = self.bound(replace(rule, body=(edge,)))
        origin = self.inputs.origin_of(str(label.ref), atom.location)
        assert isinstance(source, Variable)
        assert isinstance(target, Variable)
        names = [key(Property(edge.edge or _EDGE, name)) for name in origin.identity]
        place = columns.place
        wide = projected(relation, [place[name] for name in (source.name, target.name, *names)])
        return EdgeRelation(origin.tag, wide, label.inverse)
