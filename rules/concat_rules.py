"""Rule 14: a PATH over a concatenation and joins.

The symbols of a PATH's regex are references to groups, so no derived label is ever invented
and applying the rules in both directions gives a finite set of expressions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..algebra import regex
from ..algebra.logical import Path, Pattern, Union
from ..algebra.regex import Regex, Symbol
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Admits, Match, Op, Var
from .path_algebra import (
    NO_PATH,
    arbitrary,
    composed,
    directions_of,
    joined_along,
    may_be_empty,
    operands_of,
    path_of,
    path_over,
    read_by,
    shifted,
    splits_by_join,
    with_optional_rest,
)
from .rule import Context, Promise, TransformationRule


class ConcatToPattern(TransformationRule):
    """P[r1·r2](S)  →  P[r1](S) ⋈(trg1 = src2) P[r2](S), at every split of a concatenation

    Thesis rule 14, left to right. As printed it holds only if neither part accepts the empty
    word; in general P[r2] is added if r1 is nullable, and P[r1] if r2 is. Not under SIMPLE
    path semantics.
    """

    name = "ConcatToPattern"
    number = 14
    patterns = (Op(Path),)
    promise = Promise.DECOMPOSE
    # The unions that nullable parts add are recomposed as concatenations, by the other direction.
    excluded = frozenset({"UnionToAlternation"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        path = path_of(expression)
        return arbitrary(path) and isinstance(path.regex, regex.Concat)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        path, inputs = path_of(match.root), match.root.inputs
        assert isinstance(path.regex, regex.Concat)
        parts = path.regex.parts
        for cut in range(1, len(parts)):
            left, right = regex.concat(parts[:cut]), regex.concat(parts[cut:])
            result: Tree = joined_along(left, right, inputs, context)
            if regex.nullable(left):
                result = Expression(Union(), (result, path_over(right, inputs)))
            if regex.nullable(right):
                result = Expression(Union(), (result, path_over(left, inputs)))
            yield result


def _enters(path: Path) -> tuple[bool, bool]:
    """Whether a PATH enters a concatenation, and whether a join splits it after its first part."""
    enters = arbitrary(path) and not regex.nullable(path.regex)
    return enters, splits_by_join(path.regex)


def _enters_first(path: Path) -> bool:
    """Whether a PATH enters a concatenation as its first part, though only unsplit ones do."""
    enters, splits = _enters(path)
    return enters and not splits


class PatternToConcat(TransformationRule):
    """P[r1](S) ⋈(trg1 = src2) P[r2](S)  →  P[r1·r2](S)

    Thesis rule 14, right to left: two inputs of two columns, one shared variable that is used
    nowhere else, and the two distinct ends as result. An input enters as a reference to its
    group, which is never nullable; or, if the group has a PATH whose regex is not nullable,
    with that regex. An end bound the other way round enters backwards.

    A longer concatenation arises from each of its splits; the split after its first part is
    enough. So the first input does not enter as a concatenation, unless its nullable parts keep a
    join from splitting it. Of a join and its mirror image, the one that has the first input on the
    left is enough.
    """

    name = "PatternToConcat"
    number = 14
    patterns = (
        Op(Pattern, Var("a"), Var("b")),
        Op(Pattern, Op(Path), Var("b")),
        Op(Pattern, Var("a"), Op(Path)),
        Op(Pattern, Op(Path), Op(Path)),
    )
    promise = Promise.COMPOSE
    redundant = frozenset({"ConcatToPattern"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        first, _ = context.of(directions_of, expression)
        return first == 0 if context.has_mirror_images else first >= 0

    def admits(self, root: GroupExpression, context: Context) -> Admits:
        composition, unsplit = context.composition, self._unsplit(root, context)

        def admitted(position: int, member: GroupExpression) -> bool:
            enters, splits = context.of(_enters, member)
            if not enters or (splits and position == unsplit):
                return False
            return composition is None or composition.composes(member)

        return admitted

    def matches(
        self, pattern: Op, slot: int, root: GroupExpression, context: Context
    ) -> Iterator[Match]:
        """No bindings, and no look at each member, where no PATH may enter as the first part."""
        first = self._unsplit(root, context)
        looked_into = first >= 0 and isinstance(pattern.inputs[first], Op)
        if looked_into and not context.some(_enters_first, Path, root.inputs[first]):
            return iter(())
        return super().matches(pattern, slot, root, context)

    @staticmethod
    def _unsplit(root: GroupExpression, context: Context) -> int:
        """The input that may not enter as a concatenation; -1 if both may."""
        return context.of(directions_of, root)[0] if context.duplicate_free else -1

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        first, steps = context.of(directions_of, match.root)
        both = operands_of(match)
        operands = both[first], both[1 - first]
        composition = context.composition
        if composition is not None and not composition.makes(match.root.group, read_by(operands)):
            return
        path = composed(operands, regex.concat, steps, context)
        if composition is not None:
            composition.made(path)
        yield path


class UnionToConcat(TransformationRule):
    """(P[r1] ⋈ P[r2]) ∪ P[r1]  →  P[r1·r2?], and so for r1?·r2 and r1?·r2?

    Thesis rule 14, right to left, for nullable parts: a relation d that is a part of the union
    enters as d?. The third form follows from the first two: P[r1?·r2] ∪ P[r1].
    """

    name = "UnionToConcat"
    number = 14
    patterns = (
        Op(Union, Op(Pattern, Var("a"), Var("b")), Var("c")),
        Op(Union, Op(Path), Var("c")),
    )
    promise = Promise.COMPOSE
    redundant = frozenset({"ConcatToPattern"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return context.width(expression.group) == 2

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        joined = match.expressions[1]
        other = context.memo.find(match["c"])
        if isinstance(joined.operator, Path) and not arbitrary(joined.operator):
            return
        if isinstance(joined.operator, Path):
            yield from with_optional_rest(joined, joined.operator, other)
            return
        directions = context.of(directions_of, joined)
        if directions is NO_PATH:
            return
        first, backwards = directions
        operands = joined.inputs[first], joined.inputs[1 - first]
        steps = tuple(Symbol(k, inverse=b) for k, b in enumerate(backwards))
        for k in (0, 1):
            if operands[k] == other and not backwards[k]:
                parts: list[Regex] = list(steps)
                parts[1 - k] = regex.optional(parts[1 - k])
                yield Expression(Path(regex.concat(parts)), operands)


class PathInline(TransformationRule):
    """P[r(d?)](P[s](S) as d)  →  P[r(s?)](S)

    Other rules inline an operand that is a PATH themselves; this one does it for concatenations
    with optional parts, which rule 14 makes. A nullable s may replace a d that is optional anyway.
    """

    name = "PathInline"
    number = None
    patterns = (Op(Path, some=Op(Path)),)
    promise = Promise.COMPOSE
    redundant = frozenset({"ConcatToPattern"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        path = path_of(expression)
        return (
            arbitrary(path)
            and isinstance(path.regex, regex.Concat)
            and any(
                isinstance(part, regex.Optional) and isinstance(part.part, Symbol)
                for part in path.regex.parts
            )
        )

    def condition(self, match: Match, context: Context) -> bool:
        outer, inner = (path_of(e) for e in match.expressions)
        return arbitrary(inner) and (
            not regex.nullable(inner.regex) or may_be_empty(outer.regex, match.position, free=True)
        )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        outer, inner = match.expressions
        own = len(outer.inputs)
        taken_in = shifted(path_of(inner).regex, own)

        def replace(symbol: Symbol) -> Regex:
            if symbol.ref != match.position:
                return symbol
            return regex.inverse(taken_in) if symbol.inverse else taken_in

        inlined = regex.substitute(path_of(outer).regex, replace)
        yield path_over(inlined, (*outer.inputs, *inner.inputs))
