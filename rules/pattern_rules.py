"""Rules 7 and 8: the order of joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..algebra.logical import Pattern
from ..algebra.notation import apart
from ..memo import Expression, Tree
from ..memo.pattern import Match, Op, Var
from .columns import unified
from .rule import Context, Promise, TransformationRule

Binding = tuple[int, ...]

AT_ONCE = frozenset({"PatternToMultiway", "ForestToMultiway"})
"""The rules that join the atoms of a group at once: they need one join of the group."""


class PatternCommute(TransformationRule):
    """A ⋈ B  →  B ⋈ A

    Thesis rule 7. Always valid; which column is source and which target swaps with the
    inputs, since variables and not positions say what is joined.
    """

    name = "PatternCommute"
    number = 7
    patterns = (Op(Pattern, Var("a"), Var("b")),)
    promise = Promise.REORDER
    redundant = AT_ONCE | frozenset(
        {"PatternCommute", "JoinIntoPath", "JoinIntoPairs", "JoinsIntoPairs"}
    )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        a, b = match.root.inputs
        operator = match.root.operator
        assert isinstance(operator, Pattern)
        yield Expression(context.once(_swapped, operator, context), (b, a))


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Two reassociated joins, without the order of the inner join's columns.

    Attributes:
        bindings: the variables of the three inputs a, b and c.
        output: the variables of the result.
        pair: the bindings of the new inner join, in its own numbering of variables.
        kept: the inner variables that the result or the third input needs.
        outer: the outer variable of each kept inner variable.
        crosses: whether the inner join would be a cross product that the query does not contain.
        names: the names of the outer variables in the query; empty if it gives none.
    """

    bindings: tuple[Binding, Binding, Binding]
    output: tuple[int, ...]
    pair: tuple[Binding, Binding]
    kept: tuple[int, ...]
    outer: tuple[int, ...]
    crosses: bool
    names: tuple[str, ...]


class _Reassociate(TransformationRule):
    """Rule 8 in both directions."""

    number = 8
    promise = Promise.REORDER
    lower: ClassVar[int]
    """Which input of the matched join is the join below it."""

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        outer, inner = match.expressions[0], match.expressions[1]
        above, below = outer.operator, inner.operator
        assert isinstance(above, Pattern)
        assert isinstance(below, Pattern)
        shape = context.once(reassociated, above, below, self.lower)
        if shape is None or (shape.crosses and not context.cross_products):
            return
        if self.lower == 0:
            first, (second, third) = inner.inputs[0], (inner.inputs[1], outer.inputs[1])
        else:
            first, (second, third) = inner.inputs[1], (outer.inputs[0], inner.inputs[0])
        order = context.columns.order(shape.pair, shape.kept, (second, third))
        new_outer, new_inner = context.once(_operators, shape, order, self.lower, context)
        below_tree = Expression(new_inner, (second, third))
        inputs = (first, below_tree) if self.lower == 0 else (below_tree, first)
        yield Expression(new_outer, inputs)


class PatternAssociate(_Reassociate):
    """(A ⋈ B) ⋈ C  →  A ⋈ (B ⋈ C)

    Thesis rule 8, left to right. Always valid for joins on shared variables: a variable that
    A, or the result, still needs survives B ⋈ C, and every equality moves to the lowest join
    that has both sides. Applied only when B and C share a variable, so that no cross product
    appears; in a disconnected query the components may be combined in any order.
    """

    name = "PatternAssociate"
    patterns = (Op(Pattern, Op(Pattern, Var("a"), Var("b")), Var("c")),)
    redundant = frozenset({"PatternAssociate"}) | AT_ONCE
    lower = 0


class PatternAssociateInverse(_Reassociate):
    """A ⋈ (B ⋈ C)  →  (A ⋈ B) ⋈ C

    Thesis rule 8, right to left, under the same conditions. Subsumed by commutativity and the
    other direction, except in self-joins, where two of the intermediate orders may be one
    expression.
    """

    name = "PatternAssociateInverse"
    patterns = (Op(Pattern, Var("a"), Op(Pattern, Var("b"), Var("c"))),)
    redundant = frozenset({"PatternAssociateInverse"}) | AT_ONCE
    subsumed_by = frozenset({"PatternCommute", "PatternAssociate"})
    lower = 1


