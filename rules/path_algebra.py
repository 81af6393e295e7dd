"""Helpers of the rules about PATH: fragments of regexes, operands, directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..algebra import regex
from ..algebra.logical import Path, PathSemantics, Pattern, VertexPaths
from ..algebra.regex import Regex, Symbol
from ..memo import Expression, GroupExpression, GroupId, Tree
from ..memo.pattern import Match
from .rule import Context


def path_over(
    r: Regex, inputs: tuple[Tree, ...], semantics: VertexPaths = PathSemantics.ARBITRARY
) -> Expression:
    """P[r] over those inputs that ``r`` refers to."""
    whole = regex.nonempty(r)
    used = regex.refs(whole)
    number = {ref: k for k, ref in enumerate(used)}
    renumbered = regex.substitute(whole, lambda s: Symbol(number[s.ref], s.inverse))
    return Expression(Path(renumbered, semantics), tuple(inputs[int(ref)] for ref in used))


Directions = tuple[int, tuple[bool, bool]]
NO_PATH: Directions = (-1, (False, False))


def directions_of(operator: Pattern) -> Directions:
    """Which input of a join comes first on the path, and which steps run backwards."""
    left, right = operator.bindings
    shared = set(left) & set(right)
    ends = operator.output
    if len(left) != 2 or len(right) != 2 or len(shared) != 1 or len(set(ends)) != 2:
        return NO_PATH
    (middle,) = shared
    if middle in ends or len(ends) != 2:
        return NO_PATH
    first = 0 if ends[0] in left else 1
    source, target = operator.bindings[first], operator.bindings[1 - first]
    return first, (source[0] == middle, target[1] == middle)


def operands_of(match: Match) -> tuple[GroupId | GroupExpression, GroupId | GroupExpression]:
    """The two inputs of a binary operator: a group to refer to, or a PATH to take in."""
    operands: list[GroupId | GroupExpression] = [*match.root.inputs]
    for (position, _), member in zip(match.pattern.nested, match.expressions[1:], strict=True):
        operands[position] = member
    one, other = operands
    return one, other


def read_by(operands: Iterable[GroupId | GroupExpression]) -> tuple[GroupId, ...]:
    """The groups that a PATH of several operands reads."""
    groups: list[GroupId] = []
    for operand in operands:
        if isinstance(operand, int):
            groups.append(operand)
        else:
            groups.extend(operand.inputs)
    return tuple(groups)


def composed(
    operands: tuple[GroupId | GroupExpression, ...],
    combine: Callable[[Iterable[Regex]], Regex],
    backwards: tuple[bool, ...],
    context: Context,
    semantics: VertexPaths = PathSemantics.ARBITRARY,
) -> Expression:
    """One PATH of the regexes of several operands."""
    inputs: list[Tree] = []
    parts: list[tuple[Regex, int]] = []
    for operand in operands:
        if isinstance(operand, int):
            parts.append((Symbol(0), len(inputs)))
            inputs.append(operand)
        else:
            parts.append((path_of(operand).regex, len(inputs)))
            inputs.extend(operand.inputs)
    path = context.once(_combined, combine, tuple(parts), backwards, semantics)
    return Expression(path, tuple(inputs))


def _combined(
    combine: Callable[[Iterable[Regex]], Regex],
    parts: tuple[tuple[Regex, int], ...],
    backwards: tuple[bool, ...],
    semantics: VertexPaths,
) -> Path:
    """The PATH of some regexes, each with the number by which its inputs are shifted."""
    moved = [shifted(r, by) for r, by in parts]
    turned = zip(moved, backwards, strict=True)
    whole = combine([regex.inverse(r) if reverse else r for r, reverse in turned])
    return Path(whole, semantics)


def shifted(r: Regex, by: int) -> Regex:
    """``r`` over inputs whose numbers are larger by ``by``."""
    if by == 0:
        return r
    return regex.substitute(r, lambda s: Symbol(int(s.ref) + by, s.inverse))


def joined_along(left: Regex, right: Regex, inputs: tuple[GroupId, ...], context: Context) -> Tree:
    """P[left] ⋈ P[right]."""
    source, from_source = bound_step(left, inputs, (0, 1), context)
    target, from_target = bound_step(right, inputs, (1, 2), context)
    return Expression(Pattern((from_source, from_target), (0, 2)), (source, target))


def bound_step(
    r: Regex, inputs: tuple[GroupId, ...], ends: tuple[int, int], context: Context
) -> tuple[Tree, tuple[int, int]]:
    """An operand of a join and its binding, in the direction in which the memo keeps it."""
    operand, backwards = kept_relation(r, inputs, context)
    return operand, ends[::-1] if backwards else ends


def kept_relation(r: Regex, inputs: tuple[GroupId, ...], context: Context) -> tuple[Tree, bool]:
    """P[r] in the direction in which the memo keeps it, and whether that is backwards."""
    whole = regex.nonempty(r)
    if isinstance(whole, Symbol):
        return inputs[input_of(whole)], whole.inverse
    forwards = path_over(whole, inputs)
    if any(step.inverse for step in regex.symbols(whole)):
        path: Any = forwards.operator
        over = tuple(part for part in forwards.inputs if isinstance(part, int))
        if context.columns.runs_backwards(path, over):
            return path_over(regex.inverse(whole), inputs), True
    return forwards, False


def splits_by_join(r: Regex) -> bool:
    """Whether rule 14 splits a concatenation after its first part without adding a union."""
    if not isinstance(r, regex.Concat):
        return False
    return not regex.nullable(r.parts[0]) and not all(map(regex.nullable, r.parts[1:]))


def with_optional_rest(joined: GroupExpression, path: Path, other: GroupId) -> Iterator[Tree]:
    """P[x?·r] ∪ X as P[x?·r?], and P[r·x?] ∪ X as P[r?·x?]."""
    if not isinstance(path.regex, regex.Concat) or other not in joined.inputs:
        return
    wanted = regex.optional(Symbol(joined.inputs.index(other)))
    *most, last = path.regex.parts
    first, *rest = path.regex.parts
    if first == wanted and not regex.nullable(regex.concat(rest)):
        whole = regex.concat([first, regex.optional(regex.concat(rest))])
        yield Expression(Path(whole), joined.inputs)
    if last == wanted and not regex.nullable(regex.concat(most)):
        whole = regex.concat([regex.optional(regex.concat(most)), last])
        yield Expression(Path(whole), joined.inputs)


def may_be_empty(r: Regex, ref: int, free: bool) -> bool:
    """Whether the result is unchanged if the input also has the empty word at each occurrence.

    ``free``: whether the context of ``r`` accepts the empty word already; a whole PATH counts as
    free, since it does not report the empty word.
    """
    match r:
        case Symbol():
            return free or r.ref != ref
        case regex.Concat(parts):
            return all(may_be_empty(part, ref, False) for part in parts)
        case regex.Alternation(parts):
            return all(may_be_empty(part, ref, free) for part in parts)
        case regex.Optional(part) | regex.Star(part):
            return may_be_empty(part, ref, True)
        case regex.Plus(part):
            return may_be_empty(part, ref, free)
        case _:
            return True


def all_arbitrary(match: Match) -> bool:
    """Whether all paths matched below the root have any-path semantics."""
    return all(arbitrary(path_of(e)) for e in match.expressions[1:])


def all_simple(match: Match) -> bool:
    """Whether both inputs of a binary operator are paths with simple-path semantics."""
    paths = match.expressions[1:]
    return len(paths) == 2 and not any(arbitrary(path_of(e)) for e in paths)


def arbitrary(path: Path) -> bool:
    """Whether any path counts, not only simple ones."""
    return path.semantics is PathSemantics.ARBITRARY


def path_of(expression: GroupExpression) -> Path:
    """The operator of an expression that is a PATH."""
    operator: Any = expression.operator
    assert isinstance(operator, Path)
    return operator


def input_of(symbol: Symbol) -> int:
    """The number of the input that a symbol refers to."""
    assert isinstance(symbol.ref, int)
    return symbol.ref
