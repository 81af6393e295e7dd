"""Sums of lists that ``collect`` gives, in the syntax tree: ``xs + collect(b)``, ``xs + ys``."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from .clauses import Item, Projection
from .leaves import Variable
from .syntax import Call, Computed, Expression


def summands(of: Expression) -> Iterator[Expression]:
    """The values that ``+`` adds; a value of another kind itself."""
    if isinstance(of, Computed) and of.function == "+":
        for part in of.arguments:
            yield from summands(part)
    else:
        yield of


def joined_lists(projection: Projection) -> list[Item]:
    """The columns of a WITH that add a list of ``collect`` to other such lists, or to names."""
    return [item for item in projection.items if item.alias is not None and _is_joined(item.value)]


def _is_joined(of: Expression) -> bool:
    parts = list(summands(of))
    lists = [part for part in parts if is_collect(part)]
    is_of_lists = all(isinstance(part, Variable) or is_collect(part) for part in parts)
    return len(parts) > 1 and bool(lists) and is_of_lists


def is_collect(of: Expression) -> bool:
    """Whether an expression is ``collect`` of one value."""
    if not isinstance(of, Call):
        return False
    return of.function.text.lower() == "collect" and len(of.arguments) == 1


def with_sizes_added(of: Expression, lists: Set[str]) -> Expression:
    """``size(xs)`` and ``size(ys)`` added in place of ``size(xs + ys)``; ``lists`` are names."""
    match of:
        case Call(function, (Computed("+", parts) as sum_,)) if function.text.lower() == "size":
            if all(_is_list(part, lists) for part in summands(sum_)):
                sizes = [with_sizes_added(replace(of, arguments=(part,)), lists) for part in parts]
                return replace(sum_, arguments=tuple(sizes))
    return of


def _is_list(of: Expression, lists: Set[str]) -> bool:
    return is_collect(of) or (isinstance(of, Variable) and of.name.text in lists)
