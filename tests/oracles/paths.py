"""Regular path pairs by search over partial derivatives (Antimirov 1996).

A state of the search is a vertex and what is left to match. No automaton is built.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import lru_cache

from tests.oracles.query import Alt, AnyBut, Back, Regex, Repeat, Seq, Step, Vertex, steps

Pair = tuple[Vertex, Vertex]
Letter = tuple[str, bool]
"""A label, and whether its edge is walked backwards."""

Rest = tuple[Regex, ...]
"""What is left to match, in this order; empty when the word may end here."""


Identified = tuple[Vertex, Vertex, Hashable]
"""The source and target of an edge, and what tells it from all other edges."""

Neighbours = Mapping[Letter, Mapping[Vertex, Iterable[Vertex]]]


def path_pairs(regex: Regex, relations: Mapping[str, Collection[Pair]]) -> set[Pair]:
    """The pairs joined by a path of at least one edge whose word is in the language."""
    neighbours = _neighbours(regex, relations)
    first: Rest = (inverted_inwards(regex, invert=False),)
    starts = {v for letter in letters(first) for v in neighbours[letter]}
    return {(start, end) for start in starts for end in _reached(start, first, neighbours)}


def simple_pairs(regex: Regex, relations: Mapping[str, Collection[Pair]]) -> set[Pair]:
    """The pairs joined by such a path that repeats no vertex; the search walks all these paths."""
    neighbours = _neighbours(regex, relations)
    first: Rest = (inverted_inwards(regex, invert=False),)
    found: set[Pair] = set()

    def walk(path: tuple[Vertex, ...], rests: frozenset[Rest]) -> None:
        """``rests`` are the languages that may be left to match after the word of the path."""
        if len(path) > 1 and any(all(map(nullable, rest)) for rest in rests):
            found.add((path[0], path[-1]))
        for letter in {letter for rest in rests for letter in letters(rest)}:
            after = frozenset(a for rest in rests for a in derivatives(rest, letter))
            if after:
                for neighbour in set(neighbours[letter].get(path[-1], ())) - set(path):
                    walk((*path, neighbour), after)

    for start in {v for letter in letters(first) for v in neighbours[letter]}:
        walk((start,), frozenset([first]))
    return found


def trail_pairs(regex: Regex, relations: Mapping[str, Collection[Identified]]) -> set[Pair]:
    """The pairs joined by such a path that repeats no edge."""
    return {(start, end) for start, end, _ in trails(regex, relations)}


def trails(
    regex: Regex, relations: Mapping[str, Collection[Identified]], *, simple: bool = False
) -> set[tuple[Vertex, Vertex, frozenset[Hashable]]]:
    """The ends and the edges of such paths that repeat no edge, and ``simple`` ones no vertex.

    The search walks all these paths.
    """
    walked: dict[Letter, dict[Vertex, list[tuple[Vertex, Hashable]]]] = {}
    for label in set(steps(regex)):
        forwards = walked[label, False] = defaultdict(list)
        backwards = walked[label, True] = defaultdict(list)
        for source, target, edge in relations[label]:
            forwards[source].append((target, edge))
            backwards[target].append((source, edge))
    first: Rest = (inverted_inwards(regex, invert=False),)
    found: set[tuple[Vertex, Vertex, frozenset[Hashable]]] = set()

    def walk(path: tuple[Vertex, ...], used: frozenset[Hashable], rests: frozenset[Rest]) -> None:
        if used and any(all(map(nullable, rest)) for rest in rests):
            found.add((path[0], path[-1], used))
        for letter in {letter for rest in rests for letter in letters(rest)}:
            after = frozenset(a for rest in rests for a in derivatives(rest, letter))
            for neighbour, edge in walked[letter].get(path[-1], ()) if after else ():
                if edge not in used and not (simple and neighbour in path):
                    walk((*path, neighbour), used | {edge}, after)

    for start in {v for letter in letters(first) for v in walked[letter]}:
        walk((start,), frozenset(), frozenset([first]))
    return found


Walk = tuple[tuple[Vertex, str, Vertex], ...]
"""The steps of a path: a vertex, the label, with ``^`` if it is walked backwards, and a vertex."""


def shortest_walks(
    regex: Regex, relations: Mapping[str, Collection[Pair]]
) -> dict[Pair, list[Walk]]:
    """All shortest paths of at least one edge between each two vertices, in order.

    The search goes on with all walks of one length at once, and leaves out those that reach a
    vertex with a language that a shorter walk has left there. The order is that of the vertices
    after the first, and of the labels: of the first step, then of the second, and so on.
    """
    neighbours = _neighbours(regex, relations)
    first: Rest = (inverted_inwards(regex, invert=False),)
    found: dict[Pair, set[Walk]] = {}
    for start in {v for letter in letters(first) for v in neighbours[letter]}:
        seen: set[tuple[Vertex, Rest]] = set()
        reached: dict[tuple[Vertex, Rest], set[Walk]] = {(start, first): {()}}
        while reached:
            farther: dict[tuple[Vertex, Rest], set[Walk]] = defaultdict(set)
            for (vertex, rest), walks in reached.items():
                for label, back in letters(rest):
                    for after in derivatives(rest, (label, back)):
                        for neighbour in neighbours[label, back].get(vertex, ()):
                            if (neighbour, after) not in seen:
                                step = (vertex, "^" * back + label, neighbour)
                                farther[neighbour, after] |= {(*walk, step) for walk in walks}
            seen |= farther.keys()
            ends: dict[Pair, set[Walk]] = defaultdict(set)
            for (vertex, rest), walks in farther.items():
                if all(map(nullable, rest)):
                    ends[start, vertex] |= walks
            for pair, walks in ends.items():
                found.setdefault(pair, walks)
            reached = farther
    return {pair: sorted(walks, key=_order) for pair, walks in found.items()}


def _order(walk: Walk) -> list[tuple[bool, Vertex, str]]:
    return [(isinstance(end, str), end, label) for _, label, end in walk]


def _neighbours(regex: Regex, relations: Mapping[str, Collection[Pair]]) -> Neighbours:
    """The ends of edges by letter and beginning."""
    neighbours: dict[Letter, dict[Vertex, list[Vertex]]] = {}
    for label in set(steps(regex)):
        forwards = neighbours[label, False] = defaultdict(list)
        backwards = neighbours[label, True] = defaultdict(list)
        for source, target in relations[label]:
            forwards[source].append(target)
            backwards[target].append(source)
    return neighbours


def _reached(start: Vertex, first: Rest, neighbours: Neighbours) -> set[Vertex]:
    """The ends of paths from a start, where the language left accepts the empty word."""
    seen: set[tuple[Vertex, Rest]] = set()
    pending = [(start, first)]
    while pending:
        vertex, rest = pending.pop()
        for letter in letters(rest):
            for after in derivatives(rest, letter):
                for neighbour in neighbours[letter].get(vertex, ()):
                    state = neighbour, after
                    if state not in seen:
                        seen.add(state)
                        pending.append(state)
    return {vertex for vertex, rest in seen if all(map(nullable, rest))}


def inverted_inwards(regex: Regex, *, invert: bool) -> Regex:
    """The same language with ``^`` at the steps only, and sequences turned where needed."""
    match regex:
        case Step():
            return Back(regex) if invert else regex
        case AnyBut():
            raise AssertionError("only a snapshot knows all labels")
        case Back(part):
            return inverted_inwards(part, invert=not invert)
        case Seq(parts):
            ordered = reversed(parts) if invert else parts
            return Seq(tuple(inverted_inwards(part, invert=invert) for part in ordered))
        case Alt(parts):
            return Alt(tuple(inverted_inwards(part, invert=invert) for part in parts))
        case Repeat(part, least, most):
            return Repeat(inverted_inwards(part, invert=invert), least, most)


@lru_cache(maxsize=65536)
def nullable(regex: Regex) -> bool:
    """Whether the empty word is in the language."""
    match regex:
        case Seq(parts):
            return all(map(nullable, parts))
        case Alt(parts):
            return any(map(nullable, parts))
        case Repeat(part, least, most):
            enough = most is None or least <= most
            return enough and (least == 0 or nullable(part))
        case _:
            return False


@lru_cache(maxsize=65536)
def letters(rest: Rest) -> frozenset[Letter]:
    """The letters that a word of the language left can start with, perhaps with a few more."""
    found: set[Letter] = set()
    for regex in rest:
        match regex:
            case Step(label):
                found.add((label, False))
            case Back(Step(label)):
                found.add((label, True))
            case Seq(parts):
                found |= letters(parts)
            case Alt(parts):
                found |= {letter for part in parts for letter in letters((part,))}
            case Repeat(part):
                found |= letters((part,))
            case Back():
                raise AssertionError("inverses stand at steps only")
        if not nullable(regex):
            break
    return frozenset(found)


@lru_cache(maxsize=65536)
def derivatives(rest: Rest, letter: Letter) -> frozenset[Rest]:
    """The languages that can be left after one letter."""
    if not rest:
        return frozenset()
    head, tail = rest[0], rest[1:]
    found = {after + tail for after in _step(head, letter)}
    if nullable(head):
        found |= derivatives(tail, letter)
    return frozenset(found)


def _step(regex: Regex, letter: Letter) -> Iterable[Rest]:
    match regex:
        case Step(label):
            return [()] if letter == (label, False) else []
        case Back(Step(label)):
            return [()] if letter == (label, True) else []
        case Seq(parts):
            return derivatives(parts, letter)
        case Alt(parts):
            return [after for part in parts for after in _step(part, letter)]
        case Repeat(part, least, most):
            if most is not None and (most == 0 or most < least):
                return []
            again = Repeat(part, max(least - 1, 0), None if most is None else most - 1)
            return [(*after, again) for after in _step(part, letter)]
        case Back() | AnyBut():
            raise AssertionError("inverses stand at steps only, and these are single labels")
