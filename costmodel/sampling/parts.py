"""Paths over the edges of a sample: made of paths, and taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...algebra import regex
from ...algebra.regex import Regex, Symbol
from .relations import Edges, Either, Join, Reach, Relation, Wide, width


def reach(expression: Regex, inputs: Sequence[Relation]) -> Relation:
    """The path with the paths among its inputs put in, and its inputs numbered anew.

    No PATH reports the empty word, so a path that is put in accepts none.
    """
    numbered: dict[Relation, int] = {}

    def own(symbol: Symbol) -> Regex:
        assert isinstance(symbol.ref, int)
        below = inputs[symbol.ref]
        if not isinstance(below, Reach):
            return Symbol(numbered.setdefault(below, len(numbered)), symbol.inverse)

        def moved(inner: Symbol) -> Regex:
            assert isinstance(inner.ref, int)
            relation = below.inputs[inner.ref]
            return Symbol(numbered.setdefault(relation, len(numbered)), inner.inverse)

        path = regex.nonempty(regex.substitute(below.regex, moved))
        return regex.inverse(path) if symbol.inverse else path

    whole = regex.substitute(expression, own)
    if whole == Symbol(0):
        return next(iter(numbered))
    return Reach(whole, tuple(numbered))


def one_way(relation: Relation) -> Relation:
    """Of a relation of two columns and the one with its columns in the other order one of them, so
    that both have one estimate; any other relation itself."""
    if isinstance(relation, Join) and len(relation.output) == 2:
        return replace(relation, output=(min(relation.output), max(relation.output)))
    if not isinstance(relation, Reach):
        return relation
    inverse = reach(regex.inverse(relation.regex), relation.inputs)
    if not isinstance(inverse, Reach):
        return inverse
    own, other = regex.sort_key(relation.regex), regex.sort_key(inverse.regex)
    if own == other:
        own, other = tuple(map(str, relation.inputs)), tuple(map(str, inverse.inputs))
    return relation if own <= other else inverse


def concatenation(path: Reach) -> Join | None:
    """A path as a join of all but its last part with its last part; None if a part may be empty."""
    match path.regex:
        case regex.Concat((*firsts, last)):
            first = regex.concat(firsts)
            if regex.nullable(first) or regex.nullable(last):
                return None
            parts = (_part(first, path.inputs), _part(last, path.inputs))
            (one, turned), (other, backwards) = parts
            bindings = ((1, 0) if turned else (0, 1), (2, 1) if backwards else (1, 2))
            return Join(bindings, (0, 2), (one, other))
        case _:
            return None


def path_of(relation: Relation) -> Relation:
    """A relation as a path, with the paths among its inputs put in; itself if it is none.

    A join of relations of two columns is a path if they lie one behind the other from the first
    variable of its output to the second one.
    """
    match relation:
        case Reach(expression, inputs):
            return reach(expression, list(map(path_of, inputs)))
        case Join(bindings, (begin, end), inputs, None) if all(width(i) == 2 for i in inputs):
            steps = _behind(bindings, begin, end)
            return relation if steps is None else reach(steps, list(map(path_of, inputs)))
        case _:
            return relation


def _behind(bindings: Sequence[tuple[int, ...]], begin: int, end: int) -> Regex | None:
    """The inputs of a join in their order from one variable to another; None if there is none."""
    left = dict(enumerate(bindings))
    steps: list[Regex] = []
    at = begin
    while left:
        here = [k for k, binding in left.items() if at in binding]
        if len(here) != 1 or at == end or len(set(left[here[0]])) != 2:
            return None
        source, target, *_ = left.pop(here[0])
        steps.append(Symbol(here[0], inverse=at == target))
        at = target if at == source else source
    return regex.concat(steps) if at == end else None


def overlapping(path: Relation) -> tuple[Relation, Relation, Relation] | None:
    """All but the last part of a path, all but the first, and the path that both have in common.

    A join of edges and paths one after the other is a path too. None of a path of less than three
    parts, or where what they have in common may be empty.
    """
    match path_of(path):
        case Reach(regex.Concat(parts), inputs) if len(parts) > 2:
            between = regex.concat(parts[1:-1])
            if regex.nullable(between):
                return None
            first, last = regex.concat(parts[:-1]), regex.concat(parts[1:])
            return reach(first, inputs), reach(last, inputs), reach(between, inputs)
        case _:
            return None


def parts_of(relation: Relation) -> Iterator[Relation]:
    """The relations of which an evaluation has all rows for its values: closures, and inputs of
    unions.

    Each closure of a path is a path of its own; a closure within another one does not count. The
    closure of a relation and that of its inverse are one.
    """
    match relation:
        case Reach(expression, inputs):
            for part in _closures(expression):
                backwards = isinstance(part, Symbol) and part.inverse
                yield reach(regex.plus(regex.inverse(part) if backwards else part), inputs)
        case Either(inputs):
            yield from inputs
        case Join():
            inputs = relation.inputs
        case _:
            return
    for below in inputs:
        yield from parts_of(below)


def _closures(expression: Regex) -> Iterator[Regex]:
    """The operands of the outermost closures of an expression."""
    match expression:
        case regex.Star(part) | regex.Plus(part):
            yield part
        case regex.Concat(parts) | regex.Alternation(parts):
            for part in parts:
                yield from _closures(part)
        case regex.Optional(part):
            yield from _closures(part)
        case _:
            return


def is_search(relation: Relation) -> bool:
    """Whether a relation has a path that is not a join, so that a search evaluates it."""
    match relation:
        case Edges() | Wide():
            return False
        case Reach():
            join = concatenation(relation)
            return join is None or is_search(join)
        case Join(_, _, inputs, _) | Either(inputs):
            return any(map(is_search, inputs))


def is_choice(relation: Relation) -> bool:
    """Whether a path of one step follows edges of several labels, as a scan of them does."""
    match relation:
        case Reach(regex.Alternation(parts), inputs):
            steps = all(isinstance(part, Symbol) for part in parts)
            return steps and all(isinstance(below, Edges) for below in inputs)
        case _:
            return False


def _part(expression: Regex, inputs: tuple[Relation, ...]) -> tuple[Relation, bool]:
    """A part of a path as a relation, and whether it is turned around."""
    if isinstance(expression, Symbol):
        assert isinstance(expression.ref, int)
        return inputs[expression.ref], expression.inverse
    relation = reach(expression, inputs)
    return relation, False
