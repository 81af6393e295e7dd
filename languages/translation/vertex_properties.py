"""Properties of vertices: ``x.country``, where x is a variable and not the name of an edge.

In: a rule and the inputs. Out: the rule with a named vertex row for each property of a vertex. The
row comes from the only vertex atom of the body that binds x and has the property. If no vertex atom
binds x, the only vertex label of the catalog with the property is joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..query.atoms import Atom, Variable, VertexAtom
from ..query.conditions import named_edges, properties_of_vertices, rule_with_references
from ..query.errors import QueryError, listed
from ..query.regular_query import Property, Rule, Value
from .inputs import Inputs

Relation = tuple[str, str]
"""A stream of vertices and a label of it."""


def with_rows_of_vertices(rule: Rule, inputs: Inputs) -> Rule:
    """The rule with each property of a vertex as a property of a named row, and without repeated
    vertex atoms.

    Raises:
        QueryError: E-UNKNOWN for a property that no vertex relation has, E-AMBIGUOUS if
            several have it.
    """
    rule = replace(rule, body=tuple(_without_repeats(rule.body)))
    naming = _Rows(rule, inputs)
    read = list(properties_of_vertices(rule))
    rows = {(of.edge, of.name): naming.row_of(of) for of in read if of.name != "ts"}
    for of in read:  # the time is that of the row whose other properties are read
        if of.name == "ts":
            own = {row for (vertex, _), row in rows.items() if vertex == of.edge}
            rows[of.edge, "ts"] = own.pop() if len(own) == 1 else naming.row_of(of)
    if not rows:
        return rule

    def renamed(of: Variable | Property) -> Value:
        if isinstance(of, Variable):
            return of
        return replace(of, edge=rows.get((of.edge, of.name), of.edge))

    return rule_with_references(replace(rule, body=tuple(naming.body)), renamed)


def _without_repeats(body: Sequence[Atom]) -> Iterator[Atom]:
    """The atoms without repeated vertex atoms, except those with named rows."""
    seen = {(a.predicate, a.vertex) for a in body if isinstance(a, VertexAtom) and a.edge}
    for atom in body:
        if isinstance(atom, VertexAtom) and atom.edge is None:
            if (atom.predicate, atom.vertex) in seen:
                continue
            seen.add((atom.predicate, atom.vertex))
        yield atom


class _Rows:
    """Names the vertex rows of a rule's body."""

    def __init__(self, rule: Rule, inputs: Inputs) -> None:
        self.body: list[Atom] = list(rule.body)
        self.edges = dict(named_edges(rule.body))
        self._inputs = inputs
        self._rule = rule
        self._implied: dict[tuple[str, Relation], int] = {}

    def row_of(self, of: Property) -> str:
        """The name of the row that has a property of a vertex."""
        own = [
            place
            for place, atom in enumerate(self._rule.body)
            if isinstance(atom, VertexAtom) and atom.vertex == Variable(of.edge)
        ]
        place = self._of_rule(of, own) if own else self._of_catalog(of)
        atom = self.body[place]
        assert isinstance(atom, VertexAtom)
        if atom.edge is None:
            name = f"{of.edge}:{atom.predicate}"
            while name in self.edges:
                name += "'"
            atom = self.body[place] = self.edges[name] = replace(atom, edge=name)
        assert atom.edge is not None
        return atom.edge

    def _of_rule(self, of: Property, places: list[int]) -> int:
        relations: dict[Relation, int] = {}
        without: list[str] = []
        for place in places:
            atom = self.body[place]
            assert isinstance(atom, VertexAtom)
            (origin,) = self._inputs.origins(atom)
            if of.name in origin.properties:
                # A merged vertex has its properties by any of the stream's labels.
                label = "" if origin.merges else origin.label
                relations.setdefault((origin.stream, label), place)
            else:
                without.append(atom.predicate)
        if not relations:
            elsewhere = [label for _, label in self._having(of)]
            hint = "leave it out, or name the property in the catalog"
            if elsewhere:
                hint = f"it is one of {listed(elsewhere)}: {_say(elsewhere[0], of.edge)}"
            raise self._error("E-UNKNOWN", f"{listed(without)} has no property {of.name}", of, hint)
        if len(relations) > 1:
            atoms = [self.body[place] for place in relations.values()]
            labels = [atom.predicate for atom in atoms if isinstance(atom, VertexAtom)]
            raise self._error(
                "E-AMBIGUOUS",
                f"{listed(labels)} have this property",
                of,
                f"name the one that is meant, {labels[0]}({of.edge}) as v, and write v.{of.name}; "
                f"in G-CORE, test it where its label stands, (:{labels[0]} {{{of.name} = ...}})",
            )
        return next(iter(relations.values()))

    def _of_catalog(self, of: Property) -> int:
        having = self._having(of)
        labels = [label for _, label in having]
        if not having:
            raise self._error(
                "E-UNKNOWN",
                f"{of.edge} is a vertex, and no vertices have a property {of.name}",
                of,
                "those of an edge are written after its name, as in likes(x, y) as e, e.amount; "
                "vertices get theirs from a stream with vertices: true in the catalog",
            )
        if len(having) > 1:
            raise self._error(
                "E-AMBIGUOUS",
                f"vertices of several labels have this property: {listed(labels)}",
                of,
                _say(labels[0], of.edge),
            )
        implied = (of.edge, having[0])
        if implied not in self._implied:
            stream, label = having[0]
            at = of.location or self._rule.location
            self._implied[implied] = len(self.body)
            self.body.append(VertexAtom(f"{stream}.{label}", Variable(of.edge), at))
        return self._implied[implied]

    def _having(self, of: Property) -> list[Relation]:
        """The vertex relations of the catalog with a property."""
        return [
            (name, label)
            for name, stream in sorted(self._inputs.catalog.streams.items())
            if stream.vertices and of.name in stream.properties
            for label in sorted(stream.labels)
        ]

    def _error(self, code: str, reason: str, of: Property, hint: str) -> QueryError:
        at = of.location or self._rule.location
        return QueryError(code, reason, at=at, text=f"{of.edge}.{of.name}", hint=hint)


def _say(label: str, variable: str) -> str:
    return f"say what {variable} is: {label}({variable}), in G-CORE ({variable}:{label})"