def _swapped(operator: Pattern, context: Context) -> Pattern:
    left, right = operator.bindings
    return context.same(_numbered((right, left), operator.output, operator.names))


def reassociated(above: Pattern, below: Pattern, lower: int) -> Shape | None:
    """The shape of the rewrite, or None where an input would bind a variable twice.

    ``lower`` is 0 for (A ⋈ B) ⋈ C and 1 for its mirror image C ⋈ (B ⋈ A).
    """
    joined = flattened(above, below, lower)
    if joined is None:
        return None
    (first, second), third, output, names = joined
    a, b, c = (first, second, third) if lower == 0 else (second, first, third)
    pair = (b, c) if lower == 0 else (c, b)
    number = _by_first_occurrence(*pair)
    needed = {*a, *output}
    kept = tuple([v for v in number if v in needed])
    crosses = set(b).isdisjoint(c) and not set(a).isdisjoint(b + c)
    return Shape(
        (a, b, c),
        output,
        (tuple([number[v] for v in pair[0]]), tuple([number[v] for v in pair[1]])),
        tuple([number[v] for v in kept]),
        kept,
        crosses,
        names,
    )


def flattened(
    above: Pattern, below: Pattern, lower: int
) -> tuple[tuple[Binding, Binding], Binding, tuple[int, ...], tuple[str, ...]] | None:
    """A join of a join as one join of three inputs, over one numbering of variables.

    Returns the bindings of the lower join's inputs, the binding of the other input, the output and
    the variables' names. Variables that the lower join keeps twice become one. Returns None if one
    input would then bind a variable twice.
    """
    count = 1 + max((v for binding in above.bindings for v in binding), default=-1)
    place: dict[int, int] = {}
    joined = zip(below.output, above.bindings[lower], strict=True)
    same = [
        (place[kept], variable)
        for kept, variable in joined
        if place.setdefault(kept, variable) != variable
    ]
    names = list(above.names)
    for binding in below.bindings:
        for variable in binding:
            if variable not in place:
                place[variable] = count
                if names and below.names:
                    names.append(apart(below.names[variable], names))
                count += 1
    leader = unified(count, same) if same else range(count)
    inputs = [tuple([leader[place[v]] for v in binding]) for binding in below.bindings]
    third = tuple([leader[v] for v in above.bindings[1 - lower]])
    if any(len(set(binding)) < len(binding) for binding in (*inputs, third)):
        return None
    output = tuple([leader[v] for v in above.output])
    all_names = tuple(names) if len(names) == count else ()
    return (inputs[0], inputs[1]), third, output, all_names


def _operators(
    shape: Shape, order: tuple[int, ...], lower: int, context: Context
) -> tuple[Pattern, Pattern]:
    """The new outer and inner join, given the order of the inner one's columns."""
    outer_variable = dict(zip(shape.kept, shape.outer, strict=True))
    kept = tuple([outer_variable[v] for v in order])
    a, b, c = shape.bindings
    pair = (b, c) if lower == 0 else (c, b)
    inner = context.same(_numbered(pair, kept, shape.names))
    above = (a, kept) if lower == 0 else (kept, a)
    return context.same(_numbered(above, shape.output, shape.names)), inner


def _numbered(
    bindings: tuple[Binding, Binding], output: tuple[int, ...], names: tuple[str, ...]
) -> Pattern:
    """A pattern whose variables are numbered by first occurrence."""
    number = _by_first_occurrence(*bindings)
    left, right = bindings
    return Pattern(
        (tuple([number[v] for v in left]), tuple([number[v] for v in right])),
        tuple([number[v] for v in output]),
        tuple([names[v] for v in number]) if names else (),
    )


def _by_first_occurrence(left: Binding, right: Binding) -> dict[int, int]:
    """A number for each variable of two inputs, in the order in which they first occur."""
    return {variable: k for k, variable in enumerate(dict.fromkeys(left + right))}
