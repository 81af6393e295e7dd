"""The parts of expressions, and expressions with other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeGuard, TypeVar, get_args

from .syntax import Exists, Expression, HasLabels, Property, Variable

Tree = TypeVar("Tree")
_EXPRESSIONS: tuple[type, ...] = get_args(Expression)


def parts_of(tree: Any) -> Iterator[Expression]:
    """The expressions directly in a tree, in the order of its fields."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from outermost(part)
    elif is_dataclass(tree):
        for field in fields(tree):
            yield from outermost(getattr(tree, field.name))


def outermost(tree: Any) -> Iterator[Expression]:
    """A tree that is an expression, or else the expressions directly in it."""
    if _is_expression(tree):
        yield tree
    else:
        yield from parts_of(tree)


def everywhere(tree: Any) -> Iterator[Expression]:
    """All expressions in a tree, the outer ones first."""
    for part in outermost(tree):
        yield part
        yield from everywhere(tuple(parts_of(part)))


def _is_expression(tree: Any) -> TypeGuard[Expression]:
    return isinstance(tree, _EXPRESSIONS)


def names_in(of: Expression) -> Iterator[str | None]:
    """The variables that an expression reads; None for those of a pattern."""
    match of:
        case Variable(name) | Property(name) | HasLabels(name):
            yield name.text
        case Exists():
            yield None
        case _:
            for part in parts_of(of):
                yield from names_in(part)


def with_parts(tree: Tree, change: Callable[[Expression], Expression]) -> Tree:
    """The tree with other expressions in place of those directly in it."""
    if isinstance(tree, tuple):
        return tuple(changed(part, change) for part in tree)  # type: ignore[return-value]
    if not is_dataclass(tree):
        return tree
    values = {field.name: getattr(tree, field.name) for field in fields(tree)}
    others = {name: changed(value, change) for name, value in values.items()}
    if all(others[name] is value for name, value in values.items()):
        return tree
    return replace(tree, **others)  # type: ignore[type-var]


def changed(tree: Any, change: Callable[[Expression], Expression]) -> Any:
    """A tree that is an expression changed, or else one with other expressions directly in it."""
    return change(tree) if _is_expression(tree) else with_parts(tree, change)
