"""The answer at an instant: the one-time query over the snapshot (thesis Definition 15)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tests.oracles.conditions import Compare, Scalar, Vert, holds, value
from tests.oracles.paths import (
    Identified,
    Pair,
    Walk,
    path_pairs,
    shortest_walks,
    simple_pairs,
    trail_pairs,
    trails,
)
from tests.oracles.query import (
    Alt,
    AnyBut,
    AnyOf,
    Atom,
    Back,
    Body,
    BodyAtom,
    Closure,
    Const,
    Derived,
    Is,
    Optional,
    PathAtom,
    Paths,
    Query,
    Regex,
    Repeat,
    Rule,
    Seq,
    Source,
    Step,
    Term,
    Var,
    Vertex,
    atoms_of,
    different_in,
    optional_in,
    plus,
    steps,
)
from tests.oracles.roots import (
    Agg,
    Column,
    aggregated,
    first_rows,
    reports,
    values_of_column,
)

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
        """The value of a property or of ``ts``; None if it is missing."""
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


ALWAYS = 10**30
"""The end of what has none: after every instant."""


def expiry(edge: Edge, source: Source) -> int:
    """The end of an edge's validity (Definition 30): exclusive."""
    if source.stored:
        return ALWAYS
    return (edge.ts // source.slide) * source.slide + source.range


@dataclass(frozen=True)
class Truth:
    """A query over a stream: its answer at every instant.

    The answer is a constant between two neighbours of ``changes``, the instants at which
    an edge appears or expires; before the first it is empty. Edges of stored labels are of
    time 0.
    """

    query: Query
    edges: tuple[Edge, ...]
    deletions: tuple[Edge, ...] = ()
    """Each ends the edges of its label, source and target that are valid at its time."""

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """The instants at which the windowed input changes, in order."""
        source = self.query.source
        read = [edge for edge in self.edges if edge.label in source]
        ends = {expiry(edge, source[edge.label]) for edge in read}
        deleted = {edge.ts for edge in self.deletions}
        return tuple(sorted(({edge.ts for edge in read} | ends | deleted) - {ALWAYS}))

    def snapshot(self, instant: int) -> EdgeSnapshot:
        """The windowed input at an instant, as a static graph."""
        found: dict[str, set[Edge]] = {label: set() for label in self.query.source}
        for edge in self.edges:
            source = self.query.source.get(edge.label)
            if source is None or not edge.ts <= instant < expiry(edge, source):
                continue
            if not any(_ends(deletion, edge, instant) for deletion in self.deletions):
                found[edge.label].add(edge)
        return EdgeSnapshot(found)

    def at(self, instant: int) -> frozenset[Row]:
        """The answer at an instant."""
        snapshot = self.snapshot(instant)
        valid: Mapping[str, frozenset[Any]] = snapshot.edges if self._names_edges else snapshot
        key = frozenset(valid.items())
        if key not in self._known:
            self._known[key] = frozenset(answer(self.query.rules, snapshot, paths=self.query.paths))
        return self._known[key]

    def reports(self) -> set[tuple[int, Row]]:
        """The reports of the query's EMIT clause: instants and rows."""
        assert self.query.emit is not None
        last = self.changes[-1] if self.changes else -1
        return reports(self.query.emit, self.at, last, self.events)

    @cached_property
    def events(self) -> frozenset[int]:
        """The instants at which a row of a stream arrives, or a deletion ends one."""
        atoms = [atom for rule in self.query.rules for atom in atoms_of(rule)]
        names = {name.partition("[WINDOW ")[0] for atom in atoms for name in labels_of(atom)}
        for regex in (regex for atom in atoms for regex in _regexes(atom)):
            names |= _labels_but(regex, self.query.source)
        source = {
            label: of for label, of in self.query.source.items() if label in names and not of.stored
        }
        read = [edge for edge in self.edges if edge.label in source]
        ended = {
            min(d.ts for d in ending)
            for edge in read
            if (ending := [d for d in self.deletions if _ends(d, edge, d.ts)])
            and min(d.ts for d in ending) < expiry(edge, source[edge.label])
        }
        return frozenset({edge.ts for edge in read} | ended)

    @cached_property
    def _names_edges(self) -> bool:
        atoms = [atom for rule in self.query.rules for atom in atoms_of(rule)]
        named = any(
            isinstance(a, Is | AnyOf)
            or (isinstance(a, Atom) and a.edge)
            or (isinstance(a, PathAtom) and any(_tests(a.regex)))
            for a in atoms
        )
        named |= self.query.paths == "trail"
        return named or any(rule.aggregates for rule in self.query.rules)

    @cached_property
    def _known(self) -> dict[frozenset[tuple[str, frozenset[Any]]], frozenset[Row]]:
        return {}


def _ends(deletion: Edge, edge: Edge, instant: int) -> bool:
    """Whether a deletion has ended an edge by an instant; at equal times it comes later."""
    same = (deletion.label, deletion.src, deletion.trg) == (edge.label, edge.src, edge.trg)
    return same and edge.ts <= deletion.ts <= instant


def answer_at(query: Query, edges: Iterable[Edge], instant: int) -> frozenset[Row]:
    """The answers of a query over a stream at an instant."""
    return Truth(query, tuple(edges)).at(instant)


Later = Mapping[str, tuple[str, Callable[[set[Row]], set[Row]]]]
"""By name, a predicate and what becomes of its rows."""


def answer(
    rules: Iterable[Rule],
    snapshot: Snapshot,
    later: Later | None = None,
    *,
    paths: Paths = "arbitrary",
) -> set[Row]:
    """All of ``Answer``: each predicate once all that it is made of is known.

    ``paths`` says whether a path may repeat vertices and edges.

    Raises:
        ValueError: if predicates depend on each other in a circle.
    """
    rules_of: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        rules_of[rule.head].append(rule)
        for atom in atoms_of(rule):
            if isinstance(atom, Closure) and atom.alias is not None:
                rules_of[atom.alias] = [_naming(atom, atom.alias)]
    known: dict[str, set[Row]] = {label: set(pairs) for label, pairs in snapshot.items()}
    edges = snapshot.edges if isinstance(snapshot, EdgeSnapshot) else {}
    while "Answer" not in known:
        for name, (predicate, cut) in (later or {}).items():
            if predicate in known and name not in known:
                known[name] = cut(known[predicate])
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
                named = [_with_names(rule, edges) for rule in defining]
                columns = [_columns(rule) for rule in named]
                found = [_counted(r, _bindings(r, known, edges, paths)) for r in named]
                known[head] = aggregated(columns, found)
            else:
                rows = (_rows(rule, known, edges, paths) for rule in defining)
                known[head] = {row for several in rows for row in several}
            for rule in defining:
                if rule.first is not None:
                    known[head] = first_rows(rule.variables, rule.first, known[head])
    return known["Answer"]


def _naming(closure: Closure, alias: str) -> Rule:
    """Makes the name that ``as`` gives to a closure a predicate of all rules."""
    return Rule(alias, ("x", "y"), (Closure(closure.label, Var("x"), Var("y")),))


def _needs(rule: Rule) -> set[str]:
    return {label for atom in atoms_of(rule) for label in labels_of(atom)}


def labels_of(atom: BodyAtom) -> Iterable[str]:
    """The labels and predicates that an atom reads."""
    match atom:
        case Atom(label) | Closure(label) | Is(label) | Derived(label):
            return [label]
        case AnyOf(choices):
            return [label for choice in choices for label in steps(choice)]
        case PathAtom(regex):
            return steps(regex)


def _regexes(atom: BodyAtom) -> Sequence[Regex]:
    match atom:
        case AnyOf(choices):
            return choices
        case PathAtom(regex):
            return [regex]
    return []


def _labels_but(regex: Regex, labels: Iterable[str]) -> set[str]:
    """The labels that ``AnyBut`` in a regex stands for."""
    match regex:
        case AnyBut():
            return {label for _, label in _walked(regex, labels)}
        case Back(part) | Repeat(part):
            return _labels_but(part, labels)
        case Seq(parts) | Alt(parts):
            return set().union(*(_labels_but(part, labels) for part in parts))
    return set()


def _with_names(rule: Rule, edges: Mapping[str, Iterable[Edge]]) -> Rule:
    """Names each input edge and each ``_`` of a rule, so that aggregates count all of them."""
    return replace(
        rule, body=_named(rule.body, edges, ""), optional=_named_parts(rule.optional, edges, "")
    )


def _named_parts(
    parts: Iterable[Optional], edges: Mapping[str, Iterable[Edge]], prefix: str
) -> tuple[Optional, ...]:
    return tuple(
        replace(
            part,
            body=_named(part.body, edges, f"{prefix}{k}:"),
            optional=_named_parts(part.optional, edges, f"{prefix}{k}:"),
        )
        for k, part in enumerate(parts)
    )


def _named(
    atoms: Iterable[BodyAtom], edges: Mapping[str, Iterable[Edge]], prefix: str
) -> tuple[BodyAtom, ...]:
    body: list[BodyAtom] = []
    for i, atom in enumerate(atoms):
        if isinstance(atom, Is):
            body.append(atom)
            continue
        if isinstance(atom, Derived):
            names = (f"{prefix}term {i} {j}" for j in range(len(atom.terms)))
            terms = (Var(n) if t == Var("_") else t for n, t in zip(names, atom.terms, strict=True))
            body.append(replace(atom, terms=tuple(terms)))
            continue
        source, target = (
            Var(f"{prefix}{end} {i}") if term == Var("_") else term
            for end, term in (("source", atom.source), ("target", atom.target))
        )
        named = replace(atom, source=source, target=target)
        is_edge = isinstance(named, AnyOf) or (isinstance(named, Atom) and named.label in edges)
        if isinstance(named, Atom | AnyOf) and is_edge and named.edge is None:
            named = replace(named, edge=f"{prefix}edge {i}")
        body.append(named)
    return tuple(body)


def _counted(rule: Rule, bindings: Iterable[Binding]) -> list[Binding]:
    """Each binding once; repeated rows of a vertex count once unless the head reads them."""
    rows = {
        f"{a.vertex.name}." for a in rule.body if isinstance(a, Is) and isinstance(a.vertex, Var)
    }
    rows |= {a.row for a in rule.body if isinstance(a, Is) and a.row is not None}
    found: dict[Any, Binding] = {}
    for binding in bindings:
        whole = frozenset(item for item in binding.items() if item[0] not in rows)
        looked_at = [part for _, of in rule.properties for part in values_of_column(of)]
        seen = tuple(repr(value(of, binding)) for of in looked_at)
        found.setdefault((whole, seen), binding)
    return list(found.values())


def _columns(rule: Rule) -> list[Column]:
    properties = dict(rule.properties)
    return [properties.get(name, Vert(name)) for name in rule.variables]


def _rows(
    rule: Rule,
    known: Mapping[str, set[Row]],
    edges: Mapping[str, Iterable[Edge]],
    paths: Paths,
) -> Iterable[Row]:
    """The rows of a rule's head."""
    columns = _columns(rule)
    return {
        tuple(value(column, binding) for column in columns if not isinstance(column, Agg))
        for binding in _bindings(rule, known, edges, paths)
    }


def _bindings(
    rule: Body,
    known: Mapping[str, set[Row]],
    edges: Mapping[str, Iterable[Edge]],
    paths: Paths,
    outside: Binding | None = None,
) -> list[Binding]:
    """The bindings of a body: its atoms are joined from left to right, one at a time.

    They agree with the vertices of a binding ``outside``. Each is extended by the bindings of each
    optional part that agree with it, or by missing values if there is none. It counts if the
    conditions hold, and no negated part has a binding that agrees with it.
    """
    bindings: list[Binding] = [{} if outside is None else outside]
    begin, end = different_in(rule) or (0, 0)
    for number, atom in enumerate(rule.body):
        if begin <= number < end and isinstance(atom, Atom | AnyOf | Closure | PathAtom):
            bindings = [
                {**at_both, USED: binding.get(USED, frozenset()) | edges_of, **names}
                for binding in bindings
                for (source, target), edges_of, names in _walks(atom, known, edges, paths)
                if not edges_of & binding.get(USED, frozenset())
                if (at_source := _bound(binding, atom.source, source)) is not None
                if (at_both := _bound(at_source, atom.target, target)) is not None
            ]
            continue
        if isinstance(atom, Atom) and atom.edge is not None:
            bindings = [
                {**at_both, atom.edge: edge}
                for binding in bindings
                for edge in edges[atom.label]
                if (at_source := _bound(binding, atom.source, edge.src)) is not None
                if (at_both := _bound(at_source, atom.target, edge.trg)) is not None
            ]
            continue
        if isinstance(atom, AnyOf):
            fitting = list(_fitting(atom, edges))
            bindings = [
                at_both if atom.edge is None else {**at_both, atom.edge: edge}
                for binding in bindings
                for (source, target), edge in fitting
                if (at_source := _bound(binding, atom.source, source)) is not None
                if (at_both := _bound(at_source, atom.target, target)) is not None
            ]
            continue
        if isinstance(atom, Derived):
            rows = known[atom.predicate]
            found = [_matched(binding, atom.terms, row) for binding in bindings for row in rows]
            bindings = [binding for binding in found if binding is not None]
            continue
        if isinstance(atom, Is):
            bindings = [
                {**bound, **_names_of(atom, edge)}
                for binding in bindings
                for edge in edges[atom.label]
                if (bound := _bound(binding, atom.vertex, edge.src)) is not None
            ]
            continue
        if isinstance(atom, PathAtom) and atom.shortest is not None:
            walked = _shortest(atom, known, edges)
            bindings = [
                bound if atom.path is None else {**bound, atom.path: walk}
                for binding in bindings
                for walk, row in walked
                if (bound := _matched(binding, atom.terms, row)) is not None
            ]
            continue
        pairs = list(_pairs(atom, known, edges, paths))
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
    bindings = [{name: of for name, of in b.items() if name != USED} for b in bindings]
    for optional in optional_in(rule):
        missing = dict.fromkeys(_names_in(optional))
        bindings = [
            {**missing, **binding, **match}
            for binding in bindings
            for match in _bindings(optional, known, edges, paths, _vertices(rule, binding)) or [{}]
        ]
    return [
        b
        for b in bindings
        if all(holds(condition, b) for condition in rule.conditions)
        and not any(
            _bindings(part, known, edges, paths, _vertices(rule, b)) for part in rule.negated
        )
    ]


@dataclass(frozen=True)
class ShortestWalk:
    """A shortest path, and the place of a vertex or step of it that is bound."""

    steps: Walk
    place: int | None = None

    @property
    def nodes(self) -> list[Vertex]:
        """The vertices in their order."""
        return [self.steps[0][0], *(end for *_, end in self.steps)]

    def property(self, name: str) -> Scalar:
        """Its length, the place of the bound member, or JSON of its steps or vertices."""
        if name == "length":
            return len(self.steps)
        if name == "place":
            return self.place
        listed: Any = self.nodes if name == "nodes" else self.steps
        return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def _shortest(
    atom: PathAtom, known: Mapping[str, set[Row]], edges: Mapping[str, Iterable[Edge]]
) -> list[tuple[ShortestWalk, Row]]:
    """One shortest path for each pair that the atom's paths join, or all of them, with the terms of
    the atom: once for each vertex or step that it binds."""
    chosen: dict[str, set[Edge]] = {}
    regex = _plain(atom.regex, edges, chosen)
    found = shortest_walks(regex, _relations(regex, chosen, known))
    most = 1 if atom.shortest == "shortest" else None
    walked = [ShortestWalk(walk) for walks in found.values() for walk in walks[:most]]
    rows: list[tuple[ShortestWalk, Row]] = []
    for walk in walked:
        ends = (walk.nodes[0], walk.nodes[-1])
        members: list[Row] = [()]
        if len(atom.over) == 1:
            members = [(node,) for node in walk.nodes]
        elif atom.over:
            turned = [(v, u) if step[0] == "^" else (u, v) for u, step, v in walk.steps]
            members = [*turned]
        for place, member in enumerate(members):
            rows.append((replace(walk, place=place), (*ends, *member)))
    return rows


USED = "edges used"
"""In place of a variable: the edges that the atoms with different edges match so far."""


def _walks(
    atom: Atom | AnyOf | Closure | PathAtom,
    known: Mapping[str, set[Row]],
    edges: Mapping[str, Iterable[Edge]],
    paths: Paths,
) -> Iterable[tuple[Pair, frozenset[Hashable], Binding]]:
    """The ends of each match of an atom, the edges of it, and the edge by its name if it has one.

    A path repeats no edge. The pairs of a derived predicate are its edges.
    """
    match atom:
        case Atom(label, edge=None):
            for source, target, edge in _identified(label, {}, known, edges):
                yield (source, target), frozenset([edge]), {}
        case Atom(label, edge=str(name)):
            for edge in edges[label]:
                yield (edge.src, edge.trg), frozenset([edge]), {name: edge}
        case AnyOf(edge=name):
            for ends, edge in _fitting(atom, edges):
                yield ends, frozenset([edge]), {} if name is None else {name: edge}
        case Closure() | PathAtom():
            regex = plus(Step(atom.label)) if isinstance(atom, Closure) else atom.regex
            chosen: dict[str, set[Edge]] = {}
            regex = _plain(regex, edges, chosen)
            relations = {s: _identified(s, chosen, known, edges) for s in steps(regex)}
            for source, target, used in trails(regex, relations, simple=paths == "simple"):
                yield (source, target), used, {}


def _identified(
    step: str,
    chosen: Mapping[str, Iterable[Edge]],
    known: Mapping[str, set[Row]],
    edges: Mapping[str, Iterable[Edge]],
) -> set[Identified]:
    """The edges of a step of a path, with what identifies each."""
    if step in chosen or step in edges:
        return {(e.src, e.trg, e) for e in (chosen if step in chosen else edges)[step]}
    return {(x, y, (step, x, y)) for x, y in _binary(known[step])}


def _vertices(rule: Body, binding: Binding) -> Binding:
    """The vertices and values that the variables of a body are bound to: its parts see no edges."""
    names = _variables_in(rule)
    return {name: of for name, of in binding.items() if name in names}


def _variables_in(body: Body) -> set[str]:
    """The variables of a body and its optional parts."""
    terms = [term for atom in body.body for term in atom.terms]
    names = {term.name for term in terms if isinstance(term, Var)}
    return names.union(*map(_variables_in, optional_in(body)))


def _names_in(body: Body) -> set[str]:
    """The variables and edges of a body and its optional parts."""
    names = {a.edge for a in body.body if isinstance(a, Atom | AnyOf) and a.edge is not None}
    names |= {a.row for a in body.body if isinstance(a, Is) and a.row is not None}
    names |= _variables_in(body) - {"_"}
    return names.union(*map(_names_in, optional_in(body)))


def _fitting(
    atom: AnyOf, edges: Mapping[str, Iterable[Edge]]
) -> Iterable[tuple[tuple[Vertex, Vertex], Edge]]:
    """The edges of any of the labels that satisfy the tests, each with its ends as it is walked."""
    for choice in atom.choices:
        for backwards, label in _walked(choice, edges):
            for edge in edges[label]:
                if all(holds(test, {"_": edge}) for test in atom.tests):
                    ends = (edge.src, edge.trg)
                    yield (ends[::-1] if backwards else ends), edge


def _walked(choice: Regex, labels: Iterable[str]) -> Iterable[tuple[bool, str]]:
    """The labels of a choice, each with whether it is walked backwards."""
    match choice:
        case Step(label):
            yield False, label
        case Back(part):
            yield from ((not backwards, label) for backwards, label in _walked(part, labels))
        case AnyBut(forwards, backwards):
            for label in sorted(labels):
                if forwards is not None and label not in forwards:
                    yield False, label
                if backwards is not None and label not in backwards:
                    yield True, label
        case _:
            raise TypeError(choice)


def _names_of(atom: Is, row: Edge) -> Binding:
    """The names of the row of a vertex: its own name, and its variable with a dot."""
    found: dict[str, Any] = {} if atom.row is None else {atom.row: row}
    if isinstance(atom.vertex, Var):
        found[f"{atom.vertex.name}."] = row
    return found


def _tests(regex: Regex) -> Iterator[Compare]:
    match regex:
        case Step(_, tests) | AnyBut(_, _, tests):
            yield from tests
        case Back(part) | Repeat(part):
            yield from _tests(part)
        case Seq(parts) | Alt(parts):
            for part in parts:
                yield from _tests(part)


def _plain(
    regex: Regex, edges: Mapping[str, Iterable[Edge]], chosen: dict[str, set[Edge]]
) -> Regex:
    """The regex over single labels, with those edges ``chosen`` that satisfy tests."""
    match regex:
        case Step(_, ()):
            return regex
        case Step(label, tests):
            valid = {e for e in edges[label] if all(holds(test, {"_": e}) for test in tests)}
            name = f"{label} {tests}"
            chosen[name] = valid
            return Step(name)
        case AnyBut(forwards, backwards, tests):
            every = [Step(label, tests) for label in sorted(edges)]
            both: list[Regex] = []
            if forwards is not None:
                both += [one for one in every if one.label not in forwards]
            if backwards is not None:
                both += [Back(one) for one in every if one.label not in backwards]
            return Alt(tuple(_plain(one, edges, chosen) for one in both))
        case Back(part):
            return Back(_plain(part, edges, chosen))
        case Repeat(part, least, most):
            return Repeat(_plain(part, edges, chosen), least, most)
        case Seq(parts) | Alt(parts):
            return type(regex)(tuple(_plain(part, edges, chosen) for part in parts))


def _pairs(
    atom: BodyAtom,
    known: Mapping[str, set[Row]],
    edges: Mapping[str, Iterable[Edge]],
    paths: Paths,
) -> Iterable[Row]:
    match atom:
        case Atom(label):
            return known[label]
        case Closure(label):
            return _joined_by(plus(Step(label)), {}, known, edges, paths)
        case Is(label):
            return known[label]
        case AnyOf() | Derived():
            raise TypeError(atom)
        case PathAtom(regex):
            chosen: dict[str, set[Edge]] = {}
            plain = _plain(regex, edges, chosen)
            return _joined_by(plain, chosen, known, edges, paths)


def _joined_by(
    regex: Regex,
    chosen: Mapping[str, Iterable[Edge]],
    known: Mapping[str, set[Row]],
    edges: Mapping[str, Iterable[Edge]],
    paths: Paths,
) -> set[Pair]:
    """The pairs that paths join, whose steps walk chosen edges, edges, or derived pairs."""
    if paths == "trail":
        identified = {s: _identified(s, chosen, known, edges) for s in steps(regex)}
        return trail_pairs(regex, identified)
    pairs = _relations(regex, chosen, known)
    return (simple_pairs if paths == "simple" else path_pairs)(regex, pairs)


def _relations(
    regex: Regex, chosen: Mapping[str, Iterable[Edge]], known: Mapping[str, set[Row]]
) -> dict[str, set[Pair]]:
    """The pairs of each step."""
    return {
        s: {(e.src, e.trg) for e in chosen[s]} if s in chosen else _binary(known[s])
        for s in steps(regex)
    }


def _binary(rows: set[Row]) -> set[Pair]:
    return {(source, target) for source, target in rows}


def _value(term: Term, binding: Binding) -> Vertex | None:
    match term:
        case Const(value):
            return value
        case Var(name):
            return binding.get(name)


def _matched(binding: Binding, terms: Iterable[Term], row: Row) -> Binding | None:
    """The binding with terms bound to a row; None if they are bound to another one."""
    whole: Binding | None = binding
    for term, bound in zip(terms, row, strict=True):
        whole = None if whole is None else _bound(whole, term, bound)
    return whole


def _bound(binding: Binding, term: Term, value: Any) -> Binding | None:
    """The binding with a term bound to a value; None if the term is bound to another value.

    A missing value is equal to no other.
    """
    match term:
        case Const(constant):
            return binding if constant == value else None
        case Var("_"):
            return binding
        case Var(name) if name not in binding:
            return {**binding, name: value}
        case Var(name):
            return binding if value is not None and binding[name] == value else None
