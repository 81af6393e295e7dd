"""The answer at an instant: the one-time query over the snapshot (thesis Definition 15)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tests.oracles.conditions import Scalar, Vert, holds, value
from tests.oracles.paths import Pair, path_pairs
from tests.oracles.query import (
    Atom,
    BodyAtom,
    Closure,
    Const,
    PathAtom,
    Query,
    Rule,
    Source,
    Step,
    Term,
    Var,
    Vertex,
    plus,
    steps,
)
from tests.oracles.roots import Agg, Column, aggregated, reports

Row = tuple[Any, ...]
"""Vertices, and values of properties; None where an edge has no such property."""
Binding = Mapping[str, Any]
"""Vertices by variable, and edges by name."""


@dataclass(frozen=True)
class Edge:
    """A streaming graph edge (Definition 3), ordered by time, with properties."""

    ts: int
    src: Vertex
    trg: Vertex
    label: str
    properties: tuple[tuple[str, Scalar], ...] = ()

    def __lt__(self, other: Edge) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[Any, ...]:
        return self.ts, self.src, self.trg, self.label, repr(self.properties)

    def property(self, name: str) -> Scalar:
        """The value of a property, ``ts`` among them; None if it lacks it."""
        return self.ts if name == "ts" else dict(self.properties).get(name)


Snapshot = Mapping[str, frozenset[Pair]]
"""The pairs that edges of each label connect at one instant."""


class EdgeSnapshot(dict[str, frozenset[Pair]]):
    """A snapshot that also has the ``edges`` themselves."""

    def __init__(self, edges: Mapping[str, Iterable[Edge]]) -> None:
        self.edges = {label: frozenset(valid) for label, valid in edges.items()}
        super().__init__(
            {
                label: frozenset((edge.src, edge.trg) for edge in valid)
                for label, valid in self.edges.items()
            }
        )


def expiry(edge: Edge, source: Source) -> int:
    """The end of an edge's validity (Definition 30): exclusive."""
    return (edge.ts // source.slide) * source.slide + source.range


@dataclass(frozen=True)
class Truth:
    """A query over a stream: its answer at every instant.

    The answer is a constant between two neighbours of ``changes``, the instants at which
    an edge appears or expires; before the first it is empty.
    """

    query: Query
    edges: tuple[Edge, ...]

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """The instants at which the windowed input changes, in order."""
        source = self.query.source
        read = [edge for edge in self.edges if edge.label in source]
        ends = {expiry(edge, source[edge.label]) for edge in read}
        return tuple(sorted({edge.ts for edge in read} | ends))

    def snapshot(self, instant: int) -> EdgeSnapshot:
        """The windowed input at an instant, as a static graph."""
        found: dict[str, set[Edge]] = {label: set() for label in self.query.source}
        for edge in self.edges:
            source = self.query.source.get(edge.label)
            if source is not None and edge.ts <= instant < expiry(edge, source):
                found[edge.label].add(edge)
        return EdgeSnapshot(found)

    def at(self, instant: int) -> frozenset[Row]:
        """The answer at an instant."""
        snapshot = self.snapshot(instant)
        valid: Mapping[str, frozenset[Any]] = snapshot.edges if self._names_edges else snapshot
        key = frozenset(valid.items())
        if key not in self._known:
            self._known[key] = frozenset(answer(self.query.rules, snapshot))
        return self._known[key]

    def reports(self) -> set[tuple[int, Row]]:
        """All that the query's EMIT clause reports: instants and rows."""
        assert self.query.emit is not None
        return reports(self.query.emit, self.at, self.changes[-1] if self.changes else -1)

    @cached_property
    def _names_edges(self) -> bool:
        atoms = [atom for rule in self.query.rules for atom in rule.body]
        named = any(isinstance(atom, Atom) and atom.edge is not None for atom in atoms)
        return named or any(rule.aggregates for rule in self.query.rules)

    @cached_property
    def _known(self) -> dict[frozenset[tuple[str, frozenset[Any]]], frozenset[Row]]:
        return {}


def answer_at(query: Query, edges: Iterable[Edge], instant: int) -> frozenset[Row]:
    """The answers of a query over a stream at an instant."""
    return Truth(query, tuple(edges)).at(instant)


def answer(rules: Iterable[Rule], snapshot: Snapshot) -> set[Row]:
    """All of ``Answer``: each predicate once all that it is made of is known.

    Raises:
        ValueError: if predicates depend on each other in a circle.
    """
    rules_of: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        rules_of[rule.head].append(rule)
        for atom in rule.body:
            if isinstance(atom, Closure) and atom.alias is not None:
                rules_of[atom.alias] = [_naming(atom, atom.alias)]
    known: dict[str, set[Row]] = {label: set(pairs) for label, pairs in snapshot.items()}
    edges = snapshot.edges if isinstance(snapshot, EdgeSnapshot) else {}
    while "Answer" not in known:
        ready = [
            head
            for head, defining in rules_of.items()
            if head not in known and all(_needs(rule) <= known.keys() for rule in defining)
        ]
        if not ready:
            raise ValueError(f"never defined: {rules_of.keys() - known.keys()}")
        for head in ready:
            defining = rules_of[head]
            if any(rule.aggregates for rule in defining):
                named = [_with_named_edges(rule, edges) for rule in defining]
                columns = [_columns(rule) for rule in named]
                known[head] = aggregated(columns, [_bindings(r, known, edges) for r in named])
            else:
                known[head] = {row for rule in defining for row in _rows(rule, known, edges)}
    return known["Answer"]


def _naming(closure: Closure, alias: str) -> Rule:
    """The name given to a closure by ``as`` is a predicate for all rules."""
    return Rule(alias, ("x", "y"), (Closure(closure.label, Var("x"), Var("y")),))


def _needs(rule: Rule) -> set[str]:
    return {label for atom in rule.body for label in labels_of(atom)}


def labels_of(atom: BodyAtom) -> Iterable[str]:
    """The labels and predicates that an atom reads."""
    match atom:
        case Atom(label) | Closure(label):
            return [label]
        case PathAtom(regex):
            return steps(regex)


def _with_named_edges(rule: Rule, edges: Mapping[str, Iterable[Edge]]) -> Rule:
    """The rule with a name for each edge of the input, so that each of them counts."""
    body = tuple(
        replace(atom, edge=f"edge {i}")
        if isinstance(atom, Atom) and atom.edge is None and atom.label in edges
        else atom
        for i, atom in enumerate(rule.body)
    )
    return replace(rule, body=body)


def _columns(rule: Rule) -> list[Column]:
    properties = dict(rule.properties)
    return [properties.get(name, Vert(name)) for name in rule.variables]


def _rows(
    rule: Rule, known: Mapping[str, set[Row]], edges: Mapping[str, Iterable[Edge]]
) -> Iterable[Row]:
    """The rows of a rule's head."""
    columns = _columns(rule)
    return {
        tuple(value(column, binding) for column in columns if not isinstance(column, Agg))
        for binding in _bindings(rule, known, edges)
    }


def _bindings(
    rule: Rule, known: Mapping[str, set[Row]], edges: Mapping[str, Iterable[Edge]]
) -> list[Binding]:
    """The bindings of a body: its atoms are joined from left to right, one at a time."""
    bindings: list[Binding] = [{}]
    for atom in rule.body:
        if isinstance(atom, Atom) and atom.edge is not None:
            bindings = [
                {**at_both, atom.edge: edge}
                for binding in bindings
                for edge in edges[atom.label]
                if (at_source := _bound(binding, atom.source, edge.src)) is not None
                if (at_both := _bound(at_source, atom.target, edge.trg)) is not None
            ]
            continue
        pairs = list(_pairs(atom, known))
        by_source: dict[Vertex, list[Row]] = defaultdict(list)
        by_target: dict[Vertex, list[Row]] = defaultdict(list)
        for pair in pairs:
            by_source[pair[0]].append(pair)
            by_target[pair[1]].append(pair)
        joined: list[Binding] = []
        for binding in bindings:
            source, target = _value(atom.source, binding), _value(atom.target, binding)
            if source is not None:
                candidates = by_source.get(source, [])
            elif target is not None:
                candidates = by_target.get(target, [])
            else:
                candidates = pairs
            for pair in candidates:
                at_source = _bound(binding, atom.source, pair[0])
                at_both = None if at_source is None else _bound(at_source, atom.target, pair[1])
                if at_both is not None:
                    joined.append(at_both)
        bindings = joined
    return [b for b in bindings if all(holds(condition, b) for condition in rule.conditions)]


def _pairs(atom: BodyAtom, known: Mapping[str, set[Row]]) -> Iterable[Row]:
    match atom:
        case Atom(label):
            return known[label]
        case Closure(label):
            return path_pairs(plus(Step(label)), {label: _binary(known[label])})
        case PathAtom(regex):
            return path_pairs(regex, {label: _binary(known[label]) for label in steps(regex)})


def _binary(rows: set[Row]) -> set[Pair]:
    return {(source, target) for source, target in rows}


def _value(term: Term, binding: Binding) -> Vertex | None:
    match term:
        case Const(value):
            return value
        case Var(name):
            return binding.get(name)


def _bound(binding: Binding, term: Term, value: Vertex) -> Binding | None:
    """The binding with a term bound to a vertex, None if it says otherwise."""
    match term:
        case Const(constant):
            return binding if constant == value else None
        case Var("_"):
            return binding
        case Var(name):
            known = binding.get(name)
            if known is None:
                return {**binding, name: value}
            return binding if known == value else None
